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
            Field(
                "enter_background_time", \.enterBackgroundTime, .quantity(from: .milliseconds(1), to: .minutes(1)),
                drawn: .times(.milliseconds(1), .seconds(20)), chance: 20,
                "How long an app has to enter the background before the watchdog ends it. Public logs show 10 s. "
                    + "Documented."),
            Field(
                "background_launch_enters_background", \.backgroundLaunchEntersBackground, .flag, drawn: .flag(50),
                chance: 20,
                "An app that is launched off screen is told that it enters the background. `false`: it is not, as a "
                    + "bug report has it. Documented."),
            Field(
                "idle_scene_disconnect", \.idleSceneDisconnect, Codec.quantity(from: .milliseconds(1)).orNone(),
                drawn: .times(.milliseconds(100), .minutes(5)), chance: 20,
                "The system disconnects a scene that has been off screen for this long, also without pressure. One "
                    + "team saw it 6 to 51 minutes after leaving. `none`: it does not. Public record, of that team "
                    + "alone."),
            Field(
                "call", \.call, .choice("presentation of calls", "presentations of calls"), chance: 20,
                "What a call does. `banner`: the app in front stays active, as from iOS 14 on. `covers`: it is "
                    + "inactive meanwhile. Experience."),
            Field(
                "boot_time", \.bootTime, Codec.quantity(from: .milliseconds(1)).orNone(),
                drawn: .times(.milliseconds(1), .seconds(30)), chance: 30,
                "How long the device is off in a `restart`. After that it is locked and launches apps off screen, "
                    + "without protected data until the first unlock. `none`: it is off until then. A guess."),
            Field(
                "cpu_of_background_launch", \.cpuOfBackgroundLaunch, Codec.quantity(from: .milliseconds(1)).orNone(),
                drawn: .times(.milliseconds(100), .seconds(10)), chance: 20,
                "The most time on cores that a launch off screen may use before the watchdog ends it. Two crash logs "
                    + "name 3.77 s and 3.37 s. `none`: no limit. Public record."),
        ])
}
