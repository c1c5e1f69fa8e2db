import Lifecycle
import Metrics
import Plan
import Quantities
import Simulation
import TestSupport
import Testing
import Workload

/// Duties, launches, time off screen, other events, exit reasons.
@Suite("life off screen, and the other events")
struct BackgroundLifeTests {
    let app = AppID(0)
    let other = AppID(1)

    private func time(_ row: EventRow?) -> Double { row.flatMap { Double($0.time) } ?? -1 }

    private func suspension(of run: RunOutput, _ app: String = "a") -> Double {
        time(run.rows("process_state", of: app).last { $0.detail == "suspended" })
    }

    // MARK: Background tasks

    @Test("a background task that is not ended dies at its expiry")
    func leakedTask() throws {
        let run = try live([testApp("a") { $0.background.leaksTask = true }], [(0, .launch(app)), (5, .home)])
        let entered = time(run.rows("process_state", of: "a").last { $0.detail == "background" })
        let exit = try #require(run.rows("exit", of: "a").first)
        #expect(exit.detail == "backgroundTaskAssertionTimeout")
        #expect(time(exit) == entered + 30)
        #expect(run.rows("background_task", of: "a").map(\.detail) == ["begins", "expires"])
        #expect(!run.callbacks(of: "a").contains("applicationWillTerminate"))
    }

    @Test("a background task that ends is suspended at that instant")
    func endedTask() throws {
        let run = try live(
            [testApp("a")],
            [(0, .launch(app)), (4, .beginBackgroundTask(app)), (5, .home), (18, .endBackgroundTask(app))])
        #expect(suspension(of: run) == 18)
        let declared = try live([testApp("a") { $0.background.task = .seconds(9) }], [(0, .launch(app)), (5, .home)])
        #expect(
            suspension(of: declared) == time(declared.rows("background_task", of: "a").last { $0.detail == "ends" }))
        #expect(suspension(of: declared) > 14)
    }

    @Test("a well-behaved expiry handler ends the task, and the app is suspended")
    func expiryHandler() throws {
        let run = try live([testApp("a")], [(0, .launch(app)), (4, .beginBackgroundTask(app)), (5, .home)])
        #expect(run.rows("exit", of: "a").isEmpty)
        #expect(run.rows("background_task", of: "a").map(\.detail) == ["begins", "expires", "ends"])
        let entered = time(run.rows("process_state", of: "a").last { $0.detail == "background" })
        #expect(suspension(of: run) >= entered + 25 && suspension(of: run) < entered + 26)
    }

    @Test("a handler has a sixth of the time that there is, and 5 s at the most", arguments: [3, 5, 12, 30, 60])
    func expiryNotice(time limit: Int64) throws {
        let run = try live(
            [testApp("a")], [(0, .launch(app)), (4, .beginBackgroundTask(app)), (5, .home)]
        ) { $0.limits.backgroundTime = .seconds(limit) }
        let entered = time(run.rows("process_state", of: "a").last { $0.detail == "background" })
        let called = time(run.rows("background_task", of: "a").first { $0.detail == "expires" })
        #expect(abs(called - entered - (Double(limit) - min(5, Double(limit) / 6))) < 0.001)
        #expect(run.rows("exit", of: "a").isEmpty)
    }

    @Test("every task has an expiry handler of its own, also the second one of a stay in the background")
    func secondExpiry() throws {
        let profile = testApp("a") { $0.backgroundModes = [.processing] }
        let begin = UserAction.beginBackgroundTask(app)
        func run(second: Double) throws -> RunOutput {
            try live(
                [profile], seconds: 240,
                [
                    (0, .launch(app)), (4, begin), (5, .home), (6, .wake(app, .processing, lasting: .minutes(3))),
                    (second, begin),
                ])
        }
        // The first task expires 25 s after the app leaves the screen. The second one begins in the last seconds of
        // that time, or after it, when the app has as much time again.
        for (second, expiry) in [(33.0, 33.0), (70, 95)] {
            let run = try run(second: second)
            #expect(run.rows("exit", of: "a").isEmpty)
            let tasks = run.rows("background_task", of: "a")
            #expect(tasks.map(\.detail) == ["begins", "expires", "ends", "begins", "expires", "ends"])
            #expect(tasks[3...].map(time) == [second, expiry, expiry])
            #expect(suspension(of: run) == 186)
        }
    }

    @Test("handlers that wait for the main thread are called once, for the tasks that there are by then")
    func lateExpiry() throws {
        let profile = testApp("a") {
            $0.backgroundModes = [.remoteNotification]
            $0.costs.event = .seconds(3)
        }
        let begin = UserAction.beginBackgroundTask(app)
        // At 29 s the main thread is busy for 3 s, and the first task's time ends meanwhile.
        let run = try live(
            [profile], seconds: 90,
            [
                (0, .launch(app)), (4, begin), (5, .home), (29, .wake(app, .remoteNotification, lasting: .seconds(5))),
                (30.5, begin),
            ])
        #expect(run.rows("exit", of: "a").isEmpty)
        let tasks = run.rows("background_task", of: "a")
        #expect(tasks.map(\.detail) == ["begins", "expires", "begins", "ends", "ends"])
        #expect(tasks.suffix(2).map(time) == [32, 32])
        #expect(suspension(of: run) == 35)
    }

    @Test("a task needs code that runs")
    func refusedTask() throws {
        let run = try live(
            [testApp("a")],
            [(0, .beginBackgroundTask(app)), (1, .launch(app)), (5, .home), (20, .beginBackgroundTask(app))])
        #expect(run.rows("refused", of: "a").map(\.reason) == ["it is not running", "it is suspended: no code runs"])
    }

    // MARK: Watchdog

    @Test("a launch that blocks 20 s dies by the watchdog", arguments: [true, false])
    func blockedLaunch(isSceneBased: Bool) throws {
        let slow = testApp("a") {
            $0.scenes.support = isSceneBased
            $0.costs.launch = .seconds(25)
        }
        let run = try live([slow], [(0, .launch(app))])
        let exit = try #require(run.rows("exit", of: "a").first)
        #expect(exit.detail == "appWatchdog" && time(exit) == 20)
        #expect(run.tally.launches.map(\.latency) == [nil])
    }

    @Test("an activation that blocks 10 s dies by the watchdog, one that takes 9 s does not")
    func blockedActivation() throws {
        func run(_ seconds: Int64) throws -> RunOutput {
            try live(
                [testApp("a") { $0.costs.enterForeground = .seconds(seconds) }],
                [(0, .launch(app)), (30, .home), (50, .launch(app))])
        }
        #expect(try run(9).rows("exit", of: "a").isEmpty)
        let blocked = try run(11)
        let exit = try #require(blocked.rows("exit", of: "a").first)
        #expect(exit.detail == "appWatchdog" && exit.reason == "scene update took longer than 10s")
        // The app reads that it is in the background, but the user waits for it: it ends in front of the user.
        let end = try #require(blocked.terminationRows.first)
        #expect(end.texts("state", "band", "was_foreground", "idle_s") == ["background", "100", "true", "0"])
    }

    @Test("entering the background has five seconds")
    func blockedBackground() throws {
        let run = try live([testApp("a") { $0.costs.enterBackground = .seconds(6) }], [(0, .launch(app)), (5, .home)])
        let exit = try #require(run.rows("exit", of: "a").first)
        #expect(exit.detail == "appWatchdog" && exit.reason == "entering the background took longer than 5s")
    }

    /// An app in front waits for memory from before 20 s on, and the policy is slow; then these actions happen.
    private func stuck(_ then: [(Double, UserAction)]) throws -> RunOutput {
        let audible = testApp("a") {
            $0.backgroundModes = [.audio]
            $0.memory.base = .mebibytes(30)
        }
        let growing = testApp("b") {
            $0.memory.growth = GrowthProfile(rate: ByteRate(bytesPerSecond: 2 << 20), upTo: .mebibytes(60))
        }
        let plan = testPlan(
            [audible, growing], seconds: 60, policy: "systemd-oomd",
            user: [(0, .launch(app)), (3, .launch(other))] + then
        ) { $0.backend = .accounting }
        let run = try runToEnd(plan)
        let stall = try #require(run.rows("stall", of: "b").first)
        #expect(time(stall) < 20)
        return run
    }

    @Test("the watchdog ends a main thread that waits for memory 5 s after it was told to end")
    func endsWhileWaiting() throws {
        for action in [UserAction.quit(other), .terminate(other)] {
            let run = try stuck([(20, action), (21, .launch(app))])
            let exit = try #require(run.rows("exit", of: "b").first)
            #expect(exit.detail == "appWatchdog" && time(exit) == 25, "\(exit)")
            #expect(run.tally.terminations.map(\.reason) == [.appWatchdog])
            // The next app then gets the screen.
            #expect(try #require(run.tally.launches.last?.latency) < .seconds(5))
        }
    }

    @Test("who gets its memory in time ends as others do, and says goodbye")
    func endsAfterWaiting() throws {
        let ended = try stuck([(20, .quit(other)), (22, .quit(app))])
        #expect(ended.rows("exit", of: "b").map(\.reason) == ["swiped away"])
        #expect(ended.callbacks(of: "b").last == "applicationWillTerminate")
        // The app goes home first and gets another 5 s when it is told to end.
        let both = try stuck([(20, .home), (23, .quit(other))])
        #expect(both.rows("exit", of: "b").map(\.detail) == ["appWatchdog"])
        #expect(both.rows("exit", of: "b").map(time) == [28])
    }

    @Test(
        "a main thread that waits for memory and is to leave the screen has the 5 s of entering the background for it")
    func leavesWhileWaiting() throws {
        for leave in [UserAction.home, .launch(app), .lock(lasting: .seconds(60))] {
            let run = try stuck([(20, leave)])
            let exit = try #require(run.rows("exit", of: "b").first)
            #expect(exit.detail == "appWatchdog" && time(exit) == 25, "\(exit)")
            #expect(exit.reason == "waits for memory and did not leave the screen within 5s")
            // The next app has waited as long, but has more time, and then gets the screen.
            #expect(run.tally.terminations.map(\.app) == ["b"])
            if case .launch = leave {
                #expect(try #require(run.tally.launches.last?.latency) < .milliseconds(5_100))
            }
        }
    }

    @Test("who gets its memory in time, comes back, or has left already is not ended for not leaving")
    func leavesInTime() throws {
        let served = try stuck([(20, .home), (24, .quit(app))])
        #expect(served.rows("exit", of: "b").isEmpty)
        #expect(served.callbacks(of: "b").contains("sceneDidEnterBackground"))
        let back = try stuck([(20, .home), (23, .launch(other)), (24, .home)])
        #expect(back.rows("exit", of: "b").map(time) == [29])
    }

    @Test("an end is perceived when the user wants the app soon after, also where a push has brought it back by then")
    func perceived() throws {
        let slow = testApp("a") {
            $0.costs.enterBackground = .seconds(6)
            $0.backgroundModes = [.remoteNotification]
        }
        let push = (20.0, UserAction.wake(app, .remoteNotification, lasting: .seconds(20)))
        func run(_ then: [(Double, UserAction)]) throws -> RunOutput {
            try live([slow], [(0, .launch(app)), (5, .home)] + then)
        }
        for (then, launches, perceived) in [
            ([(25.0, UserAction.launch(app))], 2, 1), ([push, (25, .launch(app))], 2, 1), ([push], 2, 0),
        ] {
            let run = try run(then)
            #expect(run.rows("exit", of: "a").first?.detail == "appWatchdog")
            #expect(run.rows("launch", of: "a").count == launches)
            #expect(run.tally.terminations.count(where: \.wasPerceived) == perceived, "\(then)")
        }
    }

    @Test(
        "an app is wanted back when it is tapped, also where a push has launched it by then; nothing later counts",
        arguments: [true, false])
    func relaunchInterval(isTapped: Bool) throws {
        let slow = testApp("a") {
            $0.costs.enterBackground = .seconds(6)
            $0.backgroundModes = [.remoteNotification]
        }
        let push = (12.0, UserAction.wake(app, .remoteNotification, lasting: .seconds(20)))
        let tap = isTapped ? [(20.0, UserAction.launch(app))] : []
        // The watchdog ends it at 10 s. The user's swipe at 30 s is not an action of the system.
        let plan = testPlan(
            [slow, testApp("b")], ceiling: .mebibytes(512), seconds: 80, policy: "lru",
            user: [(0, .launch(app)), (5, .home), push] + tap
                + [(30, .quit(app)), (60, .launch(app)), (70, .launch(other)), (75, .home)]
        ) {
            $0.backend = .accounting
            $0.limits.backgroundProcesses = 0
        }
        var intervals: Set<[TimeSpan]> = []
        let simulation = Simulation(
            plan, memory: try plan.makeDevice(), sinks: RunSinks { _ in MemorySink() }, verify: true, dryRun: true,
            observer: { record in
                guard record.snapshot.now > .zero + .seconds(60) else { return }
                for process in record.snapshot.processes where process.name == "a" {
                    intervals.insert(process.relaunchIntervals)
                }
            })
        _ = try simulation.run()
        #expect(simulation.tally.terminations.count >= 1)
        #expect(intervals.count == 1)
        let booked = try #require(intervals.first)
        #expect(booked.count == (isTapped ? 1 : 0), "\(booked)")
        #expect(booked.allSatisfy { $0 > .seconds(9) && $0 < .seconds(10) }, "\(booked)")
    }

    @Test("too much CPU off screen is a violation, a little less is not")
    func cpu() throws {
        func run(_ percent: Int64) throws -> RunOutput {
            let busy = testApp("a") {
                $0.background.cpu = .percent(percent)
                $0.backgroundModes = [.audio]
            }
            return try live([busy], [(0, .launch(app)), (5, .home)])
        }
        // The limit counts callbacks, too.
        #expect(try run(79).rows("exit", of: "a").isEmpty)
        #expect(try run(96).rows("exit", of: "a").map(\.detail) == ["cpuResourceLimit"])
    }

    // MARK: Modes

    @Test("a background mode keeps the app running, as long as it has something to do")
    func modes() throws {
        let music = testApp("a") { $0.backgroundModes = [.audio] }
        let run = try live([music], [(0, .launch(app)), (5, .home)])
        #expect(!run.story(of: "a").contains("-> suspended"))
        let short = testApp("a") {
            $0.backgroundModes = [.audio]
            $0.background.modesLast = .seconds(40)
        }
        let ended = try live([short], [(0, .launch(app)), (5, .home)])
        let entered = time(ended.rows("process_state", of: "a").last { $0.detail == "background" })
        #expect(suspension(of: ended) == entered + 40)
    }

    @Test("a refresh has about 30 s, processing has minutes")
    func refreshAndProcessing() throws {
        let profile = testApp("a") { $0.backgroundModes = [.fetch, .processing] }
        let refresh = try live(
            [profile], [(0, .launch(app)), (5, .home), (20, .wake(app, .backgroundFetch, lasting: .seconds(90)))])
        #expect(suspension(of: refresh) == 50)
        let work = try live(
            [profile], seconds: 300,
            [(0, .launch(app)), (5, .home), (20, .wake(app, .processing, lasting: .minutes(3)))])
        #expect(suspension(of: work) == 200)
    }

    @Test("an event that the system woke it for raises the band for as long as it lasts", arguments: [true, false])
    func eventsRaiseTheBand(hasMode: Bool) throws {
        let profile = testApp("a") {
            $0.backgroundModes = [.remoteNotification, .processing] + (hasMode ? [.audio] : [])
        }
        let reasons: [LaunchReason] = [.processing, .remoteNotification]
        for reason in reasons {
            let run = try live(
                [profile], [(0, .launch(app)), (5, .home), (20, .wake(app, reason, lasting: .seconds(10)))])
            let rows = TableRow.all(in: run.apps)
            func bands(_ from: Double, _ to: Double) -> Set<String> {
                Set(rows.filter { (from...to).contains($0.number("time_s") ?? -1) }.map { $0["band"] })
            }
            #expect(bands(5.5, 5.8) == [hasMode ? "120" : "30"])
            #expect(bands(20.5, 29.8) == [hasMode ? "120" : "40"])
            #expect(bands(33, 120) == [hasMode ? "120" : "0"])
        }
        // An event that the app handles in front does not change its band.
        let front = try live([profile], [(0, .launch(app)), (5, .wake(app, .processing, lasting: .seconds(10)))])
        #expect(!front.apps.contains(",40,"))
    }

    @Test("after a swipe, pushes and refreshes launch nothing until the user opens the app again")
    func swipedAway() throws {
        let profile = testApp("a") { $0.backgroundModes = [.remoteNotification, .location] }
        let run = try live(
            [profile],
            [
                (0, .launch(app)), (5, .quit(app)), (10, .wake(app, .remoteNotification, lasting: nil)),
                (15, .wake(app, .location, lasting: nil)),
            ])
        #expect(run.rows("refused", of: "a").map(\.time) == ["10"])
        #expect(run.rows("launch", of: "a").map(\.reason) == ["userTap; first launch ever", "location"])
    }

    // MARK: Launch

    @Test("an event during a launch for another comes after it, when the app has its scene", arguments: [true, false])
    func eventDuringLaunch(scenes: Bool) throws {
        let profile = testApp("a") {
            $0.scenes.support = scenes
            $0.backgroundModes = [.remoteNotification, .fetch]
        }
        let run = try live(
            [profile],
            [(0, .wake(app, .backgroundFetch, lasting: nil)), (0.1, .wake(app, .remoteNotification, lasting: nil))])
        let story = run.story(of: "a")
        let push = try #require(story.firstIndex(of: "event remoteNotification"))
        let refresh = try #require(story.firstIndex(of: "event backgroundFetch"))
        let connected = try #require(story.firstIndex(of: scenes ? willConnect : didFinish))
        #expect(connected < refresh && refresh < push, "\(story)")
    }

    @Test("so many pushes that the app is never done are no launch that takes too long", arguments: [true, false])
    func storm(scenes: Bool) throws {
        let profile = testApp("a") {
            $0.scenes.support = scenes
            $0.backgroundModes = [.remoteNotification]
            $0.costs.event = .milliseconds(100)
        }
        let push = UserAction.wake(app, .remoteNotification, lasting: nil)
        let run = try live([profile], (0..<400).map { (Double($0) * 0.08, push) })
        #expect(run.rows("exit", of: "a").isEmpty)
        #expect(run.rows("background_event", of: "a").count == 400)
    }

    @Test("an app that has ended can be swiped away: it comes back only with the user, and with a new scene")
    func swipedAwayDead() throws {
        let profile = testApp("a") { $0.backgroundModes = [.remoteNotification] }
        let push = UserAction.wake(app, .remoteNotification, lasting: nil)
        let run = try live(
            [profile],
            [(0, .launch(app)), (5, .crash(app)), (10, .quit(app)), (11, .quit(app)), (12, push), (20, .launch(app))])
        #expect(run.rows("refused", of: "a").map(\.time) == ["11", "12"])
        let second = run.rows("callback", of: "a").filter { (Double($0.time) ?? 0) >= 20 }.map(\.detail)
        #expect(
            second.contains("application(_:didDiscardSceneSessions:)") && second.contains(configuration), "\(second)")
        // An app that was never launched has no card.
        #expect(try live([profile], [(0, .quit(app))]).rows("refused", of: "a").count == 1)
    }

    @Test("a tap during a launch off screen makes it a launch to the first frame, which the watchdog times")
    func tapDuringLaunch() throws {
        let profile = testApp("a") {
            $0.backgroundModes = [.remoteNotification]
            $0.costs.process = .seconds(8)
            $0.costs.connect = .seconds(9)
            $0.costs.enterForeground = .seconds(4)
            $0.costs.activate = .seconds(3)
        }
        let run = try live([profile], [(1, .wake(app, .remoteNotification, lasting: nil)), (3, .launch(app))])
        let exit = try #require(run.rows("exit", of: "a").first)
        #expect(exit.time == "21" && exit.detail == "appWatchdog", "\(exit)")
    }

    @Test("the reason to launch an app goes with its scene, but not the event that came meanwhile")
    func closedDuringLaunch() throws {
        let profile = testApp("a") { $0.backgroundModes = [.remoteNotification, .fetch] }
        let run = try live(
            [profile],
            [
                (0, .wake(app, .backgroundFetch, lasting: nil)), (0.1, .wake(app, .remoteNotification, lasting: nil)),
                (0.2, .closeScene(app)),
            ])
        #expect(run.rows("background_event", of: "a").map(\.detail) == ["remoteNotification"])
    }

    @Test("launch options name the reason, and only where there is one")
    func launchOptions() throws {
        let profile = testApp("a") {
            $0.scenes.support = false
            $0.backgroundModes = [.location]
            $0.features = [.url]
        }
        func reasons(_ action: UserAction) throws -> [String] {
            try live([profile], [(0, action)]).rows("callback", of: "a").prefix(2).map(\.reason)
        }
        #expect(try reasons(.launch(app)) == ["", ""])
        let url = "UIApplication.LaunchOptionsKey.url"
        #expect(try reasons(.open(app, .url)) == [url, url])
        let location = "UIApplication.LaunchOptionsKey.location"
        #expect(try reasons(.wake(app, .location, lasting: nil)) == [location, location])
        let undeclared = try live([testApp("a")], [(0, .wake(app, .location, lasting: nil)), (1, .open(app, .url))])
        #expect(undeclared.rows("refused", of: "a").count == 2 && undeclared.rows("launch", of: "a").isEmpty)
    }

    @Test("a scene's reason comes with the scene")
    func sceneReason() throws {
        let profile = testApp("a") { $0.features = [.url] }
        let run = try live([profile], [(0, .open(app, .url))])
        let rows = run.rows("callback", of: "a")
        #expect(rows.first { $0.detail == configuration }?.reason == "url")
        #expect(rows.first { $0.detail == willFinish }?.reason == "")
    }

    @Test("a scene that connects without a tap is not told the reason of an older one")
    func laterScenes() throws {
        let profile = testApp("a") {
            $0.features = [.url]
            $0.scenes.multiple = true
        }
        let run = try live(
            [profile],
            [(0, .open(app, .url)), (20, .showOnDisplay(app)), (30, .open(app, .url)), (40, .openScene(app))])
        let reasons = run.rows("callback", of: "a").filter { $0.detail == willConnect }.map(\.reason)
        #expect(reasons == ["url", "userTap", "userTap"])
        // Two scenes that connect at the same time also keep their own reasons.
        let together = try live([profile], [(0, .open(app, .url)), (0.01, .showOnDisplay(app))])
        let both = together.rows("callback", of: "a").filter { $0.detail == willConnect }
        #expect(both.map(\.reason).sorted() == ["url", "userTap"])
        #expect(both.first { $0.scene == "1" }?.reason == "url")
    }

    @Test("the first launch ever costs its set-up once")
    func firstLaunch() throws {
        let profile = testApp("a") { $0.costs.firstLaunch = .seconds(2) }
        let run = try live([profile], [(0, .launch(app)), (10, .crash(app)), (20, .launch(app))])
        let latencies = run.tally.launches.compactMap(\.latency)
        #expect(latencies[0] - latencies[1] == .seconds(2))
    }

    @Test("work moved off the main thread does not delay the first frame")
    func deferredWork() throws {
        let plain = try live([testApp("a")], [(0, .launch(app))])
        let profile = testApp("a") { $0.deferred = DeferredWork(work: .seconds(3), memory: .mebibytes(4)) }
        let run = try live([profile], [(0, .launch(app))])
        #expect(run.tally.launches.map(\.latency) == plain.tally.launches.map(\.latency))
        let done = try #require(run.rows("deferred_work", of: "a").first)
        #expect(time(done) > 3 && done.detail == "4.0 MiB")
        #expect(run.tally.peakResident > plain.tally.peakResident)
    }

    // MARK: Events

    @Test("a URL reaches the delegate of its life cycle, before the app is active", arguments: [true, false])
    func url(isSceneBased: Bool) throws {
        let profile = testApp("a") {
            $0.scenes.support = isSceneBased
            $0.features = [.url]
        }
        let run = try live([profile], [(0, .launch(app)), (5, .home), (20, .open(app, .url)), (30, .open(app, .url))])
        let scene = [
            "sceneWillEnterForeground", "scene(_:openURLContexts:)", "sceneDidBecomeActive",
            "scene(_:openURLContexts:)",
        ]
        let plain = [
            "applicationWillEnterForeground", "application(_:open:options:)", "applicationDidBecomeActive",
            "application(_:open:options:)",
        ]
        #expect(run.callbacks(of: "a", from: 20) == (isSceneBased ? scene : plain))
    }

    @Test("Handoff and shortcuts bring the app to the front and tell it")
    func handoff() throws {
        let profile = testApp("a") { $0.features = [.handoff, .shortcut] }
        let run = try live(
            [profile],
            [(0, .launch(app)), (5, .home), (20, .open(app, .userActivity)), (30, .open(app, .shortcutItem))])
        #expect(
            run.callbacks(of: "a", from: 20) == [
                "sceneWillEnterForeground", "scene(_:willContinueUserActivityWithType:)", "scene(_:continue:)",
                "scene(_:didUpdate:)", "sceneDidBecomeActive", "windowScene(_:performActionFor:completionHandler:)",
            ])
    }

    @Test("a change of time reaches who runs at once, who is suspended when it runs again")
    func timeChange() throws {
        let run = try live(
            [testApp("a"), testApp("b")],
            [(0, .launch(app)), (5, .launch(other)), (20, .timeChange(.midnight)), (30, .launch(app))])
        let name = "applicationSignificantTimeChange"
        #expect(run.callbacks(of: "b", from: 20).first == name)
        #expect(run.callbacks(of: "a", from: 20) == [name, "sceneWillEnterForeground", "sceneDidBecomeActive"])
        #expect(run.rows("callback", of: "a").filter { $0.detail == name }.map(time).allSatisfy { $0 >= 30 })
    }

    @Test("locking closes protected data, unlocking opens it, and each is told while it runs")
    func protectedData() throws {
        let profile = testApp("a") { $0.background.task = .seconds(15) }
        let run = try live([profile], [(0, .launch(app)), (5, .lock(lasting: .seconds(20)))])
        #expect(
            run.callbacks(of: "a", from: 5) == [
                "sceneWillResignActive", "sceneDidEnterBackground", restoration,
                "applicationProtectedDataWillBecomeUnavailable", "applicationProtectedDataDidBecomeAvailable",
                "sceneWillEnterForeground", "sceneDidBecomeActive",
            ])
        // An app that is suspended by then hears of neither.
        let early = try live([testApp("a")], [(0, .launch(app)), (5, .lock(lasting: .seconds(20)))])
        #expect(!early.events.contains("ProtectedData"))
    }

    @Test("who was woken or launched while the device is locked hears that protected data is back, the others do not")
    func protectedDataOfTheWoken() throws {
        func run(lasting seconds: Int64) throws -> RunOutput {
            let apps = ["a", "b", "c"].map { testApp($0) { $0.backgroundModes = [.processing] } }
            let wakes = [app, AppID(2)].map { (20.0, UserAction.wake($0, .processing, lasting: .seconds(seconds))) }
            return try live(
                apps,
                [(0, .launch(other)), (2, .launch(app)), (4, .home), (8, .lock(lasting: .seconds(22)))] + wakes + [
                    (60, .launch(app)), (70, .launch(other)),
                ])
        }
        let goes = "applicationProtectedDataWillBecomeUnavailable"
        let back = "applicationProtectedDataDidBecomeAvailable"
        func told(_ run: RunOutput, _ name: String) -> [Double] {
            run.rows("callback", of: name).filter { $0.detail == back }.map(time)
        }
        let long = try run(lasting: 30)
        #expect(!long.events.contains(goes))
        #expect(told(long, "a") == [30] && told(long, "c") == [30] && told(long, "b") == [])
        // It is suspended again before the device is unlocked, and is told when its code next runs.
        let short = try run(lasting: 5)
        #expect(told(short, "a") == [60] && told(short, "b") == [])
    }

    @Test("an app that holds a lock on a file when it is suspended is ended, whether the device is locked or not")
    func lockedFile() throws {
        let profile = testApp("a") { $0.background.holdsFileLock = true }
        for leaving in [UserAction.lock(lasting: .seconds(20)), .home] {
            let run = try live([profile], [(0, .launch(app)), (5, leaving)])
            #expect(run.rows("exit", of: "a").map(\.detail) == ["suspendedWithLockedFile"], "\(leaving)")
        }
        let other = try live([testApp("a")], [(0, .launch(app)), (5, .home)])
        #expect(other.rows("exit", of: "a").isEmpty)
    }

    @Test("a Bluetooth accessory launches an app that has ended, but not one that the user has quit")
    func bluetoothAfterQuit() throws {
        let profile = testApp("a") { $0.backgroundModes = [.bluetoothCentral] }
        let event = UserAction.wake(app, .bluetoothCentrals, lasting: .seconds(2))
        let crashed = try live([profile], [(0, .launch(app)), (5, .crash(app)), (10, event)])
        #expect(crashed.rows("launch", of: "a").map(\.reason).last == "bluetoothCentrals")
        let quit = try live([profile], [(0, .launch(app)), (5, .quit(app)), (10, event)])
        #expect(quit.rows("launch", of: "a").count == 1)
        #expect(quit.rows("refused", of: "a").map(\.detail) == ["bluetooth"])
    }

    @Test("observers of a notification do their work when it posts")
    func observers() throws {
        let observer = NotificationObserver(of: .didEnterBackground, cost: .milliseconds(40), frees: .percent(100))
        let profile = testApp("a") {
            $0.background.frees = .zero
            $0.observers = [observer]
        }
        let run = try live([profile], [(0, .launch(app)), (5, .home)])
        let posted = run.rows("notification", of: "a").filter { $0.reason == "observers: 1" }
        #expect(posted.map(\.detail) == ["UIApplication.didEnterBackgroundNotification"])
        #expect(TableRow.all(in: run.apps).last?["cache_bytes"] == "0")
    }

    @Test("scene-based apps get no app-level active and background callbacks, but the notifications post")
    func notifications() throws {
        let run = try live([testApp("a")], [(0, .launch(app)), (5, .home), (20, .launch(app))])
        let posted = run.notifications(of: "a").filter { $0.hasPrefix("UIApplication") }
        let names = [
            "didFinishLaunching", "willEnterForeground", "didBecomeActive", "willResignActive", "didEnterBackground",
            "willEnterForeground",
            "didBecomeActive",
        ]
        #expect(posted == names.map { "UIApplication.\($0)Notification" })
        #expect(
            run.callbacks(of: "a").allSatisfy { !$0.hasPrefix("applicationDid") && !$0.hasPrefix("applicationWill") })
    }

    // MARK: Displays

    @Test("a second display has an active scene of its own")
    func secondDisplay() throws {
        let profile = testApp("a") { $0.scenes.multiple = true }
        let run = try live(
            [profile, testApp("b")],
            [(0, .launch(app)), (5, .showOnDisplay(app)), (10, .launch(other)), (20, .unplugDisplay)])
        // The app stays active on the second display while another app has the first.
        #expect(run.callbacks(of: "a", from: 10).prefix(2) == ["sceneWillResignActive", "sceneDidEnterBackground"])
        let states = run.rows("process_state", of: "a")
        #expect(states.filter { time($0) >= 5 && time($0) < 20 }.isEmpty)
        #expect(
            run.callbacks(of: "a", from: 20) == [
                "sceneWillResignActive", "sceneDidEnterBackground", "sceneDidDisconnect", didDiscard,
            ])
        #expect(run.story(of: "a").last == "-> suspended")
    }

    @Test("the second display shows the next app when the scene before it is gone")
    func secondDisplayIsHandedOver() throws {
        let slow = testApp("a") {
            $0.scenes.multiple = true
            $0.costs.resignActive = .seconds(3)
        }
        let run = try live(
            [slow, testApp("b") { $0.scenes.multiple = true }],
            [
                (0, .launch(app)), (2, .launch(other)), (8, .showOnDisplay(app)), (10, .unplugDisplay),
                (10.5, .showOnDisplay(other)),
            ])
        let leaves = try #require(run.rows("scene_state", of: "a").last { $0.reason == "resignActive" })
        let shows = try #require(run.rows("scene_state", of: "b").last { $0.reason == "activate" })
        #expect(time(shows) == time(leaves) && time(shows) >= 13)
    }

    @Test("what is not possible is refused with its reason")
    func refusals() throws {
        let run = try live(
            [testApp("a")],
            [
                (0, .quit(app)), (2, .crash(app)), (3, .openScene(app)), (4, .showOnDisplay(app)),
                (5, .unplugDisplay), (6, .closeScene(app)), (7, .endBackgroundTask(app)), (8, .terminate(app)),
            ])
        #expect(run.eventRows.count { $0.event == "refused" } == 8)
        #expect(run.eventRows.filter { $0.event == "refused" }.allSatisfy { !$0.reason.isEmpty })
    }
}
