import Lifecycle
import Metrics
import Quantities
import Reclaim

// Reports of kills, for whoever wants them. They change nothing: a run is the same with and without them.
extension Simulation {
    /// The system is about to end a process for memory. The first kill of a session that is worth a report opens it.
    func reportKill(of process: LiveProcess, _ cause: KillCause, opensReport: Bool = true) {
        guard reports != nil else { return }
        if reclaim.report == nil {
            guard opensReport else { return }
            reclaim.reports += 1
            let books = memory.books
            reclaim.report = KillReport(
                number: reclaim.reports, at: now, closed: now, ceiling: books.ceiling, reserved: books.reserved,
                available: books.available, processes: reportedProcesses())
        }
        note(KillReport.Kill(at: now, cause: cause), on: process)
    }

    private func note(_ kill: KillReport.Kill, on process: LiveProcess) {
        guard var report = reclaim.report else { return }
        // Nobody else holds it meanwhile, so that it is not copied.
        reclaim.report = nil
        if let index = report.processes.firstIndex(where: { $0.state.pid == process.pid }) {
            // Who was asked to end and does not in time is ended once.
            report.processes[index].kill = report.processes[index].kill ?? kill
        } else {
            let generation = (report.processes.last?.generation ?? 0) + 1
            var late = reported(unchanged(process), of: process, generation: generation)
            late.kill = kill
            report.processes.append(late)
        }
        reclaim.report = report
    }

    private func reportedProcesses() -> [KillReport.Process] {
        JetsamOrder.sorted(live.map(unchanged)).compactMap { state in
            process(state.pid).map { reported(state, of: $0, generation: 0) }
        }
    }

    private func reported(_ state: ProcessSnapshot, of process: LiveProcess, generation: Int) -> KillReport.Process {
        KillReport.Process(
            state: state, isWanted: foregroundApp == process.app, largest: max(process.largest, state.footprint),
            generation: generation)
    }

    /// As a policy would be shown it now; the process itself keeps the place in its band that it has.
    private func unchanged(_ process: LiveProcess) -> ProcessSnapshot {
        var bands = process.bands
        if bands.requested != process.naturalBand { bands.set(process.naturalBand, at: now) }
        return snapshot(process, in: bands)
    }

    /// A process's own limit ended it. Where no session is under way, that was all.
    func closeReportOutsideSession() {
        if reclaim.history.sessionSince == nil { closeReport() }
    }

    /// The session is over, or the run.
    func closeReport() {
        guard var report = reclaim.report else { return }
        reclaim.report = nil
        report.closed = now
        do throws(OutputFailure) {
            try reports?.write(report)
        } catch {
            if failure == nil { failure = .output(error) }
        }
    }
}
