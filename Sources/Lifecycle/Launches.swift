/// How much of the app was still there when the user wanted it.
public enum LaunchKind: String, CaseIterable, Sendable {
    /// There was no process.
    case cold
    /// The process lived, the scene was unattached.
    case warm
    /// The scene was in memory.
    case hot
}

/// Why an app was launched; a key of UIApplication.LaunchOptionsKey, or the user's tap.
public enum LaunchReason: String, CaseIterable, Sendable {
    case userTap
    case location
    case remoteNotification
    case url
    case userActivity
    case shortcutItem
    case bluetoothCentrals
    case backgroundFetch
    case processing
}

/// A declared reason to keep running in the background (`UIBackgroundModes`).
public enum BackgroundMode: String, CaseIterable, Sendable {
    case audio
    case location
    case voip
    case externalAccessory = "external-accessory"
    case processing
    case fetch
    case remoteNotification = "remote-notification"
}

extension BackgroundMode {
    /// Whether the mode keeps an app running off screen for as long as it goes on; the others launch or wake it.
    public var keepsRunning: Bool {
        switch self {
        case .audio, .location, .voip, .externalAccessory: true
        case .processing, .fetch, .remoteNotification: false
        }
    }
}
