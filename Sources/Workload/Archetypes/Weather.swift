import Lifecycle
import Quantities

extension Archetype {
    /// 44 MiB in all after the launch, 56 MiB with a full cache.
    public static let weather = Archetype("weather", "a glance: small, opened often, closed soon") { app in
        // On a real device (iOS 14.2) the smallest footprints of suspended apps were 32 to 61 MB. How the memory is
        // split into base, scene and cache is our own choice.
        app.memory.base = .mebibytes(32)
        app.memory.scene = .mebibytes(12)
        app.memory.cache = CacheProfile(size: .mebibytes(12), rate: .mebibytesPerSecond(1))
        // Our own assumption: animated skies cause this churn.
        app.memory.churn = ChurnProfile(rate: .mebibytesPerSecond(1), lifetime: .milliseconds(300))
        app.memory.touch = .mebibytesPerSecond(4)
        // A guess: code and resources that the app uses, which a device with a file cache keeps in memory.
        app.memory.files = FileProfile(size: .mebibytes(30), rate: .mebibytesPerSecond(1))
        app.backgroundModes = [.fetch]
        app.background = BackgroundDiscipline(frees: .percent(70), work: .seconds(2), snapshot: .mebibytes(6))
    }
}
