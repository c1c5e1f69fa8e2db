/// How much of the app was still there when the user wanted it.
public enum LaunchKind: String, CaseIterable, Sendable {
    /// There was no process.
    case cold
    /// The process was alive and the scene unattached, or an app without scenes was still being launched.
    case warm
    /// The scene was in memory.
    case hot
}

/// The outcome of a launch by the user.
public enum LaunchOutcome: String, CaseIterable, Sendable {
    /// The first frame was active.
    case ready
    /// The user turned to something else first, or the run ended.
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
    /// Whether the mode keeps an app running off screen while it lasts; the other modes launch or wake the app.
    public var keepsRunning: Bool {
        switch self {
        case .audio, .location, .voip, .externalAccessory: true
        case .processing, .fetch, .remoteNotification, .bluetoothCentral: false
        }
    }
}

/// What an app declares that it can be opened with (document types, activity types, shortcut items of its Info.plist).
public enum AppFeature: String, CaseIterable, Sendable {
    case url
    case handoff
    case shortcut
}

/// What an app must declare so that a launch can have a given reason.
public enum LaunchRequirement: Hashable, Sendable {
    case nothing
    case mode(BackgroundMode)
    case feature(AppFeature)
}

extension LaunchReason {
    /// What the app must declare: a key of the launch options appears only if the app supports the feature.
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

    /// The key of `UIApplication.LaunchOptionsKey`; nil for a tap and for BackgroundTasks' refresh and processing.
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

    /// Whether the reason brings the app on screen; for the other reasons it works off screen.
    public var isForeground: Bool {
        switch self {
        case .userTap, .url, .userActivity, .shortcutItem: true
        case .location, .remoteNotification, .bluetoothCentrals, .backgroundFetch, .processing: false
        }
    }

    /// The callback that delivers the reason while the app comes to the front, or when it is there already.
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

    /// Whether the system launches an app for this reason after the user has swiped it away; if not, the user must open
    /// the app first. Source: Apple's documentation of background pushes and background refresh, and TN3115 for
    /// Bluetooth.
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
