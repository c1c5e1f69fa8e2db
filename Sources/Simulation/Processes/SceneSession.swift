import Lifecycle
import Memory
import Quantities

/// A scene's session. It outlives the connection and the process; only the user discards it.
struct SceneSession {
    let id: SceneID
    var machine = SceneMachine()
    var wasConnected = false
    var hasRestorationActivity = false
    var pool: PoolID?
    /// When it was last on a screen; nil: never since its process began.
    var lastForeground: Instant?
    /// The system took it away to reclaim memory, and it has not come back.
    var wasReclaimed = false
    /// It is shown on the second display.
    var isExternal = false
    /// Why it was asked for, until it has connected.
    var reason = LaunchReason.userTap
    /// It is connecting, and has been told why: what it is asked for from now on is told when it is on a screen.
    var isTold = false

    init(id: SceneID, isExternal: Bool = false) {
        self.id = id
        self.isExternal = isExternal
    }

    /// Takes the event at this instant.
    mutating func apply(_ event: SceneEvent, at now: Instant) throws(IllegalTransition) {
        let before = machine.phase
        try machine.apply(event)
        let after = machine.phase
        if after.isConnected { wasConnected = true }
        if before.isForeground || after.isForeground { lastForeground = now }
        // Only for a new process: when it was seen before counts no more.
        if event == .connectToBackground { lastForeground = nil }
    }

    /// It has connected, or its process has died: what it was asked for is over.
    mutating func forgetReason() { (reason, isTold) = (.userTap, false) }
}
