import Quantities

extension Archetype {
    /// 110 MiB in all with one document, 35 MiB more for each further one.
    public static let documentEditor = Archetype("document-editor", "documents: one scene each, tidy in the background")
    { app in
        // On a real device (iOS 14.2) some suspended apps had footprints of 95 to 152 MB. How the memory is split into
        // base, scene, cache and growth is our own choice.
        app.scenes = SceneSupport(support: true, multiple: true)
        app.memory.base = .mebibytes(75)
        app.memory.scene = .mebibytes(35)
        app.memory.cache = CacheProfile(size: .mebibytes(30), rate: .mebibytesPerSecond(1))
        // Our own assumption: each document's layout and undo history grow with the work on it.
        app.memory.sceneGrowth = GrowthProfile(rate: .kibibytesPerSecond(32), upTo: .mebibytes(45))
        app.memory.growth = GrowthProfile(rate: .kibibytesPerSecond(32), upTo: .mebibytes(95))
        // Our own assumption: the undo history and the layout cause this churn.
        app.memory.churn = ChurnProfile(rate: .mebibytesPerSecond(1), lifetime: .seconds(2))
        app.memory.touch = .mebibytesPerSecond(4)
        // A guess: code and resources that the app uses, which a device with a file cache keeps in memory.
        app.memory.files = FileProfile(size: .mebibytes(90), rate: .mebibytesPerSecond(2))
        app.background = BackgroundDiscipline(frees: .percent(80), work: .seconds(5), snapshot: .mebibytes(8))
        app.warnings = WarningDiscipline(frees: .percent(95), delay: .milliseconds(80))
        app.features = [.url, .handoff, .shortcut]
    }
}
