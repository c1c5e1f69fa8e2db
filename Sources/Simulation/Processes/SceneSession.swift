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
    /// Whether the system took the scene away to reclaim memory, and it has not come back.
    private var wasReclaimed = false
    /// Why the scene was requested, until it has connected.
    private(set) var reason = LaunchReason.userTap
    /// Whether the scene is connecting and has been told why. It is told further reasons when it is on a screen.
    private(set) var isTold = false

    init(id: SceneID, isExternal: Bool = false) {
        self.id = id
        self.isExternal = isExternal
    }

    /// Applies the event at this instant.
    mutating func apply(_ event: SceneEvent, at now: Instant) throws(IllegalTransition) {
        let before = machine.phase
        try machine.apply(event)
        let after = machine.phase
        if after.isConnected { wasConnected = true }
        if before.isForeground || after.isForeground { lastForeground = now }
        // Only in a new process: when the scene was seen in an earlier one no longer counts.
        if event == .connectToBackground { lastForeground = nil }
    }

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

    // MARK: Disconnecting

    /// The app has provided an activity to restore the scene from.
    mutating func storeActivity() { hasRestorationActivity = true }

    /// The system has taken the scene away to reclaim memory.
    mutating func reclaim() { wasReclaimed = true }

    /// The scene's process ends: the scene is disconnected without a callback.
    mutating func processDied() { machine.processDied() }

    /// The scene's process is gone, and with it the scene's memory and its pending launch reason.
    mutating func forgetProcess() {
        machine.processDied()
        pool = nil
        forgetReason()
    }

    // MARK: Memory

    mutating func hold(_ pool: PoolID) { self.pool = pool }

    /// The pool was freed, or the app has lost track of it.
    mutating func dropPool() { pool = nil }
}
