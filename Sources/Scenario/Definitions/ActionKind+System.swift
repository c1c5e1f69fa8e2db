import Lifecycle
import Plan
import Quantities

// Actions that bring an app to the front by more than a tap, wake it off screen, or act on it as the system does.
extension ActionKind {
    static let systemActions: [ActionKind] =
        [
            opening(.url, "A URL of the app is opened."),
            opening(.userActivity, "An activity is handed off to the app from another device."),
            opening(.shortcutItem, "A shortcut of the app's icon is tapped."),
            opening(.notification, "The user taps a notification of the app."),
            waking(.remoteNotification, "A push for the app arrives."),
            waking(.location, "The app receives a new location."),
            waking(.bluetoothCentrals, "A Bluetooth accessory contacts the app."),
            waking(.backgroundFetch, "The app is launched or woken to refresh its content; `for` sets how long."),
            waking(.processing, "The app is launched or woken to work off screen; `for` sets how long."),
            waking(.call, "A call for the app comes in (PushKit); `for` sets how long it lasts."),
            waking(
                .demand,
                "Another process needs this daemon or extension, which is started or woken; `for` sets how long."),
            ActionKind(
                "time_change", .choice("time change", "time changes"),
                "The time jumps. Running apps are notified at once, suspended apps when they run again.",
                { .timeChange($0) },
                {
                    guard case .timeChange(let change) = $0 else { return nil }
                    return change
                }),
            ActionKind(
                "restart", .someTime,
                "The device restarts, and can be used after this time. Every process ends; none is told.",
                { .restart(lasting: $0) },
                {
                    guard case .restart(let time) = $0 else { return nil }
                    return time
                }),
            ActionKind(
                "unplug_display", .nothing, "The second display is gone.", { .unplugDisplay },
                {
                    guard case .unplugDisplay = $0 else { return nil }
                    return ()
                }),
            ActionKind(
                "reset_freezer", .nothing,
                "The system resets the freezer (`device.freezer`): suspended frozen processes end, none is told, and "
                    + "the budget of a day is whole again.",
                { .resetFreezer },
                {
                    guard case .resetFreezer = $0 else { return nil }
                    return ()
                }),
        ] + appActions

    private static let appActions: [ActionKind] =
        partActions + [
            ActionKind(
                "begin_background_task", .app, "The app calls beginBackgroundTask.", { .beginBackgroundTask($0) },
                {
                    guard case .beginBackgroundTask(let app) = $0 else { return nil }
                    return app
                }),
            ActionKind(
                "end_background_task", .app, "The app ends its latest background task.", { .endBackgroundTask($0) },
                {
                    guard case .endBackgroundTask(let app) = $0 else { return nil }
                    return app
                }),
            ActionKind(
                "show_on_display", .app,
                "Another scene of the app appears on a second display; of an app without scenes, a window.",
                { .showOnDisplay($0) },
                {
                    guard case .showOnDisplay(let app) = $0 else { return nil }
                    return app
                }),
            submitting(
                .backgroundFetch,
                "The app asks BGTaskScheduler for a refresh, not earlier than `after` from now. It needs the "
                    + "background mode `fetch`."),
            submitting(
                .processing,
                "The app asks BGTaskScheduler for a processing task, not earlier than `after` from now. It needs the "
                    + "background mode `processing`."),
            lasting(
                "download", "The app begins a transfer in a background URLSession; `for` says how long it takes.",
                { .download($0, lasting: $1) },
                {
                    guard case .download(let app, let span) = $0 else { return nil }
                    return (app, span)
                }),
            lasting(
                "live_activity", "The app, on screen, starts a Live Activity; `for` says how long it lasts.",
                { .liveActivity($0, lasting: $1) },
                {
                    guard case .liveActivity(let app, let span) = $0 else { return nil }
                    return (app, span)
                }),
            lasting(
                "picture_in_picture",
                "The video of the app, on screen, goes on in a small window, for at most `for`. The app needs the "
                    + "background mode `audio`.",
                { .pictureInPicture($0, lasting: $1) },
                {
                    guard case .pictureInPicture(let app, let span) = $0 else { return nil }
                    return (app, span)
                }),
            ActionKind(
                "prewarm", .app,
                "The system begins the app's launch ahead of time, as from iOS 15 on: its process is created, holds "
                    + "`lifecycle.prewarmed_base` of its base, and waits. The next launch goes on from there.",
                { .prewarm($0) },
                {
                    guard case .prewarm(let app) = $0 else { return nil }
                    return app
                }),
            ActionKind(
                "crash", .app, "The app crashes.", { .crash($0) },
                {
                    guard case .crash(let app) = $0 else { return nil }
                    return app
                }),
            ActionKind(
                "terminate", .app, "The system ends the app in an orderly way, as for an update.", { .terminate($0) },
                {
                    guard case .terminate(let app) = $0 else { return nil }
                    return app
                }),
        ]

    private static let partActions: [ActionKind] = [
        ActionKind(
            "present", .app, "A keyboard, a share sheet or an action is shown over the app in front.", extra: "for",
            .someTime, forHelp, { .present($0, lasting: $1) },
            {
                guard case .present(let app, let span) = $0 else { return nil }
                return (app, span)
            }),
        ActionKind(
            "hold_assertion", .app, "A daemon gets an assertion that lifts it to the jetsam band `band`.",
            extra: "band", .count(0...999), "With `hold_assertion`: the band.",
            { .holdAssertion($0, band: $1) },
            {
                guard case .holdAssertion(let app, let band) = $0 else { return nil }
                return (app, band)
            }),
        ActionKind(
            "release_assertion", .app, "The daemon's assertion is released.", { .releaseAssertion($0) },
            {
                guard case .releaseAssertion(let app) = $0 else { return nil }
                return app
            }),
    ]

    private static func opening(_ reason: LaunchReason, _ help: String) -> ActionKind {
        ActionKind(
            reason.actionName, .app, help, { .open($0, reason) },
            {
                guard case .open(let app, reason) = $0 else { return nil }
                return app
            })
    }

    private static func submitting(_ task: LaunchReason, _ help: String) -> ActionKind {
        ActionKind(
            task.submissionName, .app, help, optional: "after", .quantity(), afterHelp,
            { .submit($0, task, after: $1) },
            {
                guard case .submit(let app, task, let span) = $0 else { return nil }
                return (app, span)
            })
    }

    private static func lasting(
        _ key: String, _ help: String, _ wrap: @escaping @Sendable (AppID, TimeSpan) -> UserAction,
        _ unwrap: @escaping @Sendable (UserAction) -> (AppID, TimeSpan)?
    ) -> ActionKind {
        ActionKind(key, .app, help, extra: "for", .someTime, forHelp, wrap, unwrap)
    }

    private static let afterHelp =
        "With `submit_refresh` and `submit_processing`: the earliest begin, from now; by default at once."

    private static func waking(_ reason: LaunchReason, _ help: String) -> ActionKind {
        ActionKind(
            reason.actionName, .app, help, optional: "for", .someTime, forHelp, { .wake($0, reason, lasting: $1) },
            {
                guard case .wake(let app, reason, let span) = $0 else { return nil }
                return (app, span)
            })
    }
}
