import Metrics
import Quantities
import Reclaim

/// Receives the reports of a run.
public protocol KillReportSink: AnyObject {
    /// Takes the report of a session that is over. Throws if it cannot be written.
    func write(_ report: KillReport) throws(OutputFailure)
}

/// The processes before the first kill of a session, what each held, and which were ended: the contents of a
/// JetsamEvent report.
///
/// As in the kernel, a session has one report with the state before its first kill, and a session that ends only idle
/// apps has none. A process that is launched later and ended in the same session is added with its state at its end. A
/// kill by a process's own limit outside a session has a report of its own. Source: xnu-11417.101.15.
public struct KillReport: Sendable {
    /// One process of a report.
    public struct Process: Sendable {
        /// Its state when the report was taken, or when it was added.
        public let state: ProcessSnapshot
        /// Whether the user wants to see the app.
        public let isWanted: Bool
        /// The part of its footprint that is compressed, or on flash.
        public let compressed: ByteCount
        /// The largest footprint observed: at the monitor's samples, and when its state was taken.
        public let largest: ByteCount
        /// 0 for processes that lived when the report was begun. Processes added later are numbered from 1, in the
        /// order of their ends.
        public let generation: Int
        /// Its end in this session, if the system ended it for memory.
        public internal(set) var kill: Kill?
    }

    /// The end of a process.
    public struct Kill: Hashable, Sendable {
        /// When the process was ended.
        public let at: Instant
        /// Why, in jetsam's words.
        public let cause: KillCause
    }

    /// From 1, in the order of the run.
    public let number: Int
    /// When the report was taken: just before the first kill.
    public let at: Instant
    /// When the session ended.
    public internal(set) var closed: Instant
    /// All RAM of the device.
    public let ceiling: ByteCount
    /// What the system keeps for itself.
    public let reserved: ByteCount
    /// What was available when the report was taken.
    public let available: ByteCount
    /// The memory of the compressor's pool; zero on a device without a compressor.
    public let compressor: ByteCount
    /// In the order in which jetsam ends processes; added processes come last.
    public internal(set) var processes: [Process]
}
