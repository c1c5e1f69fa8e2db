import Quantities
import Synchronization

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

    /// Whether the policy has something under way that it goes on with even above `contentAbove`.
    func isBusy(_ history: ReclaimHistory) -> Bool

    /// Updates the rule memory with this snapshot and returns the new state. The simulation keeps the state in the
    /// history, for a policy that requests it in `needs`. Following the same snapshot twice gives the same state.
    func follow(_ snapshot: SystemSnapshot) -> [RuleMemory]
}

extension ReclaimPolicy {
    /// Nothing beyond being asked on demand.
    public static var needs: PolicyNeeds { [] }
    /// No advice.
    public static var advice: String? { nil }
    /// Nil: there is no such threshold.
    public func contentAbove(on device: DeviceSize) -> ByteCount? { nil }
    /// False: each decision stands alone.
    public func isBusy(_ history: ReclaimHistory) -> Bool { false }
    /// Empty: the policy has no rules.
    public func follow(_ snapshot: SystemSnapshot) -> [RuleMemory] { [] }
}

/// All policies; add a new one of the project here.
public enum PolicyCatalogue {
    /// The project's own policy types, in the order in which they are listed.
    private static let own: [any ReclaimPolicy.Type] = [
        Ladder.self, Jetsam.self, JetsamClassic.self, LMKD.self, LMKDMinfree.self, EarlyOOM.self, SystemdOOMD.self,
        KernelOOM.self, LRU.self, LargestFirst.self, CheapestRelaunch.self, Foresight.self, Unbounded.self, None.self,
    ]
    private static let added = Mutex<[any ReclaimPolicy.Type]>([])

    /// The policy types, in the order in which they are listed: those of another package come last.
    public static var all: [any ReclaimPolicy.Type] { own + added.withLock(\.self) }

    /// Adds a policy of another package, so that scenarios and commands know it by its name. Call it before anything
    /// asks for a policy. Traps on a name that a policy has.
    public static func add(_ type: any ReclaimPolicy.Type) {
        precondition(PolicyCatalogue.type(named: type.name) == nil, "there is a policy '\(type.name)' already")
        added.withLock { $0.append(type) }
    }

    /// The policy type with this name; nil if there is none.
    public static func type(named name: String) -> (any ReclaimPolicy.Type)? {
        own.first { $0.name == name } ?? added.withLock { $0.first { $0.name == name } }
    }
}
