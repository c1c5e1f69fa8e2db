import Memory
import Quantities

/// Compares the books with jemalloc's refreshed statistics and writes the tables to their files, both at intervals.
final class Auditor {
    private var auditedAt: Instant = .zero
    /// When the tables were last written to their files.
    private var flushedAt: Instant = .zero
    private let memory: any DeviceMemory
    private let processes: ProcessTable
    private let recorder: RunRecorder
    private let faults: RunFaults
    private let agenda: Agenda

    init(
        memory: any DeviceMemory, processes: ProcessTable, recorder: RunRecorder, faults: RunFaults, agenda: Agenda
    ) {
        self.memory = memory
        self.processes = processes
        self.recorder = recorder
        self.faults = faults
        self.agenda = agenda
    }

    /// How often the books are compared with jemalloc's refreshed statistics without `--verify`, in virtual time.
    ///
    /// With more than 128 processes it is rarer in proportion, because a refresh costs 18 microseconds for each
    /// process.
    static func interval(processes: Int) -> TimeSpan {
        TimeSpan(microseconds: 30_000_000 * Int64(max(128, processes)) / 128)
    }

    /// Writes the tables to their files every five minutes of virtual time, or every half minute if the run is
    /// watched. A run that is killed without warning loses no more than that. Many small writes would cost more than
    /// their bytes.
    func flushIfDue() {
        guard agenda.now - flushedAt >= .seconds(recorder.kept == nil ? 300 : 30) else { return }
        flushedAt = agenda.now
        recorder.flush()
    }

    /// - Parameter always: Whether to compare the books even if they are not due.
    func auditIfDue(always: Bool) {
        let isDue = agenda.now - auditedAt >= Auditor.interval(processes: processes.live.count)
        if always || isDue { audit(refreshingMetadata: isDue) }
    }

    /// Compares the books with jemalloc's refreshed statistics; they agree to the byte or the run stops.
    func audit(refreshingMetadata: Bool) {
        if refreshingMetadata { auditedAt = agenda.now }
        do {
            try memory.audit(refreshingMetadata: refreshingMetadata)
        } catch {
            switch error {
            case .disagreement(let difference): faults.fail("\(difference)")
            case .allocator(let refusal): faults.fail("\(refusal)")
            }
        }
    }
}
