/// How much of the app was still there when the user wanted it.
public enum LaunchKind: String, CaseIterable, Sendable {
    /// There was no process, or only a prewarmed one.
    case cold
    /// The process was alive and the scene unattached, or an app without scenes was still being launched.
    case warm
    /// The scene was in memory.
    case hot

    /// Where the process was; nil if there was none, or it was prewarmed.
    public var resumedFrom: ResumeSource? {
        switch self {
        case .cold: nil
        case .warm, .hot: .memory
        }
    }
}

/// Where the process was when the user wanted it, if it lived: Apple calls this a resume.
public enum ResumeSource: String, CaseIterable, Sendable {
    case memory
    /// From the compressor, which held most of its pages.
    case compressed
    /// From flash, where the freezer had put it.
    case frozen
    /// Before `UIApplicationMain`: the system had begun the launch ahead of time.
    case prewarmed
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
    /// PushKit reports a call for the app.
    case call
    /// The user taps a notification of the app.
    case notification
    /// The transfers of the app's background `URLSession` are done.
    case urlSession
    /// Another process needs a daemon or an extension, or an app needs its helper.
    case demand
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
        case .audio, .location, .externalAccessory: true
        // A call wakes the app, and then keeps it running as long as it lasts.
        case .voip, .processing, .fetch, .remoteNotification, .bluetoothCentral: false
        }
    }
}

/// A way to open an app that the app declares (document types, activity types, shortcut items of its Info.plist).
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
    /// What the app must declare. UIKit passes a key of the launch options only to an app that supports the feature.
    public var requirement: LaunchRequirement {
        switch self {
        case .userTap, .notification, .demand, .urlSession: .nothing
        case .location: .mode(.location)
        case .remoteNotification: .mode(.remoteNotification)
        case .url: .feature(.url)
        case .userActivity: .feature(.handoff)
        case .shortcutItem: .feature(.shortcut)
        case .bluetoothCentrals: .mode(.bluetoothCentral)
        case .backgroundFetch: .mode(.fetch)
        case .processing: .mode(.processing)
        case .call: .mode(.voip)
        }
    }

    /// The key of `UIApplication.LaunchOptionsKey`; nil for a tap, for BackgroundTasks' refresh and processing, for
    /// PushKit's calls, and for a background `URLSession`, which has a callback of its own. A tapped notification
    /// comes with UNUserNotificationCenter's own callback.
    public var launchOptionsKey: String? {
        switch self {
        case .location: "UIApplication.LaunchOptionsKey.location"
        case .remoteNotification: "UIApplication.LaunchOptionsKey.remoteNotification"
        case .url: "UIApplication.LaunchOptionsKey.url"
        case .userActivity: "UIApplication.LaunchOptionsKey.userActivityDictionary"
        case .shortcutItem: "UIApplication.LaunchOptionsKey.shortcutItem"
        case .bluetoothCentrals: "UIApplication.LaunchOptionsKey.bluetoothCentrals"
        case .userTap, .notification, .backgroundFetch, .processing, .call, .demand, .urlSession: nil
        }
    }

    /// Whether the reason brings the app on screen; for the other reasons it works off screen.
    public var isForeground: Bool {
        switch self {
        case .userTap, .notification, .url, .userActivity, .shortcutItem: true
        case .location, .remoteNotification, .bluetoothCentrals, .backgroundFetch, .processing, .call, .demand,
            .urlSession:
            false
        }
    }

    /// The callback that delivers the reason to an app that is in front or on its way there.
    public func delivery(in lifeCycle: AppLifeCycle) -> Callback? {
        switch (self, lifeCycle) {
        case (.url, .appBased): .applicationOpenURL
        case (.url, .sceneBased): .sceneOpenURLContexts
        case (.shortcutItem, .appBased): .applicationPerformAction
        case (.shortcutItem, .sceneBased): .scenePerformAction
        case (.userActivity, .appBased): .applicationContinueUserActivity
        case (.userActivity, .sceneBased): .sceneContinueUserActivity
        case (.notification, _): .didReceiveNotificationResponse
        case (.userTap, _), (.location, _), (.remoteNotification, _), (.bluetoothCentrals, _), (.backgroundFetch, _),
            (.processing, _), (.call, _), (.demand, _), (.urlSession, _), (_, .process):
            nil
        }
    }

    /// All callbacks of that delivery, in order. Handoff announces the activity before its data is there, and the app
    /// is told of the change of the activity that it goes on with.
    public func deliveries(in lifeCycle: AppLifeCycle) -> [Callback] {
        guard self == .userActivity else { return delivery(in: lifeCycle).map { [$0] } ?? [] }
        return switch lifeCycle {
        case .sceneBased:
            [.sceneWillContinueUserActivity, .sceneContinueUserActivity, .sceneDidUpdateUserActivity]
        case .appBased:
            [
                .applicationWillContinueUserActivity, .applicationContinueUserActivity,
                .applicationDidUpdateUserActivity,
            ]
        case .process: []
        }
    }

    /// Whether the system launches an app for this reason even after the user has swiped it away. If not, the user
    /// must open the app first. Source: Apple's documentation of background pushes, background refresh and PushKit, and
    /// TN3115 for Bluetooth. A force quit cancels the transfers of a background `URLSession`.
    public func reachesQuitApps(_ rules: LifecycleRules) -> Bool {
        switch self {
        case .userTap, .notification, .url, .userActivity, .shortcutItem, .location, .call, .demand: true
        case .remoteNotification, .bluetoothCentrals, .backgroundFetch, .urlSession: false
        case .processing: rules.processingAfterQuit
        }
    }
}

/// Why the time jumped (`UIApplication.significantTimeChangeNotification`).
public enum TimeChange: String, CaseIterable, Sendable {
    case midnight
    case carrierUpdate = "carrier-update"
    case daylightSaving = "daylight-saving"
}
