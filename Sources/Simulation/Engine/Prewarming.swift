import Lifecycle
import Quantities
import Workload

/// The flow of prewarmed processes: the system begins an app's launch before the user or an event wants the app.
///
/// Source: Apple, "About the app launch sequence": iOS 15 and later runs the launch up to, and without,
/// `UIApplicationMain`, after a restart and whenever conditions allow. Then the process is paused until a launch, or
/// until the system removes it. When the system does so is left to the scenario.
struct Prewarming {
    let engine: any EngineSteps
    let display: Display

    /// The process is created, loads a share of its base memory, and waits. No callback runs in it.
    func begin(_ app: AppRecord) {
        let name = "prewarm"
        guard !display.isOff else { return engine.record(name, app, refused: .deviceIsRestarting) }
        guard app.process == nil else { return engine.record(name, app, refused: .hasProcess) }
        engine.record(name, app, why: display.awaitsFirstUnlock ? "before the first unlock" : nil)
        let made = engine.makeProcess(for: app, goal: .background, .userTap, born: nil, isPrewarmed: true)
        guard let process = made else { return }
        engine.apply(.prewarm, to: process, reason: ProcessEvent.prewarm.rawValue)
        let work = process.workload.prewarm(app.rules.prewarmedBase, cost: process.costs.process)
        engine.start(work, of: process)
        engine.advance(process)
    }

    /// An event wants the app: its prewarmed process, if it has one, goes on with the launch.
    func goOn(_ app: AppRecord, for reason: LaunchReason) -> LiveProcess? {
        guard let process = app.process, process.phase == .prewarmed else { return nil }
        app.goOn()
        process.launch.goOn(for: reason)
        return process
    }
}
