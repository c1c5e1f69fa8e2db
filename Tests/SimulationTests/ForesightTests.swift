import Metrics
import Quantities
import TestSupport
import Testing
import Workload

@testable import Plan
@testable import Simulation

@Suite("what foresight knows of the future")
struct ForesightTests {
    private let a = AppID(0)
    private let b = AppID(1)

    private func at(_ seconds: Int64) -> Instant { .zero + .seconds(seconds) }

    @Test("a visit lasts until somebody else, nobody or the end comes")
    func visits() {
        let events: [(Int64, UserAction)] = [
            (30, .switchTo(b)), (10, .launch(a)), (20, .launch(a)), (40, .home), (60, .launch(b)), (70, .quit(a)),
            (80, .quit(b)), (90, .launch(a)),
        ]
        let visits = Visits(events.map { UserEvent(at: at($0), action: $1) }, apps: 2, until: at(100))
        let expected: [(app: AppID, now: Int64, seconds: Int64)] = [
            (a, 0, 20), (a, 25, 5), (a, 30, 10), (a, 95, 5), (a, 100, 0), (b, 0, 10), (b, 35, 5), (b, 40, 20),
            (b, 80, 0),
        ]
        for (app, now, seconds) in expected {
            #expect(visits.next(of: app, at: at(now)) == .seconds(seconds), "\(app.index) at \(now)")
        }
        #expect(Visits([], apps: 0, until: .zero).next(of: a, at: .zero) == .zero)
    }

    @Test("what an app is expected to come to hold is what it then holds", arguments: [2, 8, 30] as [Int64])
    func gain(seconds: Int64) throws {
        let app = testApp("a") {
            $0.memory.growth = GrowthProfile(rate: ByteRate(bytesPerSecond: 1 << 20), upTo: .mebibytes(20))
            $0.memory.leak = ByteRate(bytesPerSecond: 1 << 18)
            $0.memory.sceneGrowth = GrowthProfile(rate: ByteRate(bytesPerSecond: 1 << 20), upTo: .mebibytes(5))
            $0.memory.bursts = [BurstProfile(after: .seconds(4), size: .mebibytes(6), over: .seconds(1))]
        }
        let plan = testPlan([app], ceiling: .mebibytes(128), seconds: seconds, user: [(0, .launch(a))])
        let requested = TableRow.all(in: try runToEnd(plan).apps).last?.integer("requested_bytes")
        let held = try #require(requested) - app.memory.base.bytes - app.memory.scene.bytes
        let gain = app.memory.gain(from: .zero, over: .seconds(seconds), cache: .zero)
        // The launch takes part of the time.
        #expect(abs(held - gain.bytes) < 2 << 20, "\(held) instead of \(gain)")
    }

    @Test("of what is there already nothing is expected again")
    func noMore() {
        let memory = testApp("a") {
            $0.memory.bursts = [
                BurstProfile(after: .seconds(1), size: .mebibytes(6), over: .seconds(1), hold: .seconds(1))
            ]
            $0.memory.growth = GrowthProfile(rate: ByteRate(bytesPerSecond: 1 << 20), upTo: .mebibytes(8))
        }.memory
        let full = memory.cache.size
        #expect(memory.gain(from: .seconds(60), over: .seconds(60), cache: full) == .zero)
        #expect(memory.gain(from: .zero, over: .zero, cache: .zero) == .zero)
    }
}
