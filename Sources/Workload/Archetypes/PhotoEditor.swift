import Lifecycle
import Quantities

extension Archetype {
    /// 165 MiB in all after the launch, 400 MiB while a filter runs.
    public static let photoEditor = Archetype("photo-editor", "edits of large pictures: jumps of a hundred megabytes") {
        app in
        // On a real device (iOS 14.2) the largest footprints of suspended apps were 252 and 307 MB. How the memory is
        // split into base, scene, cache and growth is our own choice.
        app.memory.base = .mebibytes(110)
        app.memory.scene = .mebibytes(55)
        app.memory.cache = CacheProfile(size: .mebibytes(90), rate: .mebibytesPerSecond(3))
        app.memory.growth = GrowthProfile(rate: .kibibytesPerSecond(256), upTo: .mebibytes(150))
        // Our own assumption: a 24-megapixel picture at 4 bytes per pixel, then a copy for the filter.
        app.memory.bursts = [
            BurstProfile(after: .seconds(8), size: .mebibytes(96), over: .milliseconds(800), hold: .seconds(60)),
            BurstProfile(after: .seconds(20), size: .mebibytes(96), over: .milliseconds(600), hold: .seconds(15)),
        ]
        app.memory.churn = ChurnProfile(rate: .mebibytesPerSecond(6), lifetime: .milliseconds(700))
        app.memory.touch = .mebibytesPerSecond(30)
        // Our own assumption: the preview reads the picture.
        app.memory.read = .mebibytesPerSecond(24)
        // A guess: code and resources that the app uses, which a device with a file cache keeps in memory.
        app.memory.files = FileProfile(size: .mebibytes(120), rate: .mebibytesPerSecond(4))
        app.memory.objects = .logNormal(
            median: .kibibytes(6), sigma: Ratio(partsPerMillion: 1_700_000), highest: .mebibytes(4))
        app.backgroundModes = [.processing]
        app.background = BackgroundDiscipline(frees: .percent(50), work: .seconds(8), snapshot: .mebibytes(12))
    }
}
