/// How much of the app was still there when the user wanted it.
public enum LaunchKind: String, CaseIterable, Sendable {
    /// There was no process.
    case cold
    /// The process lived, the scene was unattached; or it is an app without scenes that was still being launched.
    case warm
    /// The scene was in memory.
    case hot
}

/// How a launch by the user came out.
public enum LaunchOutcome: String, CaseIterable, Sendable {
    /// Its first frame was active.
    case ready
    /// The user wanted something else first, or the run was over.
    case abandoned
    /// The process ended.
    case terminated
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
    case bluetoothCentral = "bluetooth-central"
}

extension BackgroundMode {
    /// Whether the mode keeps an app running off screen for as long as it goes on; the others launch or wake it.
    public var keepsRunning: Bool {
        switch self {
        case .audio, .location, .voip, .externalAccessory: true
        case .processing, .fetch, .remoteNotification, .bluetoothCentral: false
        }
    }
}

/// What an app says that it can be opened with (document types, activity types, shortcut items of its Info.plist).
public enum AppFeature: String, CaseIterable, Sendable {
    case url
    case handoff
    case shortcut
}

/// What the app must have declared before a launch can have this reason.
public enum LaunchRequirement: Hashable, Sendable {
    case nothing
    case mode(BackgroundMode)
    case feature(AppFeature)
}

extension LaunchReason {
    /// A key of the launch options appears only if the app supports the feature.
    public var requirement: LaunchRequirement {
        switch self {
        case .userTap: .nothing
        case .location: .mode(.location)
        case .remoteNotification: .mode(.remoteNotification)
        case .url: .feature(.url)
        case .userActivity: .feature(.handoff)
        case .shortcutItem: .feature(.shortcut)
        case .bluetoothCentrals: .mode(.bluetoothCentral)
        case .backgroundFetch: .mode(.fetch)
        case .processing: .mode(.processing)
        }
    }

    /// The key of `UIApplication.LaunchOptionsKey`. A tap has none, nor have BackgroundTasks' refresh and
    /// processing.
    public var launchOptionsKey: String? {
        switch self {
        case .location: "UIApplication.LaunchOptionsKey.location"
        case .remoteNotification: "UIApplication.LaunchOptionsKey.remoteNotification"
        case .url: "UIApplication.LaunchOptionsKey.url"
        case .userActivity: "UIApplication.LaunchOptionsKey.userActivityDictionary"
        case .shortcutItem: "UIApplication.LaunchOptionsKey.shortcutItem"
        case .bluetoothCentrals: "UIApplication.LaunchOptionsKey.bluetoothCentrals"
        case .userTap, .backgroundFetch, .processing: nil
        }
    }

    /// Whether it brings the app to the screen; the others let it work off screen.
    public var isForeground: Bool {
        switch self {
        case .userTap, .url, .userActivity, .shortcutItem: true
        case .location, .remoteNotification, .bluetoothCentrals, .backgroundFetch, .processing: false
        }
    }

    /// The callback of an app that is told while it comes to the front, or when it is there already.
    public func delivery(in world: AppWorld) -> Callback? {
        switch (self, world) {
        case (.url, .appBased): .applicationOpenURL
        case (.url, .sceneBased): .sceneOpenURLContexts
        case (.shortcutItem, .appBased): .applicationPerformAction
        case (.shortcutItem, .sceneBased): .scenePerformAction
        case (.userActivity, .appBased), (.userActivity, .sceneBased): .applicationDidUpdateUserActivity
        case (.userTap, _), (.location, _), (.remoteNotification, _), (.bluetoothCentrals, _), (.backgroundFetch, _),
            (.processing, _):
            nil
        }
    }

    /// Whether the system still launches an app for it that the user has swiped away. Source: Apple's documentation of
    /// background pushes and background refresh, and TN3115 for Bluetooth: not before the user opens the app again.
    public var reachesQuitApps: Bool {
        switch self {
        case .userTap, .url, .userActivity, .shortcutItem, .location: true
        case .remoteNotification, .bluetoothCentrals, .backgroundFetch, .processing: false
        }
    }
}

/// Why the time jumped (`UIApplication.significantTimeChangeNotification`).
public enum TimeChange: String, CaseIterable, Sendable {
    case midnight
    case carrierUpdate = "carrier-update"
    case daylightSaving = "daylight-saving"
}
