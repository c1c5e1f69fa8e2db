import Quantities

extension Archetype {
    /// 118 MiB in all after the launch, 200 MiB with a full cache.
    public static let shopping = Archetype("shopping", "a shop: pictures everywhere, leaks a little") { app in
        // On a real device (iOS 14.2) some suspended apps had footprints of 124 and 152 MB. How the memory is split
        // into base, scene, cache and growth is our own choice.
        app.memory.base = .mebibytes(90)
        app.memory.scene = .mebibytes(28)
        app.memory.cache = CacheProfile(size: .mebibytes(80), rate: .mebibytesPerSecond(2))
        app.memory.growth = GrowthProfile(rate: .kibibytesPerSecond(64), upTo: .mebibytes(110))
        // Our own assumption: some web views are never released.
        app.memory.leak = .kibibytesPerSecond(8)
        app.memory.churn = ChurnProfile(rate: .mebibytesPerSecond(3), lifetime: .milliseconds(700))
        app.memory.touch = .mebibytesPerSecond(6)
        // A guess: code and resources that the app uses, which a device with a file cache keeps in memory.
        app.memory.files = FileProfile(size: .mebibytes(80), rate: .mebibytesPerSecond(2))
        app.background = BackgroundDiscipline(frees: .percent(20), work: .seconds(5), snapshot: .mebibytes(10))
        app.warnings = WarningDiscipline(frees: .percent(60), delay: .milliseconds(200), ignores: .percent(10))
        app.features = [.url, .shortcut]
    }
}
