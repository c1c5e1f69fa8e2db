import Quantities

/// The device's level of memory pressure. Ordered: normal < warning < critical.
public enum PressureLevel: String, CaseIterable, Comparable, Sendable {
    case normal
    case warning
    case critical

    /// Orders levels by severity.
    public static func < (a: PressureLevel, b: PressureLevel) -> Bool { a.rank < b.rank }

    private var rank: Int {
        switch self {
        case .normal: 0
        case .warning: 1
        case .critical: 2
        }
    }
}

/// How often the monitor samples, what it counts as pressure, and how it warns.
public struct MonitorSettings: Hashable, Sendable {
    /// The name of the preset that these settings are based on.
    public var preset: String
    /// The time between two samples.
    public var interval: TimeSpan
    /// Where the warning level is entered and left.
    public var warning: LevelThresholds
    /// Where the critical level is entered and left.
    public var critical: LevelThresholds
    /// A lower level must be observed this long before it takes effect.
    public var hold: TimeSpan
    /// The time between two warnings of a round, each to one process.
    public var warningSpacing: TimeSpan
    /// After a round of warnings ends, no new round of that level begins for this time.
    public var warningRest: TimeSpan
    /// A level that lasts this long gets another round of warnings.
    public var warningRepeat: TimeSpan
    /// Processes with a smaller footprint are not warned.
    public var warningMinimumFootprint: ByteCount
    /// The quantity that is compared with the thresholds.
    public var measure = PressureMeasure.available
    /// A threshold counts as crossed only when it is exceeded by more than this, in either direction.
    public var debounce = ByteCount.zero
    /// After the level falls, it cannot rise for this long.
    public var coolDown = TimeSpan.zero
    /// Whether suspended processes are ended, longest idle first, before running ones are warned.
    public var endSuspendedFirst = false
    /// Whether the level rises only when there are fewer processes than at the last sample. It may fall at any time.
    public var riseNeedsFewerProcesses = false
    /// How the monitor fails.
    public var faults = MonitorFaults()

    /// Creates settings. `measure` and all properties declared after it have their default values.
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

/// The thresholds of a level, with hysteresis: the level begins when the measure goes beyond `enter`, and ends when the
/// measure comes back across `leave`.
public struct LevelThresholds: Hashable, Sendable {
    /// The level begins here: below it for free or uncompressed memory, above it for other measures.
    public var enter: Threshold
    /// The level ends on the other side of this value. If it is equal to `enter`, there is no hysteresis.
    public var leave: Threshold

    /// Both thresholds are of the same measure.
    public init(enter: Threshold, leave: Threshold) {
        self.enter = enter
        self.leave = leave
    }
}

extension MonitorSettings {
    /// A device like an iPhone with up to 3 GB.
    ///
    /// Source: xnu-11417.101.15. The levels enter at jetsam's `soft` (15 %) and `critical` (5 %) thresholds of
    /// available memory. The kernel's own warning ratio (0.50/0.60 and 0.30/0.35) needs a compressor, which this device
    /// does not have. The hysteresis of that ratio is kept: the warning level ends at 6/5 and the critical level at 7/6
    /// of the value where it begins. The hold (5 s), spacing (250 ms), rest (25 s), repetition (30 min) and smallest
    /// footprint warned (6 MB) are the kernel's.
    public static let ios = MonitorSettings(
        preset: "ios", interval: .milliseconds(100),
        warning: LevelThresholds(enter: .percent(15), leave: .percent(18)),
        critical: LevelThresholds(enter: .percent(5), leave: .share(Ratio(partsPerMillion: 58_333))),
        hold: .seconds(5), warningSpacing: .milliseconds(250), warningRest: .seconds(25),
        warningRepeat: .minutes(30), warningMinimumFootprint: ByteCount(6_000_000))

    /// Warns early and quickly, for short scenarios and experiments.
    public static let brisk = MonitorSettings(
        preset: "brisk", interval: .milliseconds(50),
        warning: LevelThresholds(enter: .percent(20), leave: .percent(25)),
        critical: LevelThresholds(enter: .percent(10), leave: .percent(12)),
        hold: .seconds(1), warningSpacing: .milliseconds(50), warningRest: .seconds(5),
        warningRepeat: .minutes(1), warningMinimumFootprint: .mebibytes(1))

    /// The kernel's own ratio for warnings: uncompressed memory, divided by the sum of uncompressed memory and the
    /// compressor's pages.
    ///
    /// Source: xnu-11417.101.15: 0.50/0.60 and 0.30/0.35. The device has no compressor, so the size that one would have
    /// is computed; see `PressureObservation.uncompressedShare`.
    public static let iosRatio = MonitorSettings.ios.changed {
        $0.preset = "ios-ratio"
        $0.measure = .uncompressed
        $0.warning = LevelThresholds(enter: .percent(50), leave: .percent(60))
        $0.critical = LevelThresholds(enter: .percent(30), leave: .percent(35))
    }

    /// Android: the level is warning if some process stalls for 70 ms in a second, and critical if all processes stall
    /// at once for 700 ms in a second.
    ///
    /// A level rises only if a process has ended since the last sample: stalls without a lost process do not count as a
    /// shortage.
    ///
    /// Source: AOSP lmkd android-13 (triggers, 100 ms polling), and the activity manager's
    /// `AppProfiler.updateLowMemStateLSP` (android-12 on), which lets its memory factor worsen only when the number of
    /// processes has fallen. The thresholds for leaving a level are Plimsoll's own; they keep the level from
    /// flickering. Two things differ from Android. The activity manager looks when a process changes; the monitor looks
    /// at every sample. And the activity manager does not count processes that it ends itself, for example when the
    /// user swipes an app away.
    public static let android = MonitorSettings.ios.changed {
        $0.preset = "android"
        $0.measure = .stall
        $0.warning = LevelThresholds(enter: .percent(7), leave: .percent(5))
        $0.critical = LevelThresholds(enter: .percent(70), leave: .percent(50))
        $0.hold = .seconds(1)
        $0.warningMinimumFootprint = .zero
        $0.riseNeedsFewerProcesses = true
    }

    /// Fuchsia: the level is warning below 300 MB of free memory and critical below 150 MB. It changes only when free
    /// memory is more than 1 MB beyond the threshold.
    ///
    /// Source: Fuchsia's watermarks 50/60/150/300 MB. The lower two (imminent and out of memory) end processes, which
    /// is a policy's task: `Scenarios/policies/fuchsia-watermarks.yaml` has them.
    public static let fuchsiaWatermarks = MonitorSettings.ios.changed {
        $0.preset = "fuchsia-watermarks"
        $0.warning = LevelThresholds(enter: .bytes(ByteCount(300_000_000)), leave: .bytes(ByteCount(300_000_000)))
        $0.critical = LevelThresholds(enter: .bytes(ByteCount(150_000_000)), leave: .bytes(ByteCount(150_000_000)))
        $0.debounce = ByteCount(1_000_000)
        $0.hold = .zero
        $0.warningMinimumFootprint = .zero
    }

    /// WebKit on iOS: a process at 50 % of its own limit frees conservatively, at 65 % strictly.
    ///
    /// Source: WebKit. On platforms other than iOS it uses 33 % and 50 %. Only processes above the share are warned.
    public static let webkit = MonitorSettings.ios.changed {
        $0.preset = "webkit"
        $0.measure = .process
        $0.warning = LevelThresholds(enter: .percent(50), leave: .percent(50))
        $0.critical = LevelThresholds(enter: .percent(65), leave: .percent(65))
        $0.hold = .zero
        $0.warningMinimumFootprint = .zero
    }

    /// ChromeOS: the level is warning below 40 % of RAM available and critical below 5.2 %, and the system looks once a
    /// second.
    ///
    /// Source: chromiumos-platform2 3050786c35, resourced: its margins, and its loop under pressure. The thresholds for
    /// leaving a level are Plimsoll's own, and so is the spacing of the warnings.
    public static let chromeOS = MonitorSettings.ios.changed {
        $0.preset = "chromeos"
        $0.interval = .seconds(1)
        $0.warning = LevelThresholds(enter: .percent(40), leave: .percent(42))
        $0.critical = LevelThresholds(
            enter: .share(Ratio(partsPerMillion: 52_000)), leave: .share(Ratio(partsPerMillion: 62_000)))
        $0.hold = .zero
        $0.warningMinimumFootprint = .zero
    }

    private func changed(_ change: (inout MonitorSettings) -> Void) -> MonitorSettings {
        var settings = self
        change(&settings)
        return settings
    }

    /// All presets; add a new one here.
    public static let presets: [MonitorSettings] = [
        .ios, .iosRatio, .android, .fuchsiaWatermarks, .webkit, .chromeOS, .brisk,
    ]
}
