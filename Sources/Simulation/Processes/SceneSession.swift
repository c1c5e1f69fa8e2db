import Lifecycle
import Memory
import Quantities

/// A scene's session. It outlives the connection and the process; only the user discards it.
struct SceneSession {
    let id: SceneID
    /// Whether the scene is shown on the second display.
    let isExternal: Bool
    private(set) var machine = SceneMachine()
    private(set) var wasConnected = false
    private(set) var hasRestorationActivity = false
    private(set) var pool: PoolID?
    /// When the scene was last on a screen; nil: never since its process began.
    private(set) var lastForeground: Instant?
    /// Whether the system took the scene away, and it has not come back.
    private var wasReclaimed = false
    /// Why the scene was requested, until it has connected.
    private(set) var reason = LaunchReason.userTap
    /// Whether the scene is connecting and has been told why. It is told further reasons when it is on a screen.
    private(set) var isTold = false
    /// Numbers the scene's states; a timer of an earlier one is void.
    private(set) var serial = 0
    /// Whether the scene is off screen while its app is in front, and has been for long enough to be suspended.
    private(set) var isIdle = false
    /// Whether the time until then runs.
    private(set) var becomesIdle = false
    /// Since when the scene has been connected and off screen; nil: it is not.
    private(set) var offScreenSince: Instant?

    init(id: SceneID, isExternal: Bool = false) {
        self.id = id
        self.isExternal = isExternal
    }

    /// Applies the event at this instant.
    mutating func apply(_ event: SceneEvent, at now: Instant) throws(IllegalTransition) {
        let before = machine.phase
        try machine.apply(event)
        let after = machine.phase
        serial += 1
        (isIdle, becomesIdle) = (false, false)
        if after.isConnected { wasConnected = true } else { (isVisible, hasAppeared) = (false, false) }
        if before.isForeground || after.isForeground { lastForeground = now }
        if after.isForeground || !after.isConnected {
            offScreenSince = nil
        } else if offScreenSince == nil {
            offScreenSince = now
        }
        // Only in a new process: when the scene was seen in an earlier one no longer counts.
        if event == .connectToBackground { lastForeground = nil }
    }

    // MARK: Its window

    /// Whether the scene's window is visible. In an app without scenes, a window has a session as well.
    private(set) var isVisible = false
    /// Whether its view has appeared since the scene connected.
    private(set) var hasAppeared = false

    /// - Returns: Whether the view appears for the first time.
    mutating func showWindow() -> Bool {
        defer { (isVisible, hasAppeared) = (true, true) }
        return !hasAppeared
    }

    mutating func hideWindow() { isVisible = false }

    // MARK: Connecting

    /// The scene is wanted for this reason.
    mutating func ask(for reason: LaunchReason) { self.reason = reason }

    /// The scene has been told why it connects.
    mutating func tell() { isTold = true }

    /// The scene has connected: its reason is settled.
    ///
    /// - Returns: Whether the system had taken it away.
    mutating func connected() -> Bool {
        forgetReason()
        defer { wasReclaimed = false }
        return wasReclaimed
    }

    private mutating func forgetReason() { (reason, isTold) = (.userTap, false) }

    // MARK: Off screen

    /// The scene's time off screen begins while another one is in front.
    mutating func beginIdling() { becomesIdle = true }

    /// The time is over.
    ///
    /// - Parameter isInFront: Whether the app is still in front with another scene.
    mutating func endIdling(isInFront: Bool) { (becomesIdle, isIdle) = (false, isInFront) }

    // MARK: Disconnecting

    /// The app has provided an activity to restore the scene from.
    mutating func storeActivity() { hasRestorationActivity = true }

    /// The system has taken the scene away.
    mutating func reclaim() { wasReclaimed = true }

    /// The scene's process ends: the scene is disconnected without a callback.
    mutating func processDied() {
        machine.processDied()
        offScreenSince = nil
    }

    /// The scene's process is gone, and with it the scene's memory and its pending launch reason.
    mutating func forgetProcess() {
        processDied()
        (isVisible, hasAppeared) = (false, false)
        pool = nil
        forgetReason()
    }

    // MARK: Memory

    mutating func hold(_ pool: PoolID) { self.pool = pool }

    /// The pool was freed, or the app has lost track of it.
    mutating func dropPool() { pool = nil }
}
