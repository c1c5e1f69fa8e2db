import Explanation
import Foundation
import Metrics
import Plan
import Quantities
import Reclaim
import Simulation
import TestSupport
import Testing

@testable import Scenario

/// An app in front with two windows runs short of memory: the window behind goes, and returns when the user opens it.
@Suite("windows behind the one in front, in whole runs")
struct WindowRunTests {
    private static let device = """
        backend: accounting
        device: { ceiling: 192MiB, reserved: 16MiB }
        monitor: { preset: brisk }
        policy: { name: ladder, parameters: { disconnect_idle: 10s } }
        """

    /// The first window is behind the second from 5 s on, and the app grows.
    private static let head = """
        plimsoll: 1
        name: windows
        duration: 45s
        \(device)
        apps:
          - name: notes
            scenes: { support: true, multiple: true }
            features: [url]
            memory: { base: 40MiB, scene: 16MiB, cache: { size: 0B }, growth: { rate: 4MiB/s, up_to: 100MiB } }
            disconnect: { delay: 300ms }
          - { name: other, memory: { base: 8MiB, scene: 2MiB, cache: { size: 0B } } }
        user:
          - { at: 0s, launch: notes }
          - { at: 5s, open_scene: notes }

        """

    private struct Run {
        let tally: RunTally
        let events, decisions: [TableRow]

        /// The rows of one kind of event.
        func rows(_ event: String) -> [TableRow] { events.filter { $0["event"] == event } }
    }

    private static func plan(_ more: [String] = [], policy: String? = nil, sets: [String] = []) throws -> RunPlan {
        let text = head + more.map { "  - { \($0) }\n" }.joined()
        return try ScenarioLoader.load(
            text: text, file: "w.yaml", overrides: Overrides(sets: sets, policy: policy)
        ).get()
    }

    private static func run(_ plan: RunPlan) throws -> Run {
        let sinks = RunSinks { _ in MemorySink() }
        let simulation = Simulation(plan, memory: try plan.makeDevice(), sinks: sinks, verify: true)
        _ = try simulation.run()
        func table(_ sink: any ByteSink) -> [TableRow] { TableRow.all(in: (sink as? MemorySink)?.bytes ?? []) }
        return Run(
            tally: simulation.tally, events: table(sinks[RunTables.events]),
            decisions: table(sinks[RunTables.decisions]))
    }

    private static func withoutReason(_ event: TableRow) -> [String] {
        event.texts("time_s", "event", "app", "scene", "detail")
    }

    /// The time at which the first window goes.
    private static func goes(_ run: Run) throws -> Double {
        try #require(run.rows("action").first { $0["detail"] == "disconnect_scene" }.flatMap { $0.number("time_s") })
    }

    @Test("it is disconnected, keeps its session, and comes back warm with its stored activity")
    func goesAndComesBack() throws {
        let run = try Self.run(Self.plan(["at: 40s, close_scene: notes", "at: 42s, launch: notes"]))
        let actions = run.rows("action").filter { $0["detail"] == "disconnect_scene" }
        #expect(actions.map { $0["scene"] } == ["1"])
        #expect(try #require(actions.first)["reason"].hasPrefix("a window off screen of the app in front; "))
        let at = try Self.goes(run)
        #expect(at >= 15 && at < 40)
        let told = run.rows("callback").filter { $0["scene"] == "1" && ($0.number("time_s") ?? 0) >= at }.map {
            $0["detail"]
        }
        #expect(
            told == [
                "stateRestorationActivity(for:)", "sceneDidDisconnect", "scene(_:willConnectTo:options:)",
                "scene(_:restoreInteractionStateWith:)", "sceneWillEnterForeground", "sceneDidBecomeActive",
            ])
        #expect(
            run.rows("callback").contains {
                $0["scene"] == "1" && $0["reason"] == "userTap; stored restoration activity"
            })
        #expect(run.tally.scenesDisconnected == 1 && run.tally.scenesReconnected == 1)
        #expect(run.tally.terminations.isEmpty)
        #expect(run.tally.launches.map(\.kind) == [.cold, .warm, .warm])
        #expect(run.tally.launches.allSatisfy { $0.latency != nil })
        // The app itself stays in front.
        let states = run.rows("process_state").filter {
            ($0.number("time_s") ?? 0) >= at && ($0.number("time_s") ?? 0) < 40
        }
        #expect(states.isEmpty)
    }

    @Test("an app on the second display alone is called so, and its windows behind go like any other's")
    func secondDisplay() throws {
        let more = ["at: 8s, show_on_display: notes", "at: 10s, launch: other"]
        let run = try Self.run(Self.plan(more, sets: ["device.ceiling=208MiB"]))
        let taken = run.rows("action").filter { $0["detail"] == "disconnect_scene" }
        #expect(Set(taken.map { $0["scene"] }) == ["1", "2"], "\(taken)")
        #expect(taken.allSatisfy { $0["reason"].hasPrefix("a window off screen of the app on the second display; ") })
    }

    @Test("decisions.csv says what was taken, by its own time off screen, and why the app in front is spared")
    func decisions() throws {
        let run = try Self.run(Self.plan())
        let at = try Self.goes(run)
        let rows = run.decisions.filter {
            $0.number("time_s") == at && ($0["action"] == "disconnect_scene" || $0["action"].isEmpty)
        }
        try #require(rows.map { $0["app"] } == ["notes", "notes"])
        #expect(rows[0]["scene"] == "1" && rows[0]["chosen"] == "true")
        #expect(rows[0]["reason"] == "a window off screen of the app in front")
        // The time since it left the screen, a moment after the tap at 5 s.
        let score = try #require(rows[0].number("score"))
        #expect(abs(score / 1_000_000 - (at - 5)) < 0.2)
        #expect(rows[1]["reason"] == "in the foreground; only windows off screen may be taken, the one on screen never")
        #expect(!run.decisions.contains { $0["action"] == "disconnect_scene" && $0["scene"] == "2" })
    }

    @Test("a rule that takes the largest window takes what frees most, not a small one of the app in front")
    func largest() throws {
        let text = """
            plimsoll: 1
            name: largest-window
            duration: 40s
            backend: accounting
            device: { ceiling: 330MiB, reserved: 16MiB }
            policy:
              name: ladder
              rules:
                - name: windows
                  when: available < 17% for 8s
                  action: disconnect_scene
                  who: idle > 3s
                  order: largest
                  take: 1
                  cool_down: 6s
            apps:
              - name: tool
                scenes: { support: true, multiple: true }
                memory: { base: 140MiB, scene: 1MiB, cache: { size: 0B } }
              - name: photos
                scenes: { support: true, multiple: true }
                memory: { base: 10MiB, scene: 60MiB, cache: { size: 0B } }
            user:
              - { at: 0s, launch: photos }
              - { at: 5s, launch: tool }
              - { at: 8s, open_scene: tool }
              - { at: 10s, open_scene: tool }
              - { at: 12s, open_scene: tool }
            """
        let run = try Self.run(ScenarioLoader.load(text: text, file: "l.yaml").get())
        let actions = run.rows("action")
        #expect(actions.first.map { [$0["app"], $0["scene"], $0["detail"]] } == ["photos", "1", "disconnect_scene"])
        // The window's 60 MiB, not the app's whole footprint.
        let taken = try #require(run.decisions.first { $0["action"] == "disconnect_scene" && $0["chosen"] == "true" })
        #expect(taken["app"] == "photos" && taken["reason"].hasPrefix("rule 'windows': holds 60"), "\(taken)")
    }

    @Test("explain says why the app in front kept its window when another one was ended, and that the window saves it")
    func explained() throws {
        let tight = ["device.ceiling=180MiB", "policy.parameters.disconnect_idle=1h"]
        let text = Self.head.replacing(
            "at: 0s, launch: notes", with: "at: 0s, launch: other }\n  - { at: 2s, launch: notes")
        let plan = try ScenarioLoader.load(text: text, file: "w.yaml", overrides: Overrides(sets: tight)).get()
        let explainer = Explainer(plan: plan, scenario: "r/scenario.yaml")
        let words = try explainer.explain(#require(try explainer.terminations().first)).lines(.all, width: 400).joined(
            separator: "\n")
        let why = "notes: in the foreground; its windows off screen stay, too: seen within disconnect_idle."
        #expect(words.contains("What saves it: disconnect_idle = "), "\(words)")
        #expect(words.contains("other was ended") && words.contains("Spared:        \(why)"), "\(words)")
    }

    @Test("a background task that the app begins in front does not keep the windows behind")
    func taskInFront() throws {
        let at = try Self.goes(Self.run(Self.plan()))
        #expect(try Self.goes(Self.run(Self.plan(["at: 12s, begin_background_task: notes"]))) == at)
    }

    @Test("a tap on a window that is being disconnected is a warm launch")
    func tappedMeanwhile() throws {
        let slow = ["apps.notes.disconnect.delay=2s"]
        let at = try Self.goes(Self.run(Self.plan(sets: slow)))
        let (closed, tapped) = (Int(at * 1_000) + 100, Int(at * 1_000) + 400)
        let more = ["at: \(closed)ms, close_scene: notes", "at: \(tapped)ms, open_url: notes"]
        let run = try Self.run(Self.plan(more, sets: slow))
        #expect(run.tally.launches.map(\.kind) == [.cold, .warm, .warm])
        #expect(
            run.rows("callback").contains {
                $0["scene"] == "1" && $0["reason"].hasSuffix("stored restoration activity")
            })
        #expect(run.tally.scenesReconnected == 1)
    }

    /// The app in front has an old window and is almost always busy, and another app wants memory.
    private static let busy = """
        plimsoll: 1
        name: busy
        duration: 1min
        backend: accounting
        device: { ceiling: 192MiB, reserved: 16MiB }
        policy: { name: ladder }
        apps:
          - name: notes
            scenes: { support: true, multiple: true }
            features: [url]
            memory: { base: 30MiB, scene: 45MiB, cache: { size: 0B } }
          - name: mail
            background_modes: [remote-notification]
            memory: { base: 60MiB, scene: 2MiB, cache: { size: 0B } }
        user:
          - { at: 2s, launch: notes }
          - { at: 5s, open_scene: notes }
          - { at: 30s, push: mail }
          - { every: 20ms, from: 29s, to: 40s, open_url: notes }

        """

    @Test("who waits for memory waits for an app in front that is busy for a moment", arguments: ["ladder", "rules"])
    func busy(policy: String) throws {
        let name = policy == "ladder" ? policy : ProjectPolicyTests.folder.appending(path: "ladder.yaml").path()
        // No sample falls in between, so the window is taken for the waiting app.
        let overrides = Overrides(sets: ["monitor.interval=8s"], policy: name)
        let run = try Self.run(ScenarioLoader.load(text: Self.busy, file: "w.yaml", overrides: overrides).get())
        #expect(run.rows("action").contains { $0["app"] == "notes" && $0["detail"] == "disconnect_scene" })
        #expect(run.tally.terminations.isEmpty, "\(run.rows("exit"))")
        #expect(run.tally.stalls > 0)
    }

    @Test("explain names each window that had to stay")
    func passedOver() throws {
        let other = "  - { name: other, memory: { base: 8MiB, scene: 2MiB, cache: { size: 0B } } }\n"
        let text =
            Self.busy.replacing("user:\n", with: other + "user:\n  - { at: 0s, launch: other }\n")
            .replacing("scene: 45MiB", with: "scene: 20MiB")
            + "  - { at: 8s, open_scene: notes }\n"
        let rules = """
            policy.rules=[{ name: windows, when: demand == allocation, action: disconnect_scene, who: app == notes }, \
            { name: end, when: demand == allocation, who: app == other }]
            """
        let plan = try ScenarioLoader.load(text: text, file: "b.yaml", overrides: Overrides(sets: [rules])).get()
        let explainer = Explainer(plan: plan, scenario: "r/scenario.yaml")
        let words = try explainer.explain(#require(try explainer.terminations().first)).lines(.all, width: 400).joined(
            separator: "\n")
        #expect(words.contains("other was ended"), "\(words)")
        for scene in [1, 2] {
            #expect(words.contains("Passed over:   notes, scene \(scene) (disconnect_scene): "), "\(words)")
        }
    }

    @Test("the ladder as rules takes the same windows at the same instants")
    func rules() throws {
        let file = ProjectPolicyTests.folder.appending(path: "ladder.yaml").path()
        let more = ["at: 30s, launch: other", "at: 33s, launch: notes", "at: 40s, open_scene: notes"]
        for limit in ["limits.background_memory=none", "limits.background_memory=12MiB"] {
            let own = try Self.run(Self.plan(more, policy: "ladder", sets: [limit]))
            let rules = try Self.run(Self.plan(more, policy: file, sets: [limit]))
            #expect(own.tally.scenesDisconnected > 0)
            #expect(own.events.map(Self.withoutReason) == rules.events.map(Self.withoutReason))
        }
    }

    // MARK: What the action waits for

    /// A suspended app with two windows. The time has changed, and the app is slow to handle that and to release a
    /// window.
    private static let asleep = """
        plimsoll: 1
        name: asleep
        duration: 1min
        \(device)
        apps:
          - name: notes
            scenes: { support: true, multiple: true }
            features: [url]
            memory: { base: 40MiB, scene: 16MiB, cache: { size: 0B } }
            costs: { event: 1s, terminate: 1s }
            warnings: { delay: 0s }
            disconnect: { delay: 2s }
          - name: other
            memory: { base: 8MiB, scene: 2MiB, cache: { size: 0B }, growth: { rate: 4MiB/s, up_to: 100MiB } }
        user:
          - { at: 0s, launch: notes }
          - { at: 5s, open_scene: notes }
          - { at: 8s, launch: other }
          - { at: 14s, time_change: midnight }

        """

    /// The time when the system begins to take the first window, the duration of the action, and the time when the
    /// window is gone.
    private static func takesAway(
        _ more: [String] = [], sets: [String] = []
    ) throws -> (at: Double, span: Double, gone: Double) {
        let text = asleep + more.map { "  - { \($0) }\n" }.joined()
        let run = try run(ScenarioLoader.load(text: text, file: "a.yaml", overrides: Overrides(sets: sets)).get())
        let actions = run.rows("action")
        let place = try #require(actions.firstIndex { $0["detail"] == "disconnect_scene" && $0["scene"] == "1" })
        let at = try #require(actions[place].number("time_s"))
        let gone = run.rows("scene_state").first {
            $0["scene"] == "1" && $0["detail"] == "unattached" && $0.number("time_s") ?? 0 >= at
        }
        // Actions run one at a time, so they end in the order in which they begin.
        try #require(run.tally.reclaimTimes.count > place, "it never ends")
        let span = Double(run.tally.reclaimTimes[place].microseconds) / 1_000_000
        return (at, span, try #require(gone.flatMap { $0.number("time_s") }))
    }

    private static let ends: [[String]] = [
        [], ["close_scene: notes"], ["close_scene: notes", "close_scene: notes"], ["quit: notes"], ["terminate: notes"],
        ["crash: notes"], ["launch: notes"], ["open_url: notes"], ["open_scene: notes"],
        ["close_scene: notes", "quit: notes"], ["launch: notes", "close_scene: notes"],
        ["close_scene: notes", "close_scene: notes", "launch: notes"],
    ]

    @Test("an action on a scene lasts until the scene is gone, whoever takes it, and no longer", arguments: ends)
    func waitsForTheScene(what: [String]) throws {
        let at = try Self.takesAway().at
        // The offsets hit four stages: the app has woken and handles missed events, the scene is being disconnected, it
        // still is, and it is nearly gone.
        for offset in [0.002, 0.5, 1.5, 2.9] {
            let time = "\(Int(((at + offset) * 1_000).rounded(.up)))ms"
            let action = try Self.takesAway(what.map { "at: \(time), \($0)" })
            #expect(action.at == at)
            let late = action.span - (action.gone - action.at)
            #expect(late >= 0 && late < 0.001, "\(what) after \(offset) s: \(action)")
        }
        // The window is gone and the app still has to answer a warning: even then nothing waits forever.
        let slow = "apps.notes.warnings.delay=1s"
        let gone = try Self.takesAway([], sets: [slow]).gone
        let time = "\(Int(((gone + 0.2) * 1_000).rounded(.up)))ms"
        let action = try Self.takesAway(what.map { "at: \(time), \($0)" }, sets: [slow])
        #expect(action.span < 6, "\(what): \(action)")
    }

    private static let doings = [
        "close_scene: notes", "open_scene: notes", "home: true", "launch: other", "switch: notes", "quit: notes",
        "lock: 2s", "interrupt: call, for: 1s", "interrupt: switcher, for: 1s", "open_url: notes", "crash: notes",
        "terminate: notes", "show_on_display: notes", "begin_background_task: notes",
    ]

    @Test("whatever the user does meanwhile, nothing on screen is taken, and the run goes on", arguments: doings)
    func meanwhile(what: String) throws {
        let at = try Self.goes(Self.run(Self.plan()))
        for offset in [-0.1, -0.001, 0, 0.1, 0.3, 0.5] {
            let time = "\(Int(((at + offset) * 1_000).rounded()))ms"
            let run = try Self.run(
                Self.plan([
                    "at: \(time), \(what)", "at: 30s, launch: notes", "at: 34s, close_scene: notes",
                    "at: 36s, launch: notes",
                ]))
            var phases: [String: String] = [:]
            for row in run.events where row["app"] == "notes" {
                if row["event"] == "scene_state" { phases[row["scene"]] = row["detail"] }
                if row["event"] == "action" && row["detail"] == "disconnect_scene" {
                    #expect(
                        ["background", "suspended"].contains(phases[row["scene"]] ?? ""), "\(what) at \(time): \(row)")
                }
            }
            #expect(run.tally.scenesReconnected <= run.tally.scenesDisconnected, "\(what) at \(time)")
            // The launch, the second window, and the event that brings the app back at the end.
            #expect(run.tally.launches.count { $0.latency != nil } >= 3, "\(what) at \(time)")
        }
    }
}
