import Lifecycle
import Quantities

// Every help text ends with how well the default is known: documented, public record, or experience.
extension LifecycleRules: Described {
    static let definition = Definition<LifecycleRules>(
        base: LifecycleRules(),
        fields: [
            Field(
                "scenes", \.scenes, .flag, drawn: .flag(30),
                "`true`: apps that support scenes use them, as from iOS 13 on. `false`: the app delegate gets every "
                    + "event, as in iOS 12. Documented."),
            Field(
                "restoration_saved", \.restorationSaved, .choice("moment", "moments"),
                "When an app is asked for the activity from which a scene can be restored. `entering-background`: "
                    + "also when the system disconnects the scene. Public record."),
            Field(
                "foreground_notification_at_launch", \.foregroundNotificationAtLaunch, .flag,
                "UIApplication.willEnterForegroundNotification is also posted when an app with scenes is launched to "
                    + "the foreground. Public record."),
            Field(
                "scene_before_application", \.sceneBeforeApplication, .flag,
                "A scene is told that it is active or in the background before the application's notification. Public "
                    + "record, medium."),
            Field(
                "state_at_launch", \.stateAtLaunch, .choice("state", "states"),
                "The state that an app with scenes reads during a launch to the foreground until its scene is there. "
                    + "Experience."),
            Field(
                "protected_data_delay", \.protectedDataDelay, .quantity(), drawn: .times(.zero, .seconds(30)),
                "Protected data becomes unavailable this long after the lock; a shorter lock changes nothing. "
                    + "Experience."),
            Field(
                "swipe_enters_background", \.swipeEntersBackground, .flag,
                "An app that the user swipes away enters the background before it ends, as on older systems. Public "
                    + "record."),
            Field(
                "snapshot_of_closed_scene", \.snapshotOfClosedScene, .flag,
                "The system takes a snapshot of a window that the user closes, too. Experience."),
            Field(
                "processing_after_quit", \.processingAfterQuit, .flag,
                "`processing` launches an app that the user has swiped away, as from iOS 18.3 on. An engineer's answer."
            ),
            Field(
                "paused_audio_runs", \.pausedAudioRuns, .flag,
                "An app whose audio a call pauses goes on running off screen. `false`: it is suspended, and resumed "
                    + "after the call. Experience."),
            Field(
                "idle_scenes", \.idleScenes, .choice("kind of idle scenes", "kinds of idle scenes"),
                "What becomes of scenes off screen while another scene of the app is in front. `suspended`: after "
                    + "`background.work`. Experience."),
            Field(
                "last_window", \.lastWindow, .choice("rule", "rules"),
                "What becomes of an app whose last window the user closes. `stays`: its process lives on. `ends`: its "
                    + "process ends, as on an iPad; the app counts as swiped away. Public record."),
            Field(
                "prewarmed_base", \.prewarmedBase, .quantity(),
                "The share of an app's `memory.base` that its process holds after `prewarm`. A guess."),
            Field(
                "refresh_interval", \.refreshInterval, .quantity(), drawn: .times(.milliseconds(1), .seconds(40)),
                "The least time between two refreshes that an app has submitted by `submit_refresh`. A guess."),
            Field(
                "transfer_delay", \.transferDelay, .quantity(), drawn: .times(.milliseconds(1), .seconds(20)),
                "Each wake of an app for its `download` delays the next `download` that it begins off screen by this "
                    + "much more. A guess."),
            Field(
                "live_activity_band", \.liveActivityBand, .count(10...100),
                "The jetsam band of a suspended app whose Live Activity is shown. A guess."),
        ])
}
