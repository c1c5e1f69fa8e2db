import Lifecycle
import Plan
import Quantities
import Simulation
import TestSupport
import Testing
import Workload

/// Statements of Apple's documents that no other suite shows; the page Statements.md names these tests.
@Suite("statements of the documents")
struct StatementsTests {
    let app = AppID(0)
    let other = AppID(1)

    /// Plays with rows of duties and windows.
    private func watched(_ apps: [AppProfile], _ user: [(Double, UserAction)]) throws -> RunOutput {
        try live(apps, user) { $0.showsDuties = true }
    }

    /// An app's rows of these kinds, with their time, in order.
    private func rows(_ kinds: Set<String>, of run: RunOutput, from start: Double = 0) -> [String] {
        run.eventRows.filter { kinds.contains($0.event) && $0.app == "a" && Double($0.time) ?? 0 >= start }.map(
            \.detail)
    }

    // MARK: States

    @Test(
        "nobody uses an inactive app: its memory stands still during a call, and it is in the foreground all the same")
    func inactive() throws {
        let growing = testApp("a") {
            $0.memory.growth = GrowthProfile(rate: ByteRate(bytesPerSecond: 1 << 20), upTo: .mebibytes(64))
        }
        let run = try live([growing], seconds: 30, [(0, .launch(app)), (10, .interrupt(.call, lasting: .seconds(10)))])
        func requested(_ from: Double, _ to: Double) -> [Int] {
            TableRow.all(in: run.apps).filter { (from...to).contains($0.number("time_s") ?? -1) }
                .compactMap { $0.integer("requested_bytes") }
        }
        #expect(Set(requested(10.5, 19.5)).count == 1)
        #expect(Set(requested(21, 25)).count > 10)
        let covered = TableRow.all(in: run.samples).filter { (10.5...19.5).contains($0.number("time_s") ?? -1) }
        #expect(!covered.isEmpty && covered.allSatisfy { $0["apps_foreground"] == "1" })
        #expect(Set(TableRow.all(in: run.apps).map { $0["state"] }).isSuperset(of: ["inactive", "active"]))
    }

    @Test("the five callbacks of the app delegate have twin notifications")
    func twins() throws {
        let run = try live(
            [testApp("a") { $0.scenes.support = false }],
            [(0, .launch(app)), (5, .home), (20, .launch(app)), (30, .terminate(app))])
        #expect(
            run.log(of: "a", from: 1) == [
                "applicationWillResignActive", "UIApplication.willResignActive", "-> inactive",
                "-> background", "applicationDidEnterBackground", "UIApplication.didEnterBackground", "snapshot",
                "-> suspended",
                "-> background", "applicationWillEnterForeground", "UIApplication.willEnterForeground", "-> inactive",
                "-> active", "applicationDidBecomeActive", "UIApplication.didBecomeActive", "first frame",
                "applicationWillResignActive", "UIApplication.willResignActive", "-> inactive",
                "-> background", "applicationDidEnterBackground", "UIApplication.didEnterBackground", "snapshot",
                "applicationWillTerminate", "UIApplication.willTerminate", "exit normalApp", "-> notRunning",
            ])
    }

    // MARK: Scenes and windows

    @Test("the user shows and hides scenes by their numbers, and no other scene is told")
    func namedScenes() throws {
        let profile = testApp("a") { $0.scenes.multiple = true }
        let (first, second) = (SceneID(1), SceneID(2))
        let run = try live(
            [profile],
            [
                (0, .launch(app)), (5, .openScene(app)), (15, .hideScene(app, second)), (25, .showScene(app, first)),
                (35, .showScene(app, second)), (45, .hideScene(app, first)), (46, .showScene(app, second)),
                (47, .showScene(app, SceneID(3))),
            ])
        func told(_ from: Double) -> [String] {
            run.log(of: "a", from: from, to: from + 5)
                .filter { $0.hasPrefix("1: scene") || $0.hasPrefix("2: scene") }
        }
        #expect(told(15) == ["2: sceneWillResignActive", "2: sceneDidEnterBackground"])
        #expect(told(25) == ["1: sceneWillEnterForeground", "1: sceneDidBecomeActive"])
        #expect(
            told(35) == [
                "1: sceneWillResignActive", "2: sceneWillEnterForeground", "1: sceneDidEnterBackground",
                "2: sceneDidBecomeActive",
            ])
        #expect(
            run.rows("refused", of: "a").map(\.reason) == [
                "it is not on screen", "it is in the foreground already, or on the way", "it has no such scene",
            ])
    }

    @Test("windows are visible after the activation and hidden in the background; a view appears once")
    func windows() throws {
        let profile = testApp("a") { $0.backgroundModes = [.location] }
        let run = try watched(
            [profile],
            [(0, .wake(app, .location, lasting: nil)), (10, .launch(app)), (20, .home), (40, .launch(app))])
        let kinds: Set<String> = ["window", "first_frame", "callback"]
        #expect(rows(["window"], of: run).count == 4)
        // Launched for a location, it shows none.
        let shown = run.rows("window", of: "a")
        #expect(shown.allSatisfy { Double($0.time) ?? 0 >= 10 })
        #expect(
            rows(kinds, of: run, from: 10).filter { $0 != restoration } == [
                "sceneWillEnterForeground", "sceneDidBecomeActive", "visible", "viewWillAppear(_:)", "hot",
                "sceneWillResignActive", "hidden", "sceneDidEnterBackground",
                "sceneWillEnterForeground", "sceneDidBecomeActive", "visible", "hot",
            ])
        #expect(try live([profile], [(0, .launch(app))]).rows("window", of: "a").isEmpty)
    }

    @Test("a window on the second display is shown and hidden with the app's other window")
    func externalWindow() throws {
        let profile = testApp("a") { $0.scenes.support = false }
        let run = try watched(
            [profile],
            [
                (0, .launch(app)), (5, .showOnDisplay(app)), (10, .home), (20, .launch(app)), (30, .unplugDisplay),
                (40, .home),
            ])
        func windows(_ from: Double) -> [String] {
            run.rows("window", of: "a").filter { (from..<from + 5).contains(Double($0.time) ?? -1) }
                .map { "\($0.scene) \($0.detail)" }
        }
        #expect(windows(0) == ["1 visible", "1 viewWillAppear(_:)"])
        #expect(windows(5) == ["2 visible", "2 viewWillAppear(_:)"])
        #expect(windows(10) == ["1 hidden", "2 hidden"])
        #expect(windows(20) == ["1 visible", "2 visible"])
        #expect(windows(40) == ["1 hidden"])
        let screens = run.notifications(of: "a").filter { $0.hasPrefix("UIScreen") }
        #expect(screens == ["UIScreen.didConnectNotification", "UIScreen.didDisconnectNotification"])
        // It holds memory of its own while it is there.
        func held(_ time: String) -> Int? {
            TableRow.all(in: run.apps).first { $0["time_s"] == time }?.integer("requested_bytes")
        }
        let (before, there) = (try #require(held("4.9")), try #require(held("5.5")))
        #expect(there - before >= 2 << 20)
    }

    // MARK: Launches

    @Test("a tapped notification brings the app to the front and is handed to it once", arguments: [true, false])
    func notificationTap(isSceneBased: Bool) throws {
        let profile = testApp("a") { $0.scenes.support = isSceneBased }
        let response = "userNotificationCenter(_:didReceive:withCompletionHandler:)"
        let run = try live(
            [profile], [(0, .open(app, .notification)), (5, .home), (20, .open(app, .notification))])
        let callbacks = run.callbacks(of: "a", from: 20)
        #expect(
            callbacks
                == (isSceneBased
                    ? ["sceneWillEnterForeground", response, "sceneDidBecomeActive"]
                    : ["applicationWillEnterForeground", response, "applicationDidBecomeActive"]))
        let connection = run.rows("callback", of: "a").first { $0.detail == willConnect }?.reason
        #expect(connection == (isSceneBased ? "notification" : nil))
        #expect(run.callbacks(of: "a").count { $0 == response } == (isSceneBased ? 1 : 2))
    }

    @Test("the launch screen stays until the first frame, the longer the more the launch has to do")
    func launchScreen() throws {
        func shown(_ launch: TimeSpan) throws -> Double {
            let run = try live([testApp("a") { $0.costs.launch = launch }], [(1, .launch(app))])
            let screen = try #require(run.rows("launch_screen", of: "a").first)
            let frame = try #require(run.rows("first_frame", of: "a").first)
            return try #require(Double(frame.time)) - (try #require(Double(screen.time)))
        }
        let (short, long) = (try shown(.milliseconds(100)), try shown(.seconds(3)))
        #expect(abs(long - short - 2.9) < 0.001)
        // A scene that returns has none.
        let run = try live([testApp("a")], [(0, .launch(app)), (5, .home), (20, .launch(app))])
        #expect(run.rows("launch_screen", of: "a").count == 1)
    }

    @Test("the rows of a tap: the user, the launch, the foreground, the first frame")
    func tap() throws {
        let run = try live([testApp("a")], [(1, .launch(app))])
        let kinds: Set<String> = ["user", "launch", "launch_screen", "first_frame"]
        let rows = run.eventRows.filter { kinds.contains($0.event) }
        #expect(rows.map(\.event) == ["user", "launch", "launch_screen", "first_frame"])
        #expect(
            rows.map(\.reason) == ["", "userTap; first launch ever", "", "tapped at 1s"], "\(rows.map(\.reason))")
    }

    // MARK: Duties

    @Test("an app does in each callback what it has to, and its rows say so")
    func duties() throws {
        let profile = testApp("a") { $0.backgroundModes = [.remoteNotification] }
        let run = try watched([profile], [(0, .launch(app)), (5, .home), (20, .launch(app)), (30, .quit(app))])
        #expect(
            rows(["callback", "duty"], of: run, from: 0) == [
                willFinish, didFinish, "sets up its data structures",
                "sets up what it needs once, on its first launch", "registers for remote notifications",
                configuration, willConnect, "sets up the scene's user interface and loads its data",
                "sceneWillEnterForeground", "loads from disk and network what it shows",
                "sceneDidBecomeActive", "finishes its user interface and brings its views up to date",
                "starts timers and task queues",
                "sceneWillResignActive", "saves its data", "stops timers and task queues",
                "sceneDidEnterBackground", "finishes crucial work", "frees memory",
                "prepares its user interface for the snapshot", restoration,
                "sceneWillEnterForeground", "loads from disk and network what it shows",
                "sceneDidBecomeActive", "finishes its user interface and brings its views up to date",
                "starts timers and task queues",
                "sceneWillResignActive", "saves its data", "stops timers and task queues",
                "sceneDidDisconnect", "releases what the scene alone used",
                "applicationWillTerminate", "stops its work and releases shared resources",
            ])
        // An app that takes no pushes registers for none; without the setting there are no such rows.
        let plain = try watched([testApp("a")], [(0, .launch(app))])
        #expect(!plain.events.contains("registers for remote notifications"))
        #expect(try live([profile], [(0, .launch(app))]).rows("duty", of: "a").isEmpty)
    }

    @Test("an app without scenes loads its interface at its first launch, and restores it at the next")
    func restoredInterface() throws {
        let profile = testApp("a") { $0.scenes.support = false }
        let run = try watched([profile], [(0, .launch(app)), (5, .crash(app)), (10, .launch(app))])
        #expect(
            rows(["duty"], of: run).filter { $0.contains("interface") || $0.contains("screen") } == [
                "loads its default user interface", "finishes its user interface and brings its views up to date",
                "restores the last screen", "finishes its user interface and brings its views up to date",
            ])
    }

    @Test("an app that is launched for a location starts its updates before the location comes")
    func location() throws {
        let profile = testApp("a") { $0.backgroundModes = [.location] }
        let run = try watched([profile], [(0, .wake(app, .location, lasting: nil))])
        let order = rows(["duty", "background_event"], of: run)
        let updates = try #require(order.firstIndex(of: "starts location updates"))
        #expect(updates < (try #require(order.firstIndex(of: "location"))))
        let tapped = try watched([profile], [(0, .launch(app))])
        #expect(!tapped.events.contains("starts location updates"))
    }

    @Test("a background refresh makes the data fresh at the return; without it the old ones show first")
    func refresh() throws {
        let profile = testApp("a") { $0.backgroundModes = [.fetch] }
        func shown(_ refreshes: [(Double, UserAction)]) throws -> [String] {
            let run = try watched([profile], [(0, .launch(app)), (5, .home)] + refreshes + [(40, .launch(app))])
            return rows(["duty"], of: run, from: 40).filter { $0.hasPrefix("shows") }
        }
        let refresh = (20.0, UserAction.wake(app, .backgroundFetch, lasting: .seconds(2)))
        #expect(try shown([refresh]) == ["shows the data that a background refresh has brought"])
        #expect(try shown([]) == ["shows the data that it had, then updates them"])
    }

    // MARK: What the user loses

    @Test("what was not saved is lost with a process that ends in use; leaving active saves it")
    func lostData() throws {
        func lost(_ end: [(Double, UserAction)]) throws -> [String] {
            let run = try live([testApp("a")], [(0, .launch(app))] + end)
            let rows = run.rows("data_lost", of: "a")
            #expect(run.tally.dataLost == rows.count)
            #expect(run.appSummaryRows[0]["data_lost"] == "\(rows.count)")
            return rows.map(\.time)
        }
        #expect(try lost([(5, .crash(app))]) == ["5"])
        #expect(try lost([(5, .home), (6, .crash(app))]) == [])
        #expect(try lost([(5, .quit(app))]) == [])
        #expect(try lost([(5, .interrupt(.call, lasting: .seconds(5))), (7, .crash(app))]) == [])
        #expect(try lost([(5, .interrupt(.call, lasting: .seconds(5))), (12, .crash(app))]) == ["12"])
        // An app that has not been in use yet has nothing to lose.
        let slow = testApp("a") { $0.costs.launch = .seconds(25) }
        #expect(try live([slow], [(0, .launch(app))]).tally.dataLost == 0)
    }

    @Test("a restart ends every process, tells none of them, and keeps their sessions")
    func restart() throws {
        let profile = testApp("a") { $0.backgroundModes = [.remoteNotification] }
        let push = UserAction.wake(app, .remoteNotification, lasting: nil)
        let run = try live(
            [profile, testApp("b")],
            [
                (0, .launch(app)), (5, .launch(other)), (20, .restart(lasting: .seconds(30))), (25, push),
                (26, .launch(app)), (60, .launch(app)),
            ])
        #expect(run.log(of: "a", from: 20, to: 60) == ["exit normalApp", "1: -> unattached", "-> notRunning"])
        #expect(run.log(of: "b", from: 20) == ["exit normalApp", "1: -> unattached", "-> notRunning"])
        #expect(run.rows("refused", of: "a").map(\.reason) == ["the device is restarting", "the device is locked"])
        #expect(run.tally.terminations.isEmpty)
        #expect(run.eventRows.filter { $0.detail == "unlock" }.map(\.time) == ["50"])
        let connections = run.rows("callback", of: "a").filter { $0.detail == willConnect }
        #expect(connections.map(\.reason) == ["userTap", "userTap; stored restoration activity"])
        let held = TableRow.all(in: run.samples).first { $0["time_s"] == "30" }
        #expect(held?["processes"] == "0")
    }
}
