import Quantities

extension Archetype {
    /// 105 MiB in all after the launch, and 140 MiB more for some seconds.
    public static let camera = Archetype("camera", "a camera: a burst of frames soon after it opens") { app in
        // On a real device (iOS 14.2) some suspended apps had footprints of 95 to 152 MB. How the memory is split into
        // base, scene and cache is our own choice.
        app.memory.base = .mebibytes(70)
        app.memory.scene = .mebibytes(35)
        app.memory.cache = CacheProfile(size: .mebibytes(30), rate: .mebibytesPerSecond(2))
        // Our own assumption: a series of 12-megapixel frames of 1.5 bytes per pixel, eight of them in flight.
        app.memory.bursts = [
            BurstProfile(after: .seconds(4), size: .mebibytes(140), over: .milliseconds(400), hold: .seconds(6))
        ]
        app.memory.churn = ChurnProfile(rate: .mebibytesPerSecond(24), lifetime: .milliseconds(120))
        app.memory.touch = .mebibytesPerSecond(40)
        // A guess: code and resources that the app uses, which a device with a file cache keeps in memory.
        app.memory.files = FileProfile(size: .mebibytes(60), rate: .mebibytesPerSecond(2))
        app.memory.objects = .logNormal(
            median: .kibibytes(8), sigma: Ratio(partsPerMillion: 1_800_000), highest: .mebibytes(4))
        // Our own assumption: cameras are built to open fast.
        app.costs.process = .milliseconds(520)
        app.costs.launch = .milliseconds(240)
        app.background = BackgroundDiscipline(frees: .percent(90), work: .seconds(3), snapshot: .mebibytes(12))
        app.warnings = WarningDiscipline(frees: .percent(90), delay: .milliseconds(50))
        app.features = [.shortcut]
    }
}
