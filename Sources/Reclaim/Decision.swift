import Quantities

/// What a policy may ask for.
public enum ReclaimAction: Hashable, Sendable {
    /// Give the process's dirty pages back to the device.
    case purge(ProcessID)
    /// Stop a background process's code before its time.
    case suspend(ProcessID)
    /// Disconnect a background or suspended scene; its session is kept.
    case disconnectScene(ProcessID, SceneID)
    case terminate(ProcessID)

    /// The action's name in the CSV.
    public var name: String {
        switch self {
        case .purge: "purge"
        case .suspend: "suspend"
        case .disconnectScene: "disconnect_scene"
        case .terminate: "terminate"
        }
    }

    public var target: ProcessID {
        switch self {
        case .purge(let pid), .suspend(let pid), .disconnectScene(let pid, _), .terminate(let pid): pid
        }
    }
}

/// One process or scene that the policy looked at, in the order in which it would act.
public struct Candidate: Hashable, Sendable {
    public var action: ReclaimAction
    /// What the ranking compared; larger goes first. Its unit is the policy's own.
    public var score: Int64
    public var reason: String

    public init(_ action: ReclaimAction, score: Int64, reason: String) {
        self.action = action
        self.score = score
        self.reason = reason
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

/// A policy's answer: what it would do, best first, and whom it spares and why. The simulation checks the limits, does
/// the first thing that they allow, measures again, and asks again.
public struct Decision: Hashable, Sendable {
    public var ranking: [Candidate]
    public var spared: [Spared]

    public init(ranking: [Candidate] = [], spared: [Spared] = []) {
        self.ranking = ranking
        self.spared = spared
    }
}
