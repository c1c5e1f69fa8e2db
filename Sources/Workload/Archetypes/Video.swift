import Quantities

extension Archetype {
    /// 177 MB 10 s after the launch, 358 MB after 5 min of watching.
    public static let video = Archetype("video", "clips: buffers come in bursts, the cache is large") { app in
        // YouTube holds 177 MB 10 s after its launch and 358 MB after 5 min (Ariadne, HPCA 2025, Table 1). How the
        // memory is split into base, scene, cache and growth is our own choice.
        app.memory.base = .mebibytes(130)
        app.memory.scene = .mebibytes(30)
        app.memory.cache = CacheProfile(size: .mebibytes(104), rate: .mebibytesPerSecond(1))
        app.memory.growth = GrowthProfile(rate: .kibibytesPerSecond(256), upTo: .mebibytes(190))
        // Our own assumption: compressed frames pass through, and a first buffer arrives soon after play.
        app.memory.churn = ChurnProfile(rate: .mebibytesPerSecond(8), lifetime: .milliseconds(400))
        // Streams come in segments of 6 s (Apple's HLS authoring specification, target duration). Their size of 12 MiB
        // is our own assumption.
        app.memory.sawTooth = SawToothProfile(size: .mebibytes(12), period: .seconds(6))
        app.memory.touch = .mebibytesPerSecond(24)
        // Our own assumption: what is played is read once.
        app.memory.read = .mebibytesPerSecond(2)
        app.memory.bursts = [
            BurstProfile(after: .seconds(3), size: .mebibytes(24), over: .seconds(2), hold: .seconds(45))
        ]
        // A guess: code and resources that the app uses, which a device with a file cache keeps in memory.
        app.memory.files = FileProfile(size: .mebibytes(80), rate: .mebibytesPerSecond(2))
        app.memory.objects = .logNormal(
            median: .kibibytes(4), sigma: Ratio(partsPerMillion: 1_500_000), highest: .mebibytes(2))
        app.background = BackgroundDiscipline(frees: .percent(60), work: .seconds(2), snapshot: .mebibytes(10))
        app.features = [.url]
    }
}
