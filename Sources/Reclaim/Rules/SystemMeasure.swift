import Pressure
import Quantities

/// A part that not every device has. What is about it has no effect on a device without it.
public enum DevicePart: String, CaseIterable, Sendable {
    case swap
    case compressor
    case fileCache = "file cache"
    case freezer
}

/// What a rule's `when` and `until` can refer to; the raw values are the names in scenarios.
///
/// A share of memory refers to all RAM, a share of swap to all swap. What the device does not have (swap; a file cache
/// or a compressor, unless the scenario gives it one) measures zero in a run, and without swap a claim about swap never
/// holds.
public enum SystemMeasure: String, CaseIterable, Sendable {
    case available
    case used
    case largest
    case fileCache = "file_cache"
    case purgeable
    case compressed
    case compressorPool = "compressor_pool"
    case compressor
    case swapFree = "swap_free"
    case swapUsed = "swap_used"
    case someAvg10 = "psi_some_avg10"
    case someAvg60 = "psi_some_avg60"
    case someAvg300 = "psi_some_avg300"
    case fullAvg10 = "psi_full_avg10"
    case fullAvg60 = "psi_full_avg60"
    case fullAvg300 = "psi_full_avg300"
    case someStall = "stall_some"
    case fullStall = "stall_full"
    case thrashing
    case limitShare = "limit_share"
    case processes
    case offScreen = "off_screen"
    case suspended
    case kills = "kills_last_minute"
    case level
    case demand

    /// The kind of the measure's values.
    public var kind: RuleKind {
        switch self {
        case .available, .used, .largest, .fileCache, .purgeable, .compressed, .compressorPool, .swapFree, .swapUsed:
            .memory
        case .compressor: .ladder(CompressorState.allCases.map(\.rawValue))
        case .someAvg10, .someAvg60, .someAvg300, .fullAvg10, .fullAvg60, .fullAvg300, .someStall, .fullStall,
            .thrashing, .limitShare:
            .share
        case .processes, .offScreen, .suspended, .kills: .count
        case .level: .ladder(PressureLevel.allCases.map(\.rawValue))
        case .demand: .choice(ReclaimDemand.names)
        }
    }

    /// The part of the device that is measured; nil: something that every device has.
    public var part: DevicePart? {
        switch self {
        case .swapFree, .swapUsed: .swap
        case .compressed, .compressorPool, .compressor: .compressor
        case .fileCache, .thrashing: .fileCache
        case .available, .used, .largest, .purgeable, .someAvg10, .someAvg60, .someAvg300, .fullAvg10, .fullAvg60,
            .fullAvg300, .someStall, .fullStall, .limitShare, .processes, .offScreen, .suspended, .kills, .level,
            .demand:
            nil
        }
    }

    /// What is measured, for lists.
    public var meaning: String {
        switch self {
        case .available: "memory that is free, or that the system takes for nothing"
        case .used: "all other memory"
        case .largest: "the largest footprint of a process"
        case .fileCache: "pages of files that can be dropped"
        case .purgeable: "memory of processes that can be taken without asking"
        case .compressed: "memory of processes that is compressed, at its full size"
        case .compressorPool: "the memory that the compressor's pool takes"
        case .compressor: "how the compressor fares"
        case .swapFree: "free swap, of all swap"
        case .swapUsed: "used swap, of all swap"
        case .someAvg10, .someAvg60, .someAvg300: "share of time in which a process waited for memory, averaged"
        case .fullAvg10, .fullAvg60, .fullAvg300:
            "share of time in which all processes that could run waited for memory, averaged"
        case .someStall: "share of the last second in which a process waited"
        case .fullStall: "share of the last second in which all processes waited"
        case .thrashing: "file pages that were read again, of the file cache"
        case .limitShare:
            "the largest share of its own limit (of all RAM without one) that a process holds, suspended or not"
        case .processes: "live processes"
        case .offScreen: "processes that run or sleep off screen"
        case .suspended: "suspended processes"
        case .kills: "what the policy ended within the last 60 s"
        case .level: "the monitor's level"
        case .demand: "why the policy is asked"
        }
    }

    /// The range of readings that are possible if processes wait for memory and nothing else happens. The share of
    /// time lost to waiting may grow to all time. If the monitor's measure is stalls, its level may rise, too. The
    /// number of recent kills may fall.
    func readings(afterWaitingFrom value: Int64, _ monitor: MonitorSettings) -> ClosedRange<Int64> {
        switch self {
        case .level where monitor.measure == .stall && !monitor.riseNeedsFewerProcesses:
            value...Int64(PressureLevel.allCases.count - 1)
        case .someAvg10, .someAvg60, .someAvg300, .fullAvg10, .fullAvg60, .fullAvg300, .someStall, .fullStall:
            value...max(value, Ratio.percent(100).partsPerMillion)
        case .kills: min(0, value)...value
        case .available, .used, .largest, .fileCache, .purgeable, .compressed, .compressorPool, .compressor, .swapFree,
            .swapUsed, .thrashing, .limitShare, .processes, .offScreen, .suspended, .level, .demand:
            value...value
        }
    }

    var isNumber: Bool {
        switch kind {
        case .memory, .share, .time, .count: true
        case .ladder, .choice, .name: false
        }
    }

    /// The present reading; nil if the device has no such thing.
    func reading(_ snapshot: SystemSnapshot) -> RuleReading? {
        let measures = snapshot.measures
        return switch self {
        case .available: RuleReading(snapshot.obtainable, of: snapshot.ceiling)
        case .used: RuleReading(snapshot.ceiling - snapshot.obtainable, of: snapshot.ceiling)
        case .largest: RuleReading(snapshot.processes.map(\.footprint).max() ?? .zero, of: snapshot.ceiling)
        case .fileCache: RuleReading(measures.fileBacked, of: snapshot.ceiling)
        case .purgeable: RuleReading(measures.purgeable, of: snapshot.ceiling)
        case .compressed: RuleReading(measures.compressed, of: snapshot.ceiling)
        case .compressorPool: RuleReading(measures.pool, of: snapshot.ceiling)
        case .compressor: RuleReading(Int64(CompressorState.allCases.firstIndex(of: measures.compressor) ?? 0))
        case .swapFree:
            measures.swapTotal > .zero ? RuleReading(measures.swapFree, of: measures.swapTotal) : nil
        case .swapUsed:
            measures.swapTotal > .zero
                ? RuleReading(measures.swapTotal - measures.swapFree, of: measures.swapTotal) : nil
        case .someAvg10: RuleReading(measures.some.avg10)
        case .someAvg60: RuleReading(measures.some.avg60)
        case .someAvg300: RuleReading(measures.some.avg300)
        case .fullAvg10: RuleReading(measures.full.avg10)
        case .fullAvg60: RuleReading(measures.full.avg60)
        case .fullAvg300: RuleReading(measures.full.avg300)
        case .someStall: RuleReading(measures.someLost.share(of: StallMeter.window))
        case .fullStall: RuleReading(measures.fullLost.share(of: StallMeter.window))
        case .thrashing: RuleReading(measures.thrashing)
        case .limitShare: RuleReading(snapshot.processes.map { $0.limitShare(of: snapshot.ceiling) }.max() ?? .zero)
        case .processes: RuleReading(Int64(snapshot.processes.count))
        case .offScreen:
            RuleReading(Int64(snapshot.processes.count { $0.phase == .background || $0.phase.restsInMemory }))
        case .suspended: RuleReading(Int64(snapshot.processes.count { $0.phase.restsInMemory }))
        case .kills: RuleReading(Int64(snapshot.history.kills.count { snapshot.now - $0.at < .minutes(1) }))
        case .level: RuleReading(Int64(PressureLevel.allCases.firstIndex(of: snapshot.level) ?? 0))
        case .demand: RuleReading(Int64(ReclaimDemand.names.firstIndex(of: snapshot.demand.name) ?? 0))
        }
    }

    /// The measure's name in `decisions.csv`, with its unit at the end.
    var column: String {
        switch kind {
        case .memory: "\(rawValue)_bytes"
        case .share: "\(rawValue)_ppm"
        case .time, .count, .ladder, .choice, .name: rawValue
        }
    }
}

/// A claim about the device: `psi_full_avg10 > 60% for 30s`.
public struct SystemClaim: Hashable, Sendable, CustomStringConvertible {
    /// The measure that the claim is about.
    public var measure: SystemMeasure
    /// How the measure is compared with the value.
    public var comparison: RuleComparison
    /// What the measure is compared with.
    public var value: RuleValue
    /// The claim counts only after it has held this long without a break.
    public var duration: TimeSpan
    /// The parameter that gives the value; nil: the rule states it.
    public var valueFrom: String?
    /// The parameter that gives the duration; nil: the rule states it.
    public var durationFrom: String?

    /// A claim that the comparison of `measure` with `value` has held for at least `duration`.
    public init(_ measure: SystemMeasure, _ comparison: RuleComparison, _ value: RuleValue, for duration: TimeSpan) {
        self.measure = measure
        self.comparison = comparison
        self.value = value
        self.duration = duration
    }

    /// The claim with its present values.
    public var description: String {
        let claim = "\(measure.rawValue) \(comparison.rawValue) \(value)"
        return duration == .zero ? claim : "\(claim) for \(duration)"
    }

    /// The claim as scenarios write it.
    public var written: String {
        let claim = "\(measure.rawValue) \(comparison.rawValue) \(valueFrom.map { "$" + $0 } ?? "\(value)")"
        if let durationFrom { return "\(claim) for $\(durationFrom)" }
        return duration == .zero ? claim : "\(claim) for \(duration)"
    }

    /// Whether the claim holds at this moment, regardless of its duration.
    func holds(in snapshot: SystemSnapshot) -> Bool {
        guard let reading = measure.reading(snapshot) else { return false }
        return comparison.holds(reading.value, reading.threshold(value, measure.kind))
    }

    /// Whether the claim may hold later although only time passes. With `outcome` false: whether it may cease to
    /// hold.
    func mayHold(_ outcome: Bool, afterWaitingFrom snapshot: SystemSnapshot) -> Bool {
        guard let reading = measure.reading(snapshot) else { return !outcome }
        let threshold = reading.threshold(value, measure.kind)
        let readings = measure.readings(afterWaitingFrom: reading.value, snapshot.monitor)
        // The result of a comparison changes only at the threshold.
        return [readings.lowerBound, threshold - 1, threshold, threshold + 1, readings.upperBound].contains {
            readings.contains($0) && comparison.holds($0, threshold) == outcome
        }
    }

    /// What was observed against which threshold.
    func evidence(in snapshot: SystemSnapshot, rule: String) -> Evidence? {
        guard let reading = measure.reading(snapshot) else { return nil }
        return Evidence(
            measure.column, observed: reading.value, threshold: reading.threshold(value, measure.kind),
            rule: "rule '\(rule)': \(self)")
    }
}

extension ReclaimDemand {
    /// The kind of a demand, without its amount. The raw values are the names in the CSV and in rules.
    public enum Kind: String, CaseIterable, Sendable {
        case nothing
        case pressure
        case allocation
        case backgroundProcesses = "background_processes"
        case backgroundMemory = "background_memory"
    }

    static let names = Kind.allCases.map(\.rawValue)

    /// The kind of this demand.
    public var kind: Kind {
        switch self {
        case .nothing: .nothing
        case .pressure: .pressure
        case .allocation: .allocation
        case .backgroundProcesses: .backgroundProcesses
        case .backgroundMemory: .backgroundMemory
        }
    }

    /// The demand's name in the CSV and in rules.
    public var name: String { kind.rawValue }
}

extension ProcessSnapshot {
    /// The footprint's share of the process's own limit; of all RAM if it has none.
    func limitShare(of ceiling: ByteCount) -> Ratio { footprint.share(of: limit?.bytes ?? ceiling) }
}
