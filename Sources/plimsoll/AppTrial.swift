import ArgumentParser
import Lifecycle
import Plan
import Pressure
import Quantities
import Reclaim
import RunFolders
import Scenario
import Survival
import Workload

/// Runs one app alone on a device that never lacks memory, to measure the memory that the app's figures amount to.
struct AppTrial {
    /// How long the app is in the foreground.
    static let time = LoneApp.time

    let app: AppProfile

    init(_ archetype: Archetype, base: ByteCount? = nil) {
        var app = archetype.profile
        app.name = archetype.name
        if let base { app.memory.base = base }
        self.app = app
    }

    /// The plan of the run.
    var plan: RunPlan { LoneApp(app).plan }

    /// The peak memory of the app's process while a user has it in the foreground, unused dirty pages included. The
    /// run uses seed 1 and the accounting backend.
    func peak() throws -> ByteCount {
        do {
            return try FatePlayer(isInterrupted: { Interruption.signalNumber != 0 }).peak(of: app)
        } catch is FatePlayer.Interrupted {
            throw ExitCode(128 + Interruption.signalNumber)
        }
    }

    /// The `memory.base`, in whole MiB, of an app of the archetype `plain` that peaks at about `size`. Interpolates
    /// between two runs: the peak exceeds the requested bytes, because the app's pages do, but grows in proportion to
    /// the base.
    static func base(of size: ByteCount) throws -> ByteCount {
        func peak(_ base: ByteCount) throws -> Double { Double(try AppTrial(.plain, base: base).peak().bytes) }
        let (low, high) = (ByteCount.mebibytes(1), max(size, .mebibytes(2)))
        let (least, most) = (try peak(low), try peak(high))
        let share = (Double(size.bytes) - least) / (most - least)
        let base = Double(low.bytes) + share * Double((high - low).bytes)
        return .mebibytes(max(1, Int((base / 1_048_576).rounded())))
    }
}
