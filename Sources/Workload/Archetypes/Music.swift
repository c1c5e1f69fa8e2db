import Lifecycle
import Quantities

extension Archetype {
    /// 72 MiB in all after the launch, 95 MiB with a full cache.
    public static let music = Archetype("music", "music that plays on in the background") { app in
        // On a real device (iOS 14.2) some suspended apps had footprints of 78 to 96 MB. How the memory is split into
        // base, scene and cache is our own choice.
        app.memory.base = .mebibytes(56)
        app.memory.scene = .mebibytes(16)
        app.memory.cache = CacheProfile(size: .mebibytes(23), rate: .kibibytesPerSecond(512))
        // Our own assumption: audio buffers cause this churn.
        app.memory.churn = ChurnProfile(rate: .kibibytesPerSecond(320), lifetime: .seconds(2))
        app.memory.touch = .mebibytesPerSecond(2)
        // A guess: code and resources that the app uses, which a device with a file cache keeps in memory.
        app.memory.files = FileProfile(size: .mebibytes(50), rate: .mebibytesPerSecond(1))
        app.backgroundModes = [.audio]
        app.background = BackgroundDiscipline(frees: .percent(70), work: .seconds(3), snapshot: .mebibytes(6))
        app.features = [.url, .shortcut]
    }
}
