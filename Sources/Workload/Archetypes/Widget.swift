import Quantities

extension Archetype {
    /// 15 MiB in all after the launch, 20 MiB with a full cache.
    public static let widget = Archetype("widget", "an extension under a fatal limit of 30 MiB") { app in
        // Our own assumptions, below the limit.
        app.scenes = SceneSupport(support: false, multiple: false)
        app.memory.base = .mebibytes(11)
        app.memory.scene = .mebibytes(4)
        app.memory.cache = CacheProfile(size: .mebibytes(5), rate: .kibibytesPerSecond(256))
        app.memory.churn = ChurnProfile(rate: .kibibytesPerSecond(128), lifetime: .seconds(1))
        app.memory.touch = .kibibytesPerSecond(256)
        // Extensions have fatal limits of 15 to 50 MB (packet tunnel, broadcast). We chose 30 MiB, which is in between.
        app.limits = ProcessLimits(active: .mebibytes(30), inactive: .mebibytes(30), fatal: true)
        // The sizes of a small process: a recorded trace of Android's system UI (421,234 objects made) has p50 44, p90
        // 696, p99 7,116 and at most 278,528 bytes, 480 on average. The bins in between are our own choice.
        // A guess: code and resources that the app uses, which a device with a file cache keeps in memory.
        app.memory.files = FileProfile(size: .mebibytes(8))
        app.memory.objects = .histogram(
            [
                (16, 2_000), (44, 3_000), (120, 1_500), (256, 1_500), (696, 1_000), (2_048, 800), (7_116, 199),
                (278_528, 1),
            ]
            .map { SizeDistribution.Bin(size: ByteCount($0.0), weight: $0.1) })
        // Our own assumption: an extension loads less code than an app.
        app.costs.process = .milliseconds(180)
        app.costs.launch = .milliseconds(60)
        app.background = BackgroundDiscipline(frees: .percent(100), work: .seconds(1), snapshot: .mebibytes(1))
        app.warnings = WarningDiscipline(frees: .percent(100), delay: .milliseconds(30))
    }
}
