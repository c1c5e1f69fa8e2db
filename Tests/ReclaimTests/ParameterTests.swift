import Lifecycle
import Pressure
import Quantities
import Testing

@testable import Reclaim

/// A case: another value of a parameter, and a snapshot at which it changes the decision.
struct ParameterCase {
    let value: ParameterValue
    let snapshot: SystemSnapshot

    init(_ value: ParameterValue, _ snapshot: SystemSnapshot) {
        self.value = value
        self.snapshot = snapshot
    }
}

@Suite("every parameter of every policy matters")
struct ParameterTests {
    /// Every parameter in the code, in the form `policy.parameter`.
    static let all: [String] = PolicyCatalogue.all.flatMap { type in
        type.parameterTable.map { "\(type.name).\($0.name)" }
    }

    /// The number of moments drawn for a parameter before it counts as ineffective.
    private static let moments = 20_000

    /// A moment and a value of the parameter that change the policy's decision.
    static func search(_ type: any ReclaimPolicy.Type, _ parameter: PolicyParameter) -> ParameterCase? {
        var random = RandomMoments(seed: 1, stream: "\(type.name).\(parameter.name)")
        let standard = type.init()
        for _ in 0..<moments {
            let found = ParameterCase(random.value(of: parameter), random.next())
            let other = type.init([.init(name: parameter.name, value: found.value)])
            let (a, b) = (standard.decide(found.snapshot), other.decide(found.snapshot))
            if Deed(a) != Deed(b) { return found }
        }
        return nil
    }

    @Test("another value of a parameter changes a decision at one of many moments drawn at random", arguments: all)
    func matters(name: String) throws {
        let parts = name.split(separator: ".").map(String.init)
        let type = try #require(PolicyCatalogue.type(named: parts[0]))
        let parameter = try #require(type.parameterTable.first { $0.name == parts[1] })
        #expect(Self.search(type, parameter) != nil, "\(name) changes nothing")
    }

    @Test("a parameter that changes nothing is found out")
    func idle() {
        #expect(Self.search(Idle.self, Idle.parameterTable[0]) == nil)
    }
}

/// The effects of a decision, without its reasons.
private struct Deed: Equatable {
    let actions: [ReclaimAction]
    let causes: [KillCause?]
    let graces: [TimeSpan?]
    let nextLook: TimeSpan?
    let isWaiting: Bool

    init(_ decision: Decision) {
        actions = decision.ranking.map(\.action)
        causes = decision.ranking.map(\.cause)
        graces = decision.ranking.map(\.grace)
        (nextLook, isWaiting) = (decision.nextLook, decision.isWaiting)
    }
}

/// A policy with a parameter that it does not use.
private struct Idle: ReclaimPolicy {
    static let name = "idle"
    static let summary = "does nothing"
    static let parameters: [Parameter<Self>] = [
        Parameter(\.patience, "patience", from: .zero, to: .hours(1), meaning: "is not used", source: "ours")
    ]

    private var patience = TimeSpan.zero

    func decide(_ snapshot: SystemSnapshot) -> Decision { .nothing(.content("it never acts"), snapshot) }
}
