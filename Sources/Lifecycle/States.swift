/// The state of an app's process, in UIKit's words (UIApplication.State, plus "not running" and "suspended").
public enum ProcessPhase: String, CaseIterable, Sendable {
    /// There is no process.
    case notRunning
    /// Foreground, but receives no events: a call comes in, a system alert, the switcher; also on the way in and out.
    case inactive
    /// Foreground, receives events.
    case active
    /// Runs code off screen; short, unless it holds a reason to run.
    case background
    /// In memory, no code runs; may be removed at any time without being told.
    case suspended

    /// Whether code of the app may run.
    public var runsCode: Bool {
        switch self {
        case .inactive, .active, .background: true
        case .notRunning, .suspended: false
        }
    }

    /// Whether the app is on screen.
    public var isForeground: Bool {
        switch self {
        case .inactive, .active: true
        case .notRunning, .background, .suspended: false
        }
    }
}

/// The state of one scene, in UIKit's words (UIScene.ActivationState, plus "suspended").
public enum ScenePhase: String, CaseIterable, Sendable {
    /// Not connected; holds no resources.
    case unattached
    /// On screen or about to be, receives no user events; always passed through on the way in and out.
    case foregroundInactive
    /// On screen, receives events.
    case foregroundActive
    /// Off screen, may run code.
    case background
    /// Off screen, in memory, runs no code.
    case suspended

    public var isConnected: Bool { self != .unattached }

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
}

/// What happens to a scene.
public enum SceneEvent: String, CaseIterable, Sendable {
    /// The user wants to see it.
    case connectToForeground
    /// The system wants it to work off screen.
    case connectToBackground
    case activate
    case resignActive
    case enterBackground
    case enterForeground
    case suspend
    case resume
    case disconnect
}

/// An event that the state does not allow. Never silently accepted: a fault of the scenario or of us.
public struct IllegalTransition: Error, Equatable, Sendable, CustomStringConvertible {
    /// `process` or `scene`.
    public let machine: String
    public let state: String
    public let event: String

    public init(machine: String, state: String, event: String) {
        self.machine = machine
        self.state = state
        self.event = event
    }

    public var description: String { "a \(machine) that is \(state) cannot \(event)" }
}
