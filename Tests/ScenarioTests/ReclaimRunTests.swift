import Memory
import Metrics
import Quantities
import Reclaim
import Scenario
import Simulation
import TestSupport
import Testing

/// Whole runs that show what happens between a policy's decision and the completion of its action.
@Suite("reclaim in whole runs")
struct ReclaimRunTests {
    private struct Run {
        let tally: RunTally
        let kills: Int
        let events: [String]
        let decisions: [String]
        let decisionRows: [TableRow]
        let launches: [String]
        let samples: [TableRow]

        /// The instants of the events that contain all of these texts.
        func times(_ parts: String...) -> [Double] {
            events.filter { row in parts.allSatisfy { row.contains($0) } }.compactMap { row in
                Double(row.prefix { $0 != "," })
            }
        }
    }

    private static func run(_ text: String, _ sets: [String] = [], dryRun: Bool = false) throws -> Run {
        let head = "plimsoll: 1\nname: reclaim\nbackend: accounting\n"
        let plan = try ScenarioLoader.load(text: head + text, file: "r.yaml", overrides: Overrides(sets: sets)).get()
        let memory = try plan.makeDevice()
        let sinks = RunSinks { _ in MemorySink() }
        let simulation = Simulation(plan, memory: memory, sinks: sinks, verify: true, dryRun: dryRun)
        _ = try simulation.run()
        func lines(_ sink: any ByteSink) -> [String] {
            ((sink as? MemorySink)?.text ?? "").split(separator: "\n").dropFirst().map(String.init)
        }
        return Run(
            tally: simulation.tally, kills: simulation.kills.total, events: lines(sinks[RunTables.events]),
            decisions: lines(sinks[RunTables.decisions]),
            decisionRows: TableRow.all(in: (sinks[RunTables.decisions] as? MemorySink)?.bytes ?? []),
            launches: lines(sinks[RunTables.launches]),
            samples: TableRow.all(in: (sinks[RunTables.samples] as? MemorySink)?.bytes ?? []))
    }

    /// A hog in front that leaks, small processes off screen, and a device that takes memory back at this rate.
    private static func hog(_ policy: String, rate: String, duration: String = "30s") -> String {
        """
        duration: \(duration)
        device: { ceiling: 2GiB, reserved: 128MiB, reclaim_rate: \(rate) }
        policy: \(policy)
        limits: { protect_foreground: false }
        apps:
          - name: hog
            oom_score_adj: 0
            memory: { base: 1GiB, scene: 0B, leak: 100MiB/s, objects: { constant: 64KiB } }
          - { name: first, oom_score_adj: 0, memory: { base: 20MiB, scene: 0B } }
          - { name: second, oom_score_adj: 0, memory: { base: 10MiB, scene: 0B } }
        start:
          - { process: first, state: suspended }
          - { process: second, state: suspended }
          - { process: hog, state: front }
        """
    }

    @Test("a victim's memory comes back at the device's rate, and a policy that looks on ends others meanwhile")
    func returns() throws {
        let slow = try Self.run(Self.hog("earlyoom", rate: "16MiB/s"))
        #expect(slow.tally.terminations.map(\.app) == ["hog", "first", "second"])
        // Who waits for the memory needs no second victim.
        let patient = try Self.run(Self.hog("largest-first", rate: "16MiB/s", duration: "40s"))
        #expect(patient.tally.terminations.map(\.app) == ["hog"])
        // Jetsam asks for nobody else before the memory is back.
        let jetsam = try Self.run(Self.hog("{ name: jetsam, parameters: { kernel: 11417 } }", rate: "16MiB/s"))
        let ends = jetsam.tally.terminations
        #expect(ends.map(\.app).suffix(1) == ["hog"])
        #expect(ends.dropFirst().allSatisfy { $0.at > ends[0].at })
    }

    @Test("what is on its way back is resident until it is there, a piece every 100 ms")
    func pieces() throws {
        let run = try Self.run(Self.hog("largest-first", rate: "512MiB/s", duration: "20s"))
        let end = try #require(run.tally.terminations.first)
        #expect(end.app == "hog")
        let resident = run.samples.compactMap { row -> (Double, Double)? in
            guard let at = Double(row["time_s"]), let bytes = Double(row["resident_bytes"]) else { return nil }
            return (at, bytes)
        }
        let since = Double(end.at.microseconds) / 1_000_000
        let falls = zip(resident, resident.dropFirst()).filter { $1.0 > since && $0.1 - $1.1 > Double(32 << 20) }
        // Some 1.8 GiB at 512 MiB/s.
        #expect((20...40).contains(falls.count))
        let last = try #require(falls.last?.1.0)
        #expect((3.2...4.2).contains(last - since))
    }

    @Test("where nobody has a score from the floor on, who waits goes on waiting, until a full stall lowers the floor")
    func floorFindsNobody() throws {
        let run = try Self.run(
            """
            duration: 1min
            device: { ceiling: 512MiB, reserved: 64MiB }
            policy: { name: lmkd, parameters: { low_watermark_alone: true } }
            apps:
              - { name: front, like: plain, memory: { base: 50MiB, growth: { rate: 20MiB/s, up_to: 300MiB } } }
              - { name: previous, like: plain, memory: { base: 100MiB } }
              - { name: service, like: plain, oom_score_adj: 500, memory: { base: 80MiB } }
            start:
              - { process: service, state: suspended, idle: 8min, age: 20min }
              - { process: previous, state: suspended, idle: 1min, age: 20min }
            user:
              - { at: 1s, launch: front }
            """)
        #expect(run.tally.terminations.first?.app == "previous")
        #expect(!run.tally.terminations.contains { $0.app == "front" })
        let waits = try #require(run.times("stall", "front").first)
        let ends = try #require(run.tally.terminations.first).at
        #expect((0.6...1.2).contains(Double(ends.microseconds) / 1_000_000 - waits))
    }

    @Test("largest-first ends the hog, which waits for memory itself, and in front where that is allowed")
    func requesterIsVictim() throws {
        let front = try Self.run(Self.hog("largest-first", rate: "4GiB/s"))
        #expect(front.tally.terminations.map(\.app) == ["hog"])
        #expect(front.tally.terminations[0].course.cause == "jettisoned")
    }

    @Test(
        "a scene that disconnects without freeing anything is shown to policies as it is",
        arguments: ["lmkd", "systemd-oomd"])
    func disconnectsWithoutFreeing(policy: String) throws {
        let run = try Self.run(
            """
            duration: 30s
            device: { ceiling: 256MiB }
            policy: \(policy)
            apps:
              - name: a
                background_modes: [audio]
                disconnect: { frees: 0% }
                observers: [ { of: UIScene.didDisconnectNotification, cost: 700ms } ]
            user:
              - { at: 0s, launch: a }
              - { at: 5s, home: true }
              - { at: 20s, quit: a }
            """)
        #expect(run.times("scene_state", "unattached").count == 1)
    }

    @Test("lmkd protects the app that the user had before, not the one that a push has launched since")
    func previous() throws {
        let run = try Self.run(
            """
            duration: 1min
            device: { ceiling: 256MiB }
            policy: lmkd-minfree
            monitor: { preset: brisk }
            apps:
              - { name: old, memory: { base: 20MiB, scene: 4MiB } }
              - { name: previous, memory: { base: 20MiB, scene: 4MiB } }
              - { name: pushed, background_modes: [remote-notification], memory: { base: 20MiB, scene: 4MiB } }
              - { name: front, memory: { base: 40MiB, scene: 4MiB, growth: { rate: 4MiB/s, up_to: 200MiB } } }
            user:
              - { at: 0s, launch: old }
              - { at: 5s, launch: previous }
              - { at: 10s, launch: front }
              - { at: 15s, push: pushed }
            """)
        let exits = ["pushed", "old", "previous"].map { run.times(",exit,\($0),").first ?? -1 }
        #expect(exits.allSatisfy { $0 > 0 } && exits == exits.sorted(), "\(exits)")
        #expect(run.decisions.contains { $0.contains(",previous,") && $0.contains("score 700") })
    }

    @Test("systemd-oomd ends the app from which pages went back within the last second, later the largest")
    func recentlyReclaimed() throws {
        for (instant, first) in [("12s", "burster"), ("20s", "big")] {
            let run = try Self.run(
                """
                duration: 2min
                device: { ceiling: 512MiB, dirty_decay: 2s }
                policy: systemd-oomd
                limits: { background_memory: 120MiB }
                apps:
                  - { name: big, memory: { base: 80MiB, scene: 4MiB, cache: { size: 0B } } }
                  - name: burster
                    memory: { base: 20MiB, scene: 4MiB, bursts: [{ after: 1s, size: 20MiB, over: 1s, hold: 1s }] }
                  - { name: front, memory: { base: 20MiB, scene: 4MiB } }
                user:
                  - { at: 0s, launch: big }
                  - { at: 5s, launch: burster }
                  - { at: \(instant), launch: front }
                """)
            let exits = ["big", "burster"].filter { !run.times(",exit,\($0),").isEmpty }
            #expect(exits == [first], "\(instant)")
        }
    }

    // MARK: Asked to end

    private static let three = """
        duration: 60s
        device: { ceiling: 512MiB, reserved: 16MiB }
        policy:
          name: ladder
          rules:
            - { name: ask, when: available < 10%, until: available > 12%, action: terminate_politely }
        apps:
          - { name: n1, background_modes: [location], memory: { base: 60MiB }, costs: { terminate: 2s } }
          - { name: n2, background_modes: [location], memory: { base: 60MiB }, costs: { terminate: 2s } }
          - { name: n3, background_modes: [location], memory: { base: 60MiB }, costs: { terminate: 2s } }
          - { name: b, like: plain, memory: { base: 30MiB, growth: { rate: 4MiB/s, up_to: 150MiB } } }
        user:
          - { at: 0s, launch: n1 }
          - { at: 3s, launch: n2 }
          - { at: 6s, launch: n3 }
          - { at: 10s, launch: b }
        """

    @Test(
        "a rule asks one app to end, waits until it is gone and measures: where that was enough, nobody else is asked")
    func oneAtATime() throws {
        let run = try Self.run(Self.three)
        let asked = run.times(",action,")
        let gone = run.times(",exit,")
        #expect(asked.count == 1 && gone.count == 1)
        #expect(run.kills == 1 && run.tally.reclaimTimes.count == 1)
        // The time from the decision to the end of the process and the return of its pages.
        let took = try #require(run.tally.reclaimTimes.first)
        #expect(took > .milliseconds(2_000) && took < .milliseconds(2_500), "\(took)")
        #expect(run.tally.terminations.count == 1)
    }

    /// One app that takes 4 s to end, and one that fills memory at this rate.
    private static func two(rate: String, policy: String = "earlyoom") -> String {
        """
        duration: 60s
        device: { ceiling: 256MiB, reserved: 16MiB }
        policy: \(policy)
        apps:
          - { name: n, background_modes: [location], memory: { base: 80MiB }, costs: { terminate: 4s } }
          - { name: b, like: plain, memory: { base: 30MiB, growth: { rate: \(rate), up_to: 170MiB } } }
        user:
          - { at: 0s, launch: n }
          - { at: 10s, launch: b }

        """
    }

    @Test(
        "who was asked to end and is ended at once after all is one termination, one action, and its bytes count once")
    func hastened() throws {
        let run = try Self.run(Self.two(rate: "12MiB/s"))
        #expect(run.times(",action,n,", "terminate_politely").count == 1)
        #expect(run.times(",action,n,", ",terminate,").count == 1)
        #expect(run.times(",exit,").count == 1)
        #expect(run.tally.terminations.count == 1 && run.kills == 1 && run.tally.reclaimTimes.count == 1)
        let footprint = try #require(run.tally.terminations.first?.footprint)
        #expect(run.tally.bytesReclaimed == footprint)
        // When memory fills slowly, it never falls below half of the amount at the request, so the app may end in its
        // own time.
        let slow = try Self.run(Self.two(rate: "2MiB/s"))
        #expect(slow.times(",action,").count == 1 && slow.times(",exit,").count == 1)
        #expect(slow.tally.bytesReclaimed == slow.tally.terminations.first?.footprint)
    }

    @Test("earlyoom's `wait` ends no victim; its `grace` does, also beyond the 5 s and the deadlines of UIKit")
    func grace() throws {
        let text = """
            duration: 60s
            device: { ceiling: 128MiB, reserved: 16MiB }
            policy: { name: earlyoom, parameters: { kill: 0.1% } }
            limits: { protect_audible: false }
            apps:
              - name: slow
                background_modes: [audio]
                costs: { disconnect: 3s, terminate: 6s }
                memory: { base: 50MiB, scene: 4MiB }
                background: { snapshot: 0B }
              - { name: b, like: plain, memory: { base: 20MiB, scene: 4MiB, growth: { rate: 1MiB/s, up_to: 60MiB } } }
            user:
              - { at: 0s, launch: slow }
              - { at: 3s, launch: b }

            """
        for (wait, grace, took, isEnded) in [
            (1, 5, 5.0, true), (10, 7, 7, true), (10, 10, 9, false), (1, 60, 9, false), (4, 60, 9, false),
        ] {
            let run = try Self.run(
                text, ["policy.parameters.wait=\(wait)s", "policy.parameters.grace=\(grace)s"])
            let asked = try #require(run.times(",action,slow,", "terminate_politely").first)
            let exit = try #require(run.times(",exit,slow,").first)
            #expect(abs(exit - asked - took) < 0.3, "\(wait), \(grace): \(exit - asked)")
            let isMade = run.events.contains { row in
                row.contains(",exit,slow,") && row.contains("did not end within \(grace)s")
                    || row.contains(",action,slow,") && row.contains(",terminate,")
            }
            #expect(isMade == isEnded && run.kills == 1)
        }
    }

    /// Two apps off screen, the larger one navigating, and a third that fills memory.
    private static let adjusted = """
        duration: 60s
        device: { ceiling: 256MiB, reserved: 16MiB }
        policy: earlyoom
        apps:
          - { name: large, like: plain, background_modes: [location], memory: { base: 80MiB } }
          - { name: small, like: plain, background_modes: [location], memory: { base: 30MiB } }
          - { name: front, like: plain, memory: { base: 30MiB, growth: { rate: 4MiB/s, up_to: 140MiB } } }
        user:
          - { at: 0s, launch: large }
          - { at: 10s, launch: small }
          - { at: 20s, launch: front }

        """

    /// Of 256 MiB a MiB is 3.9 thousandths: about 320 for the larger app and 125 for the smaller one.
    @Test(
        "earlyoom: the adjustments of the scenario decide the victim of a run",
        arguments: [
            ([], "large"), (["apps.small.oom_score_adj=700"], "small"),
            // A navigating app has 200 by its band.
            (["apps.large.oom_score_adj=-100"], "small"), (["apps.large.oom_score_adj=-1000"], "small"),
            (["apps.small.oom_score_adj=300"], "large"),
        ])
    func adjustments(sets: [String], victim: String) throws {
        let run = try Self.run(Self.adjusted, sets)
        let first = try #require(run.events.first { $0.contains(",exit,") })
        #expect(first.contains(",exit,\(victim),"), "\(first)")
        #expect(run.events.contains { $0.contains(",action,\(victim),") && $0.contains("the highest oom_score") })
    }

    @Test("one termination a minute is enough to ask somebody to end and to end it")
    func hastenedWithinLimits() throws {
        let run = try Self.run(Self.two(rate: "12MiB/s"), ["limits.terminations_per_minute=1"])
        #expect(run.times(",action,n,", ",terminate,").count == 1)
    }

    @Test("who crashes while it is being ended is no termination by the policy, and the action is over")
    func crashMeanwhile() throws {
        let rules = "{ rules: [{ name: ask, when: processes >= 2, action: terminate_politely }] }"
        let run = try Self.run(Self.two(rate: "1MiB/s", policy: rules) + "  - { at: 13s, crash: n }\n")
        let asked = try #require(run.times(",action,").first)
        #expect(asked > 9 && asked < 13)
        #expect(run.times(",exit,n,", "abnormal").count == 1)
        #expect(run.kills == 0 && run.tally.terminations.isEmpty && run.tally.reclaimTimes.count == 1)
    }

    // MARK: Waited for

    /// Two apps off screen and an app in front that fills memory. A rule spares the second app for now.
    private static func filled(_ rule: String) -> String {
        """
        duration: 120s
        device: { ceiling: 256MiB, reserved: 32MiB }
        policy: { rules: [{ name: rule, \(rule) }] }
        apps:
          - { name: a, like: plain, memory: { base: 40MiB } }
          - { name: b, like: plain, memory: { base: 40MiB } }
          - { name: front, like: plain, memory: { base: 30MiB, growth: { rate: 4MiB/s, up_to: 300MiB } } }
        user:
          - { at: 0s, launch: a }
          - { at: 10s, launch: b }
          - { at: 20s, launch: front }

        """
    }

    @Test("an app that finds no room waits for a rule that paces itself by its kills, and goes on when it is due")
    func waitsForThePace() throws {
        let run = try Self.run(Self.filled("when: [available < 20%, kills_last_minute < 1]"))
        let (stalled, kill) = (try #require(run.times(",stall,front,").first), run.times(",exit,b,"))
        #expect(kill.count == 1 && kill[0] > stalled + 30)
        #expect(run.times(",exit,front,").allSatisfy { $0 > kill[0] })
    }

    @Test("an app that finds no room does not wait for a rule that has taken its amount and is due for good")
    func waitsForNobody() throws {
        let run = try Self.run(Self.filled("when: available < 99%, who: app == a, take: 1"))
        let stalled = try #require(run.times(",stall,front,").first)
        #expect(run.times(",exit,front,") == [stalled])
    }

    // MARK: Told

    private static let told = """
        duration: 60s
        device: { ceiling: 512MiB, reserved: 16MiB }
        monitor: { preset: ios, warning: { enter: 80%, leave: 95% }, critical: { enter: 1%, leave: 2% } }
        policy:
          name: ladder
          rules: [{ name: shrink, when: available < 60%, action: warn, who: warned >= 10s }]
        apps:
          - { name: n, like: browser, background_modes: [location] }
        user:
          - { at: 0s, launch: n }
        """

    @Test("an app that gave something back may be told again; one that gave nothing is not, under the same pressure")
    func toldAgain() throws {
        let giving = try Self.run(Self.told)
        #expect(giving.times(",action,n,", ",warn,").count > 2)
        let ignoring = try Self.run(Self.told, ["apps.n.warnings.ignores=100%"])
        #expect(ignoring.times(",action,n,", ",warn,").count == 1)
    }

    @Test("a worse level cuts the round of warnings short, and its own begins at once")
    func worseLevel() throws {
        let run = try Self.run(
            """
            duration: 40s
            device: { ceiling: 512MiB, reserved: 16MiB }
            monitor: { preset: ios, warning_spacing: 8s }
            policy: none
            apps:
              - { name: a, like: plain, memory: { base: 60MiB }, background_modes: [audio] }
              - { name: b, like: plain, memory: { base: 60MiB }, background_modes: [audio] }
              - { name: c, like: plain, memory: { base: 60MiB, growth: { rate: 20MiB/s, up_to: 330MiB } } }
            user:
              - { at: 0s, launch: a }
              - { at: 5s, launch: b }
              - { at: 10s, launch: c }
            """)
        let warned = try #require(run.times(",pressure_level,", ",warning,").first)
        let critical = try #require(run.times(",pressure_level,", ",critical,").first)
        #expect(critical > warned && critical < warned + 8)
        let first = try #require(run.times(",warning,", ",critical,").first)
        #expect(first == critical)
    }

    @Test("who crosses a soft limit is told, and the metric counts it")
    func softLimit() throws {
        let run = try Self.run(
            """
            duration: 30s
            device: { ceiling: 512MiB, reserved: 16MiB }
            policy: jetsam
            apps:
              - name: a
                like: plain
                limits: { active: 100MiB, fatal: false }
                memory: { base: 40MiB, growth: { rate: 8MiB/s, up_to: 140MiB } }
            user:
              - { at: 0s, launch: a }
            """)
        let warnings = run.times(",warning,")
        #expect(warnings.count == 2 && run.tally.warnings == 2)
        #expect(run.times(",callback,", "applicationDidReceiveMemoryWarning") == warnings)
    }

    @Test("a soft limit is told once per crossing, and so is the other one when that applies")
    func softLimitAgain() throws {
        let run = try Self.run(
            """
            duration: 90s
            device: { ceiling: 512MiB, reserved: 16MiB, dirty_decay: 100ms }
            policy: none
            apps:
              - name: a
                like: plain
                limits: { active: 100MiB, inactive: 50MiB, fatal: false }
                memory:
                  base: 40MiB
                  bursts:
                    - { size: 45MiB, after: 3s, over: 1s, hold: 5s }
                    - { size: 45MiB, after: 30s, over: 1s, hold: 5s }
            user:
              - { at: 0s, launch: a }
              - { at: 60s, home: true }
              - { at: 70s, launch: a }
            """)
        let told = run.events.filter { $0.contains(",warning,") }
        #expect(told.map { $0.contains(",limit,") } == [false, true, false, true, true], "\(told)")
        #expect(run.times(",near_limit,").map { Int($0) } == [4, 31])
        #expect(run.times(",warning,", ",limit,").map { Int($0) } == [5, 32, 60])
        #expect(told.last?.contains("inactive limit") == true)
    }

    @Test("who shrinks off screen crosses its soft limit anew when it returns", arguments: ["", "inactive: 300MiB,"])
    func softLimitAfterShrinking(inactive: String) throws {
        let run = try Self.run(
            """
            duration: 80s
            device: { ceiling: 512MiB, reserved: 16MiB, dirty_decay: 100ms }
            policy: none
            apps:
              - name: a
                like: plain
                limits: { active: 100MiB, \(inactive) fatal: false }
                background: { frees: 100%, reloads: 100% }
                warnings: { ignores: 100% }
                memory: { base: 40MiB, cache: { size: 80MiB, rate: 20MiB/s } }
            user:
              - { at: 0s, launch: a }
              - { at: 30s, home: true }
              - { at: 50s, launch: a }
            """)
        #expect(run.times(",warning,", ",limit,").map { $0 < 30 } == [true, false])
        #expect(run.times(",near_limit,").filter { $0 > 30 }.isEmpty)
    }

    @Test("an app in front above its soft limit does not shield the idle ones: they go, and it lives")
    func softLimitInFront() throws {
        let run = try Self.run(
            """
            duration: 30s
            device: { ceiling: 512MiB }
            policy: jetsam
            apps:
              - { name: a, like: plain, memory: { base: 60MiB } }
              - { name: b, like: plain, memory: { base: 60MiB } }
              - name: big
                like: plain
                limits: { active: 150MiB, fatal: false }
                memory: { base: 100MiB, growth: { rate: 20MiB/s, up_to: 350MiB } }
            user:
              - { at: 0s, launch: a }
              - { at: 3s, launch: b }
              - { at: 6s, launch: big }
            """)
        #expect(run.times(",exit,big,").isEmpty)
        #expect(run.times(",action,a,", "idle-exit: idle").count == 1)
        #expect(run.decisions.contains { $0.contains(",big,") && $0.contains("refused by foreground") })
    }

    @Test("suspended apps that end before running ones are warned: no more than it takes, and then nobody is warned")
    func suspendedFirst() throws {
        let scenario = """
            duration: 60s
            device: { ceiling: 512MiB }
            monitor: { preset: ios, end_suspended_first: true }
            policy: none
            apps:
              - { name: a, like: plain, memory: { base: 120MiB } }
              - { name: b, like: plain, memory: { base: 120MiB } }
              - { name: c, like: plain, memory: { base: 120MiB } }
            user:
              - { at: 0s, launch: a }
              - { at: 10s, launch: b }
              - { at: 20s, launch: c }
            """
        let run = try Self.run(scenario)
        #expect(run.times(",pressure_level,", ",warning,").count == 1)
        #expect(run.times(",exit,").count == 1 && run.times(",exit,a,").count == 1)
        #expect(run.tally.warnings == 0)
        let ended = try #require(run.decisions.first { $0.contains(",terminate,a,") })
        #expect(ended.contains(",\((ByteCount.mebibytes(512) * .percent(18)).bytes),pressure,"))
        let told = try Self.run(scenario, ["monitor.end_suspended_first=false"])
        #expect(told.times(",warning,c,").count == 1 && told.times(",exit,").isEmpty)
    }

    // MARK: Measures

    private static func measured(_ preset: String) -> String {
        """
        duration: 60s
        device: { ceiling: 512MiB }
        monitor: { preset: \(preset) }
        policy: ladder
        apps:
          - { name: a, like: plain, memory: { base: 120MiB } }
          - name: d
            like: plain
            limits: { active: 200MiB, inactive: 200MiB }
            memory: { base: 60MiB, growth: { rate: 4MiB/s, up_to: 100MiB } }
        user:
          - { at: 0s, launch: a }
          - { at: 9s, launch: d }
          - { at: 40s, home: true }
        """
    }

    @Test("a process near its own limit is told, and nobody else ends for it; suspended it is no pressure")
    func oneProcess() throws {
        let run = try Self.run(Self.measured("webkit"))
        #expect(run.times(",exit,").isEmpty && run.times(",action,").isEmpty)
        #expect(run.times(",warning,d,", ",critical,").count == 1)
        let told = try #require(
            run.decisionRows.first {
                $0["action"] == "warn" && $0["app"] == "d" && $0["measure"] == "limit_share_ppm"
            })
        #expect(told["threshold"] == "500000" && (told.integer("observed") ?? 0) > 500_000, "\(told)")
        // It is suspended a few seconds after it leaves the screen.
        #expect((run.times(",pressure_level,", ",normal,").first ?? 60) < 50)
    }

    @Test("what is observed and the threshold are of one measure, that of the monitor")
    func oneMeasure() throws {
        let run = try Self.run(Self.measured("ios-ratio"), ["apps.a.memory.base=260MiB"])
        let asked = run.decisionRows.filter { $0["demand"] == "pressure" || $0["demand"] == "warning" }
        #expect(
            !asked.isEmpty
                && asked.allSatisfy { $0["measure"] == "uncompressed_ppm" && $0["threshold"].count == 6 })
        #expect(run.events.contains { $0.contains(",action,") && $0.contains("not compressed, ") })
    }

    @Test("a critical warning is measured by the critical threshold")
    func criticalWarning() throws {
        let run = try Self.run(
            Self.measured("ios"), ["policy=none", "device.ceiling=256MiB", "apps.d.memory.growth.up_to=80MiB"])
        let critical = try #require(run.times(",warning,", ",critical,").first)
        let row = try #require(
            run.decisions.first {
                $0.contains(",warn,") && Double($0.prefix { $0 != "," }) == critical && $0.contains(",warning,")
            })
        #expect(row.contains(",\((ByteCount.mebibytes(256) * .percent(5)).bytes),warning,"), "\(row)")
    }

    // MARK: Said once

    private static let idle = """
        duration: 60s
        device: { ceiling: 256MiB, reserved: 16MiB }
        monitor: { preset: ios, warning: { enter: 80%, leave: 95% }, critical: { enter: 1%, leave: 2% } }
        policy: none
        apps:
          - { name: a, like: plain, memory: { base: 60MiB } }
          - { name: b, like: plain, memory: { base: 60MiB } }
        user:
          - { at: 0s, launch: a }
          - { at: 10s, launch: b }
        """

    @Test(
        "a question that is put at every sample and answered by nothing has its rows once",
        arguments: [
            ("unbounded", "nothing to do: memory is not bounded"),
            ("none", "nothing to do: this policy never reclaims"),
            ("jetsam", "nothing to do: available memory is above all thresholds that apply"),
            ("lru", "nothing to do: the level is below critical"),
            ("largest-first", "nothing to do: available memory is above the floor"),
            ("foresight", "nothing to do: no process waits for memory"),
            ("cheapest-relaunch", "nothing to do: the level is below critical"),
            ("earlyoom", "nothing to do: enough memory or swap is free"),
        ])
    func saidOnce(policy: String, answer: String) throws {
        let limits = policy == "unbounded" ? ["limits.background_processes=0"] : []
        let run = try Self.run(Self.idle, ["policy=\(policy)"] + limits)
        #expect(run.decisions.filter { $0.hasSuffix(",") && $0.contains(",,,,,false,\(answer)") }.count == 1)
        #expect(run.decisions.filter { $0.contains(",pressure,") }.count <= 3)
    }

    @Test("the ladder says that the level spares everybody, not that nobody is left")
    func ladderSpares() throws {
        let run = try Self.run(Self.idle, ["policy=ladder"])
        #expect(run.decisions.contains { $0.contains("nothing to do: processes are ended at the critical level only") })
        // The message appears only while the app in front is the only app.
        let left = run.decisions.filter { $0.contains("no process is left") }
            .compactMap { Double($0.prefix { $0 != "," }) }
        #expect(left.allSatisfy { $0 < 10 })
    }

    @Test(
        "in a dry run apps end when they do under none: nobody waits for a policy that will not act",
        arguments: ["ladder", "systemd-oomd", "lmkd", "jetsam", "earlyoom", "lru"])
    func dryRunIsNone(policy: String) throws {
        let text = """
            duration: 2min
            device: { ceiling: 128MiB }
            limits: { minimum_stay: 1min }
            apps:
              - { name: bg, memory: { base: 30MiB, scene: 4MiB } }
              - { name: front, memory: { base: 40MiB, scene: 4MiB, growth: { rate: 8MiB/s, up_to: 200MiB } } }
            user:
              - { at: 0s, launch: bg }
              - { at: 5s, launch: front }
            """
        // The monitor's own terminations do not come from the policy.
        for (sets, ends) in [([], 1), (["monitor.end_suspended_first=true", "limits.minimum_stay=0s"], 2)] {
            let none = try Self.run(text, sets + ["policy=none"])
            let dry = try Self.run(text, sets + ["policy=\(policy)"], dryRun: true)
            #expect(none.times(",exit,").count == ends, "\(none.events)")
            #expect(dry.times(",exit,") == none.times(",exit,"))
        }
    }

    @Test("a rule about the level is waited for where the monitor measures stalls, and only there")
    func waitingForTheLevel() throws {
        let text = Self.filled("when: level == critical")
        // Android's level does not rise before a process has ended.
        let android = try Self.run(text, ["monitor.preset=android"])
        let end = try #require(android.times(",exit,front,").first)
        #expect(android.times(",exit,").first == end && android.times(",stall,front,").contains(end))
        let stalls = try Self.run(text, ["monitor={ preset: android, rise_needs_fewer_processes: false }"])
        let ruled = try #require(stalls.times(",exit,a,", "rule 'rule'").first)
        #expect(stalls.times(",exit,").first == ruled)
    }

    @Test("a swipe does not take over the end that a policy has asked for: its time, its reason and its kill stay")
    func swipedWhileAsked() throws {
        let run = try Self.run(
            """
            duration: 60s
            device: { ceiling: 128MiB, reserved: 16MiB }
            policy: { name: earlyoom, parameters: { kill: 0.1%, grace: 8s } }
            limits: { protect_audible: false }
            apps:
              - name: slow
                background_modes: [audio]
                costs: { disconnect: 3s, terminate: 6s }
                memory: { base: 50MiB, scene: 4MiB }
                background: { snapshot: 0B }
              - { name: b, like: plain, memory: { base: 20MiB, growth: { rate: 1MiB/s, up_to: 60MiB } } }
            user:
              - { at: 0s, launch: slow }
              - { at: 3s, launch: b }
              - { at: 8s, quit: slow }
              - { at: 30s, quit: b }
              - { at: 40s, launch: slow }
            """)
        let asked = try #require(run.times(",action,slow,", "terminate_politely").first)
        let end = try #require(run.times(",exit,slow,", "memoryPressure").first)
        #expect(asked < 8 && abs(end - (asked + 8)) < 0.01, "\(asked), \(end)")
        #expect(run.tally.terminations.count == 1 && run.kills == 1)
        #expect(run.tally.terminations.allSatisfy { !$0.wasPerceived })
        #expect(!run.times("didDiscardSceneSessions").filter { $0 > 40 }.isEmpty)
    }

    @Test("in a dry run an app that finds no room ends with the choice that was not carried out, and that is on record")
    func dryRun() throws {
        let run = try Self.run(
            """
            duration: 60s
            device: { ceiling: 256MiB, reserved: 16MiB }
            policy: largest-first
            apps:
              - { name: a, like: plain, memory: { base: 80MiB } }
              - { name: b, like: plain, memory: { base: 80MiB } }
              - { name: c, like: plain, memory: { base: 80MiB } }
            user:
              - { at: 0s, launch: a }
              - { at: 15s, launch: b }
              - { at: 30s, launch: c }
            """, dryRun: true)
        let exit = try #require(run.events.first { $0.contains(",exit,c,") })
        #expect(exit.contains("a dry run does not carry out what was chosen: terminate b"), "\(exit)")
        #expect(
            run.decisions.contains {
                $0.contains(",terminate,b,") && $0.contains(",true,") && $0.contains(",allocation,")
            })
        #expect(run.decisions.count < 20, "\(run.decisions.count)")
    }

    // MARK: Others

    @Test("jetsam's cap on sustained-pressure kills holds for the whole episode, however long")
    func sustainedCap() throws {
        let run = try Self.run(
            """
            duration: 45min
            device: { ceiling: 512MiB, reserved: 32MiB }
            monitor: { preset: ios, warning: { enter: 60%, leave: 95% }, critical: { enter: 1%, leave: 2% } }
            policy: jetsam
            apps:
              - { name: hog, like: plain, background_modes: [location], memory: { base: 200MiB } }
              - { name: a, like: plain }
            user:
              - { at: 0s, launch: hog }
              - { at: 10s, launch: a }
              - { at: 20s, launch: hog }
              - { every: 400s, from: 700s, to: 40min, launch: a }
              - { every: 400s, from: 710s, to: 40min, launch: hog }
            """, ["policy.parameters.reaper=1%"])
        #expect(run.times("pressure_level").count == 1)
        #expect(run.times(",action,a,", "sustained-memory-pressure").count == 2)
    }

    @Test("a tap that waits for an old process to end is given up when the device locks")
    func lockedMeanwhile() throws {
        let text = """
            duration: 60s
            device: { ceiling: 512MiB, reserved: 16MiB }
            policy: ladder
            apps: [{ name: a, like: plain, costs: { terminate: 3s } }]
            user:
              - { at: 0s, launch: a }
              - { at: 5s, quit: a }
              - { at: 6s, launch: a }
              - { at: 7s, lock: LOCK }
            """
        // The result does not depend on whether the screen is unlocked when the process is gone.
        for lock in ["30s", "500ms"] {
            let run = try Self.run(text.replacing("LOCK", with: lock))
            #expect(run.times(",exit,a,").count == 1)
            #expect(run.times(",launch,a,").count == 1)
            #expect(run.launches.count == 2 && run.launches[1].contains(",abandoned,"), "\(run.launches)")
        }
    }

    // MARK: Evidence

    @Test("whom a step without a threshold wants is not judged by the threshold of the step before")
    func evidenceOfSteps() throws {
        let run = try Self.run(
            """
            duration: 60s
            device: { ceiling: 256MiB, reserved: 32MiB }
            policy: jetsam
            limits: { protected: [a], minimum_stay: 0s }
            apps:
              - { name: a, like: plain, memory: { base: 60MiB }, limits: { active: 50MiB, fatal: false } }
              - { name: b, like: plain, memory: { base: 50MiB } }
              - { name: big, like: plain, memory: { base: 150MiB } }
            user:
              - { at: 0s, launch: a }
              - { at: 10s, launch: b }
              - { at: 20s, launch: big }
            """)
        let waiting = run.decisions.filter { $0.contains(",allocation,") }
        let soft = waiting.filter { $0.contains(",highwater") }
        let shortage = waiting.filter { $0.contains(",terminate,b,") || $0.contains(",purge,b,") }
        // The soft limit's step has a threshold of 15 % of RAM. The shortage step has none, so the awaited amount is
        // shown.
        #expect(!soft.isEmpty && soft.allSatisfy { $0.contains(",40265318,allocation,") }, "\(waiting)")
        #expect(!shortage.isEmpty && shortage.allSatisfy { $0.contains(",12288,allocation,") }, "\(waiting)")
    }

    @Test("a rule without a figure of its own is not judged by another rule's")
    func evidenceOfRules() throws {
        let run = try Self.run(
            """
            duration: 30s
            device: { ceiling: 512MiB, reserved: 32MiB }
            policy:
              rules:
                - { name: first, when: "available < 90%", action: terminate, who: "app == maps" }
                - { name: second, when: "level == normal", action: terminate, who: "app == feed" }
            limits: { protected: [maps] }
            apps: [{ name: maps, like: plain }, { name: feed, like: plain }, { name: top, like: plain }]
            user:
              - { at: 0s, launch: maps }
              - { at: 10s, launch: feed }
              - { at: 20s, launch: top }
            """)
        let action = try #require(run.events.first { $0.contains(",action,feed,") })
        #expect(action.contains("rule 'second'") && !action.contains("first"))
        let row = try #require(run.decisions.first { $0.contains(",terminate,feed,") })
        // 90 % of 512 MiB is the threshold of the first rule only. Nothing is demanded, so the second rule's row has
        // none.
        #expect(row.contains(",0,nothing,") && !row.contains("483183820"))
        #expect(run.decisions.contains { $0.contains(",terminate,maps,") && $0.contains(",483183820,nothing,") })
    }
}

/// Ends somebody at every third look only.
private struct Patient: ReclaimPolicy {
    static let name = "patient"
    static let summary = "looks twice before it acts"
    static let parameters: [Parameter<Self>] = []
    static let needs: PolicyNeeds = .everySample

    func decide(_ snapshot: SystemSnapshot) -> Decision {
        var memory = snapshot.history.policy
        memory["looks"] += 1
        var decision = Decision(standstill: .waiting("look \(memory["looks"])"))
        if memory["looks"] % 3 == 0 {
            decision = snapshot.rankingTerminations(because: "a third look") { Int64($0.footprint.bytes) }
        }
        decision.memory = memory
        return decision
    }
}

extension ReclaimRunTests {
    @Test("what a policy remembers is in the next snapshot, and explain's questions find it, too")
    func memory() throws {
        let text = """
            plimsoll: 1
            name: reclaim
            backend: accounting
            duration: 10s
            device: { ceiling: 64MiB }
            policy: none
            apps:
              - { name: a, memory: { base: 8MiB } }
              - { name: b, memory: { base: 8MiB } }
            user:
              - { at: 0s, launch: a }
              - { at: 1s, launch: b }
            """
        let plan = try ScenarioLoader.load(text: text, file: "r.yaml").get()
        var records: [DecisionRecord] = []
        let simulation = Simulation(
            plan, memory: try plan.makeDevice(), sinks: RunSinks { _ in MemorySink() }, policy: Patient(),
            observer: { records.append($0) })
        _ = try simulation.run()
        #expect(records.contains { !$0.decision.ranking.isEmpty } && simulation.tally.terminations.count == 1)
        let looks = records.map { $0.snapshot.history.policy["looks"] }
        #expect(looks == looks.sorted() && looks.last ?? 0 > 6, "\(looks)")
        for record in records {
            #expect(record.decision.ranking.isEmpty == (record.snapshot.history.policy["looks"] % 3 != 2))
            #expect(Patient().decide(record.snapshot) == record.decision)
        }
    }
}
