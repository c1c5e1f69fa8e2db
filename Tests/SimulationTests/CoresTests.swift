import Lifecycle
import Metrics
import Quantities
import Testing
import Workload

@testable import Simulation

@Suite("cores of the device")
struct CoresTests {
    private func process(_ number: Int) -> ProcessReference {
        ProcessReference(slot: number, pid: ProcessID(number + 1))
    }

    private func seconds(_ seconds: Int64) -> Instant { .zero + .seconds(seconds) }

    @Test("work is done first come, first served")
    func firstComeFirstServed() {
        var cores = Cores(count: 2)
        #expect(cores.occupy(for: .seconds(5), by: process(0), .mainThread, at: .zero) == seconds(5))
        #expect(cores.occupy(for: .seconds(2), by: process(1), .mainThread, at: .zero) == seconds(2))
        #expect(cores.occupy(for: .seconds(1), by: process(2), .mainThread, at: seconds(1)) == seconds(3))
        #expect(cores.occupy(for: .seconds(1), by: process(3), .deferredWork, at: seconds(9)) == seconds(10))
    }

    @Test(
        "what is queued behind the work of a process that ends is done earlier, in the order in which it was asked for")
    func theDeadGiveTheirCoreBack() {
        var cores = Cores(count: 1)
        _ = cores.occupy(for: .seconds(60), by: process(0), .mainThread, at: .zero)
        _ = cores.occupy(for: .seconds(4), by: process(2), .mainThread, at: seconds(1))
        _ = cores.occupy(for: .seconds(3), by: process(1), .deferredWork, at: seconds(2))
        let advances = cores.release(process(0), at: seconds(20))
        #expect(advances.map(\.owner) == [process(2), process(1)])
        #expect(advances.map(\.purpose) == [.mainThread, .deferredWork])
        #expect(advances.map(\.finish) == [seconds(24), seconds(27)])
        #expect(cores.owners(at: seconds(20)) == [process(1), process(2)])
        #expect(cores.occupy(for: .seconds(1), by: process(3), .mainThread, at: seconds(21)) == seconds(28))
    }

    @Test("work that has begun goes on, and a process that had no work frees no core")
    func workThatHasBegunGoesOn() {
        var cores = Cores(count: 2)
        _ = cores.occupy(for: .seconds(10), by: process(0), .mainThread, at: .zero)
        _ = cores.occupy(for: .seconds(10), by: process(1), .mainThread, at: .zero)
        _ = cores.occupy(for: .seconds(1), by: process(2), .mainThread, at: .zero)
        #expect(cores.release(process(3), at: seconds(1)).isEmpty)
        #expect(cores.release(process(2), at: seconds(2)).isEmpty)
        #expect(cores.occupy(for: .seconds(1), by: process(2), .mainThread, at: seconds(2)) == seconds(11))
        #expect(cores.release(process(1), at: seconds(4)).map(\.finish) == [seconds(5)])
        #expect(cores.release(process(0), at: seconds(12)).isEmpty)
    }

    @Test("an app that the watchdog has ended leaves its core to the next one")
    func theNextLaunchIsNotDelayed() throws {
        let apps = [
            testApp("slow") { $0.costs.launch = .seconds(60) },
            testApp("good") { $0.costs.launch = .milliseconds(400) },
        ]
        let plan = testPlan(
            apps, seconds: 90, user: [(0, .launch(AppID(0))), (30, .launch(AppID(1)))]
        ) { $0.device.cores = 1 }
        let run = try runToEnd(plan)
        let exits = run.eventRows.filter { $0.event == "exit" }
        #expect(exits.map(\.app) == ["slow"])
        #expect(exits.map(\.detail) == ["appWatchdog"])
        let launches = run.launchRows
        #expect(launches.map { $0["app"] } == ["slow", "good"])
        #expect(launches[1]["outcome"] == "ready")
        #expect(launches[1].number("latency_ms") ?? .infinity < 2_000)
    }

    @Test("a launch that waits behind the work of a process that ends begins at its end")
    func theWaitingLaunchBegins() throws {
        let apps = [testApp("slow") { $0.costs.launch = .seconds(60) }, testApp("good")]
        let plan = testPlan(
            apps, seconds: 60, user: [(0, .launch(AppID(0))), (10, .launch(AppID(1))), (12, .crash(AppID(0)))]
        ) { $0.device.cores = 1 }
        let run = try runToEnd(plan)
        let launch = run.launchRows.first { $0["app"] == "good" }
        #expect(launch?["outcome"] == "ready")
        let ready = launch?.number("ready_s") ?? .infinity
        #expect((12...14).contains(ready), "ready at \(ready)")
    }
}
