import Quantities

/// How long the system waits for an app's main thread before it ends the process.
///
/// Source: Apple's watchdog reports (scene creation about 20 s, scene update 10 s, exit of the process 5 s) and UIKit's
/// reference (entering the background and termination 5 s each).
public enum Deadline: String, CaseIterable, Sendable {
    /// From the creation of the process to its first frame. If the app launches off screen: to the connection of its
    /// scene or, for an app without scenes, to the end of its launch.
    case launch
    case sceneCreation = "scene creation"
    /// Any other transition of a scene, or of an app without scenes.
    case sceneUpdate = "scene update"
    case enterBackground = "entering the background"
    case terminate = "termination"

    /// The time for `applicationWillTerminate`.
    public static let terminationTime = TimeSpan.seconds(5)

    /// The time allowed under these rules.
    public func span(_ rules: LifecycleRules) -> TimeSpan {
        switch self {
        case .launch, .sceneCreation: .seconds(20)
        case .sceneUpdate: .seconds(10)
        case .enterBackground: rules.enterBackgroundTime
        case .terminate: Deadline.terminationTime
        }
    }
}

extension SceneEvent {
    /// The deadline of the transition; nil if none of the app's code runs.
    public var deadline: Deadline? {
        switch self {
        case .connectToForeground, .connectToBackground: .sceneCreation
        case .activate, .resignActive, .enterForeground, .disconnect: .sceneUpdate
        case .enterBackground: .enterBackground
        case .suspend, .resume: nil
        }
    }
}

extension ProcessEvent {
    /// The deadline of the transition; nil if none of the app's code runs.
    public var deadline: Deadline? {
        switch self {
        case .launchToForeground, .launchToBackground: .launch
        case .activate, .resignActive, .enterForeground: .sceneUpdate
        case .enterBackground: .enterBackground
        case .terminate: .terminate
        case .suspend, .resume, .prewarm: nil
        }
    }
}
