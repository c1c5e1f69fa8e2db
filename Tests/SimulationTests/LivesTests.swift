import Metrics
import Plan
import Quantities
import Simulation
import Testing
import Workload

@Suite("how many apps lived, and how long reclaiming took")
struct LivesTests {
    private func day(_ seed: UInt64) throws -> RunOutput {
        let apps = (0..<6).map { number in
            testApp("app\(number)") { if number == 1 { $0.backgroundModes = [.audio] } }
        }
        let taps = (0..<60).map { (Double($0) * 5, UserAction.launch(AppID($0 * 5 % 6))) }
        return try runToEnd(
            testPlan(apps, ceiling: .mebibytes(28), seconds: 300, seed: seed, user: taps) {
                $0.backend = .accounting
            })
    }

    private func value(_ name: String, _ tally: RunTally) throws -> Double? {
        try #require(SummaryMetrics.named(name)).value(tally).number
    }

    @Test("the figures are those of the rows of all samples and events", arguments: 1...4 as ClosedRange<UInt64>)
    func sameAsRows(seed: UInt64) throws {
        let output = try day(seed)
        let rows = output.apps.split(separator: "\n").dropFirst()
        let samples = Double(output.samples.split(separator: "\n").count - 1)
        let mean = try #require(try value("processes_mean", output.tally))
        #expect(abs(mean - Double(rows.count) / samples) < 0.05, "\(mean)")
        // A sample represents the time until the next one.
        let interval = 300 / (samples - 1)
        let suspended = try #require(try value("suspended_time_s", output.tally))
        let seen = Double(rows.count { $0.contains(",suspended,") }) * interval
        #expect(abs(suspended - seen) < 0.02 * seen + 2, "\(suspended) s, but the rows say \(seen) s")
        let actions = output.eventRows.count { $0.event == "action" }
        let ended = try #require(try value("reclaim_actions", output.tally))
        #expect(actions > 0 && [actions, actions - 1].contains(Int(ended)))
        let (median, slow) = (
            try value("reclaim_latency_p50_ms", output.tally), try value("reclaim_latency_p95_ms", output.tally)
        )
        #expect((median ?? 0) > 0 && (median ?? 0) <= (slow ?? 0))
    }

    @Test(
        "the fewest processes are counted after a termination by the system, and a warned victim has a lead"
    )
    func terminations() throws {
        let apps = [testApp("first"), testApp("second")]
        let calm = try runToEnd(
            testPlan(apps, ceiling: .mebibytes(256), user: [(0, .launch(AppID(0))), (5, .launch(AppID(1)))]))
        #expect(calm.tally.terminations.isEmpty)
        #expect(try value("processes_min", calm.tally) == nil)
        #expect(try value("warning_lead_p50_s", calm.tally) == nil)
        let leaking = testApp("leaking") {
            $0.memory.leak = ByteRate(bytesPerSecond: 4 << 20)
            $0.limits.active = .mebibytes(32)
        }
        let ended = try runToEnd(
            testPlan(
                [testApp("first"), leaking], ceiling: .mebibytes(256),
                user: [(0, .launch(AppID(0))), (5, .launch(AppID(1)))]))
        #expect(ended.tally.terminations.map(\.reason) == [.memoryResourceLimit])
        #expect(try value("processes_min", ended.tally) == 1)
        // The app is warned at 80 % of its limit, 6.4 MiB before its end.
        let lead = try #require(try value("warning_lead_p50_s", ended.tally))
        #expect(lead > 1 && lead < 3, "\(lead)")
    }
}
