import Lifecycle
import Quantities

extension Archetype {
    /// 58 MiB in all after the launch, 82 MiB with a full cache.
    public static let podcast = Archetype("podcast", "spoken word in the background, downloads in between") { app in
        // 52 to 87 MB among the suspended footprints of a real device (iOS 14.2); the split is ours.
        app.memory.base = .mebibytes(44)
        app.memory.scene = .mebibytes(14)
        app.memory.cache = CacheProfile(size: .mebibytes(24), rate: .kibibytesPerSecond(384))
        // Ours.
        app.memory.churn = ChurnProfile(rate: .kibibytesPerSecond(256), lifetime: .seconds(2))
        app.memory.touch = .mebibytesPerSecond(1)
        app.backgroundModes = [.audio, .fetch]
        app.background = BackgroundDiscipline(frees: .percent(70), work: .seconds(6), snapshot: .mebibytes(6))
        app.features = [.url, .shortcut]
    }
}
