import Quantities

/// What a policy may ask for.
public enum ReclaimAction: Hashable, Sendable {
    /// Tell a running process to free what it can.
    case warn(ProcessID)
    /// Give the process's dirty pages back to the device.
    case purge(ProcessID)
    /// Stop a background process's code before its time.
    case suspend(ProcessID)
    /// Disconnect a background or suspended scene; its session is kept.
    case disconnectScene(ProcessID, SceneID)
    /// Ask it to end (SIGTERM): it is called back and has `Deadline.terminate`, or its candidate's `grace`. Suspended,
    /// it hears nothing and ends at once.
    case terminatePolitely(ProcessID)
    /// End it at once (SIGKILL).
    case terminate(ProcessID)

    /// What it is, whomever it is done to: the names of the CSV and of rules.
    public enum Kind: String, CaseIterable, Sendable {
        case warn
        case purge
        case suspend
        case disconnectScene = "disconnect_scene"
        case terminatePolitely = "terminate_politely"
        case terminate

        /// Whether the process is gone after it.
        public var isTermination: Bool {
            switch self {
            case .warn, .purge, .suspend, .disconnectScene: false
            case .terminatePolitely, .terminate: true
            }
        }
    }

    public var kind: Kind {
        switch self {
        case .warn: .warn
        case .purge: .purge
        case .suspend: .suspend
        case .disconnectScene: .disconnectScene
        case .terminatePolitely: .terminatePolitely
        case .terminate: .terminate
        }
    }

    /// The action's name in the CSV.
    public var name: String { kind.rawValue }

    public var target: ProcessID {
        switch self {
        case .warn(let pid), .purge(let pid), .suspend(let pid), .disconnectScene(let pid, _),
            .terminatePolitely(let pid), .terminate(let pid):
            pid
        }
    }

    /// The scene that it is about, if it is about one.
    public var scene: SceneID? {
        guard case .disconnectScene(_, let scene) = self else { return nil }
        return scene
    }

    /// Whether the process is gone after it.
    public var isTermination: Bool { kind.isTermination }
}

/// What a policy compared with which threshold of its own, as whole numbers in the measure's unit.
public struct Evidence: Hashable, Sendable {
    /// With its unit: `available_bytes`, `psi_full_avg10_ppm`, `processes`.
    public var measure: String
    public var observed: Int64
    public var threshold: Int64
    /// The rule that holds, in words.
    public var rule: String

    public init(_ measure: String, observed: Int64, threshold: Int64, rule: String) {
        self.measure = measure
        self.observed = observed
        self.threshold = threshold
        self.rule = rule
    }

    /// For people.
    public var text: String {
        guard measure.hasSuffix("_bytes") else { return "\(rule) (\(measure) \(observed), threshold \(threshold))" }
        return "\(rule) (\(ByteCount(Int(observed)).readable), threshold \(ByteCount(Int(threshold)).readable))"
    }
}

/// One process or scene that the policy looked at, in the order in which it would act.
public struct Candidate: Hashable, Sendable {
    public var action: ReclaimAction
    /// What the ranking compared; larger goes first. Its unit is the policy's own.
    public var score: Int64
    public var reason: String
    public var cause: KillCause?
    /// The number of the rule that wants it, for a policy that has rules.
    public var rule: Int?
    /// What its own rule or step compared; nil: no more than what the demand is about.
    public var evidence: Evidence?
    /// The decision's report, if it has one, is written down before an action that is reported.
    public var isReported = true
    /// How long it has to end when it is asked to, if that is longer than what UIKit gives; nil: what UIKit gives.
    public var grace: TimeSpan?

    public init(_ action: ReclaimAction, score: Int64, reason: String, cause: KillCause? = nil) {
        self.action = action
        self.score = score
        self.reason = reason
        self.cause = cause
    }
}

/// A process that the policy looked at and left alone.
public struct Spared: Hashable, Sendable {
    public var pid: ProcessID
    public var reason: String

    public init(_ pid: ProcessID, reason: String) {
        self.pid = pid
        self.reason = reason
    }
}

/// Why a policy asks for nothing although it was asked.
public enum Standstill: Hashable, Sendable {
    /// By its own rules nothing has to be done.
    case content(String)
    /// Something is under way, or more evidence is needed: ask again.
    case waiting(String)

    var reason: String {
        switch self {
        case .content(let reason), .waiting(let reason): reason
        }
    }
}

/// A policy's answer: what it would do, best first, and whom it spares and why. The simulation checks the limits, does
/// the first thing that they allow, measures again, and asks again.
public struct Decision: Hashable, Sendable {
    public var ranking: [Candidate]
    public var spared: [Spared]
    /// The policy's own trigger, for those who are spared; nil: the demand's. A candidate has its own.
    public var evidence: Evidence?
    /// Why nothing is asked for, or nothing more than the ranking; nil with an empty ranking says that nobody is left.
    public var standstill: Standstill?
    /// The policy does not want to be asked again before this time has passed, unless memory is being waited for.
    public var nextLook: TimeSpan?
    /// The state of all processes, in the order of bands, is to be written down before an action that is reported.
    public var report: [ProcessID]?
    /// It is not the policy's: the monitor has suspended apps ended before it tells those that run.
    public var isByMonitor = false

    public init(
        ranking: [Candidate] = [], spared: [Spared] = [], evidence: Evidence? = nil, standstill: Standstill? = nil
    ) {
        self.ranking = ranking
        self.spared = spared
        self.evidence = evidence
        self.standstill = standstill
    }

    /// More evidence is needed, or something is under way.
    public var isWaiting: Bool {
        if case .waiting = standstill { return true }
        return false
    }

    /// Why nothing is done, for people.
    public var standstillText: String {
        switch standstill {
        case .content(let reason): "nothing to do: \(reason)"
        case .waiting(let reason): "waits: \(reason)"
        case nil: "no victim: nobody is left who may be reclaimed"
        }
    }
}
