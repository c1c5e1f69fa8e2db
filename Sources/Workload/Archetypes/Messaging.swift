import Lifecycle
import Quantities

extension Archetype {
    /// 62 MiB in all after the launch, 96 MiB with a full cache.
    public static let messaging = Archetype("messaging", "chats: small, quick to return, woken by pushes") { app in
        // On a real device (iOS 14.2) ordinary suspended apps had footprints of 61 and 96 MB. How the memory is split
        // into base, scene and cache is our own choice.
        app.memory.base = .mebibytes(48)
        app.memory.scene = .mebibytes(14)
        app.memory.cache = CacheProfile(size: .mebibytes(34), rate: .mebibytesPerSecond(1))
        // Our own assumption: text and thumbnails come and go.
        app.memory.churn = ChurnProfile(rate: .kibibytesPerSecond(512), lifetime: .milliseconds(800))
        app.memory.touch = .mebibytesPerSecond(4)
        // Our own assumption: a push wakes the app.
        // A guess: code and resources that the app uses, which a device with a file cache keeps in memory.
        app.memory.files = FileProfile(size: .mebibytes(70), rate: .mebibytesPerSecond(2))
        app.backgroundModes = [.remoteNotification]
        app.background = BackgroundDiscipline(frees: .percent(60), work: .seconds(4), snapshot: .mebibytes(8))
        app.features = [.url, .shortcut]
    }
}
