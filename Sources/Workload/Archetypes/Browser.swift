import Quantities

extension Archetype {
    /// 560 MB 10 s after the launch and 716 MB after 5 min with the set of pages used in the literature; here about ten
    /// tabs of 40 MiB add up to that.
    public static let browser = Archetype("browser", "a browser: every tab is a scene, caches are large") { app in
        // Firefox holds 560 MB 10 s after its launch and 716 MB after 5 min (Ariadne, HPCA 2025, Table 1). The tabs'
        // share of it is our own choice: a scene is a tab, and scenarios open several.
        app.scenes = SceneSupport(support: true, multiple: true)
        app.memory.base = .mebibytes(140)
        app.memory.scene = .mebibytes(40)
        // Our own assumption: a tab in front grows as its page does, and a full cache goes on replacing its content.
        app.memory.sceneGrowth = GrowthProfile(rate: .kibibytesPerSecond(64), upTo: .mebibytes(56))
        app.memory.cache = CacheProfile(
            size: .mebibytes(120), rate: .mebibytesPerSecond(4), turnover: .mebibytesPerSecond(1))
        // (716 - 560) MB in 290 s.
        app.memory.growth = GrowthProfile(rate: .kibibytesPerSecond(550), upTo: .mebibytes(290))
        // Our own assumption: scripts make garbage.
        app.memory.churn = ChurnProfile(rate: .mebibytesPerSecond(6), lifetime: .milliseconds(500))
        app.memory.touch = .mebibytesPerSecond(16)
        app.memory.read = .mebibytesPerSecond(24)
        // A guess: code and resources that the app uses, which a device with a file cache keeps in memory.
        app.memory.files = FileProfile(size: .mebibytes(150), rate: .mebibytesPerSecond(4))
        app.memory.objects = .logNormal(
            median: .kibibytes(1), sigma: Ratio(partsPerMillion: 1_800_000), highest: .mebibytes(4))
        app.background = BackgroundDiscipline(frees: .percent(40), work: .seconds(3), snapshot: .mebibytes(12))
        app.features = [.url, .handoff, .shortcut]
    }
}
