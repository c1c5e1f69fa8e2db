import Lifecycle
import Quantities

/// One thing that the main thread does. Steps run one after the other.
enum MainThreadStep {
    /// The process is created and its code is loaded.
    case spawn
    case process(Signal, ProcessEvent)
    case scene(SceneID, Signal, SceneEvent)
    case discardSession(SceneID)
    case memoryWarning
    /// The first frame of the wanted scene is active.
    case firstFrame
    /// The system has taken the scene away.
    case reclaimed(SceneID)
    /// The process ends: by itself, by the user, or because the system does not tolerate what it does.
    case exit(ExitReason, String)
    /// The delegate is told of an event that is no transition.
    case tell(Callback, SceneID?)
    case post(AppNotification)
    /// The objects that observe a notification do their work.
    case observe(AppNotification)
    /// The delegate has returned from this callback, in which the scene or the app became active.
    case windows(Callback, SceneID?)
    /// A window of an app without scenes appears on the second display, or goes with it.
    case externalWindow(SceneID, appears: Bool)
    /// A call pauses the app's audio, or is over.
    case audioInterruption(begins: Bool)
    case snapshot(SceneID?)
    /// The event that the system launched or woke the app for.
    case backgroundEvent(LaunchReason, lasting: TimeSpan)
    case expiryHandler
    /// The expiration handler of a processing task.
    case taskExpiration
    case deferredWork
    /// The launch has filled the process's memory: its base is corrected to the footprint that its profile states.
    case footprint(FootprintGoal)
    /// The main thread does not answer for a while.
    case hang
    case deadline(Deadline)
    case deadlineMet(Deadline)
}

/// What is to be told to an app that was opened by more than a tap, such as by a URL.
struct Delivery {
    let callback: Callback
    /// The scene to be told; nil: any scene that comes on screen, because the callback belongs to the application.
    let scene: SceneID?
}
