import Plan
import Quantities
import Testing

@testable import Scenario
@testable import Worlds

/// A size or a rate either shrinks with the device or stays for a reason that is given here. A new key that says
/// neither fails.
@Suite("what a scale model scales")
struct ScaleTests {
    /// Keys, or the records that hold them, whose sizes stay as they are.
    private static let kept: [(key: String, why: String)] = [
        ("apps[].memory", "apps ask for what they ask for; the device grants it at its scale"),
        ("apps[].deferred.memory", "as for the memory of callbacks"),
        ("apps[].background.snapshot", "an app lets go of what it asked for"),
        ("processes[].memory", "as for apps"),
        ("processes[].background.snapshot", "as for apps"),
        ("device.page", "the kernel's pages do not shrink"),
        ("device.fill_rate", "it counts what apps request"),
        ("device.file_cache.read_rate", "pages of files are counted at full scale"),
    ]

    /// Parameters of policies say in their own declarations whether they scale (`PolicyParameter.isScaled`).
    private static let parameters = "policy.parameters"

    @Test("every size and rate of the format scales, or says why not")
    func everySize() throws {
        var (scaled, same) = (Set<String>(), Set<String>())
        for seed in 0..<150 as Range<UInt64> {
            let world = World(seed: seed)
            let plan = try ScenarioLoader.load(text: world.document.denseYAML, file: "world-\(seed)").get()
            let (whole, half) = (Self.sizes(of: plan), Self.sizes(of: plan.scaled(by: .percent(50))))
            for (path, values) in whole { if half[path] == values { same.insert(path) } else { scaled.insert(path) } }
        }
        #expect(scaled.isSuperset(of: ["device.ceiling", "device.reserved", "device.reclaim_rate"]))
        for path in same.subtracting(scaled).sorted() where !Self.isWithin(path, Self.parameters) {
            #expect(Self.kept.contains { Self.isWithin(path, $0.key) }, "\(path) does not scale, and nothing says why")
        }
        for (key, why) in Self.kept {
            #expect(same.contains { Self.isWithin($0, key) }, "nothing stays in \(key) (\(why))")
            #expect(!scaled.contains { Self.isWithin($0, key) }, "\(key) scales, but should stay: \(why)")
        }
    }

    private static func isWithin(_ path: String, _ key: String) -> Bool {
        path == key || path.hasPrefix(key + ".") || path.hasPrefix(key + "[")
    }

    /// The sizes and rates of the plan as a scenario, zeros apart, by their keys.
    private static func sizes(of plan: RunPlan) -> [String: [String]] {
        let tree = RunPlan.definition.encode(plan, Encoding(appNames: plan.apps.map(\.name)))
        var sizes: [String: [String]] = [:]
        for word in FormatKeys.used(in: tree) {
            guard let equals = word.firstIndex(of: "=") else { continue }
            let value = word[word.index(after: equals)...]
            guard value.first?.isNumber == true, value.contains("B"), value != "0B" else { continue }
            sizes[String(word[..<equals]), default: []].append(String(value))
        }
        return sizes
    }
}
