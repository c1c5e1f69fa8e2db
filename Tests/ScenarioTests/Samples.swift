import Plan
import Scenario
import Simulation
import Testing

/// Scenarios that several tests use.
enum Samples {
    /// The example of the scenario format's design, without later additions.
    static let commute = """
        plimsoll: 1
        name: evening-commute
        description: "A commute, with a call"
        seed: 42
        duration: 30min
        device: { ceiling: 1GiB, reserved: 160MiB, cores: 2 }
        monitor: { preset: ios, interval: 100ms }
        policy: { name: ladder, parameters: { warning_grace: 2s } }
        limits: { background_processes: 12, background_memory: 400MiB, background_time: 30s, protected: [maps] }
        apps:
          - { name: maps,  like: navigation, background_modes: [location] }
          - { name: feed,  like: social-feed, scenes: { support: true, multiple: true }, limits: { active: 300MiB } }
          - name: game
            like: big-game
            memory:
              base: 220MiB
              growth: { rate: 2MiB/s, up_to: 420MiB }
              bursts: [ { after: 10s, size: 30MiB, over: 1s }, { after: 1min, size: 1MiB, over: 1s, hold: 2s } ]
              objects: { histogram: [ { size: 64B, weight: 3 }, { size: 4KiB, weight: 1 } ] }
          - { name: a.b c, memory: { objects: { uniform: { lowest: 16B, highest: 64KiB } } } }
        user:
          - { at: 0s,   launch: feed }
          - { at: 40s,  switch: maps }
          - { at: 2min, open_scene: feed }
          - { at: 3min, close_scene: feed }
          - { at: 4min, quit: a.b c }
          - { at: 4min, home: true }
          - { at: 5min, interrupt: call, for: 45s }
          - { at: 6min, lock: 3min }
          - { every: 5min, from: 10min, to: 25min, launch: game }
        expect:
          - terminations_foreground == 0
          - launch_latency_p95_ms <= 1500
        metrics: { perceived_within: 10min }
        """

    /// The smallest valid scenario.
    static let minimal = """
        plimsoll: 1
        name: minimal
        duration: 1min
        device: { ceiling: 256MiB }
        apps: [ { name: only } ]

        """

    static func load(_ text: String, _ overrides: Overrides = Overrides()) -> Result<RunPlan, ScenarioFault> {
        ScenarioLoader.load(text: text, file: "test.yaml", overrides: overrides)
    }

    /// The diagnostics without the file's name, or none for a valid plan.
    static func faults(_ text: String, _ overrides: Overrides = Overrides()) -> [String] {
        switch load(text, overrides) {
        case .success: []
        case .failure(.unreadable(_, let reason)): [reason]
        case .failure(.lacking(let diagnostics)): diagnostics.map(\.description)
        case .failure(.invalid(let diagnostics)): diagnostics.map(\.description)
        }
    }
}
