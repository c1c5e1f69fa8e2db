import Metrics
import Quantities
import Reclaim

/// Where the reports of a run go.
public protocol KillReportSink: AnyObject {
    /// Takes the report of a session that is over, or fails.
    func write(_ report: KillReport) throws(OutputFailure)
}

/// Who was there before the first kill of a session, what each held, and who was ended: what a JetsamEvent report
/// tells.
///
/// As in the kernel there is one per session, the state in it is that before the first kill, and a session in which
/// only idle apps end has none. Whoever is launched later and ended in the same session is added as it was then. A kill
/// by a process's own limit that comes outside a session has a report of its own. Source: xnu-11417.101.15.
public struct KillReport: Sendable {
    public struct Process: Sendable {
        /// As it was when the report was taken, or when it was added.
        public let state: ProcessSnapshot
        /// The user wants to see it.
        public let isWanted: Bool
        /// The most that it was found to hold: at the monitor's samples, and now.
        public let largest: ByteCount
        /// 0 for those who were there; from 1 for those who were added, in the order of their ends.
        public let generation: Int
        /// Its end in this session, if the system ended it for memory.
        public internal(set) var kill: Kill?
    }

    public struct Kill: Hashable, Sendable {
        public let at: Instant
        public let cause: KillCause
    }

    /// From 1, in the order of a run.
    public let number: Int
    /// When it was taken: just before the first kill.
    public let at: Instant
    /// When the session was over.
    public internal(set) var closed: Instant
    public let ceiling: ByteCount
    /// What the system keeps for itself.
    public let reserved: ByteCount
    public let available: ByteCount
    /// In the order in which jetsam ends processes; those that were added come last.
    public internal(set) var processes: [Process]
}
