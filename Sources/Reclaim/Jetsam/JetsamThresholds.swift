import Quantities

/// jetsam's thresholds for one size of RAM, as available shares of it.
///
/// Source: xnu-11417.101.15; `row(for:in:)` states what differs in older releases.
public struct JetsamThresholds: Hashable, Sendable {
    /// Below it, jetsam ends processes in any band.
    public var critical: Ratio
    /// Below it, processes in band 0 only. A kernel without this step raises `critical` to it while band 0 is occupied.
    public var idle: Ratio
    /// Below it, only processes over a soft limit.
    public var soft: Ratio
    /// Below it, only processes that have been idle for long. Zero: the kernel has no reaper.
    public var reaper: Ratio

    /// Thresholds as shares of RAM.
    public init(critical: Ratio, idle: Ratio, soft: Ratio, reaper: Ratio) {
        self.critical = critical
        self.idle = idle
        self.soft = soft
        self.reaper = reaper
    }

    /// The first row applies up to the first bound, the second up to the second, the third above.
    static let bounds = [ByteCount.gibibytes(3), .gibibytes(6)]

    /// The row for a device with this much RAM under a release of the kernel.
    ///
    /// xnu-8792 has a critical threshold of 5 % up to 3 GiB and of 4 % above, an idle one 5 % above the critical one,
    /// and a soft one of 15 % everywhere. The three classes apply from xnu-10002 on, the reaper from xnu-11417 on.
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
