import Lifecycle
import Memory
import Pressure
import Quantities
import Reclaim
import Workload

/// Everything that determines a run: a scenario, validated and typed.
public struct RunPlan: Hashable, Sendable {
    /// The scenario's name, used in results.
    public var name: String
    /// What the scenario shows, for people; empty if the scenario does not say.
    public var description = ""
    /// The seed of all random streams of the run.
    public var seed: UInt64
    /// Virtual time from the start to the end of the run.
    public var duration: TimeSpan
    /// The simulated device.
    public var device: Device
    /// How the monitor decides the level.
    public var monitor: MonitorSettings
    /// Which policy reclaims memory, and its parameters.
    public var policy: PolicySettings
    /// The limits that apply to every policy.
    public var limits: Limits
    /// What the public record of the life cycle leaves open.
    public var lifecycle = LifecycleRules()
    /// The apps and, behind them, the processes that are no apps; indexed by `AppID`.
    public var apps: [AppProfile]
    /// The processes that are alive when the run begins, the least recently used first.
    public var start: [StartedProcess] = []
    /// Linux's control groups; a process is in one of them at most.
    public var controlGroups: [ControlGroup] = []
    /// What the user and the system do, in the order of the scenario. The engine sorts events by instant, ties by this
    /// order.
    public var user: [UserEntry]
    /// Claims about the run's summary, checked at its end.
    public var expectations: [Expectation]
    /// Whether memory is real (jemalloc) or only accounted.
    public var backend: MemoryBackend
    /// A termination is user-perceived if the user wants the app again within this time, even if a push or a refresh
    /// has relaunched the app off screen by then. If the system ended the app several times within this time, each
    /// end counts.
    public var perceivedWithin: TimeSpan
    /// Which processes have a row at a sample.
    public var appRows: AppRows
    /// Whether `events.csv` has rows of what apps do inside callbacks, and of their windows.
    public var showsDuties = false
    /// Remarks from reading the scenario's text, one line each with its place; they do not affect the run.
    public var remarks: [String] = []

    /// A plan from its parts. The plan is not validated; the scenario loader does that.
    public init(
        name: String, seed: UInt64, duration: TimeSpan, device: Device, monitor: MonitorSettings,
        policy: PolicySettings, limits: Limits, apps: [AppProfile], user: [UserEntry], expectations: [Expectation] = [],
        backend: MemoryBackend = .jemalloc, perceivedWithin: TimeSpan = .minutes(30),
        appRows: AppRows = .all
    ) {
        self.name = name
        self.seed = seed
        self.duration = duration
        self.device = device
        self.monitor = monitor
        self.policy = policy
        self.limits = limits
        self.apps = apps
        self.user = user
        self.expectations = expectations
        self.backend = backend
        self.perceivedWithin = perceivedWithin
        self.appRows = appRows
    }
}

extension RunPlan {
    /// The apps of `apps` alone.
    public var ownApps: [AppProfile] {
        get { apps.filter { $0.part == nil } }
        set { apps = newValue + parts }
    }

    /// The processes that are no apps: helpers, extensions, daemons.
    public var parts: [AppProfile] {
        get { apps.filter { $0.part != nil } }
        set { apps = ownApps + newValue }
    }
}

extension RunPlan {
    /// The number of the control group of each app and process, by `AppID`; nil: it is in none. A helper or an
    /// extension is in the group of its app, unless a group names it.
    public var controlGroupOfEach: [Int?] {
        var all: [Int?] = Array(repeating: nil, count: apps.count)
        for (number, group) in controlGroups.enumerated() {
            for member in group.members where member.index < apps.count { all[member.index] = number }
        }
        guard !controlGroups.isEmpty else { return all }
        for (index, app) in apps.enumerated() where all[index] == nil {
            guard let host = app.part?.host, host.index < apps.count else { continue }
            all[index] = all[host.index]
        }
        return all
    }
}

/// Which processes have a row in `apps.csv` at a sample.
public enum AppRows: String, CaseIterable, Sendable {
    /// Every live process.
    case all
    /// Only processes that differ from their last row. For long runs with many processes, most of them suspended.
    case changed
}

extension RunPlan {
    /// The ceiling of the run's device: the scenario's, unless the policy needs unbounded memory. Then it is
    /// `unboundedFactor` times higher, up to the highest ceiling that the program supports, so that the scenario
    /// comes near no threshold. The plan's own ceiling stays unchanged, so that scenario and results name the same
    /// policy, device and limits. `neededMemory` states what the host must have.
    public var effectiveCeiling: ByteCount {
        let needs = PolicyCatalogue.type(named: policy.name)?.needs ?? []
        guard needs.contains(.unboundedMemory) else { return device.ceiling }
        // The device that a scale model represents must not exceed the highest ceiling either.
        let highest = MemoryLimits.highestCeiling * min(.one, device.scale)
        return max(device.ceiling, min(device.ceiling * RunPlan.unboundedFactor, highest))
    }

    /// How many times higher the ceiling is for a policy that needs unbounded memory.
    public static let unboundedFactor = 16

    /// Whether the run's device has a compressor. Unbounded memory needs none.
    private var hasCompressor: Bool { effectiveCeiling == device.ceiling }

    /// The same run on the accounting backend. It has no contents that LZ4 could compress, so their sizes are drawn.
    public var onAccounting: RunPlan {
        var plan = self
        plan.backend = .accounting
        plan.device.compressor?.codec = .model
        return plan
    }

    /// Makes the device that the run gets, on its backend and at its scale.
    public func makeDevice() throws(DeviceMemoryFailure) -> any DeviceMemory {
        try makeDeviceMemory(
            backend, ceiling: effectiveCeiling, reserved: device.reserved, promised: neededMemory, scale: device.scale,
            compressor: hasCompressor ? device.compressorLimits : nil, rewrite: device.rewrite, seed: seed)
    }
}

/// The simulated device.
public struct Device: Hashable, Sendable {
    /// The preset that it was made from; nil if there is none.
    public var like: String?
    /// What people call it; nil without a preset.
    public var name: String?
    /// The system and its version, for people and reports; nil without a preset.
    public var os: String?
    /// All of its RAM. A hard limit: no page beyond it is ever handed out.
    public var ceiling: ByteCount
    /// What the system keeps for itself, throughout the run.
    public var reserved: ByteCount
    /// The device's size as a share of the device it represents: at 25 % apps hold a quarter of the pages that the
    /// same requests would take there. Ceiling, limits and thresholds are stated at this device's own scale.
    public var scale = Ratio.one
    /// The cores that all work shares.
    public var cores: CoreLayout
    /// How fast a process fills fresh pages: loading from storage, decoding, writing.
    public var fillRate: ByteRate
    /// How fast the system can take pages back.
    public var reclaimRate: ByteRate
    /// What ending a process costs the system, in addition to taking its pages back.
    public var terminationTime: TimeSpan
    /// How long unused pages stay with the process before they go back by themselves (jemalloc's dirty decay, in
    /// virtual time).
    public var dirtyDecay: TimeSpan
    /// What compresses pages when memory is short; nil for a device without a compressor.
    public var compressor: CompressorSettings?
    /// The cache of file pages; nil: no process's files take memory.
    public var fileCache: FileCacheSettings?
    /// The unit in which reports count memory. The books count jemalloc's pages, 4 KiB each, on every device.
    public var page = DevicePage.small
    /// How many windows an app can have on the device's own screen.
    public var windows = DeviceWindows.many
    /// The limit of an app without an active limit of its own; nil: there is none. It is fatal.
    public var appLimit: ByteCount?
    /// The limit of an app with the entitlement for a higher one; nil: it is that of every app.
    public var entitledLimit: ByteCount?
    /// How much of an object's real memory a use of it goes over; the tables are the same.
    public var rewrite = RewriteExtent.line
    /// Jetsam's thresholds on this device, in place of the kernel's table.
    public var marks = JetsamMarks()
    /// The release of XNU whose memory management the device has; nil: Plimsoll's own rules.
    public var kernel: JetsamKernel?
    /// Linux's killer, its swap, and its way to make room.
    public var linuxMemory = LinuxMemory()
    /// What is wired beyond `reserved`, over time; empty: nothing.
    public var wired: [WiredPoint] = []
    /// Pages of the system's own processes that are not wired, a part of `reserved`. Only the monitor `ios-ratio` looks
    /// at them.
    public var systemPageable = ByteCount.zero
    /// Pages of the system's own processes that are compressed; they take as much of `reserved`. Only the monitor
    /// `ios-ratio` looks at them.
    public var systemCompressed = ByteCount.zero
    /// What of `reserved` is of the system's own processes; the rest is wired.
    public var ofSystemProcesses: ByteCount { systemPageable + systemCompressed }
    /// What moves suspended apps to flash; nil for a device without a freezer.
    public var freezer: FreezerSettings?

    /// The default limit of its apps, with the distance at which they are warned.
    public var standardLimit: MemoryLimit? {
        let margin = meantCeiling >= .gibibytes(1) ? ByteCount.mebibytes(100) : .mebibytes(50)
        return appLimit.map { MemoryLimit(standard: $0, warnedBefore: margin * scale) }
    }

    /// The limit of an app that states none; nil: it has none. That of an entitled app is set for the app, so the app
    /// is warned as of a limit of its own.
    public func limit(ofEntitled isEntitled: Bool) -> MemoryLimit? {
        guard isEntitled, let entitledLimit else { return standardLimit }
        return MemoryLimit(bytes: entitledLimit, isFatal: true)
    }

    /// What the device fills in 1/512 s, 2 MiB at the default rate and at least 64 KiB: the unit of memory work.
    public var fillSlice: ByteCount { max(ByteCount(fillRate.bytesPerSecond / 512), .kibibytes(64)) }

    /// All RAM of the device that this one represents, rounded up to a page. Tables that depend on the size of a
    /// device are looked up by it.
    public var meantCeiling: ByteCount {
        let whole = scaled(Int64(ceiling.bytes), by: 1_000_000, over: max(1, scale.partsPerMillion))
        return scale == .one ? ceiling : ByteCount(Int(whole)).roundedUp(toMultipleOf: 4_096)
    }

    /// The highest ceiling that such a device can have: with a compressor it has more addresses per page. The device
    /// that a scale model represents must not exceed it, either.
    public var highestCeiling: ByteCount {
        let highest = compressor == nil ? MemoryLimits.highestCeiling : MemoryLimits.highestCompressedCeiling
        return ByteCount((highest * min(.one, scale)).bytes & ~0xFFF)
    }

    /// The device's size, as policies see it.
    ///
    /// - Parameter ceiling: The RAM of the run's device; more than the plan's `ceiling` if the policy needs unbounded
    ///   memory.
    public func size(ofRAM ceiling: ByteCount) -> DeviceSize {
        var size = DeviceSize(ceiling, meant: meantCeiling, scale: scale, marks: marks, kernel: kernel)
        size.linux = fallback.linux
        return size
    }

    /// A device at full scale.
    public init(
        ceiling: ByteCount, reserved: ByteCount = .zero, cores: CoreLayout = 2,
        fillRate: ByteRate = ByteRate(bytesPerSecond: 1 << 30),
        reclaimRate: ByteRate = ByteRate(bytesPerSecond: 4 << 30), terminationTime: TimeSpan = .milliseconds(10),
        dirtyDecay: TimeSpan = .seconds(10)
    ) {
        self.ceiling = ceiling
        self.reserved = reserved
        self.cores = cores
        self.fillRate = fillRate
        self.reclaimRate = reclaimRate
        self.terminationTime = terminationTime
        self.dirtyDecay = dirtyDecay
    }
}

/// What ends a process when an allocation finds no room and the policy frees none.
public struct DeviceFallback: Hashable, Sendable {
    /// Which process ends; the raw values are the texts in scenarios.
    public enum Rule: String, CaseIterable, Sendable {
        /// The process whose allocation found no room, once it has waited in vain.
        case requester
        /// Linux's kernel ends the process with most badness, at once.
        ///
        /// Source: Linux, mm/oom_kill.c, `out_of_memory`.
        case kernelOOM = "kernel-oom"
    }

    /// Which process ends.
    public var rule: Rule
    /// The release of Linux whose OOM killer the device has. The policy `kernel-oom` follows it, too.
    public var linux: LinuxKernel

    /// By default the process that waits ends itself.
    public init(_ rule: Rule = .requester, linux: LinuxKernel = .standard) {
        (self.rule, self.linux) = (rule, linux)
    }
}

/// How many windows an app can have on the device's own screen; the raw values are the texts in scenarios.
///
/// Source: UIKit's reference of `UIApplication.supportsMultipleScenes`, which is false on an iPhone.
public enum DeviceWindows: String, CaseIterable, Sendable {
    /// A request for another window of the app fails.
    case one
    /// As many as the app supports.
    case many
}

/// The size of a device's pages; the raw values are the texts in scenarios.
public enum DevicePage: String, CaseIterable, Sendable {
    case small = "4KiB"
    /// iPhones and iPads from the A9 chip on.
    case large = "16KiB"

    /// The bytes of a page.
    public var size: ByteCount {
        switch self {
        case .small: .kibibytes(4)
        case .large: .kibibytes(16)
        }
    }
}

/// A claim about the run's summary, `terminations_foreground == 0`, or about one of its apps:
/// `editor.terminations == 0`, `editor survives`.
public struct Expectation: Hashable, Sendable {
    /// How the metric is compared; the raw values are the signs in scenarios.
    public enum Comparison: String, CaseIterable, Sendable {
        case equal = "=="
        case notEqual = "!="
        case atMost = "<="
        case atLeast = ">="
        case below = "<"
        case above = ">"
    }

    /// The app's name; nil for a claim about the whole run.
    public var app: String?
    /// The column of `summary.csv` or, for an app, of `app_summary.csv`.
    public var metric: String
    /// How the column is compared with the value.
    public var comparison: Comparison
    /// The value as written, so that messages show it unchanged.
    public var text: String
    /// The value as a number.
    public var value: Double
    /// The line of the scenario's file that has the claim; nil for a claim that is in no file. Two claims that differ
    /// in nothing else are equal.
    public var line: Int?

    /// A claim that `metric` stands in this comparison to `value`.
    public init(app: String? = nil, metric: String, comparison: Comparison, text: String, value: Double) {
        self.app = app
        self.metric = metric
        self.comparison = comparison
        self.text = text
        self.value = value
    }
}

extension Expectation {
    /// Whether two claims say the same in the same words, wherever they stand.
    public static func == (a: Expectation, b: Expectation) -> Bool {
        (a.app, a.metric, a.comparison, a.text, a.value) == (b.app, b.metric, b.comparison, b.text, b.value)
    }

    /// Feeds what makes claims equal.
    public func hash(into hasher: inout Hasher) {
        for part in [app ?? "", metric, comparison.rawValue, text] { hasher.combine(part) }
        hasher.combine(value)
    }
}
