import Memory
import Quantities

/// Compares the books with jemalloc's refreshed statistics, and writes the tables to their files, now and then.
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
    /// With more than 128 processes so much less often, because a refresh costs 18 microseconds for each.
    static func interval(processes: Int) -> TimeSpan {
        TimeSpan(microseconds: 30_000_000 * Int64(max(128, processes)) / 128)
    }

    /// A run that is killed without warning leaves all but the last five minutes, or the last half one where somebody
    /// watches: more often, the host would take longer over so many small pieces than over their bytes.
    func flushIfDue() {
        guard agenda.now - flushedAt >= .seconds(recorder.kept == nil ? 300 : 30) else { return }
        flushedAt = agenda.now
        recorder.flush()
    }

    /// - Parameter always: Compare the books in any case.
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
