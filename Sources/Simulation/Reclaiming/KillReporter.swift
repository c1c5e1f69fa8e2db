import Lifecycle
import Memory
import Metrics
import Quantities
import Reclaim

/// Writes reports of kills, if any are requested. They affect nothing: a run is the same with and without them.
final class KillReporter {
    /// Receives a session's report when the session is over; nil if no reports are requested.
    private let sink: (any KillReportSink)?
    /// The report of the session under way, if a process was ended in it.
    private var report: KillReport?
    private var lastNumber = 0
    private let memory: any DeviceMemory
    private let processes: ProcessTable
    private let display: Display
    private let snapshots: Snapshots
    private let sampler: Sampler
    private let faults: RunFaults
    private let agenda: Agenda

    init(
        _ sink: (any KillReportSink)?, memory: any DeviceMemory, processes: ProcessTable, display: Display,
        snapshots: Snapshots, sampler: Sampler, faults: RunFaults, agenda: Agenda
    ) {
        self.sink = sink
        self.memory = memory
        self.processes = processes
        self.display = display
        self.snapshots = snapshots
        self.sampler = sampler
        self.faults = faults
        self.agenda = agenda
    }

    /// The system is about to end a process for memory. A session's report begins with the first kill that needs one.
    func reportKill(of process: LiveProcess, _ cause: KillCause, opensReport: Bool = true) {
        guard sink != nil else { return }
        if report == nil {
            guard opensReport else { return }
            lastNumber += 1
            let books = memory.books
            report = KillReport(
                number: lastNumber, at: agenda.now, closed: agenda.now, ceiling: books.ceiling,
                reserved: books.reserved, available: books.available, compressor: books.compressor,
                processes: reportedProcesses())
        }
        add(KillReport.Kill(at: agenda.now, cause: cause), on: process)
    }

    private func add(_ kill: KillReport.Kill, on process: LiveProcess) {
        guard var report else { return }
        // Held by this variable alone, so that changing it makes no copy.
        self.report = nil
        if let index = report.processes.firstIndex(where: { $0.state.pid == process.pid }) {
            // A process that was asked to end and does not end in time is counted once.
            report.processes[index].kill = report.processes[index].kill ?? kill
        } else {
            let generation = (report.processes.last?.generation ?? 0) + 1
            var late = reported(snapshots.preview(process), of: process, generation: generation)
            late.kill = kill
            report.processes.append(late)
        }
        self.report = report
    }

    private func reportedProcesses() -> [KillReport.Process] {
        JetsamOrder.sorted(processes.live.map(snapshots.preview)).compactMap { state in
            processes.process(state.pid).map { reported(state, of: $0, generation: 0) }
        }
    }

    private func reported(_ state: ProcessSnapshot, of process: LiveProcess, generation: Int) -> KillReport.Process {
        let books = memory.books(of: process.slot)
        return KillReport.Process(
            state: state, isWanted: display.isShown(process.app), compressed: books.compressed + books.swapped,
            largest: max(sampler.largest(of: process), state.footprint), generation: generation)
    }

    /// Closes the report: the session is over, or the run.
    func close() {
        guard var report else { return }
        self.report = nil
        report.closed = agenda.now
        do throws(OutputFailure) {
            try sink?.write(report)
        } catch {
            faults.fail(error)
        }
    }
}
