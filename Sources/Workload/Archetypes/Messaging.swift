import Lifecycle
import Quantities

extension Archetype {
    /// 62 MiB in all after the launch, 96 MiB with a full cache.
    public static let messaging = Archetype("messaging", "chats: small, quick to return, woken by pushes") { app in
        // 61 and 96 MB are the suspended footprints of ordinary apps on a real device (iOS 14.2); the split is ours.
        app.memory.base = .mebibytes(48)
        app.memory.scene = .mebibytes(14)
        app.memory.cache = CacheProfile(size: .mebibytes(34), rate: .mebibytesPerSecond(1))
        // Ours: text and thumbnails come and go.
        app.memory.churn = ChurnProfile(rate: .kibibytesPerSecond(512), lifetime: .milliseconds(800))
        app.memory.touch = .mebibytesPerSecond(4)
        // Ours: a push wakes the app.
        app.backgroundModes = [.remoteNotification]
        app.background = BackgroundDiscipline(frees: .percent(60), work: .seconds(4), snapshot: .mebibytes(8))
        app.features = [.url, .shortcut]
    }
}
