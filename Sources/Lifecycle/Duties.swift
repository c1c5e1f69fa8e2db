/// What an app does inside a callback, in a few words: the rows `duty` of `events.csv`.
///
/// Source: Apple's "Managing your app's life cycle", "Responding to the launch of your app" and "Preparing your UI to
/// run in the foreground". The callback's cost and memory stand for the work itself.
public enum Duty: String, CaseIterable, Sendable {
    case setsUpData = "sets up its data structures"
    case setsUpOnce = "sets up what it needs once, on its first launch"
    case loadsInterface = "loads its default user interface"
    case restoresInterface = "restores the last screen"
    case registersForPushes = "registers for remote notifications"
    case startsLocationUpdates = "starts location updates"
    case setsUpScene = "sets up the scene's user interface and loads its data"
    case loads = "loads from disk and network what it shows"
    case finishesInterface = "finishes its user interface and brings its views up to date"
    case showsFresh = "shows the data that a background refresh has brought"
    case showsOld = "shows the data that it had, then updates them"
    case startsTimers = "starts timers and task queues"
    case saves = "saves its data"
    case quietsDown = "stops timers and task queues"
    case finishesWork = "finishes crucial work"
    case freesMemory = "frees memory"
    case preparesSnapshot = "prepares its user interface for the snapshot"
    case releasesScene = "releases what the scene alone used"
    case stopsWork = "stops its work and releases shared resources"
}

/// What decides which duties an app has.
public struct DutyContext: Hashable, Sendable {
    /// Whether the app lives by scenes.
    public var lifeCycle: AppLifeCycle
    /// Why its process was launched.
    public var reason: LaunchReason
    /// Whether the app was never launched before.
    public var isFirstLaunch: Bool
    /// Whether it takes remote notifications.
    public var takesPushes: Bool
    /// Whether it can refresh its data off screen, and if so, whether it has done that since it was last in use.
    public var wasRefreshed: Bool?

    /// The context of a process.
    public init(
        lifeCycle: AppLifeCycle, reason: LaunchReason, isFirstLaunch: Bool, takesPushes: Bool, wasRefreshed: Bool? = nil
    ) {
        self.lifeCycle = lifeCycle
        self.reason = reason
        self.isFirstLaunch = isFirstLaunch
        self.takesPushes = takesPushes
        self.wasRefreshed = wasRefreshed
    }
}

extension Callback {
    /// What the app does in the callback, in order.
    public func duties(_ context: DutyContext) -> [Duty] {
        switch self {
        case .didFinishLaunching:
            var duties: [Duty] = [.setsUpData]
            if context.isFirstLaunch { duties.append(.setsUpOnce) }
            if context.lifeCycle == .appBased {
                duties.append(context.isFirstLaunch ? .loadsInterface : .restoresInterface)
            }
            if context.takesPushes { duties.append(.registersForPushes) }
            if context.reason == .location { duties.append(.startsLocationUpdates) }
            return duties
        case .sceneWillConnect: return [.setsUpScene]
        case .sceneWillEnterForeground, .applicationWillEnterForeground: return [.loads]
        case .sceneDidBecomeActive, .applicationDidBecomeActive:
            let shown = context.wasRefreshed.map { [$0 ? Duty.showsFresh : .showsOld] } ?? []
            return [.finishesInterface] + shown + [.startsTimers]
        case .sceneWillResignActive, .applicationWillResignActive: return [.saves, .quietsDown]
        case .sceneDidEnterBackground, .applicationDidEnterBackground:
            return [.finishesWork, .freesMemory, .preparesSnapshot]
        case .sceneDidDisconnect: return [.releasesScene]
        case .applicationWillTerminate: return [.stopsWork]
        case .main, .notificationServiceDidReceive, .willFinishLaunching, .didDiscardSceneSessions,
            .configurationForConnecting, .sceneRestoreInteractionState, .stateRestorationActivity,
            .sceneOpenURLContexts, .sceneWillContinueUserActivity, .sceneContinueUserActivity,
            .sceneDidUpdateUserActivity, .applicationDidReceiveMemoryWarning,
            .applicationProtectedDataWillBecomeUnavailable, .applicationProtectedDataDidBecomeAvailable,
            .applicationWillContinueUserActivity, .applicationContinueUserActivity, .applicationDidUpdateUserActivity,
            .applicationSignificantTimeChange, .applicationOpenURL, .applicationPerformAction, .scenePerformAction,
            .didReceiveRemoteNotification, .didReceiveNotificationResponse, .pushRegistryDidReceive,
            .handleEventsForBackgroundURLSession, .urlSessionDidFinishEvents, .webContentDidTerminate:
            return []
        }
    }
}
