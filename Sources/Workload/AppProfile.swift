import Lifecycle
import Quantities

/// All declared facts about an app: how it lives, what its memory does and what each step costs.
///
/// A profile is an archetype of the catalogue, overridden by the scenario's own keys.
public struct AppProfile: Hashable, Sendable {
    /// The app's name in the scenario.
    public var name: String
    /// The archetype that this profile began with.
    public var like: String
    /// Whether the app has scenes, and how many.
    public var scenes: SceneSupport
    /// Reasons to keep running in the background (`UIBackgroundModes`).
    public var backgroundModes: [BackgroundMode]
    /// How much memory the app uses, and when.
    public var memory: MemoryProfile
    /// How long each callback takes, in the median.
    public var costs: CallbackCosts
    /// How much the costs vary.
    public var spread = CostSpread()
    /// What the app does when it leaves the screen.
    public var background: BackgroundDiscipline
    /// How the app answers a memory warning.
    public var warnings: WarningDiscipline
    /// What the app does when a scene is disconnected.
    public var disconnect = DisconnectDiscipline()
    /// The app's own memory limits.
    public var limits: ProcessLimits
    /// Whether the app has the entitlement for a higher limit (`com.apple.developer.kernel.increased-memory-limit`).
    public var isEntitled = false
    /// Ways to open the app other than a tap.
    public var features: [AppFeature]
    /// Work of the launch that does not run on the main thread.
    public var deferred: DeferredWork
    /// The app's objects that observe notifications.
    public var observers: [NotificationObserver]
    /// The share of a core that its frames use while it is in front; more than one core's with several threads.
    public var cpu = Ratio.zero
    /// What the process is if it is no app; nil for an app.
    public var part: ProcessPart?
    /// Linux's `oom_score_adj` of the app's process, from -1000 (exempt) to 1000; nil: it follows from the band.
    public var oomScoreAdj: Int?
    /// systemd's `ManagedOOMPreference` of the app's process: whether systemd-oomd may end it.
    public var managedOOMPreference = ManagedOOMPreference.none
    /// How the app's process fails by itself.
    public var faults = AppFaults()

    /// A profile that frees all of a scene's memory when the scene is disconnected, and whose costs have no spread.
    public init(
        name: String, like: String, scenes: SceneSupport, backgroundModes: [BackgroundMode], memory: MemoryProfile,
        costs: CallbackCosts, background: BackgroundDiscipline, warnings: WarningDiscipline, limits: ProcessLimits,
        features: [AppFeature] = [], deferred: DeferredWork = DeferredWork(), observers: [NotificationObserver] = []
    ) {
        self.name = name
        self.like = like
        self.scenes = scenes
        self.backgroundModes = backgroundModes
        self.memory = memory
        self.costs = costs
        self.background = background
        self.warnings = warnings
        self.limits = limits
        self.features = features
        self.deferred = deferred
        self.observers = observers
    }

    /// Whether the app has declared what a launch for this reason requires.
    public func supports(_ reason: LaunchReason) -> Bool {
        if let part { return part.kind.isWoken(for: reason) }
        return declares(reason.requirement)
    }

    /// Whether the app has declared this.
    public func declares(_ requirement: LaunchRequirement) -> Bool {
        switch requirement {
        case .nothing: true
        case .mode(let mode): backgroundModes.contains(mode)
        case .feature(let feature): features.contains(feature)
        }
    }
}

/// Long work of the launch on a thread of its own: it takes a core, but does not delay the first frame.
public struct DeferredWork: Hashable, Sendable {
    /// How long it occupies a core, in the median.
    public var work: TimeSpan
    /// The memory that the work adds to the working set when it is done.
    public var memory: ByteCount

    /// By default no deferred work.
    public init(work: TimeSpan = .zero, memory: ByteCount = .zero) {
        self.work = work
        self.memory = memory
    }
}

/// An object of the app that observes a notification, and its reaction.
public struct NotificationObserver: Hashable, Sendable {
    /// The notification that the object observes.
    public var notification: AppNotification
    /// How long the observer keeps the main thread busy.
    public var cost: TimeSpan
    /// The share of the cache that the app frees.
    public var frees: Ratio

    /// An observer that by default costs and frees nothing.
    public init(of notification: AppNotification, cost: TimeSpan = .zero, frees: Ratio = .zero) {
        self.notification = notification
        self.cost = cost
        self.frees = frees
    }
}

/// `UIApplicationSceneManifest`: whether the app has scenes, and whether more than one.
public struct SceneSupport: Hashable, Sendable {
    /// Whether the app has scenes.
    public var support: Bool
    /// `UIApplicationSupportsMultipleScenes`.
    public var multiple: Bool
    /// Whether the process uses UIKit: every app does.
    public private(set) var usesUIKit = true

    /// A process without UIKit.
    public static let none: SceneSupport = {
        var none = SceneSupport(support: false)
        none.usesUIKit = false
        return none
    }()

    /// By default an app with one scene.
    public init(support: Bool = true, multiple: Bool = false) {
        self.support = support
        self.multiple = multiple
    }

    /// The life cycle that follows from `support`.
    public var lifeCycle: AppLifeCycle { support ? .sceneBased : usesUIKit ? .appBased : .process }
}

/// What an app's memory does. Rates apply while the app is in the foreground, unless stated otherwise.
public struct MemoryProfile: Hashable, Sendable {
    /// How a profile says what the process holds after its launch.
    private enum Held: Hashable, Sendable {
        case base(ByteCount)
        case footprint(ByteCount)
    }

    private var held: Held
    /// What one connected scene holds.
    public var scene: ByteCount
    /// Memory that the app can recreate. It grows in use up to a size, and the app drops it in the background and on
    /// warnings.
    public var cache: CacheProfile
    /// How the base grows in use, from the launch on.
    public var growth: GrowthProfile
    /// Memory that is never freed. It also grows while the app works off screen.
    public var leak: ByteRate
    /// Short-lived objects. The app also makes them while it works off screen.
    public var churn: ChurnProfile
    /// How fast live memory is rewritten in use.
    public var touch: ByteRate
    /// Sudden increases.
    public var bursts: [BurstProfile]
    /// The sizes of the objects.
    public var objects: SizeDistribution
    /// Recorded operations that are played in addition to the rest of this profile.
    public var trace: TraceProfile?
    /// How the user interface of the scene in front grows in use: frames, textures.
    public var sceneGrowth = GrowthProfile()
    /// Memory that repeatedly rises steadily and falls at once.
    public var sawTooth = SawToothProfile()
    /// How fast live memory is read in use, the cache first.
    public var read = ByteRate.zero
    /// How well the app's memory compresses, on a device with a compressor.
    public var compressibility = Compressibility.typical
    /// The share of its memory, the newest, that the app in front uses again and again, on a device with a compressor.
    /// The rest is cold. 40 % is a guess: measurements say that apps have hot and cold data (Ariadne, HPCA 2025), but
    /// not how much.
    public var hot = Ratio.percent(40)
    /// The files that the app uses as memory, on a device with a file cache.
    public var files = FileProfile()

    /// The working set after the launch. Of a process with a footprint it is the rest of that beside the first scene;
    /// setting it takes the footprint away.
    public var base: ByteCount {
        get {
            switch held {
            case .base(let base): base
            case .footprint(let footprint): max(.zero, footprint - scene)
            }
        }
        set { held = .base(newValue) }
    }

    /// What the process holds once it is launched, its first scene included, whatever its size classes and pages add to
    /// what it asks for; nil: that follows from `base`. In bytes of the ledger, of the device that is meant.
    public var footprint: ByteCount? {
        get { if case .footprint(let footprint) = held { footprint } else { nil } }
        set { if let newValue { held = .footprint(newValue) } else { held = .base(base) } }
    }

    /// What a launch asks for of the base before it looks what that amounts to. Of a process with a footprint only a
    /// part: small objects take up to a third more than they ask for, and a limit must not be crossed on the way.
    public var firstBase: ByteCount { footprint == nil ? base : base * .percent(75) }

    /// What the process holds after its launch, as far as the profile says: its footprint, or its base.
    public var stated: ByteCount { footprint ?? base }

    /// The footprint, or zero if there is none.
    public var wholeFootprint: ByteCount {
        get { footprint ?? .zero }
        set { footprint = newValue }
    }

    /// Memory that by default stays at its base and scenes.
    public init(
        base: ByteCount, scene: ByteCount, cache: CacheProfile = CacheProfile(),
        growth: GrowthProfile = GrowthProfile(),
        leak: ByteRate = .zero, churn: ChurnProfile = ChurnProfile(), touch: ByteRate = .zero,
        bursts: [BurstProfile] = [],
        objects: SizeDistribution = .logNormal(
            median: .kibibytes(2), sigma: Ratio(partsPerMillion: 1_400_000), highest: .mebibytes(1)),
        trace: TraceProfile? = nil
    ) {
        held = .base(base)
        self.scene = scene
        self.cache = cache
        self.growth = growth
        self.leak = leak
        self.churn = churn
        self.touch = touch
        self.bursts = bursts
        self.objects = objects
        self.trace = trace
    }
}

/// Memory that an app can recreate.
public struct CacheProfile: Hashable, Sendable {
    /// The cache stops growing at this size.
    public var size: ByteCount
    /// How fast it fills in use.
    public var rate: ByteRate
    /// How fast a full cache is replaced: the app frees the oldest memory and allocates the same amount.
    public var turnover: ByteRate
    /// The share of the cache that is purgeable (`NSPurgeableData`): volatile while the app is off screen, so that the
    /// system may take it without asking.
    public var purgeable = Ratio.zero

    /// By default no cache, and none of it purgeable.
    public init(size: ByteCount = .zero, rate: ByteRate = .zero, turnover: ByteRate = .zero) {
        self.size = size
        self.rate = rate
        self.turnover = turnover
    }
}

/// The files that an app uses as memory: its code, libraries of its own, resources, maps. Their pages are clean, so the
/// system may drop them at once and read them again. They are not part of the footprint.
public struct FileProfile: Hashable, Sendable {
    /// What the files hold in all; zero: the app uses none.
    public var size: ByteCount
    /// The share of them that a launch uses.
    public var launch: Ratio
    /// The share of them that the app uses when it comes back to the screen.
    public var resume: Ratio
    /// How much of them the app uses per second in front.
    public var rate: ByteRate

    /// By default no files. The shares are a guess.
    public init(
        size: ByteCount = .zero, launch: Ratio = .percent(60), resume: Ratio = .percent(15), rate: ByteRate = .zero
    ) {
        self.size = size
        self.launch = launch
        self.resume = resume
        self.rate = rate
    }
}

/// Steady growth up to a limit.
public struct GrowthProfile: Hashable, Sendable {
    /// Bytes added per second of use.
    public var rate: ByteRate
    /// The size at which growth stops. If it is at most the initial size, there is no growth.
    public var upTo: ByteCount

    /// By default no growth.
    public init(rate: ByteRate = .zero, upTo: ByteCount = .zero) {
        self.rate = rate
        self.upTo = upTo
    }
}

/// Short-lived objects.
public struct ChurnProfile: Hashable, Sendable {
    /// Bytes allocated per second.
    public var rate: ByteRate
    /// How long an object lives.
    public var lifetime: TimeSpan

    /// By default no churn.
    public init(rate: ByteRate = .zero, lifetime: TimeSpan = .seconds(1)) {
        self.rate = rate
        self.lifetime = lifetime
    }
}

/// Rises evenly to `size` within `period` of use, falls at once, and begins again, as in batch work or garbage
/// collection.
public struct SawToothProfile: Hashable, Sendable {
    /// The highest point.
    public var size: ByteCount
    /// How long one rise takes.
    public var period: TimeSpan

    /// By default no saw tooth.
    public init(size: ByteCount = .zero, period: TimeSpan = .seconds(10)) {
        self.size = size
        self.period = period
    }
}

/// A jump: `size` bytes arrive within `over`, stay for `hold`, and go at once.
public struct BurstProfile: Hashable, Sendable {
    /// When the burst begins: time in the foreground since the process's launch.
    public var after: TimeSpan
    /// How large it is.
    public var size: ByteCount
    /// How long the increase takes.
    public var over: TimeSpan
    /// How long it stays; nil: as long as the process.
    public var hold: TimeSpan?

    /// A burst that by default stays as long as the process.
    public init(after: TimeSpan, size: ByteCount, over: TimeSpan, hold: TimeSpan? = nil) {
        self.after = after
        self.size = size
        self.over = over
        self.hold = hold
    }
}

/// How long each callback keeps the main thread busy, apart from filling memory.
public struct CallbackCosts: Hashable, Sendable {
    /// From the tap to `willFinishLaunching`: creating the process, loading code.
    public var process: TimeSpan
    /// `willFinishLaunching` and `didFinishLaunching` together.
    public var launch: TimeSpan
    /// Added once, on the very first launch of the app in the run.
    public var firstLaunch: TimeSpan
    /// `scene(_:willConnectTo:)`, or the first UI of an app without scenes.
    public var connect: TimeSpan
    /// The scene or the app enters the foreground.
    public var enterForeground: TimeSpan
    /// The scene or the app becomes active.
    public var activate: TimeSpan
    /// The scene or the app resigns being active.
    public var resignActive: TimeSpan
    /// The scene or the app enters the background.
    public var enterBackground: TimeSpan
    /// `sceneDidDisconnect`.
    public var disconnect: TimeSpan
    /// `applicationWillTerminate`.
    public var terminate: TimeSpan
    /// Any other event: a URL, a push, a location, a change of time or of protected data.
    public var event: TimeSpan

    /// The costs of an ordinary app.
    public init(
        process: TimeSpan = .milliseconds(400), launch: TimeSpan = .milliseconds(150), firstLaunch: TimeSpan = .zero,
        connect: TimeSpan = .milliseconds(80), enterForeground: TimeSpan = .milliseconds(30),
        activate: TimeSpan = .milliseconds(20), resignActive: TimeSpan = .milliseconds(5),
        enterBackground: TimeSpan = .milliseconds(60), disconnect: TimeSpan = .milliseconds(15),
        terminate: TimeSpan = .milliseconds(50), event: TimeSpan = .milliseconds(10)
    ) {
        self.process = process
        self.launch = launch
        self.firstLaunch = firstLaunch
        self.connect = connect
        self.enterForeground = enterForeground
        self.activate = activate
        self.resignActive = resignActive
        self.enterBackground = enterBackground
        self.disconnect = disconnect
        self.terminate = terminate
        self.event = event
    }
}

/// What the app does when it leaves the screen.
public struct BackgroundDiscipline: Hashable, Sendable {
    /// The share of the cache that the app frees on `didEnterBackground`. 0 % frees nothing; 100 % follows Apple's
    /// advice.
    public var frees: Ratio
    /// The share of the freed cache that it reloads at once on `willEnterForeground`.
    public var reloads: Ratio
    /// How long it works before it is ready to be suspended.
    public var work: TimeSpan
    /// The buffer that taking the snapshot needs for a moment.
    public var snapshot: ByteCount
    /// The delay before it frees memory.
    public var delay = TimeSpan.zero
    /// The share of times at which the app frees nothing.
    public var ignores = Ratio.zero
    /// How long the background task runs that the app begins whenever it leaves the screen; nil if it begins none.
    public var task: TimeSpan?
    /// Whether it begins a background task whenever it leaves the screen and never ends it, not even when it expires.
    public var leaksTask: Bool
    /// How long it works on an event that the system wakes it for.
    public var eventWork: TimeSpan
    /// How long its background modes have work after it has left the screen; nil: for ever.
    public var modesLast: TimeSpan?
    /// The share of a core that it uses off screen.
    public var cpu: Ratio
    /// Whether it holds a lock on a file or an SQLite database when it is suspended, and is ended for that
    /// (0xdead10cc), whether or not the device is locked. Source: Apple TN2151.
    public var holdsFileLock: Bool
    /// How long after it has entered the background, or was launched there, it releases that lock; nil: it does not.
    public var fileLockTime: TimeSpan?

    /// An app that frees half of its cache and works for 3 s.
    public init(
        frees: Ratio = .percent(50), reloads: Ratio = .percent(25), work: TimeSpan = .seconds(3),
        snapshot: ByteCount = .mebibytes(8), task: TimeSpan? = nil, leaksTask: Bool = false,
        eventWork: TimeSpan = .seconds(2), modesLast: TimeSpan? = nil, cpu: Ratio = .percent(5),
        holdsFileLock: Bool = false
    ) {
        self.frees = frees
        self.reloads = reloads
        self.work = work
        self.snapshot = snapshot
        self.task = task
        self.leaksTask = leaksTask
        self.eventWork = eventWork
        self.modesLast = modesLast
        self.cpu = cpu
        self.holdsFileLock = holdsFileLock
    }
}

/// What the app does when a scene is disconnected. What it does not free then stays with the process until its end.
public struct DisconnectDiscipline: Hashable, Sendable {
    /// The share of the scene's memory that it frees.
    public var frees: Ratio
    /// The delay before it frees memory.
    public var delay: TimeSpan
    /// The share of times at which the app frees nothing.
    public var ignores: Ratio

    /// By default all of the scene's memory is freed.
    public init(frees: Ratio = .one, delay: TimeSpan = .zero, ignores: Ratio = .zero) {
        self.frees = frees
        self.delay = delay
        self.ignores = ignores
    }
}

/// How the app answers a memory warning.
public struct WarningDiscipline: Hashable, Sendable {
    /// The share of the cache that the app frees.
    public var frees: Ratio
    /// The delay before it frees memory.
    public var delay: TimeSpan
    /// The share of warnings at which the app does nothing.
    public var ignores: Ratio

    /// By default 80 % of the cache is freed after 100 ms.
    public init(frees: Ratio = .percent(80), delay: TimeSpan = .milliseconds(100), ignores: Ratio = .zero) {
        self.frees = frees
        self.delay = delay
        self.ignores = ignores
    }
}

/// jetsam's per-process limits on the footprint. The active limit applies while the app is in the foreground, or runs
/// off screen for a background mode, a task or an event; it does not in the few seconds that every app gets.
///
/// Each limit is separately fatal or soft, as in XNU (`memlimit_active_fatal`, `memlimit_inactive_fatal`;
/// xnu-11417.101.15).
public struct ProcessLimits: Hashable, Sendable {
    /// The limit while the app is active; nil: there is none.
    public var active: ByteCount?
    /// The limit at other times; nil: the active limit applies at all times.
    public var inactive: ByteCount?
    /// Whether the limits are fatal, unless a limit states it itself. At a fatal limit the process is ended at once,
    /// on the allocation that crosses the limit; at a soft one it is warned.
    public var fatal: Bool
    /// Whether the active limit is fatal; nil: see `fatal`.
    public var activeFatal: Bool?
    /// Whether the inactive limit is fatal; nil: see `fatal`.
    public var inactiveFatal: Bool?

    /// By default no limits.
    public init(
        active: ByteCount? = nil, inactive: ByteCount? = nil, fatal: Bool = true, activeFatal: Bool? = nil,
        inactiveFatal: Bool? = nil
    ) {
        self.active = active
        self.inactive = inactive
        self.fatal = fatal
        self.activeFatal = activeFatal
        self.inactiveFatal = inactiveFatal
    }

    /// Whether the active limit is fatal.
    public var isActiveFatal: Bool { activeFatal ?? fatal }
    /// Whether the inactive limit is fatal.
    public var isInactiveFatal: Bool { inactiveFatal ?? fatal }
}
