import Lifecycle
import Pressure
import Quantities

/// What a process is heading for; the planner finds the next transition towards it.
enum Goal: Equatable {
    case foreground(SceneID)
    case background
}

/// Why a process was asked to end, and when.
struct QuitReason {
    let reason: ExitReason
    let explanation: String
    let since: Instant
    /// How long the process has: the time UIKit gives an app to return from `applicationWillTerminate`, or longer.
    let time: TimeSpan
    /// Whether the process enters the background on its way from the screen.
    let entersBackground: Bool
    /// Whether the process has extra time, so that the system's own deadlines do not apply.
    var hasGrace: Bool { time > Deadline.terminationTime }

    init(
        _ reason: ExitReason, _ explanation: String, since: Instant, grace: TimeSpan? = nil,
        entersBackground: Bool = true
    ) {
        self.entersBackground = entersBackground
        self.reason = reason
        self.explanation = explanation
        self.since = since
        time = max(grace ?? .zero, Deadline.terminationTime)
    }
}

/// What the user, the system and the policy want the process to do, and has not happened yet.
struct Course {
    private(set) var goal: Goal
    /// A policy asks to suspend it.
    private(set) var wantsSuspension = false
    /// Scenes that the user has closed.
    private(set) var closing: [SceneID] = []
    /// Scenes that the system takes away.
    private(set) var reclaiming: [SceneID] = []
    /// Of these, the ones that have only been off screen for long: no policy asked for their memory.
    private(set) var expired: [SceneID] = []
    /// The scene that connects to the background, if the system launched the process off screen.
    private(set) var connecting: SceneID?
    /// Its scene on the second display.
    private(set) var externalScene: SceneID?
    private(set) var quit: QuitReason?
    /// The user has swiped the app away: its sessions go with it, and the user does not want it back.
    private(set) var isSwipedAway = false
    /// When the process was last told to leave the screen.
    private(set) var leavingSince: Instant?
    /// The events to handle after `connecting` has connected. If the user taps the app first, they are handled after
    /// the user's launch.
    private(set) var launchEvents: [MainThreadStep] = []
    /// What its scenes are still to be told, each before it is active.
    private(set) var deliveries: [Delivery] = []
    /// The phase of the process that this one goes along with: of a helper its app's, of an extension on the screen
    /// that of the app under it.
    private(set) var companion: ProcessPhase?
    /// Whether that process is on its way to the screen, and this one with it.
    private(set) var companionComes = false

    /// The band that the process was in at the start of the run, until its state changes.
    private(set) var standing: JetsamBand?
    /// Whether the process is frozen and has the place of frozen processes
    /// (`P_MEMSTAT_USE_ELEVATED_INACTIVE_BAND`).
    private(set) var isElevated = false

    init(_ goal: Goal) { self.goal = goal }

    // MARK: On screen and off

    mutating func show(_ scene: SceneID) { goal = .foreground(scene) }

    mutating func leaveScreen(at now: Instant) {
        goal = .background
        leavingSince = now
    }

    mutating func suspend() { wantsSuspension = true }

    /// The process is suspended or on screen: the request is obsolete.
    mutating func forgetSuspension() { wantsSuspension = false }

    /// The process that this one goes along with is in that phase; nil: it goes along with none.
    ///
    /// - Parameter comes: Whether that process is on its way to the screen.
    mutating func accompany(_ phase: ProcessPhase?, comes: Bool = false) {
        (companion, companionComes) = (phase, comes)
    }

    /// At the start of the run the process is in this band.
    mutating func stand(in band: JetsamBand) { standing = band }

    /// The process's state changes: its band follows from it again.
    mutating func leaveStanding() { standing = nil }

    /// The freezer gives the process the place of frozen processes, or takes it away.
    mutating func elevate(_ isElevated: Bool) { self.isElevated = isElevated }

    // MARK: Scenes

    /// The user closes the scene; pending deliveries to it are void.
    mutating func close(_ scene: SceneID) {
        deliveries.removeAll { $0.scene == scene }
        if !closing.contains(scene) { closing.append(scene) }
    }

    mutating func hasClosed(_ scene: SceneID) { closing.removeAll { $0 == scene } }

    /// A policy has the system take the scene away.
    mutating func takeAway(_ scene: SceneID) {
        expired.removeAll { $0 == scene }
        reclaiming.append(scene)
    }

    /// The system takes the scene away, because it has been off screen for long.
    mutating func expire(_ scene: SceneID) {
        expired.append(scene)
        reclaiming.append(scene)
    }

    /// The scene is gone, or the user wanted it first.
    mutating func keep(_ scene: SceneID) {
        reclaiming.removeAll { $0 == scene }
        expired.removeAll { $0 == scene }
    }

    mutating func showExternally(_ scene: SceneID) { externalScene = scene }

    /// The second display is unplugged: its scene is closed.
    mutating func leaveExternalDisplay() -> SceneID? {
        guard let scene = externalScene else { return nil }
        externalScene = nil
        return scene
    }

    // MARK: A launch off screen

    mutating func connect(_ scene: SceneID, then events: [MainThreadStep]) {
        connecting = scene
        launchEvents = events
    }

    mutating func addLaunchEvent(_ step: MainThreadStep) { launchEvents.append(step) }

    /// The scene has connected, or the system no longer connects it.
    ///
    /// - Returns: The events that waited for the scene.
    mutating func endConnecting() -> [MainThreadStep] {
        connecting = nil
        defer { launchEvents.removeAll() }
        return launchEvents
    }

    // MARK: Its end

    mutating func end(_ reason: QuitReason) {
        goal = .background
        quit = reason
    }

    mutating func swipeAway() { isSwipedAway = true }

    // MARK: Deliveries

    mutating func deliver(_ delivery: Delivery) { deliveries.append(delivery) }

    /// Takes what is still to be told to the scene, or to an app without scenes.
    mutating func takeDeliveries(for scene: SceneID?) -> [Delivery] {
        guard !deliveries.isEmpty else { return [] }
        let isDue = { (delivery: Delivery) in delivery.scene == nil || delivery.scene == scene }
        let due = deliveries.filter(isDue)
        deliveries.removeAll(where: isDue)
        return due
    }
}
