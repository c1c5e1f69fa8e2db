import Quantities
import Workload

extension Archetype {
    /// In all 15 MiB after the launch, 20 MiB with a full cache.
    public static let widget = Archetype("widget", "an extension under a fatal limit of 30 MiB") { app in
        // Ours, below the limit.
        app.scenes = SceneSupport(support: false, multiple: false)
        app.memory.base = .mebibytes(11)
        app.memory.scene = .mebibytes(4)
        app.memory.cache = CacheProfile(size: .mebibytes(5), rate: .kibibytesPerSecond(256))
        app.memory.churn = ChurnProfile(rate: .kibibytesPerSecond(128), lifetime: .seconds(1))
        app.memory.touch = .kibibytesPerSecond(256)
        // Extensions have fatal limits of 15 to 50 MB (packet tunnel, broadcast); 30 MiB, in between, is ours.
        app.limits = ProcessLimits(active: .mebibytes(30), inactive: .mebibytes(30), fatal: true)
        // Ours: an extension loads less code than an app.
        app.costs.process = .milliseconds(180)
        app.costs.launch = .milliseconds(60)
        app.background = BackgroundDiscipline(frees: .percent(100), work: .seconds(1), snapshot: .mebibytes(1))
        app.warnings = WarningDiscipline(frees: .percent(100), delay: .milliseconds(30))
    }
}
