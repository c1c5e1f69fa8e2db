import Lifecycle
import Metrics
import Plan
import Quantities
import Simulation
import Testing
import Workload

extension RunOutput {
    /// All rows of an app in the words of a device's log: states, callbacks, notifications, snapshots, tasks, its end.
    func log(of app: String, from start: Double = 0, to end: Double = .infinity) -> [String] {
        eventRows.compactMap { row in
            let time = Double(row.time) ?? 0
            guard row.app == app, time >= start, time < end else { return nil }
            let scene = row.scene.isEmpty ? "" : "\(row.scene): "
            switch row.event {
            case "callback": return scene + row.detail
            case "notification": return scene + row.detail.replacing("Notification", with: "")
            case "process_state": return "-> \(row.detail)"
            case "scene_state": return "\(scene)-> \(row.detail)"
            case "snapshot": return "\(scene)snapshot"
            case "background_task": return "task \(row.detail)"
            case "background_event": return "event \(row.detail)"
            case "first_frame": return "first frame"
            case "exit": return "exit \(row.detail)"
            default: return nil
            }
        }
    }
}

/// The rows that a device would write, written out in full. Sources: LIFECYCLE's corrections, named by each test.
@Suite("rows as a device writes them")
struct DeviceRowsTests {
    let app = AppID(0)
    let other = AppID(1)

    private let coldLaunch = [
        "-> background", willFinish, didFinish, "UIApplication.didFinishLaunching",
        "1: \(configuration)", "1: \(willConnect)", "1: UIScene.willConnect",
        "1: sceneWillEnterForeground", "1: UIScene.willEnterForeground", "1: -> foregroundInactive",
        "UIApplication.willEnterForeground", "-> inactive",
        "1: -> foregroundActive", "-> active", "1: sceneDidBecomeActive", "1: UIScene.didActivate",
        "UIApplication.didBecomeActive", "first frame",
    ]

    private let leaving = [
        "1: sceneWillResignActive", "1: UIScene.willDeactivate", "1: -> foregroundInactive",
        "UIApplication.willResignActive", "-> inactive",
        "1: -> background", "-> background", "1: sceneDidEnterBackground", "1: UIScene.didEnterBackground",
        "UIApplication.didEnterBackground", "1: \(restoration)", "1: snapshot",
    ]

    // MARK: Launches

    @Test("a cold launch: background until the scene is there, and the application enters the foreground, too")
    func coldLaunchRows() throws {
        #expect(try live([testApp("a")], [(0, .launch(app))]).log(of: "a") == coldLaunch)
    }

    @Test("a launch that reads inactive, without the notification: the rows of older systems")
    func olderLaunch() throws {
        let run = try live([testApp("a")], [(0, .launch(app))]) {
            $0.lifecycle.stateAtLaunch = .inactive
            $0.lifecycle.foregroundNotificationAtLaunch = false
        }
        var older = coldLaunch.filter { $0 != "-> inactive" && $0 != "UIApplication.willEnterForeground" }
        older[0] = "-> inactive"
        #expect(run.log(of: "a") == older)
    }

    @Test("an app that is left before its scene has connected was in the background all the time")
    func leftDuringLaunch() throws {
        let slow = testApp("a") { $0.costs.launch = .seconds(2) }
        let run = try live([slow], [(0, .launch(app)), (1, .home)])
        #expect(
            run.log(of: "a") == [
                "-> background", willFinish, didFinish, "UIApplication.didFinishLaunching", "-> suspended",
            ])
        #expect(run.rows("launch", of: "a").map(\.detail) == ["foreground"])
    }

    @Test("an app without scenes is inactive while it is launched, and posts nothing about the foreground")
    func appBasedLaunch() throws {
        let run = try live([testApp("a") { $0.scenes.support = false }], [(0, .launch(app))])
        #expect(
            run.log(of: "a") == [
                "-> inactive", willFinish, didFinish, "UIApplication.didFinishLaunching", "-> active",
                "applicationDidBecomeActive", "UIApplication.didBecomeActive", "first frame",
            ])
    }

    @Test("in iOS 12 the app delegate gets every event, although the app supports scenes; a second scene is refused")
    func withoutScenes() throws {
        let app = testApp("a") { $0.scenes.multiple = true }
        let user: [(Double, UserAction)] = [(0, .launch(self.app)), (5, .home), (20, .launch(self.app))]
        let run = try live([app], user + [(30, .openScene(self.app))]) { $0.lifecycle.scenes = false }
        let plain = try live([testApp("a") { $0.scenes.support = false }], user)
        #expect(run.log(of: "a") == plain.log(of: "a"))
        #expect(run.rows("refused", of: "a").map(\.reason) == ["this system has no scenes"])
    }

    // MARK: Leaving and returning

    @Test("a scene leaves: it is told before the application, and its state is saved before the snapshot")
    func leavingRows() throws {
        let run = try live([testApp("a")], [(0, .launch(app)), (5, .home)])
        #expect(run.log(of: "a", from: 5) == leaving + ["1: -> suspended", "-> suspended"])
    }

    @Test("the application first, then the scene: the other reading of the record")
    func applicationFirst() throws {
        let run = try live([testApp("a")], [(0, .launch(app)), (5, .home)]) {
            $0.lifecycle.sceneBeforeApplication = false
        }
        let rows = run.log(of: "a", from: 5)
        #expect(
            Array(rows[5..<10]) == [
                "1: -> background", "-> background", "UIApplication.didEnterBackground", "1: sceneDidEnterBackground",
                "1: UIScene.didEnterBackground",
            ])
    }

    @Test("an app that is ended while suspended connects again with the activity that it saved when it left")
    func restoredAfterKill() throws {
        func connections(_ moment: RestorationMoment) throws -> [String] {
            let big = testApp("b") { $0.memory.base = .mebibytes(40) }
            let plan = testPlan(
                [testApp("a"), big], ceiling: .mebibytes(56), seconds: 40, policy: "lru",
                user: [
                    (0, .launch(app)), (5, .home), (15, .launch(other)), (25, .home), (26, .quit(other)),
                    (30, .launch(app)),
                ]
            ) {
                $0.backend = .accounting
                $0.lifecycle.restorationSaved = moment
            }
            let run = try runToEnd(plan)
            #expect(run.rows("exit", of: "a").map(\.detail) == ["memoryPressure"])
            return run.rows("callback", of: "a").filter { $0.detail == willConnect }.map(\.reason)
        }
        #expect(try connections(.enteringBackground) == ["userTap", "userTap; stored restoration activity"])
        #expect(try connections(.disconnecting) == ["userTap", "userTap"])
    }

    @Test("the user closes a window: no snapshot of it, and nothing is saved for it", arguments: [false, true])
    func closedWindow(takesSnapshot: Bool) throws {
        let run = try live(
            [testApp("a") { $0.scenes.multiple = true }],
            [(0, .launch(app)), (5, .openScene(app)), (20, .closeScene(app))]
        ) { $0.lifecycle.snapshotOfClosedScene = takesSnapshot }
        #expect(
            run.log(of: "a", from: 20, to: 20.5) == [
                "2: sceneWillResignActive", "2: UIScene.willDeactivate", "2: -> foregroundInactive",
                "UIApplication.willResignActive", "-> inactive",
                "2: -> background", "-> background", "2: sceneDidEnterBackground", "2: UIScene.didEnterBackground",
                "UIApplication.didEnterBackground",
            ] + (takesSnapshot ? ["2: snapshot"] : []) + [
                "2: sceneDidDisconnect", "2: UIScene.didDisconnect", "2: -> unattached",
                "2: \(didDiscard)",
            ])
    }

    // MARK: Swipes

    @Test("a swipe: the scene resigns and disconnects from the screen, then the app terminates")
    func swiped() throws {
        let run = try live([testApp("a")], [(0, .launch(app)), (5, .quit(app))])
        #expect(
            run.log(of: "a", from: 5) == [
                "1: sceneWillResignActive", "1: UIScene.willDeactivate", "1: -> foregroundInactive",
                "UIApplication.willResignActive", "-> inactive",
                "1: sceneDidDisconnect", "1: UIScene.didDisconnect", "1: -> unattached",
                "applicationWillTerminate", "UIApplication.willTerminate", "exit userTerminated", "-> notRunning",
            ])
        let plain = try live([testApp("a") { $0.scenes.support = false }], [(0, .launch(app)), (5, .quit(app))])
        #expect(
            plain.log(of: "a", from: 5) == [
                "applicationWillResignActive", "UIApplication.willResignActive", "-> inactive",
                "applicationWillTerminate", "UIApplication.willTerminate", "exit userTerminated", "-> notRunning",
            ])
    }

    @Test("a swipe in older systems: the app enters the background first")
    func swipedInOlderSystems() throws {
        let run = try live([testApp("a")], [(0, .launch(app)), (5, .quit(app))]) {
            $0.lifecycle.swipeEntersBackground = true
        }
        #expect(
            run.callbacks(of: "a", from: 5) == [
                "sceneWillResignActive", "sceneDidEnterBackground", "sceneDidDisconnect", "applicationWillTerminate",
            ])
    }

    @Test("after a swipe a processing task still launches the app, unless the system is older")
    func processingAfterQuit() throws {
        let profile = testApp("a") { $0.backgroundModes = [.processing, .fetch] }
        func launches(_ newer: Bool) throws -> [String] {
            try live(
                [profile],
                [
                    (0, .launch(app)), (5, .quit(app)), (10, .wake(app, .backgroundFetch, lasting: nil)),
                    (20, .wake(app, .processing, lasting: nil)),
                ]
            ) { $0.lifecycle.processingAfterQuit = newer }.rows("launch", of: "a").map(\.reason)
        }
        #expect(try launches(true) == ["userTap; first launch ever", "processing"])
        #expect(try launches(false) == ["userTap; first launch ever"])
    }

    // MARK: Off screen

    @Test("beginBackgroundTask is called inside didEnterBackground, and its row lies there", arguments: [true, false])
    func taskInsideCallback(isSceneBased: Bool) throws {
        let profile = testApp("a") {
            $0.scenes.support = isSceneBased
            $0.background.task = .seconds(3)
        }
        let run = try live([profile], [(0, .launch(app)), (5, .home)])
        let callback = isSceneBased ? "1: sceneDidEnterBackground" : "applicationDidEnterBackground"
        let notification = isSceneBased ? "1: UIScene.didEnterBackground" : "UIApplication.didEnterBackground"
        let rows = run.log(of: "a", from: 5)
        let place = try #require(rows.firstIndex(of: callback))
        #expect(Array(rows[place...place + 2]) == [callback, "task begins", notification])
        // Launched off screen, it has not left the screen.
        let woken = testApp("a") {
            $0.backgroundModes = [.fetch]
            $0.background.task = .seconds(3)
        }
        let refresh = try live([woken], [(0, .wake(app, .backgroundFetch, lasting: nil))])
        #expect(refresh.rows("background_task", of: "a").isEmpty)
    }

    @Test("protected data goes 10 s after the lock; a shorter lock loses nothing")
    func shortLock() throws {
        let music = testApp("a") { $0.backgroundModes = [.audio] }
        func told(_ seconds: Int64, delay: Int64 = 10) throws -> [String] {
            try live([music], [(0, .launch(app)), (5, .lock(lasting: .seconds(seconds)))]) {
                $0.lifecycle.protectedDataDelay = .seconds(delay)
            }.rows("callback", of: "a").filter { $0.detail.contains("ProtectedData") }.map { "\($0.time) \($0.detail)" }
        }
        let goes = "applicationProtectedDataWillBecomeUnavailable"
        let back = "applicationProtectedDataDidBecomeAvailable"
        #expect(try told(9) == [])
        #expect(try told(20) == ["15 \(goes)", "25 \(back)"])
        #expect(try told(9, delay: 3) == ["8 \(goes)", "14 \(back)"])
    }

    @Test("a second lock counts anew")
    func secondLock() throws {
        let music = testApp("a") { $0.backgroundModes = [.audio] }
        let run = try live(
            [music], [(0, .launch(app)), (5, .lock(lasting: .seconds(8))), (14, .lock(lasting: .seconds(8)))])
        #expect(!run.events.contains("ProtectedData"))
    }

    @Test(
        "a scene off screen is suspended, although another one keeps the app in front", arguments: IdleScenes.allCases)
    func idleScenes(rule: IdleScenes) throws {
        let run = try live(
            [testApp("a") { $0.scenes.multiple = true }], [(0, .launch(app)), (5, .openScene(app)), (30, .home)]
        ) { $0.lifecycle.idleScenes = rule }
        let first = run.rows("scene_state", of: "a").filter { $0.scene == "1" && Double($0.time) ?? 0 > 5 }
        #expect(first.map(\.detail) == ["foregroundInactive", "background", "suspended"])
        let entered = try #require(Double(first[1].time))
        let suspended = try #require(Double(first[2].time))
        switch rule {
        case .suspended: #expect(abs(suspended - entered - 1) < 0.1)
        case .background: #expect(suspended > 30)
        }
    }

    // MARK: Handoff

    @Test("Handoff: the announcement, the activity and its change reach the scene, or the app delegate")
    func handoff() throws {
        func told(_ isSceneBased: Bool) throws -> [String] {
            let profile = testApp("a") {
                $0.scenes.support = isSceneBased
                $0.features = [.handoff]
            }
            return try live([profile], [(0, .launch(app)), (5, .home), (20, .open(app, .userActivity))])
                .callbacks(of: "a", from: 20)
        }
        #expect(
            try told(true) == [
                "sceneWillEnterForeground", "scene(_:willContinueUserActivityWithType:)", "scene(_:continue:)",
                "scene(_:didUpdate:)", "sceneDidBecomeActive",
            ])
        #expect(
            try told(false) == [
                "applicationWillEnterForeground", "application(_:willContinueUserActivityWithType:)",
                "application(_:continue:restorationHandler:)", "application(_:didUpdate:)",
                "applicationDidBecomeActive",
            ])
    }

    // MARK: Calls

    @Test("VoIP: an app runs for a call and no longer, and is suspended without one")
    func voip() throws {
        let profile = testApp("a") { $0.backgroundModes = [.voip] }
        let run = try live(
            [profile], seconds: 240,
            [(0, .launch(app)), (5, .home), (20, .wake(app, .call, lasting: .seconds(90)))])
        #expect(
            run.log(of: "a", from: 6) == [
                "1: -> suspended", "-> suspended", "-> background", "event call",
                "pushRegistry(_:didReceiveIncomingPushWith:for:completion:)", "-> suspended",
            ])
        #expect(run.rows("process_state", of: "a").suffix(2).map(\.time) == ["20", "110"])
        // A call reaches an app that has ended, and one that the user has swiped away.
        let launched = try live([profile], [(0, .launch(app)), (5, .quit(app)), (20, .wake(app, .call, lasting: nil))])
        #expect(launched.rows("launch", of: "a").map(\.detail) == ["foreground", "background"])
    }

    @Test("a call pauses the audio of apps off screen as well as in front; they play on when it is over")
    func callPausesAudio() throws {
        let apps = [
            testApp("music") { $0.backgroundModes = [.audio] }, testApp("video") { $0.backgroundModes = [.audio] },
        ]
        let user: [(Double, UserAction)] = [
            (0, .launch(app)), (5, .launch(other)), (20, .interrupt(.call, lasting: .seconds(10))),
        ]
        let run = try live(apps, user)
        #expect(
            run.log(of: "music", from: 20) == [
                "AVAudioSession.interruption", "1: -> suspended", "-> suspended", "-> background",
                "AVAudioSession.interruption",
            ])
        #expect(run.rows("process_state", of: "music").suffix(2).map(\.time) == ["21", "30"])
        #expect(
            run.log(of: "video", from: 20) == [
                "AVAudioSession.interruption", "1: sceneWillResignActive", "1: UIScene.willDeactivate",
                "1: -> foregroundInactive", "UIApplication.willResignActive", "-> inactive",
                "AVAudioSession.interruption", "1: -> foregroundActive", "-> active", "1: sceneDidBecomeActive",
                "1: UIScene.didActivate", "UIApplication.didBecomeActive",
            ])
        let reasons = run.rows("notification", of: "music").filter { $0.detail.hasPrefix("AV") }.map(\.reason)
        #expect(reasons == ["began", "ended"])
        // An alert pauses nothing; and a paused app may go on running.
        let alert = try live(apps, user.dropLast() + [(20, .interrupt(.alert, lasting: .seconds(10)))])
        #expect(!alert.events.contains("AVAudioSession"))
        let running = try live(apps, user) { $0.lifecycle.pausedAudioRuns = true }
        #expect(running.log(of: "music", from: 20) == ["AVAudioSession.interruption", "AVAudioSession.interruption"])
    }

    // MARK: Durations and sizes

    @Test("a callback's row is its beginning, and its duration the time until it returned; no other row has one")
    func durations() throws {
        let profile = testApp("a") {
            $0.costs.launch = .milliseconds(700)
            $0.costs.connect = .seconds(30)
        }
        let run = try live([profile], [(0, .launch(app))])
        let rows = run.eventTable.filter { $0["event"] == "callback" }
        #expect(rows.map { $0["detail"] } == [willFinish, didFinish, configuration, willConnect])
        // Filling 4 MiB at 1 GiB/s takes about 4 ms. The watchdog ends the app before its scene has connected.
        let durations = rows.map { $0.number("duration_ms") }
        #expect(durations[0] == 0 && durations[2] == 0 && durations[3] == nil)
        #expect((703..<715).contains(try #require(durations[1])))
        #expect(run.eventTable.allSatisfy { $0["event"] == "callback" || $0["duration_ms"].isEmpty })
        let times = run.eventTable.compactMap { $0.number("time_s") }
        #expect(times == times.sorted())
    }

    @Test("sizes in the detail have units, and stand beside it as numbers")
    func sizes() throws {
        let profile = testApp("a") {
            $0.background.snapshot = .mebibytes(3)
            $0.deferred = DeferredWork(work: .seconds(1), memory: .mebibytes(4))
        }
        let run = try live([profile], [(0, .launch(app)), (5, .home)])
        let rows = run.eventTable.filter { ["snapshot", "deferred_work"].contains($0["event"]) }
        #expect(
            rows.map { $0.texts("detail", "measure", "observed", "threshold") } == [
                ["4.0 MiB", "deferred_bytes", "4194304", ""], ["3.0 MiB", "snapshot_bytes", "3145728", ""],
            ])
    }
}

/// The exits as MetricKit counts them.
@Suite("exits.csv")
struct ExitTableTests {
    let app = AppID(0)
    let other = AppID(1)

    /// What an app's report counts: its rows that are not zero.
    private func counted(_ run: RunOutput, _ app: String = "a") -> [[String]] {
        run.exitTable.filter { $0["app"] == app && $0["count"] != "0" }
            .map { $0.texts("payload", "counter", "exit_reason", "count") }
    }

    @Test("a row per counter, by its exact name, and two for exits without one")
    func counters() throws {
        let run = try live([testApp("a"), testApp("b")], [(0, .launch(app))])
        let common = ["NormalApp", "Abnormal", "AppWatchdog", "MemoryResourceLimit", "BadAccess", "IllegalInstruction"]
        let off = ["MemoryPressure", "CPUResourceLimit", "SuspendedWithLockedFile", "BackgroundTaskAssertionTimeout"]
        let names =
            common.map { "MXForegroundExitData cumulative\($0)ExitCount" }
            + (common + off).map { "MXBackgroundExitData cumulative\($0)ExitCount" } + ["MXForegroundExitData ", " "]
        // The app that was never launched has no rows.
        #expect(run.exitTable.map { $0["app"] } == names.map { _ in "a" })
        #expect(run.exitTable.map { "\($0["payload"]) \($0["counter"])" } == names)
        #expect(run.exitTable.suffix(2).map { $0["exit_reason"] } == ["memoryPressure", "userTerminated"])
        #expect(run.exitTable.suffix(2).allSatisfy { $0["note"].hasPrefix("no counter: ") })
        let codes = ["appWatchdog": "0x8badf00d", "suspendedWithLockedFile": "0xdead10cc"]
        for row in run.exitTable { if let code = codes[row["exit_reason"]] { #expect(row["codes"] == code) } }
    }

    @Test("each exit is counted once, in front or off screen")
    func each() throws {
        let crash = try live(
            [testApp("a")], [(0, .launch(app)), (5, .crash(app)), (6, .launch(app)), (9, .crash(app))])
        #expect(counted(crash) == [["MXForegroundExitData", "cumulativeAbnormalExitCount", "abnormal", "2"]])
        let quit = try live([testApp("a")], [(0, .launch(app)), (5, .quit(app))])
        #expect(counted(quit) == [["", "", "userTerminated", "1"]])
        let leaking = testApp("a") { $0.background.leaksTask = true }
        #expect(
            counted(try live([leaking], [(0, .launch(app)), (5, .home)])) == [
                [
                    "MXBackgroundExitData", "cumulativeBackgroundTaskAssertionTimeoutExitCount",
                    "backgroundTaskAssertionTimeout", "1",
                ]
            ])
        let locking = testApp("a") { $0.background.holdsFileLock = true }
        #expect(
            counted(try live([locking], [(0, .launch(app)), (5, .home)])) == [
                [
                    "MXBackgroundExitData", "cumulativeSuspendedWithLockedFileExitCount", "suspendedWithLockedFile",
                    "1",
                ]
            ])
    }

    @Test("a jetsam in the foreground has no counter, one in the background has")
    func jetsam() throws {
        let apps = [testApp("a"), testApp("huge") { $0.memory.base = .mebibytes(100) }]
        let run = try runToEnd(testPlan(apps, policy: "lru", user: [(0, .launch(app)), (4, .launch(other))]))
        #expect(counted(run, "huge") == [["MXForegroundExitData", "", "memoryPressure", "1"]])
        #expect(
            counted(run) == [["MXBackgroundExitData", "cumulativeMemoryPressureExitCount", "memoryPressure", "1"]])
    }

    @Test("all exits of a run that has every reason are in the table")
    func complete() throws {
        for reason in ExitReason.allCases where reason != .userTerminated {
            #expect(ExitCounter.all.contains { $0.reason == reason && $0.payload == .background }, "\(reason)")
        }
        // What cannot happen in front has no row there.
        let inFront = ExitCounter.all.filter { $0.payload == .foreground }.compactMap(\.reason)
        #expect(
            Set(inFront) == [.normalApp, .abnormal, .appWatchdog, .memoryResourceLimit, .memoryPressure])
    }
}
