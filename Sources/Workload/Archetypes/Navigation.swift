import Lifecycle
import Quantities

extension Archetype {
    /// 210 MiB in all after the launch, 390 MiB after 5 min on the road.
    public static let navigation = Archetype("navigation", "maps: location in the background, tiles in a large cache") {
        app in
        // Google Earth holds 273 MB 10 s after its launch and 429 MB after 5 min (Ariadne, HPCA 2025, Table 1). We
        // estimate that road maps are lighter. How the memory is split into base, scene, cache and growth is our own
        // choice.
        app.memory.base = .mebibytes(160)
        app.memory.scene = .mebibytes(50)
        // Our own assumption: once the cache is full, tiles behind the car make room for those ahead.
        app.memory.cache = CacheProfile(
            size: .mebibytes(130), rate: .mebibytesPerSecond(2), turnover: .mebibytesPerSecond(1))
        app.memory.growth = GrowthProfile(rate: .kibibytesPerSecond(192), upTo: .mebibytes(210))
        // Our own assumption: the app redraws the map all the time.
        app.memory.churn = ChurnProfile(rate: .mebibytesPerSecond(5), lifetime: .milliseconds(500))
        app.memory.touch = .mebibytesPerSecond(20)
        // Our own assumption: the app reads the tiles on the screen at this rate.
        app.memory.read = .mebibytesPerSecond(16)
        // A guess: code and resources that the app uses, which a device with a file cache keeps in memory.
        app.memory.files = FileProfile(size: .mebibytes(120), rate: .mebibytesPerSecond(4))
        app.backgroundModes = [.location, .audio]
        app.background = BackgroundDiscipline(frees: .percent(50), work: .seconds(4), snapshot: .mebibytes(12))
        app.features = [.url, .handoff, .shortcut]
    }
}
