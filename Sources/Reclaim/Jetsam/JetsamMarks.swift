import Pressure
import Quantities

/// The thresholds of a device whose device tree overrides those of jetsam's table.
///
/// Source: xnu-11417.101.15, `kern.memstat_critical_mb`, `_idle_mb`, `_pressure_mb` (soft) and `_reaper_mb`. Nil: the
/// kernel's table decides.
public struct JetsamMarks: Hashable, Sendable {
    /// Below this much available memory, processes in any band are ended.
    public var critical: Threshold?
    /// Below this, only processes in band 0.
    public var idle: Threshold?
    /// Below this, only processes over a soft limit.
    public var soft: Threshold?
    /// Below this, only processes that have been idle for long. It has no effect under a kernel without a reaper.
    public var reaper: Threshold?

    /// Marks; by default the kernel's table decides all of them.
    public init(
        critical: Threshold? = nil, idle: Threshold? = nil, soft: Threshold? = nil, reaper: Threshold? = nil
    ) {
        (self.critical, self.idle, self.soft, self.reaper) = (critical, idle, soft, reaper)
    }

    /// The row of a kernel's table with these marks in place of its figures.
    func applied(to row: JetsamThresholds, of ceiling: ByteCount) -> JetsamThresholds {
        func share(_ mark: Threshold?, _ own: Ratio) -> Ratio { mark?.share(of: ceiling) ?? own }
        return JetsamThresholds(
            critical: share(critical, row.critical), idle: share(idle, row.idle), soft: share(soft, row.soft),
            reaper: row.reaper > .zero ? share(reaper, row.reaper) : .zero)
    }
}

extension DeviceSize {
    /// jetsam's thresholds on this device: the kernel's row for its RAM, with the device's own marks.
    public func thresholds(in kernel: JetsamKernel) -> JetsamThresholds {
        marks.applied(to: JetsamThresholds.row(for: meant, in: kernel), of: ceiling)
    }
}
