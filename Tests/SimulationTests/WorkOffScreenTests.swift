import Lifecycle
import Metrics
import Plan
import Quantities
import Simulation
import TestSupport
import Testing
import Workload

/// A background mode, a task or an event is work off screen; the few seconds that every app gets are not.
@Suite("work off screen moves memory, and has the active limit")
struct WorkOffScreenTests {
    private let app = AppID(0)

    /// One way to run off screen, with two spans in which nothing else happens.
    struct Stay: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var modes: [BackgroundMode] = []
        var task: TimeSpan?
        var user: [(Double, UserAction)]
        var works: ClosedRange<Double>?
        var rests: ClosedRange<Double>
        /// Whether it leaves the screen without work to do there.
        var isIdleOnLeaving = false
    }

    private static let app = AppID(0)
    private static let leaves = [(0.0, UserAction.launch(app)), (5, .home)]
    static let stays = [
        Stay(testDescription: "the mere seconds", user: leaves, rests: 5.2...40, isIdleOnLeaving: true),
        Stay(testDescription: "a mode", modes: [.audio], user: leaves, works: 6...100, rests: 130...130),
        Stay(testDescription: "a task", task: .seconds(20), user: leaves, works: 6...24, rests: 26...60),
        Stay(
            testDescription: "a task of the scenario's",
            user: [(0, .launch(app)), (4, .beginBackgroundTask(app)), (5, .home), (15, .endBackgroundTask(app))],
            works: 6...14, rests: 16...60),
        Stay(
            testDescription: "a task until its handler is called",
            user: [(0, .launch(app)), (4, .beginBackgroundTask(app)), (5, .home)],
            works: 6...29, rests: 31...60),
        Stay(
            testDescription: "processing, launched for it", modes: [.processing],
            user: [(0, .wake(app, .processing, lasting: .seconds(60)))], works: 2...59, rests: 62...100),
        Stay(
            testDescription: "a refresh, woken for it", modes: [.fetch],
            user: leaves + [(20, .wake(app, .backgroundFetch, lasting: .seconds(25)))], works: 21...44, rests: 46...60,
            isIdleOnLeaving: true),
        Stay(
            testDescription: "a call", user: [(0, .launch(app)), (5, .interrupt(.call, lasting: .seconds(30)))],
            rests: 6...34),
    ]

    private func profile(_ stay: Stay, scenes: Bool) -> AppProfile {
        testApp("a") {
            $0.scenes.support = scenes
            $0.backgroundModes = stay.modes
            $0.background.task = stay.task
            $0.memory.cache.size = .zero
        }
    }

    /// The app's requested bytes within a span of time.
    private func requested(_ run: RunOutput, in span: ClosedRange<Double>) -> [Int] {
        TableRow.all(in: run.apps).filter { span.contains($0.number("time_s") ?? -1) }
            .map { $0.integer("requested_bytes") ?? 0 }
    }

    @Test("a leak goes on while the app works off screen, and at no other time there", arguments: stays, [true, false])
    func leak(_ stay: Stay, scenes: Bool) throws {
        var profile = profile(stay, scenes: scenes)
        profile.memory.leak = ByteRate(bytesPerSecond: 1 << 20)
        let run = try live([profile], stay.user)
        if let works = stay.works {
            let held = requested(run, in: works)
            let grown = (held.last ?? 0) - (held.first ?? 0)
            let seconds = works.upperBound - works.lowerBound
            #expect(abs(Double(grown) / Double(1 << 20) - seconds) < 0.3, "\(grown) in \(seconds) s")
        }
        let resting = requested(run, in: stay.rests)
        #expect(Set(resting).count <= 1, "\(resting)")
    }

    @Test("short-lived objects come and go while the app works off screen")
    func churn() throws {
        for stay in Self.stays {
            guard let works = stay.works else { continue }
            var profile = profile(stay, scenes: true)
            profile.memory.churn = ChurnProfile(rate: ByteRate(bytesPerSecond: 1 << 20), lifetime: .seconds(2))
            let run = try live([profile], stay.user)
            #expect(Set(requested(run, in: works)).count > 5, "\(stay.testDescription)")
        }
    }

    @Test("the active limit holds for work off screen, the inactive one for the mere seconds", arguments: stays)
    func limits(_ stay: Stay) throws {
        for scenes in [true, false] {
            var profile = profile(stay, scenes: scenes)
            // In use the app exceeds the limit that applies while it has no work of its own.
            profile.memory.base = .mebibytes(30)
            profile.memory.leak = ByteRate(bytesPerSecond: 256 << 10)
            profile.limits = ProcessLimits(active: .mebibytes(200), inactive: .mebibytes(20))
            let exits = try live([profile], stay.user).rows("exit", of: "a")
            #expect(exits.map { $0.time.prefix(2) } == (stay.isIdleOnLeaving ? ["5."] : []), "\(exits)")
            #expect(exits.allSatisfy { $0.reason.contains("inactive limit of 20MiB") }, "\(exits)")
        }
    }

    @Test("the active limit ends who crosses it at work off screen")
    func activeLimit() throws {
        for stay in Self.stays where stay.works != nil {
            var profile = profile(stay, scenes: true)
            profile.background.snapshot = .zero
            profile.memory.leak = ByteRate(bytesPerSecond: 4 << 20)
            profile.limits = ProcessLimits(active: .mebibytes(38), inactive: .mebibytes(20))
            let exit = try #require(try live([profile], stay.user).rows("exit", of: "a").first)
            #expect(exit.detail == "memoryResourceLimit")
            #expect(exit.reason.contains(" active limit of 38MiB"), "\(stay.testDescription): \(exit.reason)")
        }
    }
}
