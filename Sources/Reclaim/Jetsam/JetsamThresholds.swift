import Quantities

/// jetsam's thresholds for one size of RAM: shares of that RAM, compared with available memory.
///
/// Source: xnu-11417.101.15; `row(for:in:)` states what differs in older releases.
public struct JetsamThresholds: Hashable, Sendable {
    /// Below this share, jetsam ends processes in any band.
    public var critical: Ratio
    /// Below this share, jetsam ends only processes in band 0. A kernel without this step raises `critical` to this
    /// share while band 0 is occupied.
    public var idle: Ratio
    /// Below this share, jetsam ends only processes over a soft limit.
    public var soft: Ratio
    /// Below this share, jetsam ends only processes that have been idle for long. Zero if the kernel has no reaper.
    public var reaper: Ratio

    /// Thresholds as shares of RAM.
    public init(critical: Ratio, idle: Ratio, soft: Ratio, reaper: Ratio) {
        self.critical = critical
        self.idle = idle
        self.soft = soft
        self.reaper = reaper
    }

    /// The first row applies to RAM up to the first bound, the second row up to the second bound, the third row above
    /// it.
    static let bounds = [ByteCount.gibibytes(3), .gibibytes(6)]

    /// The row for a device with this much RAM under a release of the kernel.
    ///
    /// In xnu-8792 the critical threshold is 5 % for RAM up to 3 GiB and 4 % for more. The idle threshold is 5 % of RAM
    /// above the critical one, and the soft threshold is 15 % for every size. The three classes apply from xnu-10002
    /// on, the reaper from xnu-11417 on.
    public static func row(for ram: ByteCount, in kernel: JetsamKernel = .standard) -> JetsamThresholds {
        var row = newest(for: ram)
        switch kernel {
        case .xnu8792: (row.idle, row.soft, row.reaper) = (row.critical + .percent(5), .percent(15), .zero)
        case .xnu10063, .xnu11215: row.reaper = .zero
        case .xnu11417: break
        }
        return row
    }

    private static func newest(for ram: ByteCount) -> JetsamThresholds {
        if ram <= bounds[0] {
            JetsamThresholds(critical: .percent(5), idle: .percent(10), soft: .percent(15), reaper: .percent(20))
        } else if ram <= bounds[1] {
            JetsamThresholds(critical: .percent(4), idle: .percent(9), soft: .percent(15), reaper: .percent(18))
        } else {
            JetsamThresholds(critical: .percent(4), idle: .percent(8), soft: .percent(12), reaper: .percent(16))
        }
    }
}
