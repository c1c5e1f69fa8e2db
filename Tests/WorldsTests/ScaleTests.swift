import Plan
import Quantities
import Testing

@testable import Scenario
@testable import Worlds

/// A size or a rate shrinks with the device or stays, as its codec says (`Codec.scaled`, `Codec.unscaled`). One that
/// says neither does not compile.
@Suite("what a scale model scales")
struct ScaleTests {
    /// Parameters of policies say it in their own declarations (`PolicyParameter.isScaled`), and the sizes of the
    /// kernel's pages are names.
    private static let others = ["policy.parameters", "device.page"]

    @Test("every size and rate of the format scales, unless its field says that it stays")
    func everySize() throws {
        var (scaled, same) = (Set<String>(), Set<String>())
        for seed in 0..<150 as Range<UInt64> {
            let world = World(seed: seed)
            let plan = try ScenarioLoader.load(text: world.document.denseYAML, file: "world-\(seed)").get()
            let (whole, half) = (Self.sizes(of: plan), Self.sizes(of: plan.scaled(by: .percent(50))))
            for (path, values) in whole { if half[path] == values { same.insert(path) } else { scaled.insert(path) } }
        }
        #expect(scaled.isSuperset(of: ["device.ceiling", "device.reserved", "device.reclaim_rate"]))
        for path in same.subtracting(scaled).sorted() where !Self.others.contains(where: { path.hasPrefix($0) }) {
            #expect(
                FormatKey.byPath[path]?.isUnscaled == true, "\(path) does not scale, and its field does not say so")
        }
        for path in FormatKey.byPath.filter(\.value.isUnscaled).map(\.key).sorted() {
            #expect(same.contains(path) && !scaled.contains(path), "\(path) should stay, in some world at least")
        }
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
