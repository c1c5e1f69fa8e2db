/// The life of one scene. Its session outlives it: a disconnected scene is unattached and may connect again.
///
/// Source: Apple's "Managing your app's life cycle" (iOS 13 and later).
public struct SceneMachine: Hashable, Sendable {
    public private(set) var phase: ScenePhase = .unattached

    public init() {}

    /// The phase after `event`, or the refusal with both names.
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
        case (.background, .disconnect), (.suspended, .disconnect): .unattached
        case (.unattached, _), (.foregroundInactive, _), (.foregroundActive, _), (.background, _), (.suspended, _):
            throw IllegalTransition(machine: "scene", state: phase.rawValue, event: event.rawValue)
        }
    }

    public mutating func apply(_ event: SceneEvent) throws(IllegalTransition) {
        phase = try SceneMachine.next(phase, event)
    }

    /// The process is gone, and the scene with it; the session stays. Nobody is told.
    public mutating func processDied() {
        phase = .unattached
    }
}
