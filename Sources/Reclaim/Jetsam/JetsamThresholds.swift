import Quantities

/// jetsam's thresholds for one size of RAM, as shares of it that are available.
///
/// Source: xnu-11417.101.15.
public struct JetsamThresholds: Hashable, Sendable {
    /// Below: any band.
    public var critical: Ratio
    /// Below: band 0 only.
    public var idle: Ratio
    /// Below: those over a soft limit only.
    public var soft: Ratio
    /// Below: those that have been idle for long.
    public var reaper: Ratio

    public init(critical: Ratio, idle: Ratio, soft: Ratio, reaper: Ratio) {
        self.critical = critical
        self.idle = idle
        self.soft = soft
        self.reaper = reaper
    }

    /// Up to so much RAM the first row holds, and the second; above, the third.
    static let bounds = [ByteCount.gibibytes(3), .gibibytes(6)]

    /// The row for a device with so much RAM.
    public static func row(for ram: ByteCount) -> JetsamThresholds {
        if ram <= bounds[0] {
            JetsamThresholds(critical: .percent(5), idle: .percent(10), soft: .percent(15), reaper: .percent(20))
        } else if ram <= bounds[1] {
            JetsamThresholds(critical: .percent(4), idle: .percent(9), soft: .percent(15), reaper: .percent(18))
        } else {
            JetsamThresholds(critical: .percent(4), idle: .percent(8), soft: .percent(12), reaper: .percent(16))
        }
    }
}
