import Quantities

/// What a policy may ask for.
public enum ReclaimAction: Hashable, Sendable {
    /// Tell a running process to free what it can.
    case warn(ProcessID)
    /// Give the process's dirty pages back to the device.
    case purge(ProcessID)
    /// Take the process's purgeable memory that is volatile.
    case discard(ProcessID)
    /// Drop the pages of the process's files; they are read again when the process uses them.
    case dropFiles(ProcessID)
    /// Compress the process's pages, on a device with a compressor.
    case compress(ProcessID)
    /// Move the pages of a suspended app to flash, on a device with a freezer.
    case freeze(ProcessID)
    /// Bring the pages of a process back that are on flash.
    case thaw(ProcessID)
    /// Suspend a background process before its background time is over.
    case suspend(ProcessID)
    /// Disconnect a background or suspended scene; its session is kept.
    case disconnectScene(ProcessID, SceneID)
    /// Ask the process to end (SIGTERM). The process gets a callback, and the time `Deadline.terminationTime` or the
    /// candidate's `grace`. A suspended process gets no callback and ends at once.
    case terminatePolitely(ProcessID)
    /// End the process at once (SIGKILL).
    case terminate(ProcessID)

    /// The kind of an action, without its target. The raw values are the names in the CSV and in rules.
    public enum Kind: String, CaseIterable, Sendable {
        case warn
        case purge
        case discard
        case dropFiles = "drop_files"
        case compress
        case freeze
        case thaw
        case suspend
        case disconnectScene = "disconnect_scene"
        case terminatePolitely = "terminate_politely"
        case terminate

        /// Whether the action ends the process.
        public var isTermination: Bool {
            switch self {
            case .warn, .purge, .discard, .dropFiles, .compress, .freeze, .thaw, .suspend, .disconnectScene: false
            case .terminatePolitely, .terminate: true
            }
        }
    }

    /// The kind of this action.
    public var kind: Kind {
        switch self {
        case .warn: .warn
        case .purge: .purge
        case .discard: .discard
        case .dropFiles: .dropFiles
        case .compress: .compress
        case .freeze: .freeze
        case .thaw: .thaw
        case .suspend: .suspend
        case .disconnectScene: .disconnectScene
        case .terminatePolitely: .terminatePolitely
        case .terminate: .terminate
        }
    }

    /// The action's name in the CSV.
    public var name: String { kind.rawValue }

    /// The process on which the action acts.
    public var target: ProcessID {
        switch self {
        case .warn(let pid), .purge(let pid), .discard(let pid), .dropFiles(let pid), .compress(let pid),
            .freeze(let pid), .thaw(let pid), .suspend(let pid), .disconnectScene(let pid, _),
            .terminatePolitely(let pid), .terminate(let pid):
            pid
        }
    }

    /// The scene that the action disconnects; nil for every other action.
    public var scene: SceneID? {
        guard case .disconnectScene(_, let scene) = self else { return nil }
        return scene
    }

    /// Whether the action ends the process.
    public var isTermination: Bool { kind.isTermination }
}

/// What a policy compared with its own threshold, as whole numbers in the measure's unit.
public struct Evidence: Hashable, Sendable {
    /// The measure's name, with its unit: `available_bytes`, `psi_full_avg10_ppm`, `processes`.
    public var measure: String
    /// What the policy observed, in the measure's unit.
    public var observed: Int64
    /// What it compared that with, in the same unit.
    public var threshold: Int64
    /// The rule that holds, in words.
    public var rule: String

    /// Evidence for `rule`, both numbers in the unit that `measure` names.
    public init(_ measure: String, observed: Int64, threshold: Int64, rule: String) {
        self.measure = measure
        self.observed = observed
        self.threshold = threshold
        self.rule = rule
    }

    /// A sentence for people.
    public var text: String { text(scale: .one) }

    /// A sentence for people, with the sizes of the original of a scale model.
    ///
    /// - Parameter scale: That of the device, above zero.
    public func text(scale: Ratio) -> String {
        func shown(_ value: Int64) -> String? {
            if measure.hasSuffix("_bytes") { return ByteCount(Int(value)).onOriginal(of: scale).readable }
            return measure.hasSuffix("_ppm")
                ? Ratio(partsPerMillion: value).readable(isAbove: value == observed && observed > threshold) : nil
        }
        guard let value = shown(observed), let bound = shown(threshold) else {
            return "\(rule) (\(measure) \(observed), threshold \(threshold))"
        }
        return "\(rule) (\(value), threshold \(bound))"
    }
}

/// One action the policy would take. A ranking lists them in the order in which it would act.
public struct Candidate: Hashable, Sendable {
    /// What to do, and to which process or scene.
    public var action: ReclaimAction
    /// The number that the ranking compared; the larger goes first. The unit is the policy's own. `Int64.max` stands
    /// for endless, such as the time until an app is wanted that is never wanted again.
    public var score: Int64
    /// Why the policy wants the action, for people.
    public var reason: String
    /// What made the ranking choose this process, in a few words; nil if the policy does not say it.
    public var standing: String?
    /// The cause of a termination, in jetsam's words; nil if none fits.
    public var cause: KillCause?
    /// The number of the rule that wants the action; nil if the policy has no rules.
    public var rule: Int?
    /// What this candidate's rule or step compared. Nil if the demand's own comparison is all.
    public var evidence: Evidence?
    /// Whether the action belongs in a report of kills. The report is written before the first such action of a
    /// decision.
    public var isReported = true
    /// The control group that ends with the process; nil: it ends alone.
    public var groupEnd: GroupEnd?
    /// How long the process has to end after it is asked to, if longer than UIKit allows; nil: UIKit's time.
    public var grace: TimeSpan?

    /// The score as tables show it; nil: it is endless.
    public var shownScore: Int64? { score == .max ? nil : score }

    /// A candidate without a rule, evidence or grace.
    public init(
        _ action: ReclaimAction, score: Int64, reason: String, standing: String? = nil, cause: KillCause? = nil
    ) {
        self.action = action
        self.score = score
        self.reason = reason
        self.standing = standing
        self.cause = cause
    }
}

/// A process that the policy considered and left alone.
public struct Spared: Hashable, Sendable {
    /// The process left alone.
    public var pid: ProcessID
    /// Why, for people.
    public var reason: String

    /// A process left alone, and why.
    public init(_ pid: ProcessID, reason: String) {
        self.pid = pid
        self.reason = reason
    }
}

/// Why a policy asks for nothing.
public enum Standstill: Hashable, Sendable {
    /// The policy's own rules call for nothing.
    case content(String)
    /// Something is under way, or more evidence is needed: ask again.
    case waiting(String)

    var reason: String {
        switch self {
        case .content(let reason), .waiting(let reason): reason
        }
    }
}

/// What a policy remembers from one decision to the next: whole numbers by name, all of them zero at first. The
/// simulation keeps them, so a policy itself stays pure. A rule's memory is `RuleMemory`.
public struct PolicyMemory: Hashable, Sendable {
    private var numbers: [String: Int64] = [:]

    /// A memory of zeros.
    public init() {}

    /// The number with this name.
    public subscript(name: String) -> Int64 {
        get { numbers[name] ?? 0 }
        set { numbers[name] = newValue == 0 ? nil : newValue }
    }
}

/// A policy's answer: the actions it would take, best first, and the processes it spares with the reasons. The
/// simulation checks the limits, carries out the first action they allow, measures again and asks again.
public struct Decision: Hashable, Sendable {
    /// The actions, best first.
    public var ranking: [Candidate]
    /// The processes left alone, with the reasons.
    public var spared: [Spared]
    /// What triggered the policy, recorded for the spared processes; nil if the demand did. Each candidate has its
    /// own.
    public var evidence: Evidence?
    /// Why the policy asks for nothing, or for nothing beyond the ranking. If it is nil and the ranking is empty, there
    /// is no victim left.
    public var standstill: Standstill?
    /// The policy need not be asked again before this time has passed, except for a limit and, unless the policy looks
    /// at times of its own, for a waiting allocation.
    public var nextLook: TimeSpan?
    /// The processes, in band order, whose state is written down before the first reported action; nil: no report.
    public var report: [ProcessID]?
    /// What jetsam has under way from now on; nil: as before. The simulation keeps it in the history, unless nothing is
    /// carried out (a dry run).
    public var course: JetsamCourse?
    /// What lmkd remembers from now on; nil: as before.
    public var lmkd: LMKDCourse?
    /// What a policy of any kind remembers from now on; nil: as before. The next snapshot has it in its history.
    public var memory: PolicyMemory?
    /// The process of the policy's first choice, where the scenario had the policy err and take another candidate; nil
    /// otherwise.
    public var erredFrom: ProcessID?
    /// The decision is the monitor's, not the policy's: the monitor ends suspended processes before it warns running
    /// ones.
    public var isByMonitor = false

    /// A decision, by default one that asks for nothing.
    public init(
        ranking: [Candidate] = [], spared: [Spared] = [], evidence: Evidence? = nil, standstill: Standstill? = nil
    ) {
        self.ranking = ranking
        self.spared = spared
        self.evidence = evidence
        self.standstill = standstill
    }

    /// Whether the policy waits for more evidence or for something under way.
    public var isWaiting: Bool {
        if case .waiting = standstill { return true }
        return false
    }

    /// Why nothing is done, for people.
    public var standstillText: String {
        switch standstill {
        case .content(let reason): "nothing to do: \(reason)"
        case .waiting(let reason): "waits: \(reason)"
        case nil: "no victim: no process is left that may be reclaimed"
        }
    }
}
