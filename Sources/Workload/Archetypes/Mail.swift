import Lifecycle
import Quantities

extension Archetype {
    /// 68 MiB in all after the launch, 108 MiB with a full cache. Mail has a band of its own in jetsam, which is not
    /// modelled.
    public static let mail = Archetype("mail", "mail: a list, a reader, and a refresh in the background") { app in
        // On a real device (iOS 14.2) some suspended apps had footprints of 78 to 124 MB. How the memory is split into
        // base, scene and cache is our own choice.
        app.memory.base = .mebibytes(52)
        app.memory.scene = .mebibytes(16)
        app.memory.cache = CacheProfile(size: .mebibytes(40), rate: .mebibytesPerSecond(1))
        // Our own assumptions.
        app.memory.churn = ChurnProfile(rate: .kibibytesPerSecond(768), lifetime: .seconds(1))
        app.memory.touch = .mebibytesPerSecond(3)
        // A guess: code and resources that the app uses, which a device with a file cache keeps in memory.
        app.memory.files = FileProfile(size: .mebibytes(60), rate: .mebibytesPerSecond(1))
        app.backgroundModes = [.fetch]
        app.background = BackgroundDiscipline(frees: .percent(50), work: .seconds(5), snapshot: .mebibytes(8))
        app.features = [.url, .handoff, .shortcut]
    }
}
