import Quantities

extension Archetype {
    /// 326 MB 10 s after the launch, 821 MB after 5 min of play.
    public static let bigGame = Archetype("big-game", "a large game: slow to start, hoards, frees little") { app in
        // BanG Dream holds 326 MB 10 s after its launch and 821 MB after 5 min (Ariadne, HPCA 2025, Table 1). How the
        // memory is split into base, scene, cache and growth is our own choice. A game draws its own screen and has the
        // app-based life cycle.
        app.scenes = SceneSupport(support: false, multiple: false)
        app.memory.base = .mebibytes(260)
        app.memory.scene = .mebibytes(40)
        app.memory.cache = CacheProfile(size: .mebibytes(120), rate: .mebibytesPerSecond(1))
        // The remainder of (821 - 326) MB in 290 s.
        app.memory.growth = GrowthProfile(rate: .kibibytesPerSecond(1_250), upTo: .mebibytes(620))
        // Our own assumptions.
        app.memory.churn = ChurnProfile(rate: .mebibytesPerSecond(10), lifetime: .milliseconds(300))
        app.memory.touch = .mebibytesPerSecond(60)
        // Our own assumption: the game reads textures and meshes of the scene that is played at this rate.
        app.memory.read = .mebibytesPerSecond(30)
        // A guess: code and resources that the app uses, which a device with a file cache keeps in memory.
        app.memory.files = FileProfile(size: .mebibytes(300), rate: .mebibytesPerSecond(8))
        app.memory.objects = .logNormal(
            median: .kibibytes(8), sigma: Ratio(partsPerMillion: 1_600_000), highest: .mebibytes(4))
        // Apps of a gigabyte take 2 s for a cold launch; filling 300 MiB at 1 GiB/s is 0.3 s of it.
        app.costs.process = .milliseconds(1_100)
        app.costs.launch = .milliseconds(480)
        app.costs.firstLaunch = .seconds(2)
        app.costs.connect = .milliseconds(45)
        app.costs.enterForeground = .milliseconds(45)
        app.costs.activate = .milliseconds(30)
        // Our own assumption: the app is careless.
        app.background = BackgroundDiscipline(frees: .percent(0), work: .seconds(1), snapshot: .mebibytes(16))
        app.warnings = WarningDiscipline(frees: .percent(30), delay: .milliseconds(500), ignores: .percent(30))
    }
}
