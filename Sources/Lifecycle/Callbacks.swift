/// A method of the app delegate or of a scene delegate, under its UIKit name.
public enum Callback: String, CaseIterable, Sendable {
    /// A process without UIKit begins to run.
    case main = "main()"
    case willFinishLaunching = "application(_:willFinishLaunchingWithOptions:)"
    case didFinishLaunching = "application(_:didFinishLaunchingWithOptions:)"
    case didDiscardSceneSessions = "application(_:didDiscardSceneSessions:)"
    case configurationForConnecting = "application(_:configurationForConnecting:options:)"

    case sceneWillConnect = "scene(_:willConnectTo:options:)"
    case sceneRestoreInteractionState = "scene(_:restoreInteractionStateWith:)"
    case sceneWillEnterForeground = "sceneWillEnterForeground"
    case sceneDidBecomeActive = "sceneDidBecomeActive"
    case sceneWillResignActive = "sceneWillResignActive"
    case sceneDidEnterBackground = "sceneDidEnterBackground"
    case sceneDidDisconnect = "sceneDidDisconnect"
    case stateRestorationActivity = "stateRestorationActivity(for:)"
    case sceneOpenURLContexts = "scene(_:openURLContexts:)"
    case sceneWillContinueUserActivity = "scene(_:willContinueUserActivityWithType:)"
    case sceneContinueUserActivity = "scene(_:continue:)"
    case sceneDidUpdateUserActivity = "scene(_:didUpdate:)"

    case applicationDidBecomeActive = "applicationDidBecomeActive"
    case applicationWillResignActive = "applicationWillResignActive"
    case applicationDidEnterBackground = "applicationDidEnterBackground"
    case applicationWillEnterForeground = "applicationWillEnterForeground"
    case applicationWillTerminate = "applicationWillTerminate"

    case applicationDidReceiveMemoryWarning = "applicationDidReceiveMemoryWarning"
    case applicationProtectedDataWillBecomeUnavailable = "applicationProtectedDataWillBecomeUnavailable"
    case applicationProtectedDataDidBecomeAvailable = "applicationProtectedDataDidBecomeAvailable"
    case applicationWillContinueUserActivity = "application(_:willContinueUserActivityWithType:)"
    case applicationContinueUserActivity = "application(_:continue:restorationHandler:)"
    case applicationDidUpdateUserActivity = "application(_:didUpdate:)"
    case applicationSignificantTimeChange = "applicationSignificantTimeChange"
    case applicationOpenURL = "application(_:open:options:)"
    case applicationPerformAction = "application(_:performActionFor:completionHandler:)"
    case scenePerformAction = "windowScene(_:performActionFor:completionHandler:)"
    case didReceiveRemoteNotification = "application(_:didReceiveRemoteNotification:fetchCompletionHandler:)"
    /// The transfers of a background `URLSession` are done, and the app was woken or launched for them.
    case handleEventsForBackgroundURLSession = "application(_:handleEventsForBackgroundURLSession:completionHandler:)"
    /// The session has told its delegate of every transfer. A woken app hears it after the callback above; an app that
    /// runs hears only this.
    case urlSessionDidFinishEvents = "urlSessionDidFinishEvents(forBackgroundURLSession:)"
    /// UserNotifications: the user has tapped a notification.
    case didReceiveNotificationResponse = "userNotificationCenter(_:didReceive:withCompletionHandler:)"
    /// A notification service extension changes a notification before it is shown.
    case notificationServiceDidReceive = "didReceive(_:withContentHandler:)"
    /// WebKit: the process with the contents of the app's pages has ended, and the app has to load them again.
    case webContentDidTerminate = "webViewWebContentProcessDidTerminate(_:)"
    /// PushKit: a call for the app comes in.
    case pushRegistryDidReceive = "pushRegistry(_:didReceiveIncomingPushWith:for:completion:)"
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

    case screenDidConnect = "UIScreen.didConnectNotification"
    case screenDidDisconnect = "UIScreen.didDisconnectNotification"

    /// A call pauses the app's audio, or has ended.
    case audioInterruption = "AVAudioSession.interruptionNotification"
}

/// Why a process ended, named as in MetricKit.
public enum ExitReason: String, CaseIterable, Sendable {
    case normalApp
    case abnormal
    case appWatchdog
    case cpuResourceLimit
    /// The process exceeded its own limit.
    case memoryResourceLimit
    /// The system needed the memory, or had none left for the process.
    case memoryPressure
    case suspendedWithLockedFile
    case backgroundTaskAssertionTimeout
    case userTerminated

    /// Whether the system ended the process; metrics count such an end as a termination. For the other reasons the
    /// app or the user ended it, or the end was orderly, such as for an update.
    public var isBySystem: Bool {
        switch self {
        case .normalApp, .abnormal, .userTerminated: false
        case .appWatchdog, .cpuResourceLimit, .memoryResourceLimit, .memoryPressure, .suspendedWithLockedFile,
            .backgroundTaskAssertionTimeout:
            true
        }
    }
}

/// Which life cycle a process uses. Scene support is opt-in (`UIApplicationSceneManifest`).
public enum AppLifeCycle: String, CaseIterable, Sendable {
    case sceneBased
    case appBased
    /// No app and no UIKit: a helper, an extension, a daemon.
    case process
}
