import Lifecycle
import Quantities

/// How a process lives that is no app.
public struct ProcessPart: Hashable, Sendable {
    /// What it is.
    public var kind: ProcessKind
    /// The app that it belongs to; helpers have one.
    public var host: AppID?
    /// A daemon's band while it is dirty, 0 to 999; other kinds follow from what they do.
    public var band = 40
    /// Whether a daemon may be in bands 1 to 9; without the entitlement they become 0.
    public var isEntitled = false
    /// The process ends by itself after it was idle for this time; nil: it stays until the system ends it.
    public var idleExit: TimeSpan?
    /// Whether the process starts with the run, and 10 s after each of its ends (launchd's `KeepAlive` and default
    /// `ThrottleInterval`).
    public var keepsAlive = false
    /// How long a daemon may hold an assertion before it counts as stuck; nil: for ever.
    public var assertionTime: TimeSpan?

    /// A process of this kind, with the kind's usual life. That an extension whose kind does not stay ends 10 s after
    /// its work is our own assumption.
    public init(_ kind: ProcessKind) {
        self.kind = kind
        idleExit = kind.staysSuspended ? nil : .seconds(10)
    }
}

extension AppProfile {
    /// The profile that a process of this kind begins with.
    ///
    /// The sizes are of the order that JetsamEvent reports of iOS 14 show for such processes; the splits, costs and
    /// rates are our own assumptions.
    public static func part(_ kind: ProcessKind) -> AppProfile {
        let base: ByteCount
        switch kind {
        case .helper: base = .mebibytes(20)
        case .webContent: base = .mebibytes(90)
        case .networking, .notificationService, .appPush, .appProxy, .dnsProxy: base = .mebibytes(8)
        case .widget, .otherExtension: base = .mebibytes(15)
        case .keyboard: base = .mebibytes(38)
        case .share, .action: base = .mebibytes(30)
        case .packetTunnel, .broadcastUpload: base = .mebibytes(14)
        case .filterControl, .filterData, .messageFilter: base = .mebibytes(4)
        case .daemon: base = .mebibytes(4)
        }
        var profile = AppProfile(
            name: "", like: kind.rawValue, scenes: .none, backgroundModes: [],
            memory: MemoryProfile(base: base, scene: .zero),
            costs: CallbackCosts(
                process: .milliseconds(60), launch: .milliseconds(40), firstLaunch: .zero, connect: .zero,
                enterForeground: .zero, activate: .zero, resignActive: .zero, enterBackground: .zero,
                disconnect: .zero, terminate: .zero, event: .milliseconds(10)),
            background: BackgroundDiscipline(frees: .zero, reloads: .zero, work: .seconds(1), snapshot: .zero),
            warnings: WarningDiscipline(), limits: ProcessLimits(active: kind.limit))
        if kind == .daemon {
            profile.limits = ProcessLimits(
                active: kind.limit, inactive: kind.limit, fatal: true, activeFatal: false)
        }
        if kind.family == .helper {
            profile.background.work = .zero
            profile.background.cpu = .zero
        }
        if kind == .keyboard {
            // A keyboard was seen to settle at 68 MB in use.
            profile.memory.cache = CacheProfile(size: .mebibytes(28), rate: .mebibytesPerSecond(2))
        }
        profile.part = ProcessPart(kind)
        return profile
    }
}
