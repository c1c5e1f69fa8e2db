import Quantities

/// How much the device is under pressure. Ordered: normal < warning < critical.
public enum PressureLevel: String, CaseIterable, Comparable, Sendable {
    case normal
    case warning
    case critical

    public static func < (a: PressureLevel, b: PressureLevel) -> Bool { a.rank < b.rank }

    private var rank: Int {
        switch self {
        case .normal: 0
        case .warning: 1
        case .critical: 2
        }
    }
}

/// When the monitor looks, what it calls pressure, and how it warns.
public struct MonitorSettings: Hashable, Sendable {
    /// The preset that these settings began with.
    public var preset: String
    public var interval: TimeSpan
    public var warning: LevelThresholds
    public var critical: LevelThresholds
    /// A lower level must hold this long before it counts.
    public var hold: TimeSpan
    /// The distance between two apps that are told.
    public var warningSpacing: TimeSpan
    /// Per level: the rest after all have been told.
    public var warningRest: TimeSpan
    /// A level that sticks is told again after this.
    public var warningRepeat: TimeSpan
    /// Apps with a smaller footprint are not told.
    public var warningMinimumFootprint: ByteCount

    public init(
        preset: String, interval: TimeSpan, warning: LevelThresholds, critical: LevelThresholds, hold: TimeSpan,
        warningSpacing: TimeSpan, warningRest: TimeSpan, warningRepeat: TimeSpan, warningMinimumFootprint: ByteCount
    ) {
        self.preset = preset
        self.interval = interval
        self.warning = warning
        self.critical = critical
        self.hold = hold
        self.warningSpacing = warningSpacing
        self.warningRest = warningRest
        self.warningRepeat = warningRepeat
        self.warningMinimumFootprint = warningMinimumFootprint
    }
}

/// A level with hysteresis, as shares of the ceiling that are available: entered below one, left above the other.
public struct LevelThresholds: Hashable, Sendable {
    public var enter: Ratio
    public var leave: Ratio

    public init(enter: Ratio, leave: Ratio) {
        self.enter = enter
        self.leave = leave
    }
}

extension MonitorSettings {
    /// A device like an iPhone with up to 3 GB.
    ///
    /// Source: xnu-11417.101.15. The levels enter at jetsam's `soft` (15 %) and `critical` (5 %) thresholds of
    /// available memory. The kernel's own warning ratio (0.50/0.60 and 0.30/0.35) needs a compressor, which this
    /// device does not have; its hysteresis is kept: a level is left at 6/5 and 7/6 of where it was entered. Hold (5
    /// s), spacing (250 ms), rest (25 s), repetition (30 min) and the smallest footprint told (6 MB) are the kernel's.
    public static let ios = MonitorSettings(
        preset: "ios", interval: .milliseconds(100),
        warning: LevelThresholds(enter: .percent(15), leave: .percent(18)),
        critical: LevelThresholds(enter: .percent(5), leave: Ratio(partsPerMillion: 58_333)),
        hold: .seconds(5), warningSpacing: .milliseconds(250), warningRest: .seconds(25),
        warningRepeat: .minutes(30), warningMinimumFootprint: ByteCount(6_000_000))

    /// Warns early and quickly: for short scenarios and for trying things out.
    public static let brisk = MonitorSettings(
        preset: "brisk", interval: .milliseconds(50),
        warning: LevelThresholds(enter: .percent(20), leave: .percent(25)),
        critical: LevelThresholds(enter: .percent(10), leave: .percent(12)),
        hold: .seconds(1), warningSpacing: .milliseconds(50), warningRest: .seconds(5),
        warningRepeat: .minutes(1), warningMinimumFootprint: .mebibytes(1))

    /// Every preset by name; a new one is added here.
    public static let presets: [MonitorSettings] = [.ios, .brisk]
}
