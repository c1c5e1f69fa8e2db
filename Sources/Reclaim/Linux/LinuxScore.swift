import Pressure
import Quantities

/// How Linux compares processes when memory runs out: `oom_score_adj`, which user space sets for each process, and
/// `oom_score`, which the kernel computes from it.
///
/// Source: Linux 5.9 and later, `oom_badness` and `proc_oom_score`. On Linux page tables count, too; the simulated
/// device has none. The table of bands is Plimsoll's own, with the activity manager's values (`OomScore`).
public enum LinuxScore {
    /// The adjustments that Linux accepts.
    public static let adjustments = -1_000...1_000
    /// A process with this adjustment is never a victim.
    public static let exempt = KernelBadness.exempt

    /// The `oom_score_adj` of a process for which the scenario sets none.
    ///
    /// | Bands | Value | Android's name |
    /// | --- | --- | --- |
    /// | below 10 | 900 | cached |
    /// | 10 to 19 | 800 | service B |
    /// | 20 to 29 | 700 | previous |
    /// | 30 to 39 | 500 | service |
    /// | 40 to 79 | 200 | perceptible |
    /// | 80 to 99 | 100 | visible |
    /// | 100 to 119 | 0 | foreground |
    /// | 120 to 159 | 200 | perceptible |
    /// | 160 to 169 | -700 | persistent service |
    /// | 170 to 189 | -800 | persistent |
    /// | 190 to 998 | -900 | system |
    /// | 999 | -1000 | native |
    ///
    /// Band 120 (audio) is perceptible, as on Android, although jetsam ends it after the foreground.
    public static func adjustment(of band: JetsamBand) -> Int {
        switch band.number {
        case ..<10: OomScore.cached.lowerBound
        case ..<20: OomScore.serviceB
        case ..<30: OomScore.previous
        case ..<40: OomScore.service
        case ..<80: OomScore.perceptible
        case ..<100: OomScore.visible
        case ..<120: OomScore.foreground
        case ..<160: OomScore.perceptible
        case ..<170: OomScore.persistentService
        case ..<190: OomScore.persistent
        case ..<999: OomScore.system
        default: OomScore.native
        }
    }

    /// The kernel counts in pages of this size.
    private static let page = 4_096
    private static let badness = KernelBadness(release: KernelRelease(5, 9))

    /// The `oom_score`: 0 for an exempt process, otherwise two thirds of 1000, plus the thousandths of `total` that the
    /// process holds, plus its adjustment.
    ///
    /// - Parameters:
    ///   - held: What the process holds in RAM and in swap.
    ///   - total: RAM and swap together.
    static func score(holding held: ByteCount, adjustment: Int, of total: ByteCount) -> Int64 {
        let total = max(1, total.bytes / page)
        let points = badness.points(
            rss: held.bytes / page, swap: 0, pageTables: 0, adjustment: adjustment, root: false, total: total)
        return Int64(badness.oomScore(points: points, total: total))
    }
}

extension ProcessSnapshot {
    /// The process's `oom_score_adj`: what the scenario sets, or else what follows from the band.
    public var oomScoreAdj: Int { declaredOomScoreAdj ?? LinuxScore.adjustment(of: band) }

    /// What the process holds in RAM (`VmRSS`). `footprint` also counts what is in swap.
    public var residentSize: ByteCount { max(.zero, footprint - swapped) }
}

extension SystemSnapshot {
    /// Linux's `oom_score` of a process on this device.
    func linuxScore(of process: ProcessSnapshot) -> Int64 {
        LinuxScore.score(
            holding: process.footprint, adjustment: process.oomScoreAdj, of: ceiling + measures.swapTotal)
    }

    /// The memory that processes have or can get: what is available, and what they and those that have just ended hold
    /// in RAM (`AnonPages`).
    var userMemory: ByteCount { processes.reduce(available + measures.returning) { $0 + $1.residentSize } }
}
