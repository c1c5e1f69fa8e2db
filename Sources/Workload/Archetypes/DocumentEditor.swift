import Quantities

extension Archetype {
    /// 110 MiB in all with one document, 35 MiB more for each further one.
    public static let documentEditor = Archetype("document-editor", "documents: one scene each, tidy in the background")
    { app in
        // 95 to 152 MB among the suspended footprints of a real device (iOS 14.2); the split is ours.
        app.scenes = SceneSupport(support: true, multiple: true)
        app.memory.base = .mebibytes(75)
        app.memory.scene = .mebibytes(35)
        app.memory.cache = CacheProfile(size: .mebibytes(30), rate: .mebibytesPerSecond(1))
        // Ours: each document's layout and undo history grow with the work on it.
        app.memory.sceneGrowth = GrowthProfile(rate: .kibibytesPerSecond(32), upTo: .mebibytes(45))
        app.memory.growth = GrowthProfile(rate: .kibibytesPerSecond(32), upTo: .mebibytes(95))
        // Ours: the undo history and the layout.
        app.memory.churn = ChurnProfile(rate: .mebibytesPerSecond(1), lifetime: .seconds(2))
        app.memory.touch = .mebibytesPerSecond(4)
        app.background = BackgroundDiscipline(frees: .percent(80), work: .seconds(5), snapshot: .mebibytes(8))
        app.warnings = WarningDiscipline(frees: .percent(95), delay: .milliseconds(80))
        app.features = [.url, .handoff, .shortcut]
    }
}
