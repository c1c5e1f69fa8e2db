import Lifecycle
import Memory
import Plan
import Quantities
import Reclaim
import Simulation
import Testing
import Workload

@Suite("the main road through a run", .serialized)
struct MainRoadTests {
    let first = AppID(0)
    let second = AppID(1)

    @Test("launch, leave and return of a scene-based app call the delegates in UIKit's order")
    func sceneBasedRoad() throws {
        let run = try runToEnd(
            testPlan([testApp("maps")], user: [(0, .launch(first)), (5, .home), (10, .launch(first))]))
        #expect(
            run.callbacks(of: "maps") == [
                "application(_:willFinishLaunchingWithOptions:)", "application(_:didFinishLaunchingWithOptions:)",
                "application(_:configurationForConnecting:options:)", "scene(_:willConnectTo:options:)",
                "sceneWillEnterForeground", "sceneDidBecomeActive",
                "sceneWillResignActive", "sceneDidEnterBackground", "stateRestorationActivity(for:)",
                "sceneWillEnterForeground", "sceneDidBecomeActive",
            ])
        #expect(run.tally.launches.map(\.kind) == [.cold, .hot])
        #expect(run.tally.suspensions == 1)
    }

    @Test("an app without scenes hears of it through its app delegate")
    func appBasedRoad() throws {
        let app = testApp("old") { $0.scenes.support = false }
        let run = try runToEnd(testPlan([app], user: [(0, .launch(first)), (5, .home), (10, .launch(first))]))
        #expect(
            run.callbacks(of: "old") == [
                "application(_:willFinishLaunchingWithOptions:)", "application(_:didFinishLaunchingWithOptions:)",
                "applicationDidBecomeActive", "applicationWillResignActive", "applicationDidEnterBackground",
                "applicationWillEnterForeground", "applicationDidBecomeActive",
            ])
    }

    @Test("one app is active at a time, whoever is launched")
    func switching() throws {
        let run = try runToEnd(
            testPlan(
                [testApp("a"), testApp("b")],
                user: [(0, .launch(first)), (3, .launch(second)), (3.01, .launch(first)), (6, .switchTo(second))]))
        #expect(run.tally.terminations.isEmpty)
        let active = run.eventRows.filter { $0.event == "process_state" && $0.detail == "active" }.map(\.app)
        #expect(active.first == "a" && active.last == "b")
    }

    @Test("a switch to an app that was never opened launches it, as from the home screen")
    func firstSwitch() throws {
        let run = try runToEnd(
            testPlan([testApp("a"), testApp("b")], user: [(0, .launch(first)), (5, .switchTo(second))]))
        #expect(run.tally.launches.map(\.kind) == [.cold, .cold])
        #expect(!run.eventRows.contains { $0.event == "refused" })
    }

    @Test("under pressure the ladder climbs all its rungs and never ends the foreground")
    func ladderClimbs() throws {
        let apps = (0..<8).map { index in testApp("app\(index)") { $0.memory.base = .mebibytes(6) } }
        var user: [(Double, UserAction)] = []
        for round in 0..<3 {
            for index in 0..<8 { user.append((Double(round * 40 + index * 5), .launch(AppID(index)))) }
        }
        let run = try runToEnd(testPlan(apps, seconds: 130, user: user))
        #expect(run.tally.warnings > 0)
        #expect(run.tally.scenesDisconnected > 0)
        #expect(!run.tally.terminations.isEmpty)
        #expect(run.tally.terminations.allSatisfy { !$0.wasForeground })
        #expect(run.tally.peakResident <= .mebibytes(64))
        let actions = Set(run.eventRows.filter { $0.event == "action" }.map(\.detail))
        #expect(actions == ["purge", "suspend", "disconnect_scene", "terminate"])
    }

    @Test("the same plan writes the same bytes, another seed writes others")
    func determinism() throws {
        let apps = (0..<6).map { testApp("app\($0)") }
        let user = (0..<12).map { (Double($0 * 3), UserAction.launch(AppID($0 % 6))) }
        let plan = testPlan(apps, ceiling: .mebibytes(48), seconds: 40, user: user)
        let one = try runToEnd(plan)
        #expect(try runToEnd(plan).tables == one.tables)
        var other = plan
        other.seed = 2
        #expect(try runToEnd(other).apps != one.apps)
    }

    @Test("an app that needs more than there is ends by the rules, and the run goes on")
    func tooLarge() throws {
        let apps = [testApp("small"), testApp("huge") { $0.memory.base = .mebibytes(100) }]
        let run = try runToEnd(testPlan(apps, user: [(0, .launch(first)), (4, .launch(second)), (12, .launch(first))]))
        #expect(run.tally.terminations.contains { $0.app == "huge" && $0.reason == .memoryPressure })
        #expect(run.tally.launches.last?.latency != nil)
    }
}
