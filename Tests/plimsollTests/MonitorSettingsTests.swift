import Foundation
import Memory
import Metrics
import Pressure
import Scenario
import Simulation
import Testing

/// Every setting of the monitor has a case in which another value changes the output of a run. The settings come from
/// the schema, so a new one without a case fails.
@Suite("every setting of the monitor matters")
struct MonitorSettingsTests {
    /// Four apps on a phone that is too small for them; the first app has a limit.
    private static let base = """
        plimsoll: 1
        name: monitor
        duration: 90s
        backend: accounting
        device: { ceiling: 120MiB, reserved: 16MiB }
        monitor: { preset: brisk }
        policy: ladder
        limits: { background_time: 20s }
        apps:
          - name: a
            memory: { base: 20MiB, scene: 6MiB, cache: { size: 24MiB, rate: 2MiB/s } }
            limits: { active: 60MiB }
          - { name: b, memory: { base: 20MiB, scene: 6MiB, cache: { size: 20MiB, rate: 2MiB/s } } }
          - { name: c, background_modes: [location], memory: { base: 12MiB, scene: 4MiB, leak: 200KiB/s } }
          - { name: d, memory: { base: 9MiB, scene: 2MiB } }
        user:
          - { at: 0s, launch: c }
          - { at: 5s, launch: a }
          - { at: 20s, launch: b }
          - { at: 40s, switch: a }
          - { at: 50s, launch: d }
          - { at: 60s, switch: b }
          - { at: 75s, switch: a }
        """

    private static let cases: [String: [String]] = [
        "preset": ["preset=ios"], "interval": ["interval=500ms"],
        "warning": ["warning.enter=40%", "warning.leave=45%"],
        "critical": ["critical.enter=1%"], "hold": ["hold=20s"], "warning_spacing": ["warning_spacing=3s"],
        "warning_rest": ["warning_rest=100ms"], "warning_repeat": ["warning_repeat=6s"],
        "warning_minimum_footprint": ["warning_minimum_footprint=40MiB"],
        "measure": ["measure=uncompressed"], "debounce": ["debounce=8MiB"], "cool_down": ["cool_down=60s"],
        "end_suspended_first": ["end_suspended_first=true"],
        "rise_needs_fewer_processes": ["rise_needs_fewer_processes=true"],
        "missed": ["missed=50%"], "warnings_lost": ["warnings_lost=90%"],
        "warnings_late": ["warnings_late=3s"],
    ]

    /// The events and samples of a run with these settings of the monitor.
    private static func run(_ sets: [String]) throws -> [String] {
        let overrides = Overrides(sets: sets.map { "monitor.\($0)" })
        let plan = try ScenarioLoader.load(text: base, file: "base.yaml", overrides: overrides).get()
        let memory = try plan.makeDevice()
        let sinks = RunSinks { _ in MemorySink() }
        _ = try Simulation(plan, memory: memory, sinks: sinks).run()
        return [sinks[RunTables.events], sinks[RunTables.samples]].map { ($0 as? MemorySink)?.text ?? "" }
    }

    private static func keys() throws -> [String] {
        let schema = try JSONSerialization.jsonObject(with: Data(ScenarioSchema.json().utf8)) as? [String: Any]
        let properties = schema?["properties"] as? [String: Any]
        let monitor = properties?["monitor"] as? [String: Any]
        return try #require(monitor?["properties"] as? [String: Any]).keys.sorted()
    }

    @Test("another value of a setting changes what a run writes; a setting without a case fails")
    func settings() throws {
        let keys = try Self.keys()
        #expect(keys.count >= 13)
        let plain = try Self.run([])
        for key in keys {
            let sets = try #require(Self.cases[key], "monitor.\(key) has no case")
            #expect(try Self.run(sets) != plain, "monitor.\(key) changes nothing")
        }
    }

    @Test("every preset gives another run than the standard one")
    func presets() throws {
        let plain = try Self.run(["preset=ios"])
        for preset in MonitorSettings.presets where preset.preset != "ios" {
            #expect(try Self.run(["preset=\(preset.preset)"]) != plain, "\(preset.preset)")
        }
    }
}
