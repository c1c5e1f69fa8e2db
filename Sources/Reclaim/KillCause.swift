import Pressure

/// Why jetsam ends a process, in the kernel's words. Other policies use the words that fit.
///
/// Source: xnu-11417.101.15. Causes that this device cannot have (vnodes, disk, zones, swap) occur only in
/// imported reports.
public enum KillCause: String, CaseIterable, Sendable {
    case jettisoned
    case highwater
    case vnodeLimit = "vnode-limit"
    case pageShortage = "vm-pageshortage"
    case processThrashing = "proc-thrashing"
    case fileCacheThrashing = "fc-thrashing"
    case perProcessLimit = "per-process-limit"
    case diskSpaceShortage = "disk-space-shortage"
    case idleExit = "idle-exit"
    case zoneMapExhaustion = "zone-map-exhaustion"
    case compressorThrashing = "vm-compressor-thrashing"
    case compressorSpaceShortage = "vm-compressor-space-shortage"
    case lowSwap = "low-swap"
    case sustainedPressure = "sustained-memory-pressure"
    case pageoutStarvation = "vm-pageout-starvation"
    case longIdleExit = "long-idle-exit"
}

/// How many processes were ended, by band and cause.
public struct KillTable: Hashable, Sendable {
    /// The count for one band and one cause.
    public struct Cell: Hashable, Sendable {
        /// The band the processes were in.
        public var band: JetsamBand
        /// Why they were ended.
        public var cause: KillCause
        /// How many were ended; at least one.
        public var count: Int
    }

    /// Sorted by rising band, then in the order of `KillCause.allCases`; no cell is zero.
    public private(set) var cells: [Cell] = []

    /// An empty table.
    public init() {}

    /// The number of kills in all cells.
    public var total: Int { cells.reduce(0) { $0 + $1.count } }

    /// Counts one kill.
    public mutating func count(_ cause: KillCause, in band: JetsamBand) {
        if let index = cells.firstIndex(where: { $0.band == band && $0.cause == cause }) {
            cells[index].count += 1
            return
        }
        let place = cells.firstIndex { ($0.band, $0.cause.order) > (band, cause.order) } ?? cells.endIndex
        cells.insert(Cell(band: band, cause: cause, count: 1), at: place)
    }

    /// The number of kills with this band and cause.
    public subscript(band: JetsamBand, cause: KillCause) -> Int {
        cells.first { $0.band == band && $0.cause == cause }?.count ?? 0
    }

    /// Removes all counts.
    public mutating func clear() { cells.removeAll() }
}

extension KillCause {
    /// It in plain words, for people who do not know the kernel's.
    public var words: String {
        switch self {
        case .highwater: "above the process's own soft limit"
        case .perProcessLimit: "at the process's own fatal limit"
        case .pageShortage: "the system was short of free memory"
        case .idleExit: "idle while memory was short"
        case .longIdleExit: "idle for long while memory was short"
        case .compressorSpaceShortage: "the compressor was full"
        case .compressorThrashing: "memory was compressed and needed again in turns"
        case .processThrashing: "apps took memory from each other in turns"
        case .fileCacheThrashing: "files were read again and again"
        case .sustainedPressure: "memory had been short for long"
        case .pageoutStarvation: "the system could not free memory fast enough"
        case .zoneMapExhaustion: "the kernel's own memory was full"
        case .vnodeLimit: "the kernel's table of files was full"
        case .diskSpaceShortage: "the storage was full"
        case .lowSwap: "the swap space was full"
        case .jettisoned: "another process asked for the end"
        }
    }

    /// Its position among all cases.
    fileprivate var order: Int { KillCause.allCases.firstIndex(of: self) ?? 0 }
}
