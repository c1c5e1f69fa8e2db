import Plan
import Quantities
import Simulation
import Testing
import Workload

@Suite("the parts of a launch's latency, when who holds the screen dies")
struct LaunchPartsTests {
    private let leaving = AppID(0)
    private let coming = AppID(1)

    /// The last launch of the app that comes to the front.
    private func lastLaunch(of run: RunOutput) throws -> (kind: String, latency: Double, cpuWait: Double) {
        let row = try #require(run.launchRows.last)
        #expect(row["app"] == "coming")
        return (row["kind"], try #require(row.number("latency_ms")), try #require(row.number("cpu_wait_ms")))
    }

    @Test("a watchdog's victim does not cut short what the next app declares")
    func watchdog() throws {
        func run(leavingTakes span: TimeSpan) throws -> RunOutput {
            try live(
                [
                    testApp("leaving") { $0.costs.resignActive = span },
                    testApp("coming") { $0.costs.launch = .seconds(14) },
                ], [(10, .launch(leaving)), (30, .launch(coming))]
            ) { $0.device.cores = 4 }
        }
        let hung = try run(leavingTakes: .seconds(15))
        let exit = try #require(hung.rows("exit", of: "leaving").first)
        #expect(exit.detail == "appWatchdog" && Double(exit.time) == 40)
        let (smooth, slow) = (
            try lastLaunch(of: try run(leavingTakes: .milliseconds(5))), try lastLaunch(of: hung)
        )
        // The watchdog acts while the next app is still being launched, so that app does not wait for the screen.
        #expect(smooth.latency > 14_000)
        #expect(slow.latency == smooth.latency && slow.cpuWait == smooth.cpuWait)
    }

    @Test("nor does one that crashes while it leaves", arguments: [true, false])
    func crash(isThere: Bool) throws {
        func run(_ then: [(Double, UserAction)]) throws -> RunOutput {
            let before: [(Double, UserAction)] = isThere ? [(0, .launch(coming))] : []
            return try live(
                [testApp("leaving"), testApp("coming")],
                before + [(10, .launch(leaving)), (30, .launch(coming))] + then)
        }
        let crashed = try run([(30, .crash(leaving))])
        #expect(crashed.rows("exit", of: "leaving").map(\.detail) == ["abnormal"])
        let (smooth, early) = (try lastLaunch(of: try run([])), try lastLaunch(of: crashed))
        #expect(early.kind == (isThere ? "hot" : "cold") && early.kind == smooth.kind)
        #expect(early.latency == smooth.latency && early.cpuWait >= 0)
    }

    @Test("who waits for the screen with nothing else to do has it when its owner dies")
    func handover() throws {
        let run = try live(
            [testApp("leaving") { $0.costs.resignActive = .seconds(15) }, testApp("coming")],
            [(10, .launch(leaving)), (30, .launch(coming))])
        let launch = try lastLaunch(of: run)
        // The watchdog ends the screen's owner at 40 s; then the app only has to become active.
        #expect(launch.latency >= 10_000 && launch.latency < 10_100)
        #expect(try #require(run.launchRows.last?.number("screen_wait_ms")) > 8_000 && launch.cpuWait == 0)
    }
}
