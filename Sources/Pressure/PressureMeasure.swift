import Quantities

/// What the monitor compares with its thresholds.
public enum PressureMeasure: String, CaseIterable, Sendable {
    /// Free memory; a level is entered below its threshold.
    case available
    /// The share of memory that is not compressed, the kernel's own ratio for warnings; a level is entered below its
    /// threshold.
    case uncompressed
    /// Time spent waiting for memory within the last second: *some* for warning, *full* for critical; a level is
    /// entered above its threshold.
    case stall
    /// The share of its own limit that a process holds: the largest among the processes that run code; a level is
    /// entered above its threshold.
    case process

    /// Whether a larger value means more pressure.
    public var risesWithPressure: Bool {
        switch self {
        case .available, .uncompressed: false
        case .stall, .process: true
        }
    }

    /// Whether memory that other processes give back improves the measure. A process near its own limit has to shrink
    /// by itself.
    public var concernsDevice: Bool {
        switch self {
        case .available, .uncompressed, .stall: true
        case .process: false
        }
    }
}

/// Where a level begins or ends: a share of the measure's whole, or a number of bytes.
public enum Threshold: Hashable, Sendable, CustomStringConvertible {
    case share(Ratio)
    case bytes(ByteCount)

    /// A share in percent.
    public static func percent(_ count: Int64) -> Threshold { .share(.percent(count)) }

    /// The threshold in bytes, on a device with this much memory.
    public func bytes(of ceiling: ByteCount) -> ByteCount {
        switch self {
        case .share(let ratio): ceiling * ratio
        case .bytes(let bytes): bytes
        }
    }

    /// The threshold as a share, on a device with this much memory.
    public func share(of ceiling: ByteCount) -> Ratio {
        switch self {
        case .share(let ratio): ratio
        case .bytes(let bytes): bytes.share(of: ceiling)
        }
    }

    /// The threshold as people read it, with its unit.
    public var description: String {
        switch self {
        case .share(let ratio): "\(ratio)"
        case .bytes(let bytes): "\(bytes)"
        }
    }
}

/// What the monitor sees at an instant, for every measure.
public struct PressureObservation: Hashable, Sendable {
    /// Free memory.
    public var available: ByteCount
    /// The share of memory that is not compressed.
    public var uncompressed: Ratio = .one
    /// The share of the last second in which at least one process waited for memory.
    public var some: Ratio = .zero
    /// The share of the last second in which all runnable processes waited for memory.
    public var full: Ratio = .zero
    /// The largest share of its own limit that any process holds.
    public var process: Ratio = .zero
    /// The number of live processes.
    public var processes = 0

    /// An observation of free memory alone; the other measures show no pressure.
    public init(available: ByteCount) {
        self.available = available
    }

    /// The share of memory that a compressor would leave uncompressed if it held the pages of all suspended processes
    /// at a ratio of 2.7 : 1.
    ///
    /// For a device without a compressor: the share is computed, not observed. Real reports show 4.5 GiB of footprints,
    /// 3.4 GiB of them compressed at that ratio, nearly all of suspended processes.
    public static func uncompressedShare(suspended: ByteCount, of ceiling: ByteCount) -> Ratio {
        let rest = ceiling - suspended
        let compressor = ByteCount(suspended.bytes / 27 * 10)
        return rest.share(of: rest + compressor)
    }

    /// The measure's value and a threshold of a level.
    func reading(
        _ measure: PressureMeasure, for level: PressureLevel, against threshold: Threshold, of ceiling: ByteCount
    ) -> PressureReading {
        let share: Ratio? =
            switch measure {
            case .available: nil
            case .uncompressed: uncompressed
            case .stall: level == .critical ? full : some
            case .process: process
            }
        return PressureReading(
            measure: measure, level: level,
            observed: share.map { $0.partsPerMillion } ?? Int64(available.bytes),
            threshold: share.map { _ in threshold.share(of: ceiling).partsPerMillion }
                ?? Int64(threshold.bytes(of: ceiling).bytes))
    }

    /// The measure as headroom, in bytes of the device. For every measure, less headroom is worse.
    func headroom(_ measure: PressureMeasure, for level: PressureLevel, of ceiling: ByteCount) -> ByteCount {
        switch measure {
        case .available: available
        case .uncompressed: ceiling * uncompressed
        case .stall: ceiling - ceiling * (level == .critical ? full : some)
        case .process: ceiling - ceiling * process
        }
    }
}

/// A measure's value and one of its thresholds, both in the measure's unit: bytes or parts per million.
public struct PressureReading: Hashable, Sendable {
    /// What was measured.
    public var measure: PressureMeasure
    /// The level whose threshold this is; stalls are measured differently for each level.
    public var level: PressureLevel
    /// The measured value, in the unit of `column`.
    public var observed: Int64
    /// The threshold, in the unit of `column`.
    public var threshold: Int64
    /// Whether the threshold is the one at which the level ends, not the one at which it begins.
    public var isOfEnd = false

    /// A reading against the threshold at which a level begins, both numbers in the unit of `column`.
    public init(measure: PressureMeasure, level: PressureLevel, observed: Int64, threshold: Int64) {
        (self.measure, self.level) = (measure, level)
        (self.observed, self.threshold) = (observed, threshold)
    }

    /// The measure's name in the CSV; the unit is its last word.
    public var column: String {
        switch measure {
        case .available: "available_bytes"
        case .uncompressed: "uncompressed_ppm"
        case .stall: level == .critical ? "stall_full_ppm" : "stall_some_ppm"
        case .process: "limit_share_ppm"
        }
    }

    /// The reading as a phrase for people: what was measured, and where the level begins or ends.
    public var text: String { text(scale: .one) }

    /// The reading as a phrase for people, with the sizes of the original of a scale model.
    ///
    /// - Parameters:
    ///   - scale: That of the device, above zero.
    ///   - namesLevel: Whether the level is named; where it was just said, it is not.
    public func text(scale: Ratio, namesLevel: Bool = true) -> String {
        let rises = measure.risesWithPressure
        func size(_ bytes: Int64) -> String { ByteCount(Int(bytes)).onOriginal(of: scale).readable }
        let share = Ratio(partsPerMillion: observed).readable(isAbove: rises)
        let side = isOfEnd ? "until" : rises ? "above" : "below"
        let bound = measure == .available ? size(threshold) : Ratio(partsPerMillion: threshold).readable()
        let rule = (namesLevel ? "\(max(level, .warning).rawValue) " : "") + "\(side) \(bound)"
        return switch measure {
        case .available: "\(size(observed)) available, \(rule)"
        case .uncompressed: "\(share) not compressed, \(rule)"
        case .stall where level == .critical: "all processes waited for \(share) of the last second, \(rule)"
        case .stall: "a process waited for \(share) of the last second, \(rule)"
        case .process where observed > threshold: "a process holds \(share) of its limit, \(rule)"
        case .process: "no running process holds more than \(share) of its limit, \(rule)"
        }
    }
}
