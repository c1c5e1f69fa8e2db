import Lifecycle
import Quantities

extension Archetype {
    /// 72 MiB in all after the launch, 95 MiB with a full cache.
    public static let music = Archetype("music", "music that plays on in the background") { app in
        // 78 to 96 MB among the suspended footprints of a real device (iOS 14.2); the split is ours.
        app.memory.base = .mebibytes(56)
        app.memory.scene = .mebibytes(16)
        app.memory.cache = CacheProfile(size: .mebibytes(23), rate: .kibibytesPerSecond(512))
        // Ours: audio buffers.
        app.memory.churn = ChurnProfile(rate: .kibibytesPerSecond(320), lifetime: .seconds(2))
        app.memory.touch = .mebibytesPerSecond(2)
        app.backgroundModes = [.audio]
        app.background = BackgroundDiscipline(frees: .percent(70), work: .seconds(3), snapshot: .mebibytes(6))
        app.features = [.url, .shortcut]
    }
}
