/// The life of one process; its phase changes only by events.
///
/// Source: Apple's "Managing your app's life cycle" (iOS 13 and later), and
/// "About the app launch sequence" for prewarming (iOS 15 and later).
public struct ProcessMachine: Hashable, Sendable {
    /// The current phase.
    public private(set) var phase: ProcessPhase = .notRunning

    /// A process that is not running.
    public init() {}

    /// The phase after `event`; throws if the phase does not allow it.
    public static func next(_ phase: ProcessPhase, _ event: ProcessEvent) throws(IllegalTransition) -> ProcessPhase {
        switch (phase, event) {
        case (.notRunning, .prewarm): .prewarmed
        case (.notRunning, .launchToForeground), (.prewarmed, .launchToForeground): .inactive
        case (.notRunning, .launchToBackground), (.prewarmed, .launchToBackground): .background
        case (.inactive, .activate): .active
        case (.active, .resignActive): .inactive
        case (.inactive, .enterBackground): .background
        case (.background, .enterForeground): .inactive
        case (.background, .suspend): .suspended
        case (.suspended, .resume): .background
        case (.inactive, .terminate), (.active, .terminate), (.background, .terminate), (.suspended, .terminate),
            (.prewarmed, .terminate):
            .notRunning
        case (.notRunning, _), (.inactive, _), (.active, _), (.background, _), (.suspended, _), (.prewarmed, _):
            throw IllegalTransition(machine: "process", state: phase.rawValue, event: event.rawValue)
        }
    }

    /// Changes the phase; throws, without a change, if the phase does not allow the event.
    public mutating func apply(_ event: ProcessEvent) throws(IllegalTransition) {
        phase = try ProcessMachine.next(phase, event)
    }
}

/// The phase that a process must have, given its scenes: active if any scene is active, else inactive if any is in
/// the foreground, else background while any scene or assertion needs it, else suspended.
public func processPhase(followingFrom scenes: [ScenePhase], hasReasonToRun: Bool) -> ProcessPhase {
    if scenes.contains(.foregroundActive) { return .active }
    if scenes.contains(.foregroundInactive) { return .inactive }
    if scenes.contains(.background) || hasReasonToRun { return .background }
    return .suspended
}
