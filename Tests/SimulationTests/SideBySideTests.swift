import Lifecycle
import Plan
import Quantities
import Simulation
import TestSupport
import Testing
import Workload

/// Two apps side by side, and the end of the last window, as on an iPad.
@Suite("two apps side by side, and the last window")
struct SideBySideTests {
    private let mail = AppID(0)
    private let notes = AppID(1)
    private let web = AppID(2)
    private let apps = [testApp("mail"), testApp("notes") { $0.scenes.multiple = true }, testApp("web")]

    /// Mail in front, notes beside it, both active.
    private let pair: [(Double, UserAction)] = [(0, .launch(AppID(0))), (5, .beside(AppID(1)))]

    private func run(_ user: [(Double, UserAction)], _ change: (inout RunPlan) -> Void = { _ in }) throws -> RunOutput {
        try live(apps, pair + user, change)
    }

    /// The state of each app at an instant, by its rows of `events.csv`.
    private func states(_ run: RunOutput, at instant: Double) -> [String] {
        ["mail", "notes", "web"].map { app in
            run.rows("process_state", of: app).last { (Double($0.time) ?? 0) <= instant }?.detail ?? "-"
        }
    }

    private func refusals(_ run: RunOutput) -> [String] {
        run.eventRows.filter { $0.event == "refused" }.map { "\($0.detail) \($0.app): \($0.reason)" }
    }

    @Test("the app comes beside the one in front by the path of a tap, and both are active")
    func both() throws {
        let run = try run([])
        #expect(states(run, at: 4) == ["active", "-", "-"])
        #expect(states(run, at: 10) == ["active", "active", "-"])
        #expect(run.callbacks(of: "mail", from: 5).isEmpty)
        #expect(
            run.callbacks(of: "notes") == [
                willFinish, didFinish, configuration, willConnect, "sceneWillEnterForeground", "sceneDidBecomeActive",
            ])
        #expect(run.tally.launches.map(\.kind) == [.cold, .cold])
        // An app whose process lives is resumed.
        let again = try self.run([(10, .home), (20, .launch(mail)), (25, .beside(notes))])
        #expect(again.callbacks(of: "notes", from: 25) == ["sceneWillEnterForeground", "sceneDidBecomeActive"])
        #expect(states(again, at: 30) == ["active", "active", "-"])
    }

    @Test("home and lock send both away; the unlock brings both back")
    func leaving() throws {
        let home = try run([(10, .home)])
        #expect(states(home, at: 30) == ["suspended", "suspended", "-"])
        let lock = try run([(10, .lock(lasting: .seconds(20)))])
        #expect(states(lock, at: 29) == ["suspended", "suspended", "-"])
        #expect(states(lock, at: 40) == ["active", "active", "-"])
        // Home in the meantime is refused, and another app replaces both after the unlock.
        let other = try run([(10, .lock(lasting: .seconds(20))), (40, .launch(web))])
        #expect(states(other, at: 50) == ["suspended", "suspended", "active"])
    }

    @Test("a tap on a third app replaces both; a second app beside replaces only the first one there")
    func replacing() throws {
        let tap = try run([(10, .launch(web))])
        #expect(states(tap, at: 20) == ["suspended", "suspended", "active"])
        let beside = try run([(10, .beside(web))])
        #expect(states(beside, at: 20) == ["active", "suspended", "active"])
        #expect(beside.callbacks(of: "mail", from: 5).isEmpty)
    }

    @Test("an interruption makes both inactive; from the switcher both come back")
    func interruptions() throws {
        let call = try run([(10, .interrupt(.call, lasting: .seconds(5)))])
        #expect(states(call, at: 12) == ["inactive", "inactive", "-"])
        #expect(states(call, at: 20) == ["active", "active", "-"])
        let switcher = try run([(10, .interrupt(.switcher, lasting: .seconds(60))), (15, .switchTo(notes))])
        #expect(states(switcher, at: 12) == ["inactive", "inactive", "-"])
        #expect(states(switcher, at: 20) == ["active", "active", "-"])
        #expect(refusals(switcher).isEmpty)
    }

    @Test("if one of the two ends or is closed, the other one has the whole screen", arguments: [0, 1])
    func oneEnds(which: Int) throws {
        let (gone, other) = (AppID(which), AppID(1 - which))
        for action in [UserAction.crash(gone), .quit(gone), .terminate(gone), .closeScene(gone)] {
            let run = try run([(10, action), (20, .beside(web)), (30, .launch(other)), (40, .home)])
            // The tap at 30 s is refused: that app is still in front, with web beside it.
            #expect(run.callbacks(of: which == 0 ? "notes" : "mail", from: 10).first == "sceneWillResignActive")
            #expect(refusals(run).count == 1, "\(action): \(refusals(run))")
            #expect(states(run, at: 29)[2] == "active" && states(run, at: 35)[1 - which] == "active", "\(action)")
            #expect(states(run, at: 60)[2] == "suspended")
        }
    }

    @Test("one of the two is put away, opens a window or a URL: the other one stays")
    func stays() throws {
        let hidden = try run([(10, .hideScene(notes, SceneID(1)))])
        #expect(states(hidden, at: 20) == ["active", "suspended", "-"])
        let opened = try run([(10, .openScene(notes))])
        #expect(opened.callbacks(of: "mail", from: 5).isEmpty)
        #expect(states(opened, at: 20) == ["active", "active", "-"])
        let told = try live(
            apps.map { app in
                var app = app
                app.features = [.url]
                return app
            }, pair + [(10, .open(mail, .url))])
        #expect(told.callbacks(of: "mail", from: 5) == ["scene(_:openURLContexts:)"])
        #expect(states(told, at: 20) == ["active", "active", "-"])
    }

    @Test("it is refused with a reason")
    func refused() throws {
        let noFront = try live(apps, [(1, .beside(mail))])
        #expect(refusals(noFront) == ["beside mail: no app is in front"])
        let same = try run([(10, .beside(mail)), (11, .beside(notes)), (12, .launch(notes)), (13, .switchTo(mail))])
        let inFront = "it is in the foreground already, or on the way"
        #expect(
            refusals(same) == [
                "beside mail: \(inFront)", "beside notes: \(inFront)", "launch notes: \(inFront)",
                "switch mail: \(inFront)",
            ])
        let locked = try run([(10, .lock(lasting: .seconds(5))), (11, .beside(web))])
        #expect(refusals(locked) == ["beside web: the device is locked"])
    }

    @Test("apps without scenes share the screen as well, and so do apps of iOS 12")
    func withoutScenes() throws {
        let plain = apps.map { app in
            var app = app
            app.scenes = SceneSupport(support: false)
            return app
        }
        #expect(states(try live(plain, pair), at: 10) == ["active", "active", "-"])
        #expect(states(try run([]) { $0.lifecycle.scenes = false }, at: 10) == ["active", "active", "-"])
    }

    @Test("the second app of the screen is the user's, too: it is served as urgently as the first")
    func service() throws {
        let heavy = ["mail", "notes", "web"].map { name in testApp(name) { $0.cpu = .percent(60) } }
        let run = try live(heavy, seconds: 60, pair) { $0.device.cores = CoreLayout(1) }
        let rows = TableRow.all(in: run.cores).filter { ($0.number("time_s") ?? 0) > 10 }
        #expect(rows.contains { ($0.number("waited_user_interactive_ms") ?? 0) > 0 })
        #expect(rows.allSatisfy { $0.number("given_user_initiated_ms") == 0 })
    }

    // MARK: The last window

    @Test("by default the process lives on without a window; with 'ends' its end follows")
    func lastWindow() throws {
        let closing: [(Double, UserAction)] = [(0, .launch(mail)), (10, .closeScene(mail))]
        let stays = try live(apps, closing)
        #expect(states(stays, at: 60)[0] == "suspended")
        #expect(!stays.events.contains(",exit,"))
        let ends = try live(apps, closing) { $0.lifecycle.lastWindow = .ends }
        #expect(
            ends.callbacks(of: "mail", from: 10) == [
                "sceneWillResignActive", "sceneDidDisconnect", didDiscard, "applicationWillTerminate",
            ])
        #expect(ends.eventRows.first { $0.event == "exit" }?.reason.hasPrefix("its last window was closed") == true)
        #expect(ends.exits.contains("mail") && states(ends, at: 60)[0] == "notRunning")
    }

    @Test("a window that is left keeps the process; one closed while the app is suspended ends it without a word")
    func otherWindows() throws {
        let rule: (inout RunPlan) -> Void = { $0.lifecycle.lastWindow = .ends }
        let two: [(Double, UserAction)] = [(0, .launch(notes)), (5, .openScene(notes)), (10, .closeScene(notes))]
        let kept = try live(apps, two, rule)
        #expect(states(kept, at: 30)[1] == "suspended")
        let suspended = try live(apps, two + [(30, .closeScene(notes)), (40, .launch(notes))], rule)
        #expect(suspended.callbacks(of: "notes", from: 30).prefix(3) == [willFinish, didFinish, didDiscard])
        #expect(suspended.tally.launches.last?.kind == .cold)
    }
}
