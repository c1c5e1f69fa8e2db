import Lifecycle
import Plan
import Quantities
import Reclaim
import Simulation
import Testing
import Workload

/// The life cycle's transitions, one test each, with all callbacks written out.
@Suite("transitions and who hears of them")
struct TransitionTests {
    let app = AppID(0)
    let coldLaunch = [
        willFinish, didFinish, configuration, willConnect, "sceneWillEnterForeground", "sceneDidBecomeActive",
    ]

    private func sceneBased(_ change: (inout AppProfile) -> Void = { _ in }) -> AppProfile {
        testApp("a") { profile in
            profile.scenes.multiple = true
            profile.backgroundModes = [.fetch, .remoteNotification]
            change(&profile)
        }
    }

    private func appBased(_ change: (inout AppProfile) -> Void = { _ in }) -> AppProfile {
        testApp("a") { profile in
            profile.scenes.support = false
            profile.backgroundModes = [.fetch, .remoteNotification]
            change(&profile)
        }
    }

    // MARK: Scene-based

    @Test("scene-based: the user asks for a new scene, app dead")
    func sceneColdLaunch() throws {
        let run = try live([sceneBased()], [(0, .launch(app))])
        #expect(run.callbacks(of: "a") == coldLaunch)
    }

    @Test("a tap on an app that is being quit waits for its end; without a change of mind it launches anew")
    func tapOnTheDying() throws {
        let quitAndTap: [(Double, UserAction)] = [(0, .launch(app)), (5, .quit(app)), (5, .launch(app))]
        let patient = try live([sceneBased()], quitAndTap)
        #expect(patient.tally.launches.count == 2)
        #expect(patient.tally.launches.allSatisfy { $0.kind == .cold && $0.latency != nil })
        let impatient = try live([sceneBased()], quitAndTap + [(5, .home)])
        #expect(impatient.tally.launches.map { $0.latency != nil } == [true, false])
        #expect(impatient.launches.contains("a,cold,5,,,,"), "\(impatient.launches)")
        #expect(impatient.callbacks(of: "a").count { $0 == willFinish } == 1)
    }

    @Test(
        "scene-based: a swipe discards the sessions, whether code runs or not; the app is told at the next launch",
        arguments: [true, false])
    func swipeDiscards(isSuspended: Bool) throws {
        let home = isSuspended ? [(7.0, UserAction.home)] : []
        let run = try live(
            [sceneBased()], [(0, .launch(app)), (5, .openScene(app))] + home + [(15, .quit(app)), (20, .launch(app))])
        #expect(
            run.callbacks(of: "a", from: 20) == [
                willFinish, didFinish, didDiscard, configuration, willConnect, "sceneWillEnterForeground",
                "sceneDidBecomeActive",
            ])
        // One scene is shown, and no stored state exists.
        let scenes = Set(run.rows("callback", of: "a").filter { Double($0.time) ?? 0 >= 20 }.map(\.scene))
        #expect(scenes == ["", "3"], "\(scenes)")
        #expect(!run.events.contains("stored restoration activity"))
    }

    @Test("scene-based: sessions that the user closed while the app was dead are told after the launch")
    func discardedWhileDead() throws {
        let run = try live(
            [sceneBased()],
            [(0, .launch(app)), (5, .openScene(app)), (10, .crash(app)), (12, .closeScene(app)), (15, .launch(app))])
        #expect(
            run.callbacks(of: "a", from: 15) == [
                willFinish, didFinish, didDiscard, willConnect, restoreState, "sceneWillEnterForeground",
                "sceneDidBecomeActive",
            ])
    }

    @Test("scene-based: the system asks for a scene, which connects to the background and never sees the foreground")
    func sceneBackgroundLaunch() throws {
        let run = try live([sceneBased()], [(0, .wake(app, .backgroundFetch, lasting: nil))])
        #expect(
            run.story(of: "a") == [
                "-> background", willFinish, didFinish, configuration, willConnect, "sceneDidEnterBackground",
                "event backgroundFetch", "snapshot", "-> suspended",
            ])
        #expect(run.rows("scene_state", of: "a").map(\.detail) == ["background", "suspended"])
    }

    @Test("scene-based: an interruption")
    func sceneInterruption() throws {
        let run = try live([sceneBased()], [(0, .launch(app)), (5, .interrupt(.call, lasting: .seconds(3)))])
        #expect(run.callbacks(of: "a", from: 5) == ["sceneWillResignActive", "sceneDidBecomeActive"])
        #expect(run.story(of: "a", from: 5).filter { $0.hasPrefix("->") } == ["-> inactive", "-> active"])
    }

    @Test("an app is inactive while any interruption lasts, also one that began before another that is over")
    func interruptionsOverlap() throws {
        let run = try live(
            [sceneBased()],
            [
                (0, .launch(app)), (10, .interrupt(.call, lasting: .seconds(60))),
                (20, .interrupt(.alert, lasting: .seconds(2))),
            ])
        #expect(run.callbacks(of: "a", from: 10) == ["sceneWillResignActive", "sceneDidBecomeActive"])
        let active = run.rows("process_state", of: "a").filter { $0.detail == "active" }.compactMap { Double($0.time) }
        #expect(active.count == 2 && active[1] == 70)
        let ends = run.eventRows.filter { $0.detail == "interruption_ends" }
        #expect(ends.map(\.time) == ["22", "70"] && ends.map(\.reason) == ["alert", "call"])
    }

    @Test("whatever the user chooses ends the switcher, and nothing else")
    func switcherIsLeft() throws {
        let other = AppID(1)
        let apps = [sceneBased { $0.features = [.url] }, testApp("b")]
        func run(_ kind: Interruption, _ action: UserAction) throws -> RunOutput {
            try live(
                apps,
                [(0, .launch(other)), (5, .launch(app)), (20, .interrupt(kind, lasting: .seconds(30))), (25, action)])
        }
        func actives(_ run: RunOutput, _ name: String) -> [Double] {
            run.rows("process_state", of: name).filter { $0.detail == "active" }.compactMap { Double($0.time) }
                .filter { $0 >= 20 }
        }
        for action in [UserAction.switchTo(other), .launch(other)] {
            let run = try run(.switcher, action)
            #expect(run.tally.launches.last?.kind == .hot)
            #expect(try #require(run.tally.launches.last?.latency) < .milliseconds(500))
            #expect(actives(run, "a") == [] && actives(run, "b").count == 1)
        }
        for action in [UserAction.switchTo(app), .open(app, .url), .openScene(app)] {
            let run = try run(.switcher, action)
            #expect(!run.events.contains("refused"))
            #expect(try #require(actives(run, "a").first) < 27, "\(action)")
        }
        let home = try run(.switcher, .home)
        #expect(home.rows("process_state", of: "a").last?.detail == "suspended" && actives(home, "a") == [])
        for ended in [home, try run(.switcher, .switchTo(other))] {
            #expect(ended.eventRows.filter { $0.detail == "interruption_ends" }.map(\.time) == ["25"])
        }
        // A tap does not end a call: the tapped app waits for its end.
        let call = try run(.call, .switchTo(other))
        #expect(actives(call, "b") == [50])
        #expect(try run(.call, .switchTo(app)).rows("refused", of: "a").count == 1)
    }

    @Test("scene-based: the user leaves, and returns")
    func sceneLeavesAndReturns() throws {
        let run = try live([sceneBased()], [(0, .launch(app)), (5, .home), (20, .launch(app))])
        #expect(
            run.story(of: "a", from: 5) == [
                "sceneWillResignActive", "-> inactive", "-> background", "sceneDidEnterBackground", restoration,
                "snapshot", "-> suspended", "-> background", "sceneWillEnterForeground", "-> inactive", "-> active",
                "sceneDidBecomeActive",
            ])
    }

    @Test("scene-based: the system disconnects a scene, keeps its session, and the user returns to it")
    func systemDisconnects() throws {
        // The device is small enough for the ladder to disconnect scenes before it ends an app.
        let apps = (0..<6).map { index in testApp("app\(index)") { $0.memory.scene = .mebibytes(5) } }
        var user: [(Double, UserAction)] = (0..<6).map { (Double($0 * 8), .launch(AppID($0))) }
        func run() throws -> RunOutput {
            try runToEnd(
                testPlan(apps, ceiling: .mebibytes(64), seconds: 80, user: user) {
                    let soon = PolicySettings.Assignment(name: "disconnect_idle", value: .time(.seconds(5)))
                    $0.policy = PolicySettings(name: "ladder", parameters: [soon])
                })
        }
        let disconnected = try run().eventRows.filter { $0.detail == "disconnect_scene" && $0.event == "action" }
        let victim = try #require(disconnected.first)
        let start = try #require(Double(victim.time))
        // The user returns to the same app a second later.
        let index = try #require(apps.firstIndex { $0.name == victim.app })
        user.append((start + 1, .launch(AppID(index))))
        let again = try run()
        #expect(
            Array(again.callbacks(of: victim.app, from: start).prefix(5)) == [
                restoration, "sceneDidDisconnect", willConnect, restoreState, "sceneWillEnterForeground",
            ])
        #expect(!again.callbacks(of: victim.app).contains(didDiscard))
        #expect(
            again.rows("callback", of: victim.app).filter { $0.detail == willConnect }.map(\.reason) == [
                "userTap", "userTap; stored restoration activity",
            ])
        #expect(again.tally.launches.contains { $0.kind == .warm && $0.latency != nil })
    }

    @Test("scene-based: the user closes a scene in the foreground, and the process lives on")
    func closesScene() throws {
        let run = try live([sceneBased()], [(0, .launch(app)), (5, .openScene(app)), (10, .closeScene(app))])
        #expect(
            run.callbacks(of: "a", from: 10) == [
                "sceneWillResignActive", "sceneDidEnterBackground", "sceneDidDisconnect", didDiscard,
            ])
        #expect(run.rows("exit", of: "a").isEmpty)
    }

    @Test("scene-based: what the user closes while the device is locked does not come back when it is unlocked")
    func closesSceneWhileLocked() throws {
        func run(_ before: [(Double, UserAction)]) throws -> RunOutput {
            try live(
                [sceneBased()],
                [(0, .launch(app))] + before + [(10, .lock(lasting: .seconds(20))), (15, .closeScene(app))])
        }
        for before in [[], [(5.0, UserAction.openScene(app))]] {
            let run = try run(before)
            #expect(run.callbacks(of: "a", from: 15) == ["sceneDidDisconnect", didDiscard])
        }
    }

    @Test("scene-based: the user closes a scene off screen")
    func closesSuspendedScene() throws {
        let run = try live([sceneBased()], [(0, .launch(app)), (5, .home), (20, .closeScene(app))])
        #expect(run.callbacks(of: "a", from: 20) == ["sceneDidDisconnect", didDiscard])
    }

    /// Ways in which an app starts before it is asked to open something.
    static let beginnings: [[(Double, UserAction)]] = [
        [(0, .wake(AppID(0), .remoteNotification, lasting: nil))],
        [(0, .launch(AppID(0)))],
        [(0, .launch(AppID(0))), (0.9, .home)],
        [(0, .wake(AppID(0), .remoteNotification, lasting: nil)), (0.3, .launch(AppID(0))), (0.8, .home)],
    ]

    @Test(
        "what an app is opened with reaches it once, whenever it comes",
        arguments: [LaunchReason.url, .userActivity, .shortcutItem], beginnings.indices)
    func opened(reason: LaunchReason, beginning: Int) throws {
        for isSceneBased in [true, false] {
            let delivery = try #require(reason.delivery(in: isSceneBased ? .sceneBased : .appBased)?.rawValue)
            func change(_ profile: inout AppProfile) {
                profile.features = AppFeature.allCases
                profile.costs.connect = .milliseconds(600)
            }
            for tenths in stride(from: 0, to: 20, by: 2) {
                let user = Self.beginnings[beginning]
                let at = try #require(user.last).0 + Double(tenths) / 10
                let run = try live(
                    [isSceneBased ? sceneBased(change) : appBased(change)], seconds: 5,
                    user + [(at, .open(app, reason))])
                let callbacks = run.rows("callback", of: "a")
                let launched = callbacks.count {
                    ($0.detail == willConnect || $0.detail == willFinish) && $0.reason.contains(reason.rawValue)
                }
                let delivered = callbacks.count { $0.detail == delivery }
                #expect(launched + delivered == 1, "opened at \(at), scenes: \(isSceneBased)")
            }
        }
    }

    @Test("of two that open a scene before it has connected, none is lost")
    func openedTwice() throws {
        let profile = sceneBased {
            $0.features = AppFeature.allCases
            $0.costs.launch = .seconds(2)
        }
        let second: [[(Double, UserAction)]] = [[(1, .open(app, .shortcutItem))], [(0.5, .home), (1, .launch(app))]]
        for more in second {
            let run = try live([profile], [(0, .open(app, .url))] + more)
            #expect(run.rows("callback", of: "a").first { $0.detail == willConnect }?.reason == "url")
            let told = run.callbacks(of: "a").filter { $0.contains("performActionFor") }
            #expect(told.count == (more.count == 1 ? 1 : 0), "\(run.callbacks(of: "a"))")
        }
    }

    @Test("what a dead process was opened with does not come to a later one", arguments: [true, false])
    func openedAndDead(isTap: Bool) throws {
        let profile = sceneBased { $0.features = AppFeature.allCases }
        let last: LaunchReason = isTap ? .userTap : .shortcutItem
        let run = try live(
            [profile],
            [
                (0, .open(app, .url)), (0.3, .crash(app)), (2, .openScene(app)), (6, .closeScene(app)),
                (10, isTap ? .launch(app) : .open(app, last)),
            ])
        let connections = run.rows("callback", of: "a").filter { $0.detail == willConnect }
        #expect(connections.map(\.scene) == ["2", "1"])
        #expect(connections.last?.reason == last.rawValue)
        #expect(!run.callbacks(of: "a").contains { $0.contains("performActionFor") })
    }

    @Test("a scene is told what it was opened with, no other; nobody when it is closed", arguments: [false, true])
    func openedScene(isClosed: Bool) throws {
        let profile = sceneBased {
            $0.features = AppFeature.allCases
            $0.costs.connect = .milliseconds(500)
        }
        let before: [(Double, UserAction)] = [
            (0, .launch(app)), (4, .openScene(app)), (4.1, .open(app, .url)), (4.1, .open(app, .userActivity)),
        ]
        // The scene is closed while it connects, or left for another scene; then the user returns to it.
        let after: [(Double, UserAction)] =
            isClosed
            ? [(4.2, .closeScene(app)), (8, .openScene(app))]
            : [(4.2, .openScene(app)), (8, .closeScene(app)), (12, .launch(app))]
        let run = try live([profile], before + after)
        let told = run.rows("callback", of: "a")
        let urls = told.filter { $0.detail == LaunchReason.url.delivery(in: .sceneBased)?.rawValue }
        #expect(urls.map(\.scene) == (isClosed ? [] : ["2"]))
        let activities = told.filter { $0.detail == LaunchReason.userActivity.delivery(in: .sceneBased)?.rawValue }
        #expect(activities.map(\.scene) == (isClosed ? [] : ["2"]))
        #expect(!told.contains { $0.reason.contains(LaunchReason.url.rawValue) })
    }

    // MARK: App-based

    @Test("app-based: launch to the foreground")
    func appLaunch() throws {
        let run = try live([appBased()], [(0, .launch(app))])
        #expect(
            run.story(of: "a") == ["-> inactive", willFinish, didFinish, "-> active", "applicationDidBecomeActive"])
    }

    @Test("app-based: launch to the background")
    func appBackgroundLaunch() throws {
        let run = try live([appBased()], [(0, .wake(app, .backgroundFetch, lasting: nil))])
        #expect(
            run.story(of: "a") == [
                "-> background", willFinish, didFinish, "applicationDidEnterBackground", "event backgroundFetch",
                "snapshot", "-> suspended",
            ])
    }

    @Test("app-based: a tap during a launch to the background is warm, after it hot")
    func appTappedDuringLaunch() throws {
        for (tap, kind) in [(0.1, "warm"), (1.5, "warm"), (5, "hot"), (40, "hot")] {
            let wake = (0.0, UserAction.wake(app, .backgroundFetch, lasting: .seconds(9)))
            let run = try live([appBased { $0.costs.launch = .seconds(2) }], [wake, (tap, .launch(app))])
            #expect(run.launchRows.map { $0.texts("kind", "outcome") } == [[kind, "ready"]], "tapped at \(tap)")
        }
    }

    @Test("app-based: an interruption")
    func appInterruption() throws {
        let run = try live([appBased()], [(0, .launch(app)), (5, .interrupt(.alert, lasting: .seconds(3)))])
        #expect(run.callbacks(of: "a", from: 5) == ["applicationWillResignActive", "applicationDidBecomeActive"])
    }

    @Test("app-based: to the background, and back")
    func appLeavesAndReturns() throws {
        let run = try live([appBased()], [(0, .launch(app)), (5, .home), (20, .switchTo(app))])
        #expect(
            run.story(of: "a", from: 5) == [
                "applicationWillResignActive", "-> inactive", "-> background", "applicationDidEnterBackground",
                "snapshot", "-> suspended", "-> background", "applicationWillEnterForeground", "-> inactive",
                "-> active", "applicationDidBecomeActive",
            ])
    }

    @Test("suspended, and an event arrives: resumed, the event, suspended again", arguments: [true, false])
    func eventWakes(isSceneBased: Bool) throws {
        let profile = isSceneBased ? sceneBased() : appBased()
        let run = try live(
            [profile], [(0, .launch(app)), (5, .home), (20, .wake(app, .backgroundFetch, lasting: .seconds(4)))])
        #expect(run.story(of: "a", from: 20) == ["-> background", "event backgroundFetch", "-> suspended"])
        let states = run.rows("process_state", of: "a")
        #expect(states.suffix(2).map(\.time) == ["20", "24"])
    }

    @Test("a push is handed to the app delegate")
    func push() throws {
        let run = try live(
            [appBased()], [(0, .launch(app)), (5, .home), (20, .wake(app, .remoteNotification, lasting: nil))])
        #expect(
            run.callbacks(of: "a", from: 20) == [
                "application(_:didReceiveRemoteNotification:fetchCompletionHandler:)"
            ])
    }

    // MARK: Death

    @Test("killed while suspended: nobody hears of it", arguments: [true, false])
    func killedWhileSuspended(isSceneBased: Bool) throws {
        let profile = isSceneBased ? sceneBased() : appBased()
        let run = try live([profile], [(0, .launch(app)), (5, .home), (20, .quit(app))])
        #expect(run.story(of: "a", from: 20) == ["exit userTerminated", "-> notRunning"])
        #expect(run.notifications(of: "a", from: 20).isEmpty)
    }

    @Test("killed by memory pressure: nobody hears of it")
    func killedByPressure() throws {
        let apps = (0..<10).map { index in testApp("app\(index)") { $0.memory.base = .mebibytes(10) } }
        let user: [(Double, UserAction)] = (0..<10).map { (Double($0 * 5), .launch(AppID($0))) }
        let run = try runToEnd(testPlan(apps, ceiling: .mebibytes(64), seconds: 60, policy: "lru", user: user))
        let victims = run.eventRows.filter { $0.event == "exit" && $0.detail == "memoryPressure" }
        #expect(!victims.isEmpty)
        for victim in victims {
            let time = try #require(Double(victim.time))
            #expect(run.callbacks(of: victim.app, from: time).isEmpty)
            #expect(!run.callbacks(of: victim.app).contains("applicationWillTerminate"))
        }
    }

    @Test("ended while running: scenes disconnect, then applicationWillTerminate")
    func ended() throws {
        let scenes = try live([sceneBased()], [(0, .launch(app)), (5, .quit(app))])
        #expect(
            scenes.callbacks(of: "a", from: 5) == [
                "sceneWillResignActive", "sceneDidDisconnect", "applicationWillTerminate",
            ])
        #expect(scenes.rows("exit", of: "a").map(\.detail) == ["userTerminated"])
        let own = try live([sceneBased()], [(0, .launch(app)), (5, .terminate(app))])
        #expect(own.callbacks(of: "a", from: 5).contains(restoration))
        let plain = try live([appBased()], [(0, .launch(app)), (5, .terminate(app))])
        #expect(
            plain.callbacks(of: "a", from: 5) == [
                "applicationWillResignActive", "applicationDidEnterBackground", "applicationWillTerminate",
            ])
        #expect(plain.rows("exit", of: "a").map(\.detail) == ["normalApp"])
    }

    @Test(
        "applicationWillTerminate has five seconds to return; then the watchdog ends the app, whoever asked",
        arguments: [true, false])
    func terminateDeadline(isSwipe: Bool) throws {
        let slow = appBased { $0.costs.terminate = .seconds(9) }
        let end = isSwipe ? UserAction.quit(app) : .terminate(app)
        let run = try live([slow], [(0, .launch(app)), (5, end)])
        let exit = try #require(run.rows("exit", of: "a").first)
        #expect(exit.detail == "appWatchdog" && exit.reason.contains("termination took longer than 5s"))
        let told = try #require(run.rows("callback", of: "a").last { $0.detail == "applicationWillTerminate" })
        #expect(abs((Double(exit.time) ?? 0) - (Double(told.time) ?? 0) - 5) < 0.001)
        // The user does not see an app that was swiped away, and does not want it back.
        #expect(run.tally.terminations.map(\.reason) == [.appWatchdog])
        #expect(run.tally.terminations.allSatisfy { !$0.wasForeground && !$0.wasPerceived })
        // Within its time it ends as it was told to.
        let fast = try live([appBased { $0.costs.terminate = .seconds(4) }], [(0, .launch(app)), (5, end)])
        #expect(fast.rows("exit", of: "a").map(\.detail) == [isSwipe ? "userTerminated" : "normalApp"])
        #expect(fast.tally.terminations.isEmpty)
    }

    @Test("a crash and the watchdog tell nobody")
    func crash() throws {
        let run = try live([sceneBased()], [(0, .launch(app)), (5, .crash(app))])
        #expect(run.story(of: "a", from: 5) == ["exit abnormal", "-> notRunning"])
    }
}
