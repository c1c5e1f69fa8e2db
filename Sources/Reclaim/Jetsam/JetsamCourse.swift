import Pressure
import Quantities

/// What jetsam has under way, from one decision to the next. The kernel ends several processes in one go and looks at
/// memory only after that; a decision names one action, so the rest has to be remembered. Each decision returns the
/// course from then on (`Decision.course`).
///
/// Source: xnu-11417.101.15, bsd/kern/kern_memorystatus.c.
public struct JetsamCourse: Hashable, Sendable {
    /// The processes that the reaper's sweep has still to end, in their order; empty: no sweep is under way.
    public var sweep: [ProcessID] = []
    /// When a sweep last looked for a victim, the first time included; nil: there was no sweep.
    public var swept: Instant?
    /// The round of the aggressive mode that is under way.
    public var round: Round?
    /// When the time began within which rounds count (`jld_timestamp_msecs`); nil: never.
    public var windowBegan: Instant?
    /// How many rounds have begun since `windowBegan` (`jld_eval_aggressive_count`).
    public var rounds = 0
    /// The process whose purgeable memory is being taken before its end.
    public var purge: Purge?

    /// One round of the aggressive mode (`memorystatus_kill_processes_aggressive`).
    public struct Round: Hashable, Sendable {
        /// The processes that it has still to end, in their order.
        public var victims: [ProcessID]
        /// The highest band that it reaches. A process that has risen above it meanwhile is spared.
        public let highest: JetsamBand
        /// How many processes it ends at most.
        public let most: Int
        /// When it began.
        public let began: Instant
        /// When it last looked for a victim.
        public var asked: Instant
    }

    /// A victim that gives its purgeable memory first (`memorystatus_kill_proc`).
    public struct Purge: Hashable, Sendable {
        /// The victim.
        public let pid: ProcessID
        /// Its band at that time. A process that has risen above it meanwhile is spared.
        public let band: JetsamBand
        /// Why it ends if that memory is not enough.
        public let cause: KillCause
    }

    /// Nothing under way.
    public init() {}

    /// Whether there is something to go on with, however much memory is available.
    public var isBusy: Bool { !sweep.isEmpty || round != nil || purge != nil }
}
