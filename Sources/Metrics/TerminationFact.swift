import Lifecycle
import Quantities

extension RunTally {
    /// A process that the system ended; an app that the user quits is not one. It is a row of `terminations.csv`.
    public struct TerminationFact: Sendable {
        /// The app's name.
        public var app: String
        /// The process that ended.
        public var pid: ProcessID
        /// When the process ended.
        public var at: Instant
        /// Why the system ended the process.
        public var reason: ExitReason
        /// Whether the app was on screen.
        public var wasForeground: Bool
        /// Whether the user wanted the app again soon after, even if the system had launched it in the meantime.
        public var wasPerceived: Bool
        /// The time from the end to the moment at which the user wanted the app again; nil if the user never did, had
        /// swiped the app away, or had never seen this process.
        public var wantedAfter: TimeSpan?
        /// The process's footprint when it ended.
        public var footprint: ByteCount
        /// The app for whose sake it was ended. Nil if it ended for no app's sake.
        public var beneficiary: Beneficiary?
        /// How it came to its end.
        public var course: TerminationCourse

        /// All facts of one termination.
        public init(
            app: String, pid: ProcessID, at: Instant, reason: ExitReason, wasForeground: Bool, wasPerceived: Bool,
            footprint: ByteCount, beneficiary: Beneficiary? = nil, course: TerminationCourse = TerminationCourse()
        ) {
            self.app = app
            self.pid = pid
            self.at = at
            self.reason = reason
            self.wasForeground = wasForeground
            self.wasPerceived = wasPerceived
            self.footprint = footprint
            self.beneficiary = beneficiary
            self.course = course
        }
    }

    /// How a process came to be ended, in the words of the tables.
    public struct TerminationCourse: Sendable {
        /// The kind of process: `app`, or that of an extension, a helper or a daemon.
        public var kind = "app"
        /// The state that the system saw it in.
        public var state = ProcessPhase.notRunning
        /// Its jetsam priority band; of a process that the policy ended, the band that the policy saw.
        public var band: Int?
        /// The cause in the kernel's words; nil where the exit reason says it.
        public var cause: String?
        /// For people: why it was ended.
        public var explanation = ""
        /// The number of the policy's last decision to end it; nil if the policy did not.
        public var decision: Int?
        /// What the policy had been asked for; nil if the policy did not end it.
        public var demand: String?
        /// The monitor's level then; nil if the policy did not end it.
        public var level: String?
        /// For people, in a few words: what was short, or which limit was crossed. Sizes are those of the device that
        /// a scale model stands for.
        public var inShort = ""
        /// For people: what the monitor saw, where that was compared.
        public var reading: String?
        /// For people, in a few words: what made this process the one to end; nil if there is nothing to say.
        public var standing: String?
        /// What was compared, its unit last.
        public var measure: String?
        /// The observed value of the measure.
        public var observed: Int64?
        /// What the observed value was compared with.
        public var threshold: Int64?
        /// How long it had been off screen; zero on screen, and the time since its start if it never was there.
        public var idle = TimeSpan.zero
        /// The time from the last memory warning that it was given; nil if it never was warned.
        public var warnedBefore: TimeSpan?
        /// What had failed because the scenario says so.
        public var failures = Failures()

        /// Nothing is known yet.
        public init() {}
    }

    /// What had failed before a process was ended, because the scenario says so.
    public struct Failures: Sendable {
        /// The time from the last memory warning to it that was lost; nil if none was.
        public var lostWarningBefore: TimeSpan?
        /// The time from the sending of a memory warning that had not reached it; nil if none was under way.
        public var lateWarningBefore: TimeSpan?
        /// How long its main thread had not answered; nil if it did not hang.
        public var hung: TimeSpan?
        /// How many samples a faulty monitor missed in the ten seconds before.
        public var samplesMissed = 0
        /// The time from the crash of the app's process before it; nil if that did not crash by itself.
        public var crashedBefore: TimeSpan?
        /// The processes that had been ended for memory and refused to die, in the order of their ends.
        public var refusals: [RefusedExit] = []

        /// Nothing has failed.
        public init() {}
    }

    /// A process that was ended and refuses to die.
    public struct RefusedExit: Hashable, Sendable {
        /// The app's name.
        public let app: String
        /// How long ago it was ended.
        public let since: TimeSpan
        /// What it still holds.
        public let held: ByteCount

        /// A process of the app, ended this long ago.
        public init(app: String, since: TimeSpan, held: ByteCount) {
            (self.app, self.since, self.held) = (app, since, held)
        }
    }

    /// The app for whose sake a process was ended.
    ///
    /// It is the app whose allocation waits; for the process's own limit or own allocation, the process's app itself;
    /// for a level of pressure, the other app that took most pages from free memory shortly before. A process that ends
    /// under a rule about background, time, CPU or locks ends for nobody's sake. The rule for a level is ours: no
    /// system records for whom it acts.
    public struct Beneficiary: Hashable, Sendable {
        /// The app's name. It may be the app that was ended.
        public var app: String
        /// What the app needed the memory for.
        public var need: Need
        /// What the app was doing.
        public var stage: Stage
        /// For a level of pressure: the pages that the app had taken from free memory shortly before; otherwise nil.
        public var taken: ByteCount?

        /// An app and its need.
        public init(app: String, need: Need, stage: Stage, taken: ByteCount? = nil) {
            self.app = app
            self.need = need
            self.stage = stage
            self.taken = taken
        }
    }

    /// What an app needed memory for when a process was ended.
    public enum Need: String, CaseIterable, Hashable, Sendable {
        /// The app's allocation had found no room, and another process was ended.
        case allocation
        /// There was a level of pressure, and the app had taken most pages.
        case level
        /// The process's own allocation found no room.
        case ownAllocation = "own_allocation"
        /// The process crossed its own limit.
        case ownLimit = "own_limit"
    }

    /// What an app was doing when a process was ended for its sake.
    public enum Stage: CaseIterable, Hashable, Sendable {
        /// The user was launching it.
        case launch
        /// It was in front, launched.
        case front
        /// It was off screen.
        case offScreen
    }
}

extension RunTally.TerminationFact {
    /// What was short or crossed, with what the monitor saw.
    public var cause: String { course.inShort + (course.reading.map { ": \($0)" } ?? "") }

    /// Whether the user feels the termination: the app vanished while in use, or the user wanted it again soon after.
    public var isFelt: Bool { wasForeground || wasPerceived }
}
