import Memory
import Metrics
import Plan
import Quantities
import Simulation

@testable import Explanation
@testable import Scenario

/// Runs of up to five apps on a phone with room for two or three of them.
enum TightPhone {
    /// The apps, with the memory that each fills.
    private static let apps = [("a", 22), ("b", 20), ("c", 18), ("d", 16), ("e", 15)]

    /// A scenario in which the user taps on apps at these seconds: the first tap on an app launches it, each later one
    /// switches to it.
    static func scenario(
        _ policy: String, ceiling: String = "172MiB", seconds: Int, taps: [(at: Int, app: String)]
    ) -> String {
        let names = Set(taps.map(\.app))
        let phone = apps.filter { names.contains($0.0) }.map { name, size in
            "  - { name: \(name), memory: { base: \(size)MiB, scene: 4MiB } }"
        }
        let user = taps.enumerated().map { index, tap in
            let isFirst = !taps[..<index].contains { $0.app == tap.app }
            return "  - { at: \(tap.at)s, \(isFirst ? "launch" : "switch"): \(tap.app) }"
        }
        let lines = [
            "plimsoll: 1", "name: tight", "duration: \(seconds)s", "backend: accounting",
            "device: { ceiling: \(ceiling), reserved: 16MiB }", "monitor: { preset: brisk }", "policy: \(policy)",
            "apps:",
        ]
        return (lines + phone + ["user:"] + user).joined(separator: "\n") + "\n"
    }

    /// Taps on apps in turn, every ten seconds.
    static func rounds(_ apps: String, pause: Int = 0) -> [(at: Int, app: String)] {
        let names = apps.map { "\($0)" }
        return (names + names).enumerated().map { index, name in
            (at: index * 10 + (index < names.count ? 0 : pause), app: name)
        }
    }
}

/// The plan of a scenario's text.
func loadedPlan(_ text: String, _ sets: [String] = []) throws -> RunPlan {
    try ScenarioLoader.load(text: text, file: "t.yaml", overrides: Overrides(sets: sets)).get()
}

/// When processes of the app end in a run of the plan.
func exits(of app: String, in plan: RunPlan) throws -> [Instant] {
    let simulation = Simulation(plan, memory: try plan.makeDevice(), sinks: RunSinks { _ in NullSink() })
    simulation.keepEvents()
    _ = try simulation.run()
    return simulation.takeEvents().filter { $0.kind == .exit && $0.app == app }.map(\.at)
}

extension Explanation {
    /// Everything that it says, in lines of 112 columns.
    var wholeText: String { lines(.all, width: 112).joined(separator: "\n") }
}
