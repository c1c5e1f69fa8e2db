import Lifecycle
import Quantities

extension Archetype {
    /// 58 MiB in all after the launch, 82 MiB with a full cache.
    public static let podcast = Archetype("podcast", "spoken word in the background, downloads in between") { app in
        // On a real device (iOS 14.2) some suspended apps had footprints of 52 to 87 MB. How the memory is split into
        // base, scene and cache is our own choice.
        app.memory.base = .mebibytes(44)
        app.memory.scene = .mebibytes(14)
        app.memory.cache = CacheProfile(size: .mebibytes(24), rate: .kibibytesPerSecond(384))
        // Our own assumptions.
        app.memory.churn = ChurnProfile(rate: .kibibytesPerSecond(256), lifetime: .seconds(2))
        app.memory.touch = .mebibytesPerSecond(1)
        // A guess: code and resources that the app uses, which a device with a file cache keeps in memory.
        app.memory.files = FileProfile(size: .mebibytes(40), rate: .mebibytesPerSecond(1))
        app.backgroundModes = [.audio, .fetch]
        app.background = BackgroundDiscipline(frees: .percent(70), work: .seconds(6), snapshot: .mebibytes(6))
        app.features = [.url, .shortcut]
    }
}
