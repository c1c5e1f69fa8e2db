import Lifecycle
import Quantities

extension Archetype {
    /// 180 MB 10 s after the launch, 270 MB after 5 min of scrolling.
    public static let socialFeed = Archetype("social-feed", "an endless feed: grows while it is scrolled") { app in
        // Twitter holds 182 MB 10 s after its launch and 273 MB after 5 min (Ariadne, HPCA 2025, Table 1). How the
        // memory is split into base, scene, cache and growth is our own choice.
        app.memory.base = .mebibytes(135)
        app.memory.scene = .mebibytes(30)
        // Our own assumption: a full picture cache evicts the oldest pictures as fast as it filled, because the
        // scrolling goes on.
        app.memory.cache = CacheProfile(
            size: .mebibytes(60), rate: .kibibytesPerSecond(820), turnover: .kibibytesPerSecond(820))
        app.memory.growth = GrowthProfile(rate: .kibibytesPerSecond(128), upTo: .mebibytes(172))
        // Our own assumption: images are decoded and dropped.
        app.memory.churn = ChurnProfile(rate: .mebibytesPerSecond(4), lifetime: .milliseconds(600))
        app.memory.touch = .mebibytesPerSecond(8)
        // Our own assumption: the pictures on the screen, about 3 MiB, are read for a few frames a second.
        app.memory.read = .mebibytesPerSecond(12)
        // A guess: code and resources that the app uses, which a device with a file cache keeps in memory.
        app.memory.files = FileProfile(size: .mebibytes(100), rate: .mebibytesPerSecond(4))
        app.backgroundModes = [.fetch]
        app.background = BackgroundDiscipline(frees: .percent(30), work: .seconds(5), snapshot: .mebibytes(10))
        app.warnings = WarningDiscipline(frees: .percent(70), delay: .milliseconds(150), ignores: .percent(5))
        app.features = [.url, .shortcut]
    }
}
