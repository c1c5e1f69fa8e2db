import Lifecycle
import Quantities

extension Archetype {
    /// 44 MiB in all after the launch, 56 MiB with a full cache.
    public static let weather = Archetype("weather", "a glance: small, opened often, closed soon") { app in
        // 32 to 61 MB are the smallest suspended footprints of a real device (iOS 14.2); the split is ours.
        app.memory.base = .mebibytes(32)
        app.memory.scene = .mebibytes(12)
        app.memory.cache = CacheProfile(size: .mebibytes(12), rate: .mebibytesPerSecond(1))
        // Ours: animated skies.
        app.memory.churn = ChurnProfile(rate: .mebibytesPerSecond(1), lifetime: .milliseconds(300))
        app.memory.touch = .mebibytesPerSecond(4)
        app.backgroundModes = [.fetch]
        app.background = BackgroundDiscipline(frees: .percent(70), work: .seconds(2), snapshot: .mebibytes(6))
    }
}
