import Lifecycle
import Plan
import Quantities
import Simulation
import Testing
import Workload

/// Rules of the life cycle that the public record leaves open, and endings that public logs show.
@Suite("endings and callbacks that scenarios can set")
struct LifecycleSettingsTests {
    let app = AppID(0)

    private func time(_ row: EventRow) -> Double { Double(row.time) ?? -1 }

    // MARK: Entering the background

    @Test("the time for entering the background is a setting")
    func enterBackgroundTime() throws {
        let slow = testApp("a") { $0.costs.enterBackground = .seconds(8) }
        func exits(_ time: TimeSpan) throws -> [[String]] {
            try live([slow], [(0, .launch(app)), (5, .home)]) { $0.lifecycle.enterBackgroundTime = time }
                .rows("exit", of: "a").map { [$0.detail, $0.reason] }
        }
        #expect(try exits(.seconds(5)) == [["appWatchdog", "entering the background took longer than 5s"]])
        #expect(try exits(.seconds(2)) == [["appWatchdog", "entering the background took longer than 2s"]])
        #expect(try exits(.seconds(10)).isEmpty)
    }

    @Test("an app that is launched off screen is told that it enters the background, or not", arguments: [true, false])
    func backgroundLaunch(isSceneBased: Bool) throws {
        let profile = testApp("a") {
            $0.scenes.support = isSceneBased
            $0.backgroundModes = [.fetch]
        }
        func log(_ isTold: Bool) throws -> [String] {
            try live([profile], [(0, .wake(app, .backgroundFetch, lasting: nil)), (30, .launch(app)), (40, .home)]) {
                $0.lifecycle.backgroundLaunchEntersBackground = isTold
            }.log(of: "a")
        }
        func tells(_ row: String) -> Bool { row.lowercased().hasSuffix("didenterbackground") }
        let (told, untold) = (try log(true), try log(false))
        // The launch and, on leaving the screen, the rows of every app.
        let launch = told.count(where: tells) - untold.count(where: tells)
        #expect(launch == 2)
        let first = try #require(told.firstIndex(where: tells))
        #expect(untold == Array(told[..<first]) + Array(told[(first + launch)...]))
    }

    // MARK: Restoration

    @Test("a scene whose session has a stored activity gets it after it has connected, on screen and off")
    func restoresInteraction() throws {
        let profile = testApp("a") { $0.backgroundModes = [.remoteNotification] }
        let user: [(Double, UserAction)] = [(0, .launch(app)), (5, .home), (20, .terminate(app))]
        let run = try live([profile], user + [(30, .launch(app))])
        #expect(
            run.callbacks(of: "a", from: 30) == [
                willFinish, didFinish, willConnect, restoreState, "sceneWillEnterForeground", "sceneDidBecomeActive",
            ])
        let rows = run.log(of: "a", from: 30)
        let place = try #require(rows.firstIndex(of: "1: UIScene.willConnect"))
        #expect(rows[place + 1] == "1: \(restoreState)")
        #expect(run.callbacks(of: "a").count { $0 == restoreState } == 1, "no activity was stored at the first launch")
        let push = try live([profile], user + [(30, .wake(app, .remoteNotification, lasting: nil))])
        #expect(
            push.callbacks(of: "a", from: 30).prefix(5) == [
                willFinish, didFinish, willConnect, restoreState, "sceneDidEnterBackground",
            ])
        // Nothing was saved before the end.
        let unsaved = try live([profile], user + [(30, .launch(app))]) {
            $0.lifecycle.restorationSaved = .disconnecting
        }
        #expect(!unsaved.callbacks(of: "a").contains(restoreState))
    }

    // MARK: File locks

    @Test("a lock on a file is released after its time, and the app that still runs then lives")
    func fileLock() throws {
        func exits(_ lock: TimeSpan?, task: TimeSpan?, then: [(Double, UserAction)] = []) throws -> [String] {
            let profile = testApp("a") {
                $0.backgroundModes = [.fetch]
                $0.background.holdsFileLock = true
                $0.background.fileLockTime = lock
                $0.background.task = task
            }
            let run = try live([profile], [(0, .launch(app)), (5, .home)] + then)
            return run.rows("exit", of: "a").map(\.detail)
        }
        let locked = ["suspendedWithLockedFile"]
        #expect(try exits(nil, task: .seconds(4)) == locked)
        #expect(try exits(.seconds(3), task: .seconds(4)) == [])
        // The app is suspended after a second, or when its task is over.
        #expect(try exits(.seconds(3), task: nil) == locked)
        #expect(try exits(.seconds(6), task: .seconds(4)) == locked)
        #expect(try exits(.milliseconds(500), task: nil) == [])
        // What is woken later does not take the lock again.
        let wake = (40.0, UserAction.wake(app, .backgroundFetch, lasting: .milliseconds(100)))
        #expect(try exits(.seconds(3), task: .seconds(4), then: [wake]) == [])
    }

    @Test("an app that is launched off screen holds the lock there, too, and as long")
    func fileLockAtLaunch() throws {
        func exits(_ lock: TimeSpan) throws -> [String] {
            let profile = testApp("a") {
                $0.backgroundModes = [.fetch]
                $0.background.holdsFileLock = true
                $0.background.fileLockTime = lock
            }
            return try live([profile], [(0, .wake(app, .backgroundFetch, lasting: .seconds(5)))])
                .rows("exit", of: "a").map(\.detail)
        }
        #expect(try exits(.seconds(20)) == ["suspendedWithLockedFile"])
        #expect(try exits(.seconds(2)) == [])
    }

    // MARK: Windows and calls

    @Test("a device with one window per app opens the first and refuses another", arguments: DeviceWindows.allCases)
    func windows(count: DeviceWindows) throws {
        let user: [(Double, UserAction)] = [
            (0, .openScene(app)), (10, .openScene(app)), (20, .home), (30, .openScene(app)), (40, .launch(app)),
        ]
        let run = try live([testApp("a") { $0.scenes.multiple = true }], user) { $0.device.windows = count }
        let scenes = Set(run.rows("scene_state", of: "a").map(\.scene))
        let refused = run.rows("refused", of: "a")
        switch count {
        case .one:
            #expect(scenes == ["1"])
            #expect(refused.map(\.reason) == Array(repeating: "the device shows one window per app", count: 2))
            #expect(run.tally.launches.map(\.kind) == [.cold, .hot])
        case .many:
            #expect(scenes == ["1", "2", "3"])
            // The last tap finds the app in front.
            #expect(refused.map(\.time) == ["40"])
        }
    }

    @Test("a call that is a banner pauses the audio, and the app in front stays active")
    func callAsBanner() throws {
        let video = testApp("a") { $0.backgroundModes = [.audio] }
        func log(_ kind: Interruption, _ call: CallPresentation) throws -> [String] {
            try live([video], [(0, .launch(app)), (20, .interrupt(kind, lasting: .seconds(10)))]) {
                $0.lifecycle.call = call
            }.log(of: "a", from: 20)
        }
        #expect(try log(.call, .banner) == ["AVAudioSession.interruption", "AVAudioSession.interruption"])
        #expect(try log(.call, .covers).contains("1: sceneWillResignActive"))
        // An alert covers the screen all the same.
        #expect(try log(.alert, .banner).contains("1: sceneWillResignActive"))
        #expect(try log(.alert, .banner) == log(.alert, .covers))
    }

    // MARK: Before the first unlock

    private let goes = "applicationProtectedDataWillBecomeUnavailable"
    private let back = "applicationProtectedDataDidBecomeAvailable"

    @Test("who is launched before the first unlock has no protected data, and hears of it after the unlock")
    func beforeFirstUnlock() throws {
        let profile = testApp("a") { $0.backgroundModes = [.remoteNotification] }
        func run(lasting span: TimeSpan, boot: TimeSpan?) throws -> RunOutput {
            let user: [(Double, UserAction)] = [
                (0, .launch(app)), (20, .restart(lasting: .seconds(60))), (40, .prewarm(app)),
                (60, .wake(app, .remoteNotification, lasting: span)), (90, .launch(app)),
            ]
            return try live([profile], user) { $0.lifecycle.bootTime = boot }
        }
        let running = try run(lasting: .seconds(25), boot: .seconds(30))
        #expect(running.eventRows.filter { $0.detail == "booted" }.map(\.time) == ["50"])
        #expect(running.rows("refused", of: "a").map(\.reason) == ["the device is restarting"])
        let launches = running.rows("launch", of: "a").map(\.reason)
        #expect(launches.last == "remoteNotification; before the first unlock: protected data is unavailable")
        func told(_ run: RunOutput) -> [String] {
            run.rows("callback", of: "a").filter { $0.detail == goes || $0.detail == back }
                .map { "\(Int(time($0))) \($0.detail)" }
        }
        #expect(told(running) == ["80 \(back)"])
        // A suspended app hears of it when it runs again.
        #expect(told(try run(lasting: .seconds(2), boot: .seconds(30))) == ["90 \(back)"])
        // Prewarmed before the first unlock, launched after it: it has missed nothing.
        let early = try run(lasting: .seconds(2), boot: .seconds(5))
        #expect(early.eventRows.contains { $0.detail == "prewarm" && $0.reason == "before the first unlock" })
        // By default the device is off until then.
        let off = try run(lasting: .seconds(25), boot: nil)
        #expect(off.rows("refused", of: "a").map(\.reason) == ["the device is restarting", "the device is restarting"])
        #expect(told(off).isEmpty && !off.eventRows.contains { $0.detail == "booted" })
    }

    @Test("a lock before the restart takes no protected data away after it, and a second restart voids the first")
    func restartWhileLocked() throws {
        let profile = testApp("a") { $0.backgroundModes = [.remoteNotification] }
        let user: [(Double, UserAction)] = [
            (0, .launch(app)), (18, .lock(lasting: .seconds(60))), (20, .restart(lasting: .seconds(40))),
            (23, .wake(app, .remoteNotification, lasting: .seconds(20))),
        ]
        let run = try live([profile], user) { $0.lifecycle.bootTime = .seconds(2) }
        #expect(run.rows("launch", of: "a").count == 2)
        #expect(!run.callbacks(of: "a").contains(goes))
        let twice = try live([profile], user.dropLast() + [(21, .restart(lasting: .seconds(40)))]) {
            $0.lifecycle.bootTime = .seconds(2)
        }
        #expect(twice.eventRows.filter { $0.detail == "booted" }.map(\.time) == ["23"])
    }

    // MARK: Scenes off screen

    @Test("a scene that has been off screen for long is disconnected without pressure, and comes back warm")
    func idleSceneDisconnect() throws {
        func run(_ user: [(Double, UserAction)], _ time: TimeSpan? = .seconds(60)) throws -> RunOutput {
            try live([testApp("a")], [(0, .launch(app)), (5, .home)] + user + [(100, .launch(app))]) {
                $0.lifecycle.idleSceneDisconnect = time
            }
        }
        let gone = try run([])
        #expect(
            gone.log(of: "a", from: 30, to: 100) == [
                "1: -> background", "-> background", "1: \(restoration)", "1: sceneDidDisconnect",
                "1: UIScene.didDisconnect", "1: -> unattached", "-> suspended",
            ])
        let row = try #require(gone.rows("scene_state", of: "a").first { $0.detail == "unattached" })
        #expect(row.reason == "disconnect; off screen for 1min, without pressure")
        #expect(abs(time(row) - 65) < 0.2)
        #expect(
            gone.callbacks(of: "a", from: 100) == [
                willConnect, restoreState, "sceneWillEnterForeground", "sceneDidBecomeActive",
            ])
        #expect(gone.tally.launches.map(\.kind) == [.cold, .warm])
        #expect(gone.tally.scenesDisconnected == 1 && gone.tally.scenesReconnected == 1)
        // No policy has acted.
        #expect(gone.rows("action", of: "a").isEmpty && gone.tally.reclaimTimes.isEmpty)
        // Each return begins the time anew.
        #expect(try run([(40, .launch(app)), (50, .home)]).tally.launches.map(\.kind) == [.cold, .hot, .hot])
        #expect(try run([], nil).tally.launches.map(\.kind) == [.cold, .hot])
    }

    // MARK: The CPU of a launch

    @Test("a launch off screen has an allowance of CPU, on fast cores and slow ones", arguments: [false, true])
    func cpuOfBackgroundLaunch(hasSlowCores: Bool) throws {
        let heavy = testApp("a") {
            $0.backgroundModes = [.remoteNotification]
            $0.costs.launch = .seconds(4)
            // What it does beside its main thread counts, too.
            $0.background.cpu = .zero
        }
        func run(_ allowance: TimeSpan?, _ user: [(Double, UserAction)]) throws -> RunOutput {
            try live([heavy], user) {
                if hasSlowCores {
                    $0.device.cores = 1
                    $0.device.cores.efficiency = 2
                }
                $0.lifecycle.cpuOfBackgroundLaunch = allowance
            }
        }
        let push: (Double, UserAction) = (0, .wake(app, .remoteNotification, lasting: nil))
        let exit = try #require(try run(.seconds(3), [push]).rows("exit", of: "a").first)
        #expect(exit.detail == "appWatchdog" && exit.reason == "its launch off screen used more than 3s of CPU")
        #expect(abs(time(exit) - 3) < 0.01)
        #expect(try run(nil, [push]).rows("exit", of: "a").isEmpty)
        #expect(try run(.seconds(19), [push]).rows("exit", of: "a").isEmpty)
        // Whoever waits for the app has the launch finished, and it takes no longer for having been divided.
        #expect(try run(.seconds(3), [(0, .launch(app))]).rows("exit", of: "a").isEmpty)
        let tapped: [(Double, UserAction)] = [push, (1, .launch(app))]
        let (divided, whole) = (try run(.seconds(3), tapped), try run(nil, tapped))
        #expect(divided.rows("exit", of: "a").isEmpty)
        let latencies = [divided, whole].map { $0.tally.launches.compactMap(\.latency).map(\.microseconds) }
        #expect(latencies[0].count == 1 && latencies[1].count == 1)
        #expect(zip(latencies[0], latencies[1]).allSatisfy { abs($0 - $1) < 1_000 })
    }
}
