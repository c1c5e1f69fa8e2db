import Quantities

/// What the monitor compares with its thresholds.
public enum PressureMeasure: String, CaseIterable, Sendable {
    /// Memory that is free: a level is entered below its threshold.
    case available
    /// The share of memory that is not held compressed, the kernel's own ratio for warnings; entered below.
    case uncompressed
    /// Time lost to waiting within the last second: *some* for warning, *full* for critical; entered above.
    case stall
    /// Among those whose code runs, the process that is nearest to its own limit; entered above.
    case process

    /// Whether more of it is worse.
    public var risesWithPressure: Bool {
        switch self {
        case .available, .uncompressed: false
        case .stall, .process: true
        }
    }

    /// Whether memory that somebody else gives back helps. Who is near its own limit has to shrink by itself.
    public var concernsDevice: Bool {
        switch self {
        case .available, .uncompressed, .stall: true
        case .process: false
        }
    }
}

/// Where a level begins or ends: a share of the measure's whole, or bytes of it.
public enum Threshold: Hashable, Sendable, CustomStringConvertible {
    case share(Ratio)
    case bytes(ByteCount)

    public static func percent(_ count: Int64) -> Threshold { .share(.percent(count)) }

    /// In bytes of a device.
    public func bytes(of ceiling: ByteCount) -> ByteCount {
        switch self {
        case .share(let ratio): ceiling * ratio
        case .bytes(let bytes): bytes
        }
    }

    /// As a share of a device.
    public func share(of ceiling: ByteCount) -> Ratio {
        switch self {
        case .share(let ratio): ratio
        case .bytes(let bytes): bytes.share(of: ceiling)
        }
    }

    public var description: String {
        switch self {
        case .share(let ratio): "\(ratio)"
        case .bytes(let bytes): "\(bytes)"
        }
    }
}

/// What is observed at an instant, for every measure.
public struct PressureObservation: Hashable, Sendable {
    public var available: ByteCount
    /// The share of memory that is not held compressed.
    public var uncompressed: Ratio = .one
    /// Of the last second.
    public var some: Ratio = .zero
    public var full: Ratio = .zero
    /// The largest share of its own limit that a process holds.
    public var process: Ratio = .zero
    /// How many there are.
    public var processes = 0

    public init(available: ByteCount) {
        self.available = available
    }

    /// What a compressor would leave, if it held the pages of everybody who is suspended at 2.7 : 1.
    ///
    /// This device has no compressor, so its share is computed, not observed: real reports show 4.5 GiB of footprints
    /// of which 3.4 GiB are held compressed at that ratio, and nearly all of those are of suspended processes.
    public static func uncompressedShare(suspended: ByteCount, of ceiling: ByteCount) -> Ratio {
        let rest = ceiling - suspended
        let compressor = ByteCount(suspended.bytes / 27 * 10)
        return rest.share(of: rest + compressor)
    }

    /// What the measure shows, against a threshold of a level.
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

    /// As headroom in bytes of the device, so that less is worse for every measure.
    func headroom(_ measure: PressureMeasure, for level: PressureLevel, of ceiling: ByteCount) -> ByteCount {
        switch measure {
        case .available: available
        case .uncompressed: ceiling * uncompressed
        case .stall: ceiling - ceiling * (level == .critical ? full : some)
        case .process: ceiling - ceiling * process
        }
    }
}

/// What a measure showed against one of its thresholds, in its own terms: bytes, or parts per million.
public struct PressureReading: Hashable, Sendable {
    public var measure: PressureMeasure
    /// Stalls have a measure of their own for each level.
    public var level: PressureLevel
    public var observed: Int64
    public var threshold: Int64

    /// The measure's name in the CSV, its unit last.
    public var column: String {
        switch measure {
        case .available: "available_bytes"
        case .uncompressed: "uncompressed_ppm"
        case .stall: level == .critical ? "stall_full_ppm" : "stall_some_ppm"
        case .process: "limit_share_ppm"
        }
    }

    /// For people.
    public var text: String {
        let (share, bound) = (Ratio(partsPerMillion: observed), Ratio(partsPerMillion: threshold))
        return switch measure {
        case .available:
            "\(ByteCount(Int(observed)).readable) available, threshold \(ByteCount(Int(threshold)).readable)"
        case .uncompressed: "\(share) not compressed, threshold \(bound)"
        case .stall where level == .critical: "everybody waited for \(share) of the last second, threshold \(bound)"
        case .stall: "somebody waited for \(share) of the last second, threshold \(bound)"
        case .process where observed > threshold: "a process holds \(share) of its limit, threshold \(bound)"
        case .process: "no running process holds more than \(share) of its limit, threshold \(bound)"
        }
    }
}
