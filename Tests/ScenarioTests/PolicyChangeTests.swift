import Foundation
import Quantities
import Reclaim
import Simulation
import Testing

@testable import Scenario

/// `explain` prints a command, so its key must address the number in the effective scenario.
@Suite("changes of a policy's numbers")
struct PolicyChangeTests {
    @Test("each shipped policy file has numbers, all within reach of --set", arguments: ProjectPolicyTests.files)
    func shippedFiles(file: String) throws {
        try check(Overrides(policy: ProjectPolicyTests.folder.appending(path: file).path()))
    }

    @Test("so has a scaled run of it", arguments: ProjectPolicyTests.files)
    func scaledRuns(file: String) throws {
        try check(Overrides(policy: ProjectPolicyTests.folder.appending(path: file).path(), scale: .percent(50)))
    }

    @Test("so has each policy of the catalogue that has numbers")
    func parameters() throws {
        for policy in PolicyCatalogue.all where !policy.parameterTable.isEmpty {
            try check(Overrides(policy: policy.name))
        }
    }

    @Test(
        "so has every claim of conditions within conditions",
        arguments: [
            "available < 10% for 2s", "[available < 10%]", "[available < 10%, used > 1MiB for 3s]",
            "{ all: [available < 10%, used > 1MiB] }", "{ any: [available < 10%, used > 1MiB] }",
            "{ not: available < 10% }", "{ not: [available < 10%, used > 1MiB] }",
            "{ not: { not: { any: [available < 10%, { all: [used > 1MiB, available < 9%] }] } } }",
            "[[available < 10%, used > 1MiB], { any: [[available < 9%], available < 8%] }]",
            "{ all: [{ any: [available < 10%, [used > 1MiB, { not: [available < 9%] }]] }, available < 8%] }",
        ])
    func nested(condition: String) throws {
        let who = condition.replacing("available < ", with: "footprint > ").replacing("used > ", with: "dirty > ")
            .replacing(" for 2s", with: "").replacing(" for 3s", with: "")
        let others =
            "{ name: a.b, when: level == warning }, { name: a, when: available < 50%, take: 5%, cool_down: 2s }"
        let rule = "{ name: r, when: \(condition), who: \(who), until: \(condition), take: 3 }"
        let names = try check(Overrides(sets: ["policy={ name: ladder, rules: [\(others), \(rule)] }"]))
        for place in ["r.when", "r.who", "r.until", "r.take", "a.when", "a.take", "a.cool_down"] {
            #expect(names.contains { $0.hasPrefix(place) }, "no number of \(place) is changed: \(names)")
        }
    }

    /// Applies the nearest and the farthest change of each number to the effective scenario, as a reader would.
    @discardableResult
    private func check(_ overrides: Overrides) throws -> [String] {
        let text = EffectiveScenario.yaml(of: try Samples.load(Samples.minimal, overrides).get())
        let plan = try Samples.load(text).get()
        let changes = Dictionary(grouping: PolicyChange.all(of: plan), by: \.name)
        #expect(!changes.isEmpty)
        for (name, changes) in changes {
            for change in Set([changes.first, changes.last].compactMap(\.self)) {
                let changed = Samples.load(text, Overrides(sets: [change.assignment]))
                guard case .success(let plan) = changed else {
                    Issue.record("\(name): --set '\(change.assignment)' is refused: \(changed)")
                    continue
                }
                #expect(
                    inOrder(plan.policy) == inOrder(change.settings),
                    "\(name): --set '\(change.assignment)' changes something else")
            }
        }
        return changes.keys.sorted()
    }

    private func inOrder(_ policy: PolicySettings) -> PolicySettings {
        var policy = policy
        policy.parameters.sort { $0.name < $1.name }
        return policy
    }
}
