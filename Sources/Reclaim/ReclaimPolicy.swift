import Quantities

/// Decides which processes give memory back, and in which order. Pure: the same snapshot gives the same decision.
public protocol ReclaimPolicy: Sendable {
    /// The name in scenarios; file, type and name agree (`LongestIdleFirst.swift`, `longest-idle-first`).
    static var name: String { get }
    /// One line for `plimsoll list policies`.
    static var summary: String { get }
    /// A sentence to show when a scenario that names the policy is checked or run; nil: none.
    static var advice: String? { get }
    /// What scenarios can set: each entry declares one parameter and the field it sets.
    static var parameters: [Parameter<Self>] { get }
    /// What the policy needs from the simulation, other than being asked when the monitor or a limit makes a demand.
    static var needs: PolicyNeeds { get }

    /// The policy with every field at its default.
    init()

    /// Answers one question: what to do, in which order, and which processes to spare. The simulation acts, measures
    /// again and asks again.
    func decide(_ snapshot: SystemSnapshot) -> Decision

    /// With at least this much memory available and without a demand, the policy does not act, whatever the processes
    /// and the history are. So the simulation does not ask it while the level has been normal throughout. Nil: a
    /// policy that needs every sample is asked at every sample.
    func contentAbove(on device: DeviceSize) -> ByteCount?

    /// Updates the rule memory with this snapshot and returns the new state. The simulation keeps the state in the
    /// history, for a policy that requests it in `needs`. Following the same snapshot twice gives the same state.
    func follow(_ snapshot: SystemSnapshot) -> [RuleMemory]
}

/// What a policy needs from the simulation.
public struct PolicyNeeds: OptionSet, Hashable, Sendable {
    /// The bits of the set.
    public let rawValue: Int

    /// A set from its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The policy has its own thresholds and is asked at every sample.
    public static let everySample = PolicyNeeds(rawValue: 1)
    /// The policy knows the future launches.
    public static let oracle = PolicyNeeds(rawValue: 2)
    /// The device has as much memory as the apps want.
    public static let unboundedMemory = PolicyNeeds(rawValue: 4)
    /// The policy's rules have durations and cool-downs, which are updated at every sample.
    public static let ruleMemory = PolicyNeeds(rawValue: 8)
    /// The policy is a daemon that looks at times of its own: an allocation that waits for memory does not wake it
    /// before its next look.
    public static let ownTimes = PolicyNeeds(rawValue: 16)
    /// What the policy compares with `contentAbove` is `SystemSnapshot.obtainable`: free memory, and what the system
    /// takes for nothing. Without this, it is `available`.
    public static let obtainable = PolicyNeeds(rawValue: 32)
}

extension ReclaimPolicy {
    /// Nothing beyond being asked on demand.
    public static var needs: PolicyNeeds { [] }
    /// No advice.
    public static var advice: String? { nil }
    /// Nil: there is no such threshold.
    public func contentAbove(on device: DeviceSize) -> ByteCount? { nil }
    /// Empty: the policy has no rules.
    public func follow(_ snapshot: SystemSnapshot) -> [RuleMemory] { [] }
}

/// All policies; add a new one here.
public enum PolicyCatalogue {
    /// The policy types, in the order in which they are listed.
    public static let all: [any ReclaimPolicy.Type] = [
        Ladder.self, Jetsam.self, JetsamClassic.self, LMKD.self, LMKDMinfree.self, EarlyOOM.self, SystemdOOMD.self,
        LRU.self, LargestFirst.self, CheapestRelaunch.self, Foresight.self, Unbounded.self, None.self,
    ]

    /// The policy type with this name; nil if there is none.
    public static func type(named name: String) -> (any ReclaimPolicy.Type)? {
        all.first { $0.name == name }
    }
}
