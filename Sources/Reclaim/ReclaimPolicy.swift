import Quantities

/// Decides whose memory is taken back, and in which order. Pure: the same snapshot gives the same decision.
public protocol ReclaimPolicy: Sendable {
    /// The name in scenarios; file, type and name agree (`LongestIdleFirst.swift`, `longest-idle-first`).
    static var name: String { get }
    /// One line for `plimsoll list policies`.
    static var summary: String { get }
    /// What a scenario that names the policy is told when it is checked and run, as a sentence; nil: nothing.
    static var advice: String? { get }
    /// What scenarios can set: each entry declares a parameter and the field that it sets.
    static var parameters: [Parameter<Self>] { get }
    /// What the policy needs beside being asked when the monitor or a limit demands something.
    static var needs: PolicyNeeds { get }

    /// The policy with every field at its default.
    init()

    func decide(_ snapshot: SystemSnapshot) -> Decision

    /// With so much available on the device, nothing demanded and the level normal all along, the policy is
    /// content whatever the processes are and whatever has been: it need not be asked. Nil: it is asked at every sample
    /// if it needs that.
    func contentAbove(on device: DeviceSize) -> ByteCount?

    /// What becomes, at this snapshot, of the memory that the simulation keeps for the policy in the history. A policy
    /// that wants it kept says so in `needs`; following the same snapshot twice gives the same.
    func follow(_ snapshot: SystemSnapshot) -> [RuleMemory]
}

/// What a policy needs of the simulation.
public struct PolicyNeeds: OptionSet, Hashable, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// It has thresholds of its own, and is asked at every sample.
    public static let everySample = PolicyNeeds(rawValue: 1)
    /// It knows the future launches.
    public static let oracle = PolicyNeeds(rawValue: 2)
    /// The device has as much memory as the apps want.
    public static let unboundedMemory = PolicyNeeds(rawValue: 4)
    /// Its rules have durations and cool-downs, which follow every sample.
    public static let ruleMemory = PolicyNeeds(rawValue: 8)
}

extension ReclaimPolicy {
    public static var needs: PolicyNeeds { [] }
    public static var advice: String? { nil }
    public func contentAbove(on device: DeviceSize) -> ByteCount? { nil }
    public func follow(_ snapshot: SystemSnapshot) -> [RuleMemory] { [] }
}

/// Every policy; a new one is added here.
public enum PolicyCatalogue {
    public static let all: [any ReclaimPolicy.Type] = [
        Ladder.self, Jetsam.self, JetsamClassic.self, LMKD.self, LMKDMinfree.self, EarlyOOM.self, SystemdOOMD.self,
        LRU.self, LargestFirst.self, CheapestRelaunch.self, Foresight.self, Unbounded.self, None.self,
    ]

    /// The policy type of that name.
    public static func type(named name: String) -> (any ReclaimPolicy.Type)? {
        all.first { $0.name == name }
    }
}
