/// One thing that a transition does, in UIKit's order: tell the delegate, post a notification, or change the state.
///
/// What is called "will" comes before the change, what is called "did" after it.
public enum Signal: Hashable, Sendable {
    case callback(Callback)
    case notification(AppNotification)
    case change
}

extension SceneEvent {
    /// What the transition tells the scene's delegate, and when the state changes.
    ///
    /// - Parameters:
    ///   - isNewSession: The session was never connected before; only then the app is asked for a configuration.
    ///   - keepsSession: On disconnection by the system the session stays, so the app is asked for its restoration
    ///     activity; on closing by the user it does not.
    public func signals(isNewSession: Bool, keepsSession: Bool) -> [Signal] {
        let configuration: [Signal] = isNewSession ? [.callback(.configurationForConnecting)] : []
        let connection: [Signal] = configuration + [.callback(.sceneWillConnect), .notification(.sceneWillConnect)]
        let foreground: [Signal] = [
            .callback(.sceneWillEnterForeground), .notification(.sceneWillEnterForeground), .change,
        ]
        let background: [Signal] = [
            .change, .callback(.sceneDidEnterBackground), .notification(.sceneDidEnterBackground),
        ]
        return switch self {
        case .connectToForeground: connection + foreground
        case .connectToBackground: connection + background
        case .activate: [.change, .callback(.sceneDidBecomeActive), .notification(.sceneDidActivate)]
        case .resignActive: [.callback(.sceneWillResignActive), .notification(.sceneWillDeactivate), .change]
        case .enterBackground: background
        case .enterForeground: foreground
        case .suspend, .resume: [.change]
        case .disconnect:
            (keepsSession ? [.callback(.stateRestorationActivity)] : [])
                + [.callback(.sceneDidDisconnect), .notification(.sceneDidDisconnect), .change]
        }
    }
}

extension ProcessEvent {
    /// What the transition tells the app delegate. Scene-based apps hear of launch and termination only; the app-level
    /// notifications post in both worlds.
    public func signals(in world: AppWorld) -> [Signal] {
        func callback(_ callback: Callback) -> [Signal] {
            switch world {
            case .appBased: [.callback(callback)]
            case .sceneBased: []
            }
        }
        let launch: [Signal] = [
            .change, .callback(.willFinishLaunching), .callback(.didFinishLaunching),
            .notification(.didFinishLaunching),
        ]
        return switch self {
        case .launchToForeground: launch
        case .launchToBackground:
            switch world {
            // It never was on screen, but it hears where it is.
            case .appBased:
                launch + [.callback(.applicationDidEnterBackground), .notification(.didEnterBackground)]
            case .sceneBased: launch
            }
        case .activate:
            [.change] + callback(.applicationDidBecomeActive) + [.notification(.didBecomeActive)]
        case .resignActive:
            callback(.applicationWillResignActive) + [.notification(.willResignActive), .change]
        case .enterBackground:
            [.change] + callback(.applicationDidEnterBackground) + [.notification(.didEnterBackground)]
        case .enterForeground:
            callback(.applicationWillEnterForeground) + [.notification(.willEnterForeground), .change]
        case .suspend, .resume: [.change]
        case .terminate:
            [.callback(.applicationWillTerminate), .notification(.willTerminate), .change]
        }
    }
}

extension ProcessPhase {
    /// The event that leads from one phase to its neighbour; nil when they are the same or not neighbours. Scene-based
    /// processes follow their scenes, one neighbour at a time.
    public func event(towards next: ProcessPhase) -> ProcessEvent? {
        switch (self, next) {
        case (.inactive, .active): .activate
        case (.active, .inactive): .resignActive
        case (.inactive, .background): .enterBackground
        case (.background, .inactive): .enterForeground
        case (.background, .suspended): .suspend
        case (.suspended, .background): .resume
        case (.notRunning, _), (.inactive, _), (.active, _), (.background, _), (.suspended, _): nil
        }
    }
}
