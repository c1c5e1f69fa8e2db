import Lifecycle
import Memory
import Metrics
import Pressure
import Quantities
import Reclaim
import Scenario
import Simulation
import Workload

/// A run of one app alone, on a device that never lacks memory: what the app's figures add up to.
struct AppTrial {
    /// How long the app is in front.
    static let time = TimeSpan.minutes(10)
    private static let device = Device(ceiling: .mebibytes(8192), reserved: .mebibytes(1))

    let app: AppProfile

    init(_ archetype: Archetype, base: ByteCount? = nil) {
        var app = archetype.profile
        app.name = archetype.name
        if let base { app.memory.base = base }
        self.app = app
    }

    /// The plan of the run.
    var plan: RunPlan {
        RunPlan(
            name: "trial", seed: 1, duration: AppTrial.time, device: AppTrial.device, monitor: .ios,
            policy: PolicySettings(name: "none"), limits: Limits(), apps: [app],
            user: [.once(.launch(AppID(0)), at: .zero)], backend: .accounting)
    }

    /// The most memory that the app's process holds while a user has it in front, unused dirty pages included. It
    /// follows from the app's figures and seed 1, on the accounting backend.
    func peak() throws -> ByteCount {
        let memory = try Host.makeDevice(of: plan)
        let simulation = Simulation(plan, memory: memory, sinks: RunSinks { _ in NullSink() })
        do {
            _ = try simulation.run(shouldStop: { Interruption.signalNumber != 0 })
        } catch {
            throw Failure(error.status, error.text)
        }
        return memory.books.peakResident - AppTrial.device.reserved
    }

    /// The app of the archetype `plain` that peaks at about `size`: its base in whole MiB, found by two runs, because
    /// an app's pages are more than the bytes it asks for, and in proportion.
    static func base(of size: ByteCount) throws -> ByteCount {
        func peak(_ base: ByteCount) throws -> Double { Double(try AppTrial(.plain, base: base).peak().bytes) }
        let (low, high) = (ByteCount.mebibytes(1), max(size, .mebibytes(2)))
        let (least, most) = (try peak(low), try peak(high))
        let share = (Double(size.bytes) - least) / (most - least)
        let base = Double(low.bytes) + share * Double((high - low).bytes)
        return .mebibytes(max(1, Int((base / 1_048_576).rounded())))
    }
}
