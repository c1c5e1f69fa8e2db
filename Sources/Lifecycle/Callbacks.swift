/// A method of the app delegate or of a scene delegate, under its UIKit name.
public enum Callback: String, CaseIterable, Sendable {
    case willFinishLaunching = "application(_:willFinishLaunchingWithOptions:)"
    case didFinishLaunching = "application(_:didFinishLaunchingWithOptions:)"
    case didDiscardSceneSessions = "application(_:didDiscardSceneSessions:)"
    case configurationForConnecting = "application(_:configurationForConnecting:options:)"

    case sceneWillConnect = "scene(_:willConnectTo:options:)"
    case sceneWillEnterForeground = "sceneWillEnterForeground"
    case sceneDidBecomeActive = "sceneDidBecomeActive"
    case sceneWillResignActive = "sceneWillResignActive"
    case sceneDidEnterBackground = "sceneDidEnterBackground"
    case sceneDidDisconnect = "sceneDidDisconnect"
    case stateRestorationActivity = "stateRestorationActivity(for:)"
    case sceneOpenURLContexts = "scene(_:openURLContexts:)"

    case applicationDidBecomeActive = "applicationDidBecomeActive"
    case applicationWillResignActive = "applicationWillResignActive"
    case applicationDidEnterBackground = "applicationDidEnterBackground"
    case applicationWillEnterForeground = "applicationWillEnterForeground"
    case applicationWillTerminate = "applicationWillTerminate"

    case applicationDidReceiveMemoryWarning = "applicationDidReceiveMemoryWarning"
    case applicationProtectedDataWillBecomeUnavailable = "applicationProtectedDataWillBecomeUnavailable"
    case applicationProtectedDataDidBecomeAvailable = "applicationProtectedDataDidBecomeAvailable"
    case applicationDidUpdateUserActivity = "application(_:didUpdate:)"
    case applicationSignificantTimeChange = "applicationSignificantTimeChange"
    case applicationOpenURL = "application(_:open:options:)"
}

/// A notification that any object of the app may observe, under its UIKit name.
public enum AppNotification: String, CaseIterable, Sendable {
    case didFinishLaunching = "UIApplication.didFinishLaunchingNotification"
    case didBecomeActive = "UIApplication.didBecomeActiveNotification"
    case willResignActive = "UIApplication.willResignActiveNotification"
    case didEnterBackground = "UIApplication.didEnterBackgroundNotification"
    case willEnterForeground = "UIApplication.willEnterForegroundNotification"
    case willTerminate = "UIApplication.willTerminateNotification"
    case didReceiveMemoryWarning = "UIApplication.didReceiveMemoryWarningNotification"
    case significantTimeChange = "UIApplication.significantTimeChangeNotification"
    case protectedDataWillBecomeUnavailable = "UIApplication.protectedDataWillBecomeUnavailableNotification"
    case protectedDataDidBecomeAvailable = "UIApplication.protectedDataDidBecomeAvailableNotification"

    case sceneWillConnect = "UIScene.willConnectNotification"
    case sceneDidDisconnect = "UIScene.didDisconnectNotification"
    case sceneDidActivate = "UIScene.didActivateNotification"
    case sceneWillDeactivate = "UIScene.willDeactivateNotification"
    case sceneWillEnterForeground = "UIScene.willEnterForegroundNotification"
    case sceneDidEnterBackground = "UIScene.didEnterBackgroundNotification"
}

/// Why a process ended, in MetricKit's words.
public enum ExitReason: String, CaseIterable, Sendable {
    case normalApp
    case abnormal
    case appWatchdog
    case cpuResourceLimit
    /// The app's own limit, or nothing left to reclaim for its allocation.
    case memoryResourceLimit
    /// The system needed the memory.
    case memoryPressure
    case suspendedWithLockedFile
    case backgroundTaskAssertionTimeout
    case userTerminated
}

/// Which life-cycle an app lives by. Scene support is opt-in (`UIApplicationSceneManifest`).
public enum AppWorld: String, CaseIterable, Sendable {
    case sceneBased
    case appBased
}

/// The callbacks and notifications of one transition, in UIKit's order.
public struct Response: Hashable, Sendable {
    public var callbacks: [Callback]
    public var notifications: [AppNotification]

    public init(callbacks: [Callback] = [], notifications: [AppNotification] = []) {
        self.callbacks = callbacks
        self.notifications = notifications
    }
}

extension Response {
    /// What a scene's transition tells its delegate.
    ///
    /// - Parameters:
    ///   - isNewSession: The session was never connected before; only then the app is asked for a configuration.
    ///   - keepsSession: On disconnection: the session stays, so the app is asked for its restoration activity.
    public static func to(scene event: SceneEvent, isNewSession: Bool, keepsSession: Bool) -> Response {
        let configuration: [Callback] = isNewSession ? [.configurationForConnecting] : []
        return switch event {
        case .connectToForeground:
            Response(
                callbacks: configuration + [.sceneWillConnect, .sceneWillEnterForeground],
                notifications: [.sceneWillConnect, .sceneWillEnterForeground])
        case .connectToBackground:
            Response(callbacks: configuration + [.sceneWillConnect], notifications: [.sceneWillConnect])
        case .activate: Response(callbacks: [.sceneDidBecomeActive], notifications: [.sceneDidActivate])
        case .resignActive: Response(callbacks: [.sceneWillResignActive], notifications: [.sceneWillDeactivate])
        case .enterBackground:
            Response(callbacks: [.sceneDidEnterBackground], notifications: [.sceneDidEnterBackground])
        case .enterForeground:
            Response(callbacks: [.sceneWillEnterForeground], notifications: [.sceneWillEnterForeground])
        case .suspend, .resume: Response()
        case .disconnect:
            Response(
                callbacks: (keepsSession ? [.stateRestorationActivity] : []) + [.sceneDidDisconnect],
                notifications: [.sceneDidDisconnect])
        }
    }

    /// What a process's transition tells the app delegate. Scene-based apps hear of launch and termination only; the
    /// app-level notifications post in both worlds.
    public static func to(process event: ProcessEvent, world: AppWorld) -> Response {
        let own: [Callback]
        let notifications: [AppNotification]
        switch event {
        case .launchToForeground, .launchToBackground:
            return Response(
                callbacks: [.willFinishLaunching, .didFinishLaunching], notifications: [.didFinishLaunching])
        case .terminate:
            return Response(callbacks: [.applicationWillTerminate], notifications: [.willTerminate])
        case .activate: (own, notifications) = ([.applicationDidBecomeActive], [.didBecomeActive])
        case .resignActive: (own, notifications) = ([.applicationWillResignActive], [.willResignActive])
        case .enterBackground: (own, notifications) = ([.applicationDidEnterBackground], [.didEnterBackground])
        case .enterForeground: (own, notifications) = ([.applicationWillEnterForeground], [.willEnterForeground])
        case .suspend, .resume: (own, notifications) = ([], [])
        }
        return switch world {
        case .appBased: Response(callbacks: own, notifications: notifications)
        case .sceneBased: Response(notifications: notifications)
        }
    }
}

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
