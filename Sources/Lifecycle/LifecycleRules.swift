import Quantities

/// Rows of the life cycle on which the public record is thin, or on which versions of the system differ.
///
/// The defaults are what newer systems do, as far as the record goes. Every property names how well its default is
/// known: by documentation, by a public record such as a bug report or an engineer's answer, or only by experience.
public struct LifecycleRules: Hashable, Sendable {
    /// Whether apps that support scenes use their scene delegates. False is iOS 12: the app delegate gets every event
    /// of every app. Documented.
    public var scenes = true
    /// When an app is asked for a scene's state-restoration activity. Public record (FB9855914).
    public var restorationSaved = RestorationMoment.enteringBackground
    /// Whether `UIApplication.willEnterForegroundNotification` is posted when an app with scenes is launched to the
    /// foreground. Public record.
    public var foregroundNotificationAtLaunch = true
    /// Whether a scene is told that it is active or in the background before the application is. Public record of
    /// medium weight.
    public var sceneBeforeApplication = true
    /// What an app with scenes reads as its state while it is launched to the foreground and has no scene there yet.
    /// Experience.
    public var stateAtLaunch = StateAtLaunch.background
    /// How long after the lock protected data becomes unavailable; a shorter lock changes nothing. Experience.
    public var protectedDataDelay = TimeSpan.seconds(10)
    /// Whether an app that the user swipes away enters the background before its scenes disconnect. Public record;
    /// older systems differ.
    public var swipeEntersBackground = false
    /// Whether the system takes a picture of a window that the user is closing. Experience.
    public var snapshotOfClosedScene = false
    /// Whether a processing task still launches an app that the user has swiped away, as from iOS 18.3 on. An
    /// engineer's answer in Apple's forums.
    public var processingAfterQuit = true
    /// Whether an app whose audio is paused by a call goes on running off screen. If not, it is suspended like any
    /// other app, and resumed at the end of the call. Experience.
    public var pausedAudioRuns = false
    /// What becomes of scenes off screen while another scene keeps their app in front. Experience.
    public var idleScenes = IdleScenes.suspended
    /// What becomes of the process of an app whose last window the user closes. Public record: on an iPad it ends. That
    /// the app then counts as swiped away is our own assumption, after the switcher, where both are the same gesture.
    public var lastWindow = LastWindow.stays
    /// The share of its base memory that a prewarmed process holds. A guess: up to `UIApplicationMain` a process loads
    /// and links its libraries and runs their initialisers, and builds no interface.
    public var prewarmedBase = Ratio.percent(30)

    /// The least time between two refreshes that one app has submitted: its budget. A guess; Apple gives no figure.
    public var refreshInterval = TimeSpan.minutes(15)
    /// By how much each wake for a background `URLSession` lengthens the delay of the transfers that the app begins off
    /// screen. That there is such a delay is documented ("Downloading files in the background"); the figure is a guess.
    public var transferDelay = TimeSpan.seconds(30)
    /// The band of a suspended process whose Live Activity is shown, from 10 to 100. A guess: the band of an app that
    /// runs a background task.
    public var liveActivityBand = 30

    /// How long an app has to enter the background before the watchdog ends it. Documented (UIKit: about five seconds);
    /// public logs of scene updates off screen show 10.00 s, which is the word of reports.
    public var enterBackgroundTime = TimeSpan.seconds(5)
    /// Whether an app that is launched off screen is told that it enters the background. Documented; a bug report of
    /// 2013 (openradar 14295449) says that a device does not tell it.
    public var backgroundLaunchEntersBackground = true
    /// How long a scene is off screen before the system disconnects it, also without pressure; nil: it does not. One
    /// team's report: 97 such events in a week, 6 to 51 minutes after the app was left.
    public var idleSceneDisconnect: TimeSpan?
    /// What an incoming call does to the app in front. A banner is what iOS 14 and later show. Experience.
    public var call = CallPresentation.covers
    /// How long the device is off in a restart. After that it is locked, and the system launches apps off screen,
    /// before the first unlock. Nil: it is off until then. A guess.
    public var bootTime: TimeSpan?
    /// The most time on cores that the launch of an app off screen may use, before the watchdog ends it; nil: there is
    /// no limit. A crash log in Apple's forums (thread 104020) names an allowance of 3.77 s, one of another app
    /// (cocoa-mhlw/cocoa issue 958) 3.37 s. The allowance thus depends on something that no record names, and how long
    /// an efficiency core takes is a guess: so there is none by default.
    public var cpuOfBackgroundLaunch: TimeSpan?

    /// The defaults.
    public init() {}
}

/// When the system asks an app for the activity from which it can restore a scene.
public enum RestorationMoment: String, CaseIterable, Sendable {
    /// Whenever the scene enters the background, and again when the system disconnects it.
    case enteringBackground = "entering-background"
    /// Only when the system disconnects the scene.
    case disconnecting
}

/// The state that an app with scenes reads until its first scene enters the foreground.
public enum StateAtLaunch: String, CaseIterable, Sendable {
    case background
    case inactive
}

/// What an incoming call does to the app in front.
public enum CallPresentation: String, CaseIterable, Sendable {
    /// A banner is shown over the app, which stays active.
    case banner
    /// The call covers the screen, and the app is inactive until the call ends.
    case covers
}

/// What becomes of the process of an app whose last window the user closes.
public enum LastWindow: String, CaseIterable, Sendable {
    /// It lives on without a window.
    case stays
    /// It ends.
    case ends
}

/// What becomes of the scenes off screen of an app that is in front with another one.
public enum IdleScenes: String, CaseIterable, Sendable {
    /// They are suspended after the time that the app works off screen (`background.work`).
    case suspended
    /// They stay in the background as long as the app runs.
    case background
}
