/// One step of a transition, in UIKit's order: call the delegate, post a notification, or change the state.
///
/// A "will" signal comes before the change, a "did" signal after it.
public enum Signal: Hashable, Sendable {
    case callback(Callback)
    case notification(AppNotification)
    case change
    /// The notifications of the application, if its own state has followed the scene's.
    case application
}

extension SceneEvent {
    /// The steps of the transition: calls to the scene's delegate, notifications, and the change of state.
    ///
    /// - Parameters:
    ///   - isNewSession: Whether the session was never connected; only then is the app asked for a configuration.
    ///   - keepsSession: Whether the session stays, so that the app is asked for its restoration activity. It stays if
    ///     the scene leaves the screen or the system disconnects it, and goes if the user closes it.
    ///   - restores: Whether the session has a stored restoration activity, which the scene gets after its connection
    ///     and before its activation (UIKit's reference; iOS 15 and later).
    ///   - rules: What the public record leaves open.
    public func signals(
        isNewSession: Bool, keepsSession: Bool, restores: Bool = false, _ rules: LifecycleRules
    ) -> [Signal] {
        let configuration: [Signal] = isNewSession ? [.callback(.configurationForConnecting)] : []
        let connection: [Signal] =
            configuration + [.callback(.sceneWillConnect), .notification(.sceneWillConnect)]
            + (restores ? [.callback(.sceneRestoreInteractionState)] : [])
        let foreground: [Signal] = [
            .callback(.sceneWillEnterForeground), .notification(.sceneWillEnterForeground), .change,
        ]
        /// The scene has changed; it is told, and so is the application.
        func changed(_ signals: [Signal]) -> [Signal] {
            [.change] + (rules.sceneBeforeApplication ? signals + [.application] : [.application] + signals)
        }
        let background = changed([.callback(.sceneDidEnterBackground), .notification(.sceneDidEnterBackground)])
        let launched = rules.backgroundLaunchEntersBackground ? background : changed([])
        let restoration: [Signal] = keepsSession ? [.callback(.stateRestorationActivity)] : []
        return switch self {
        case .connectToForeground: connection + foreground
        case .connectToBackground: connection + launched
        case .activate: changed([.callback(.sceneDidBecomeActive), .notification(.sceneDidActivate)])
        case .resignActive: [.callback(.sceneWillResignActive), .notification(.sceneWillDeactivate), .change]
        case .enterBackground: background + (rules.restorationSaved == .enteringBackground ? restoration : [])
        case .enterForeground: foreground
        case .suspend, .resume: [.change]
        case .disconnect: restoration + [.callback(.sceneDidDisconnect), .notification(.sceneDidDisconnect), .change]
        }
    }
}

extension ProcessEvent {
    /// The steps of the transition. The delegate of a scene-based app is called only for launch and termination; the
    /// app-level notifications are posted in both life cycles.
    ///
    /// - Parameter rules: What the public record leaves open; only the steps of a launch off screen depend on it.
    public func signals(in lifeCycle: AppLifeCycle, _ rules: LifecycleRules = LifecycleRules()) -> [Signal] {
        func callback(_ callback: Callback) -> [Signal] {
            switch lifeCycle {
            case .appBased: [.callback(callback)]
            case .sceneBased, .process: []
            }
        }
        guard lifeCycle != .process else {
            let begins = self == .launchToForeground || self == .launchToBackground
            return begins ? [.change, .callback(.main)] : [.change]
        }
        let launch: [Signal] = [
            .change, .callback(.willFinishLaunching), .callback(.didFinishLaunching),
            .notification(.didFinishLaunching),
        ]
        return switch self {
        case .launchToForeground: launch
        case .launchToBackground:
            switch lifeCycle {
            // The app was never on screen, but UIKit still tells it that it is in the background.
            case .appBased:
                rules.backgroundLaunchEntersBackground
                    ? launch + [.callback(.applicationDidEnterBackground), .notification(.didEnterBackground)]
                    : launch
            case .sceneBased, .process: launch
            }
        case .activate:
            [.change] + callback(.applicationDidBecomeActive) + [.notification(.didBecomeActive)]
        case .resignActive:
            callback(.applicationWillResignActive) + [.notification(.willResignActive), .change]
        case .enterBackground:
            [.change] + callback(.applicationDidEnterBackground) + [.notification(.didEnterBackground)]
        case .enterForeground:
            callback(.applicationWillEnterForeground) + [.notification(.willEnterForeground), .change]
        case .suspend, .resume, .prewarm: [.change]
        case .terminate:
            [.callback(.applicationWillTerminate), .notification(.willTerminate), .change]
        }
    }
}

extension ProcessPhase {
    /// The event that leads from this phase to a neighbouring one; nil when they are equal or not neighbours.
    /// Scene-based processes follow their scenes, one neighbour at a time.
    public func event(towards next: ProcessPhase) -> ProcessEvent? {
        switch (self, next) {
        case (.inactive, .active): .activate
        case (.active, .inactive): .resignActive
        case (.inactive, .background): .enterBackground
        case (.background, .inactive): .enterForeground
        case (.background, .suspended): .suspend
        case (.suspended, .background): .resume
        case (.notRunning, _), (.inactive, _), (.active, _), (.background, _), (.suspended, _), (.prewarmed, _): nil
        }
    }

    /// The first event on the way from this phase to another one; nil if there is none, or they are equal. Other than
    /// `event(towards:)` it also answers for phases that are not neighbours.
    public func firstEvent(towards target: ProcessPhase) -> ProcessEvent? {
        switch (self, target) {
        case (.suspended, .background), (.suspended, .inactive), (.suspended, .active): .resume
        case (.background, .inactive), (.background, .active): .enterForeground
        case (.inactive, .active): .activate
        case (.active, .inactive), (.active, .background), (.active, .suspended): .resignActive
        case (.inactive, .background), (.inactive, .suspended): .enterBackground
        case (.background, .suspended): .suspend
        case (.notRunning, _), (_, .notRunning), (.prewarmed, _), (_, .prewarmed), (.suspended, .suspended),
            (.background, .background),
            (.inactive, .inactive), (.active, .active):
            nil
        }
    }
}
