import Lifecycle
import Quantities

/// Rows of what apps do inside callbacks, and of their windows, if the scenario wants them. They change nothing.
struct DutyRows {
    /// Whether the scenario wants these rows.
    let isOn: Bool
    let recorder: RunRecorder
    let agenda: Agenda

    /// Records what the app does in the callback that has just begun.
    func record(in callback: Callback, scene: SceneID?, _ process: LiveProcess) {
        guard isOn else { return }
        let profile = process.profile
        let context = DutyContext(
            lifeCycle: profile.scenes.lifeCycle, reason: process.launch.reason, isFirstLaunch: process.launch.isFirst,
            takesPushes: profile.backgroundModes.contains(.remoteNotification),
            wasRefreshed: profile.backgroundModes.contains(.fetch) ? process.wasRefreshed : nil)
        for duty in callback.duties(context) {
            recorder.event(.duty, at: agenda.now, app: profile.name, pid: process.pid, scene: scene, duty.rawValue)
        }
    }

    /// The delegate has returned from the callback in which the scene, or the app without scenes, became active: its
    /// windows are visible.
    func showWindows(after callback: Callback, scene: SceneID?, of process: LiveProcess) {
        if callback == .sceneDidBecomeActive, let scene { showWindow(scene, of: process) }
        if callback == .applicationDidBecomeActive {
            for session in process.record.sessions { showWindow(session.id, of: process) }
        }
    }

    /// The window is visible; a view appears that has not done so before.
    func showWindow(_ scene: SceneID, of process: LiveProcess) {
        guard isOn else { return }
        let session = process.record.session(scene)
        guard !session.isVisible else { return }
        var appears = false
        process.record.update(scene) { appears = $0.showWindow() }
        recordWindow(
            "visible", scene, of: process, session.isExternal ? "on the second display" : "on the device's screen")
        if appears { recordWindow("viewWillAppear(_:)", scene, of: process, "animation and media start") }
    }

    /// The scene, or the app without scenes, has entered the background: none of its windows is visible.
    func hideWindows(_ scene: SceneID?, of process: LiveProcess) {
        guard isOn else { return }
        for session in process.record.sessions where session.isVisible && (scene == nil || session.id == scene) {
            process.record.update(session.id) { $0.hideWindow() }
            recordWindow("hidden", session.id, of: process, nil)
        }
    }

    private func recordWindow(_ what: String, _ scene: SceneID, of process: LiveProcess, _ why: String?) {
        recorder.event(
            .window, at: agenda.now, app: process.profile.name, pid: process.pid, scene: scene, what, reason: why)
    }
}
