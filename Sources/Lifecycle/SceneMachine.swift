/// The life of one scene. The session outlives the scene: a disconnected scene is unattached and may connect again.
///
/// Source: Apple's "Managing your app's life cycle" (iOS 13 and later).
public struct SceneMachine: Hashable, Sendable {
    /// The current phase.
    public private(set) var phase: ScenePhase = .unattached

    /// An unattached scene.
    public init() {}

    /// The phase after `event`; throws if the phase does not allow it.
    public static func next(_ phase: ScenePhase, _ event: SceneEvent) throws(IllegalTransition) -> ScenePhase {
        switch (phase, event) {
        case (.unattached, .connectToForeground): .foregroundInactive
        case (.unattached, .connectToBackground): .background
        case (.foregroundInactive, .activate): .foregroundActive
        case (.foregroundActive, .resignActive): .foregroundInactive
        case (.foregroundInactive, .enterBackground): .background
        case (.background, .enterForeground): .foregroundInactive
        case (.background, .suspend): .suspended
        case (.suspended, .resume): .background
        // From the foreground only when the user swipes the app away.
        case (.foregroundInactive, .disconnect), (.background, .disconnect), (.suspended, .disconnect): .unattached
        case (.unattached, _), (.foregroundInactive, _), (.foregroundActive, _), (.background, _), (.suspended, _):
            throw IllegalTransition(machine: "scene", state: phase.rawValue, event: event.rawValue)
        }
    }

    /// Changes the phase; throws, without a change, if the phase does not allow the event.
    public mutating func apply(_ event: SceneEvent) throws(IllegalTransition) {
        phase = try SceneMachine.next(phase, event)
    }

    /// Ends the scene with its process. The session stays; the app is not told.
    public mutating func processDied() {
        phase = .unattached
    }
}
