import Lifecycle
import Quantities

/// Everything that is declared about an app: how it lives, what its memory does and what each step costs.
///
/// A profile is the catalogue's archetype with the scenario's own keys laid over it.
public struct AppProfile: Hashable, Sendable {
    public var name: String
    /// The archetype that this profile began with.
    public var like: String
    public var scenes: SceneSupport
    /// Reasons to keep running in the background while the app is there (`UIBackgroundModes`).
    public var backgroundModes: [BackgroundMode]
    public var memory: MemoryProfile
    public var costs: CallbackCosts
    public var background: BackgroundDiscipline
    public var warnings: WarningDiscipline
    public var disconnect = DisconnectDiscipline()
    public var limits: ProcessLimits
    /// What it can be opened with.
    public var features: [AppFeature]
    /// Work of the launch that was moved off the main thread.
    public var deferred: DeferredWork
    /// Objects of the app that observe notifications.
    public var observers: [NotificationObserver]

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

    /// Whether the app has declared what a launch for this reason needs.
    public func supports(_ reason: LaunchReason) -> Bool {
        switch reason.requirement {
        case .nothing: true
        case .mode(let mode): backgroundModes.contains(mode)
        case .feature(let feature): features.contains(feature)
        }
    }
}

/// Long work of the launch on a thread of its own: it takes a core, but does not delay the first frame.
public struct DeferredWork: Hashable, Sendable {
    public var work: TimeSpan
    /// What it adds to the working set when it is done.
    public var memory: ByteCount

    public init(work: TimeSpan = .zero, memory: ByteCount = .zero) {
        self.work = work
        self.memory = memory
    }
}

/// An object that observes a notification, and what it does about it.
public struct NotificationObserver: Hashable, Sendable {
    public var notification: AppNotification
    public var cost: TimeSpan
    /// The share of the cache that it frees.
    public var frees: Ratio

    public init(of notification: AppNotification, cost: TimeSpan = .zero, frees: Ratio = .zero) {
        self.notification = notification
        self.cost = cost
        self.frees = frees
    }
}

/// `UIApplicationSceneManifest`: whether the app has scenes, and whether more than one.
public struct SceneSupport: Hashable, Sendable {
    public var support: Bool
    /// `UIApplicationSupportsMultipleScenes`.
    public var multiple: Bool

    public init(support: Bool = true, multiple: Bool = false) {
        self.support = support
        self.multiple = multiple
    }

    public var world: AppWorld { support ? .sceneBased : .appBased }
}

/// What an app's memory does. Rates hold while the app is in the foreground, unless said otherwise.
public struct MemoryProfile: Hashable, Sendable {
    /// The working set that is there once the app has launched.
    public var base: ByteCount
    /// What one connected scene holds.
    public var scene: ByteCount
    /// Recreatable memory: grows in use up to a size, dropped in the background and on warnings.
    public var cache: CacheProfile
    /// The base grows in use, from the launch on.
    public var growth: GrowthProfile
    /// Memory that is never freed; also grows while the app works off screen.
    public var leak: ByteRate
    /// Short-lived objects; likewise.
    public var churn: ChurnProfile
    /// How fast live memory is written again in use.
    public var touch: ByteRate
    /// Sudden jumps.
    public var bursts: [BurstProfile]
    /// How large the objects are.
    public var objects: SizeDistribution
    /// Operations recorded elsewhere, played beside all that.
    public var trace: TraceProfile?
    /// The UI of the scene in front grows in use: frames, textures.
    public var sceneGrowth = GrowthProfile()
    /// Memory that rises steadily and falls at once, again and again.
    public var sawTooth = SawToothProfile()
    /// How fast live memory is read in use, the cache first.
    public var read = ByteRate.zero

    public init(
        base: ByteCount, scene: ByteCount, cache: CacheProfile = CacheProfile(),
        growth: GrowthProfile = GrowthProfile(),
        leak: ByteRate = .zero, churn: ChurnProfile = ChurnProfile(), touch: ByteRate = .zero,
        bursts: [BurstProfile] = [],
        objects: SizeDistribution = .logNormal(
            median: .kibibytes(2), sigma: Ratio(partsPerMillion: 1_400_000), highest: .mebibytes(1)),
        trace: TraceProfile? = nil
    ) {
        self.base = base
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

public struct CacheProfile: Hashable, Sendable {
    /// The cache does not grow beyond this.
    public var size: ByteCount
    /// How fast it fills in use.
    public var rate: ByteRate
    /// How fast a full cache is replaced: the oldest goes, as much comes in.
    public var turnover: ByteRate

    public init(size: ByteCount = .zero, rate: ByteRate = .zero, turnover: ByteRate = .zero) {
        self.size = size
        self.rate = rate
        self.turnover = turnover
    }
}

public struct GrowthProfile: Hashable, Sendable {
    public var rate: ByteRate
    /// The base does not grow beyond this; at most the base's size means that it does not grow.
    public var upTo: ByteCount

    public init(rate: ByteRate = .zero, upTo: ByteCount = .zero) {
        self.rate = rate
        self.upTo = upTo
    }
}

public struct ChurnProfile: Hashable, Sendable {
    /// Bytes allocated per second.
    public var rate: ByteRate
    /// How long an object lives.
    public var lifetime: TimeSpan

    public init(rate: ByteRate = .zero, lifetime: TimeSpan = .seconds(1)) {
        self.rate = rate
        self.lifetime = lifetime
    }
}

/// Rises evenly to `size` within `period` of use, falls at once, and begins again: work in batches, garbage collection.
public struct SawToothProfile: Hashable, Sendable {
    public var size: ByteCount
    public var period: TimeSpan

    public init(size: ByteCount = .zero, period: TimeSpan = .seconds(10)) {
        self.size = size
        self.period = period
    }
}

/// A jump: `size` bytes arrive within `over`, stay for `hold`, and go at once.
public struct BurstProfile: Hashable, Sendable {
    /// Time in the foreground since the process's launch.
    public var after: TimeSpan
    public var size: ByteCount
    public var over: TimeSpan
    /// Nil: it stays as long as the process.
    public var hold: TimeSpan?

    public init(after: TimeSpan, size: ByteCount, over: TimeSpan, hold: TimeSpan? = nil) {
        self.after = after
        self.size = size
        self.over = over
        self.hold = hold
    }
}

/// How long each callback keeps the main thread busy, the filling of memory not included.
public struct CallbackCosts: Hashable, Sendable {
    /// From the tap to `willFinishLaunching`: creating the process, loading code.
    public var process: TimeSpan
    /// `willFinishLaunching` and `didFinishLaunching` together.
    public var launch: TimeSpan
    /// Once, on the very first launch of the app in the run.
    public var firstLaunch: TimeSpan
    /// `scene(_:willConnectTo:)`, or the first UI of an app without scenes.
    public var connect: TimeSpan
    public var enterForeground: TimeSpan
    public var activate: TimeSpan
    public var resignActive: TimeSpan
    public var enterBackground: TimeSpan
    public var disconnect: TimeSpan
    public var terminate: TimeSpan
    /// Any other event: a URL, a push, a location, a change of time or of protected data.
    public var event: TimeSpan

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
    /// The share of the cache that it frees on `didEnterBackground`: 0 % is undisciplined, 100 % is Apple's advice.
    public var frees: Ratio
    /// The share of what it freed that it loads again at once on `willEnterForeground`.
    public var reloads: Ratio
    /// How long it works before it lets itself be suspended.
    public var work: TimeSpan
    /// The buffer that the snapshot costs for a moment.
    public var snapshot: ByteCount
    /// How long it takes to get to the freeing.
    public var delay = TimeSpan.zero
    /// How often it frees nothing at all.
    public var ignores = Ratio.zero
    /// How long the background task runs that it begins whenever it leaves the screen; nil: it begins none.
    public var task: TimeSpan?
    /// It begins a background task whenever it leaves the screen and never ends it, not even when it expires.
    public var leaksTask: Bool
    /// How long it works on an event that the system wakes it for.
    public var eventWork: TimeSpan
    /// How long its background modes have something to do after it has left the screen; nil: for ever.
    public var modesLast: TimeSpan?
    /// The share of a core that it uses off screen.
    public var cpu: Ratio
    /// It holds a lock on a file or an SQLite database when it is suspended, and is ended for that (0xdead10cc).
    /// Whether the device is locked makes no difference. Source: Apple TN2151.
    public var holdsProtectedFile: Bool

    public init(
        frees: Ratio = .percent(50), reloads: Ratio = .percent(25), work: TimeSpan = .seconds(3),
        snapshot: ByteCount = .mebibytes(8), task: TimeSpan? = nil, leaksTask: Bool = false,
        eventWork: TimeSpan = .seconds(2), modesLast: TimeSpan? = nil, cpu: Ratio = .percent(5),
        holdsProtectedFile: Bool = false
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
        self.holdsProtectedFile = holdsProtectedFile
    }
}

/// What the app does when a scene is disconnected: what it does not free then stays with the process until its end.
public struct DisconnectDiscipline: Hashable, Sendable {
    /// The share of the scene's memory that it frees.
    public var frees: Ratio
    /// How long it takes to get to it.
    public var delay: TimeSpan
    /// How often it frees nothing at all.
    public var ignores: Ratio

    public init(frees: Ratio = .one, delay: TimeSpan = .zero, ignores: Ratio = .zero) {
        self.frees = frees
        self.delay = delay
        self.ignores = ignores
    }
}

/// What the app does when it is warned.
public struct WarningDiscipline: Hashable, Sendable {
    /// The share of the cache that it frees.
    public var frees: Ratio
    /// How long it takes to get to it.
    public var delay: TimeSpan
    /// How often it does nothing at all.
    public var ignores: Ratio

    public init(frees: Ratio = .percent(80), delay: TimeSpan = .milliseconds(100), ignores: Ratio = .zero) {
        self.frees = frees
        self.delay = delay
        self.ignores = ignores
    }
}

/// jetsam's per-process limits on the footprint. Active: while the app is in the foreground, or runs off screen for a
/// background mode, a task or an event; not in the few seconds that everybody gets.
///
/// Each is fatal or soft by itself, as in XNU (`memlimit_active_fatal`, `memlimit_inactive_fatal`; xnu-11417.101.15).
public struct ProcessLimits: Hashable, Sendable {
    public var active: ByteCount?
    /// Nil: the active one applies at all times.
    public var inactive: ByteCount?
    /// Fatal: ended at once on the allocation that crosses it. Soft: warned. For each that does not say it itself.
    public var fatal: Bool
    public var activeFatal: Bool?
    public var inactiveFatal: Bool?

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

    public var isActiveFatal: Bool { activeFatal ?? fatal }
    public var isInactiveFatal: Bool { inactiveFatal ?? fatal }
}
