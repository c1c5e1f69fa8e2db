/// Why something that the user or the system does is not possible: the reason in a row `refused` of `events.csv`.
public enum UserRefusal: String, CaseIterable, Sendable {
    case deviceIsLocked = "the device is locked"
    case deviceIsLockedAlready = "the device is locked already"
    case isInFront = "it is in the foreground already, or on the way"
    case isNotSupported = "the app has not declared that it supports this"
    case hasOneScene = "the app does not support multiple scenes"
    case hasNoScene = "it has no scene"
    case isWithoutScenes = "the app does not support scenes"
    case isNotInSwitcher = "it is not in the switcher"
    case modeIsNotDeclared = "the app has not declared the background mode"
    case wasSwipedAway = "the user swiped the app away and has not opened it since"
    case isBeingEnded = "it is being ended"
    case holdsNoTask = "it holds no background task"
    case isNotRunning = "it is not running"
    case isSuspended = "it is suspended: no code runs"
    /// The name of the app follows.
    case displayIsTaken = "the display shows"
    case hasNoSecondDisplay = "there is no second display"

    /// Whether a loaded scenario never meets this refusal, because the loader rejects what leads to it.
    public var isKeptByLoader: Bool {
        switch self {
        case .isNotSupported, .hasOneScene, .modeIsNotDeclared: true
        case .deviceIsLocked, .deviceIsLockedAlready, .isInFront, .hasNoScene, .isWithoutScenes, .isNotInSwitcher,
            .wasSwipedAway, .isBeingEnded, .holdsNoTask, .isNotRunning, .isSuspended, .displayIsTaken,
            .hasNoSecondDisplay:
            false
        }
    }
}
