import Lifecycle
import Memory
import Pressure
import Quantities
import Reclaim
import Workload

/// Everything that decides a run: a scenario, validated and typed.
public struct RunPlan: Hashable, Sendable {
    public var name: String
    /// What the scenario shows, for people; empty where nobody said.
    public var description = ""
    public var seed: UInt64
    public var duration: TimeSpan
    public var device: Device
    public var monitor: MonitorSettings
    public var policy: PolicySettings
    public var limits: Limits
    /// Indexed by `AppID`.
    public var apps: [AppProfile]
    /// In the order of the scenario; the engine sorts events by instant, ties by this order.
    public var user: [UserEntry]
    public var expectations: [Expectation]
    public var backend: MemoryBackend
    /// A termination is user-perceived when the user wants the app again within this time; also where a push or a
    /// refresh has brought it back off screen by then, and each of several ends that came before.
    public var perceivedWithin: TimeSpan
    /// Which processes have a row at a sample.
    public var appRows: AppRows
    /// What was said of the scenario's text when it was read, each a line with its place: it does not decide the run.
    public var remarks: [String] = []

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

/// Which processes have a row in `apps.csv` at a sample.
public enum AppRows: String, CaseIterable, Sendable {
    /// Every live one.
    case all
    /// Those that differ from their last row: for days with many apps, most of which sleep.
    case changed
}

extension RunPlan {
    /// The ceiling of the device that the run is given: the scenario's, unless its policy is the yardstick that knows
    /// none. Then it is so many times higher, up to the highest that the harness supports, that nothing the scenario
    /// can hold comes near its thresholds; whoever makes the device asks here, so that scenario and results still speak
    /// of the same policy, device and limits. What the host must have for it is `neededMemory`.
    public var effectiveCeiling: ByteCount {
        let needs = PolicyCatalogue.type(named: policy.name)?.needs ?? []
        guard needs.contains(.unboundedMemory) else { return device.ceiling }
        // A smaller model stands for a device that is no larger than the highest, either.
        let highest = MemoryLimits.highestCeiling * min(.one, device.scale)
        return max(device.ceiling, min(device.ceiling * RunPlan.unboundedFactor, highest))
    }

    public static let unboundedFactor = 16

    /// The device that the run is given, on its backend and at its scale.
    public func makeDevice() throws(DeviceMemoryFailure) -> any DeviceMemory {
        try makeDeviceMemory(
            backend, ceiling: effectiveCeiling, reserved: device.reserved, promised: neededMemory, scale: device.scale)
    }
}

/// The simulated device.
public struct Device: Hashable, Sendable {
    /// All of its RAM. Hard: not one page beyond it is ever handed out.
    public var ceiling: ByteCount
    /// What the system keeps for itself, from the start to the end of the run.
    public var reserved: ByteCount
    /// How large it is, measured by the device that is meant: at 25 % apps hold a quarter of the pages that they would
    /// hold there for what they ask for. Ceiling, limits and thresholds are this device's own.
    public var scale = Ratio.one
    /// How many main threads run at the same time.
    public var cores: Int
    /// How fast an app fills fresh pages: loading from storage, decoding, writing.
    public var fillRate: ByteRate
    /// How fast the system takes pages back.
    public var reclaimRate: ByteRate
    /// What ending a process costs the system, beside taking its pages back.
    public var terminationTime: TimeSpan
    /// Unused pages stay this long with the process before they go back by themselves (jemalloc's dirty decay, in
    /// virtual time).
    public var dirtyDecay: TimeSpan

    /// All RAM of the device that is meant, to a page: what tables by the size of a device are looked up by.
    public var meantCeiling: ByteCount {
        let whole = scaled(Int64(ceiling.bytes), by: 1_000_000, over: max(1, scale.partsPerMillion))
        return scale == .one ? ceiling : ByteCount(Int(whole)).roundedUp(toMultipleOf: 4_096)
    }

    public init(
        ceiling: ByteCount, reserved: ByteCount = .zero, cores: Int = 2,
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

/// A claim about the run's summary: `terminations_foreground == 0`.
public struct Expectation: Hashable, Sendable {
    public enum Comparison: String, CaseIterable, Sendable {
        case equal = "=="
        case notEqual = "!="
        case atMost = "<="
        case atLeast = ">="
        case below = "<"
        case above = ">"
    }

    public var metric: String
    public var comparison: Comparison
    /// As written, so that messages show it unchanged.
    public var text: String
    public var value: Double

    public init(metric: String, comparison: Comparison, text: String, value: Double) {
        self.metric = metric
        self.comparison = comparison
        self.text = text
        self.value = value
    }
}
