import Quantities

/// jetsam's thresholds for one size of RAM, as shares of it that are available.
///
/// Source: xnu-11417.101.15; what differs in older releases stands at `row(for:in:)`.
public struct JetsamThresholds: Hashable, Sendable {
    /// Below: any band.
    public var critical: Ratio
    /// Below: band 0 only. A kernel without such a step raises `critical` to it while band 0 is occupied.
    public var idle: Ratio
    /// Below: those over a soft limit only.
    public var soft: Ratio
    /// Below: those that have been idle for long. Zero: the kernel has no reaper.
    public var reaper: Ratio

    public init(critical: Ratio, idle: Ratio, soft: Ratio, reaper: Ratio) {
        self.critical = critical
        self.idle = idle
        self.soft = soft
        self.reaper = reaper
    }

    /// Up to so much RAM the first row holds, and the second; above, the third.
    static let bounds = [ByteCount.gibibytes(3), .gibibytes(6)]

    /// The row for a device with so much RAM under a release of the kernel.
    ///
    /// xnu-8792 has a critical threshold of 5 % up to 3 GiB and of 4 % above, an idle one 5 % above that, and 15 % as
    /// its soft one everywhere. The three classes hold from xnu-10002 on, the reaper from xnu-11417 on.
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
