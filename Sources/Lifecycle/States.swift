/// The state of an app's process, named as in UIKit (UIApplication.State, plus "not running" and "suspended").
public enum ProcessPhase: String, CaseIterable, Sendable {
    /// There is no process.
    case notRunning
    /// Foreground without events: during a call, a system alert or the app switcher, and on the way in and out.
    case inactive
    /// Foreground with events.
    case active
    /// Runs code off screen; only briefly, unless it has a reason to run.
    case background
    /// In memory without running code; may be ended at any time without notice.
    case suspended
    /// The system has begun the launch before the user wants the app, up to `UIApplicationMain` and without it (iOS 15
    /// and later). It waits for the rest of its launch, hears of nothing, and may be ended at any time.
    case prewarmed

    /// Whether the app's code may run.
    public var runsCode: Bool {
        switch self {
        case .inactive, .active, .background: true
        case .notRunning, .suspended, .prewarmed: false
        }
    }

    /// Whether the process is in memory and none of the app's code runs.
    public var restsInMemory: Bool {
        switch self {
        case .suspended, .prewarmed: true
        case .notRunning, .inactive, .active, .background: false
        }
    }

    /// Whether UIKit has not launched the app yet.
    public var awaitsLaunch: Bool {
        switch self {
        case .notRunning, .prewarmed: true
        case .inactive, .active, .background, .suspended: false
        }
    }

    /// Whether the app is on screen.
    public var isForeground: Bool {
        switch self {
        case .inactive, .active: true
        case .notRunning, .background, .suspended, .prewarmed: false
        }
    }
}

/// The state of one scene, named as in UIKit (UIScene.ActivationState, plus "suspended").
public enum ScenePhase: String, CaseIterable, Sendable {
    /// Not connected; holds no resources.
    case unattached
    /// On screen or about to be, without user events; every scene passes through it on the way in and out.
    case foregroundInactive
    /// On screen with events.
    case foregroundActive
    /// Off screen, may run code.
    case background
    /// Off screen, in memory, runs no code.
    case suspended

    /// Whether the scene is connected, on screen or not.
    public var isConnected: Bool { self != .unattached }

    /// Whether the scene is on screen or about to be.
    public var isForeground: Bool {
        switch self {
        case .foregroundInactive, .foregroundActive: true
        case .unattached, .background, .suspended: false
        }
    }
}

/// What happens to a process.
public enum ProcessEvent: String, CaseIterable, Sendable {
    case launchToForeground
    case launchToBackground
    case activate
    case resignActive
    case enterBackground
    case enterForeground
    case suspend
    case resume
    case terminate
    /// The system begins the launch ahead of time.
    case prewarm
}

/// What happens to a scene.
public enum SceneEvent: String, CaseIterable, Sendable {
    /// The user wants to see the scene.
    case connectToForeground
    /// The system wants the scene to work off screen.
    case connectToBackground
    case activate
    case resignActive
    case enterBackground
    case enterForeground
    case suspend
    case resume
    case disconnect
}

/// An event that the state does not allow: a fault of the scenario or of Plimsoll, never silently accepted.
public struct IllegalTransition: Error, Equatable, Sendable, CustomStringConvertible {
    /// `process` or `scene`.
    public let machine: String
    /// The phase's name.
    public let state: String
    /// The event's name.
    public let event: String

    /// A refusal with the names of the phase and the event.
    public init(machine: String, state: String, event: String) {
        self.machine = machine
        self.state = state
        self.event = event
    }

    /// One line with all three names.
    public var description: String { "a \(machine) that is \(state) cannot \(event)" }
}
