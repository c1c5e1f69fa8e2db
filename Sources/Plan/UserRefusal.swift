/// Why something that the user or the system does is not possible: the reason in a row `refused` of `events.csv`.
public enum UserRefusal: String, CaseIterable, Sendable {
    case deviceIsLocked = "the device is locked"
    case deviceIsRestarting = "the device is restarting"
    case deviceIsLockedAlready = "the device is locked already"
    case isInFront = "it is in the foreground already, or on the way"
    case isNotSupported = "the app has not declared that it supports this"
    case hasOneScene = "the app does not support multiple scenes"
    /// `device.windows` is `one`, and the app has its window: `UISceneError.multipleScenesNotSupported`.
    case deviceShowsOneWindow = "the device shows one window per app"
    /// `lifecycle.scenes` is false.
    case systemHasNoScenes = "this system has no scenes"
    case hasNoScene = "it has no scene"
    case hasNoSuchScene = "it has no such scene"
    case isNotOnScreen = "it is not on screen"
    case isWithoutScenes = "the app does not support scenes"
    case isNotInSwitcher = "it is not in the switcher"
    case modeIsNotDeclared = "the app has not declared the background mode"
    case wasSwipedAway = "the user swiped the app away and has not opened it since"
    case isBeingEnded = "it is being ended"
    case holdsNoTask = "it holds no background task"
    case isNotRunning = "it is not running"
    case isSuspended = "it is suspended: no code runs"
    /// The name of the app that the display shows follows.
    case displayIsTaken = "the display shows"
    case hasNoSecondDisplay = "there is no second display"
    /// It has none, or its memory is unbounded.
    case hasNoFreezer = "the device has no freezer"
    case noAppIsInFront = "no app is in front"
    case holdsNoAssertion = "it holds no assertion"
    case hasProcess = "it has a process already"
    /// `BGTaskScheduler.Error.Code.tooManyPendingTaskRequests`.
    case hasTooManyRequests = "it has as many pending requests as the system allows"

    /// Whether this refusal never occurs with a loaded scenario, because the loader already rejects what leads to it.
    public var isKeptByLoader: Bool {
        switch self {
        case .isNotSupported, .hasOneScene, .modeIsNotDeclared: true
        case .deviceIsLocked, .deviceIsRestarting, .deviceIsLockedAlready, .isInFront, .deviceShowsOneWindow,
            .systemHasNoScenes, .hasNoScene, .hasNoSuchScene, .isNotOnScreen, .isWithoutScenes, .isNotInSwitcher,
            .wasSwipedAway, .isBeingEnded, .holdsNoTask, .isNotRunning, .isSuspended, .displayIsTaken,
            .hasNoSecondDisplay, .hasNoFreezer, .noAppIsInFront, .holdsNoAssertion, .hasProcess, .hasTooManyRequests:
            false
        }
    }
}
