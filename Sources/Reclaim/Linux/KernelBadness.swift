/// How a release of Linux ranks processes when no page can be found: the rule of the kernel's OOM killer.
///
/// All sizes are in pages, and every division drops the remainder, as in the kernel. The rule changed at these releases
/// (`mm/oom_kill.c`, unless another file is named):
///
/// | Release | What changed | Function |
/// | --- | --- | --- |
/// | 2.6.36 | points are thousandths of the memory, from 1 to 1000; `oom_score_adj` is added | `oom_badness` |
/// | 3.5 | points are pages; `oom_score_adj` counts as so many thousandths of the pages | `oom_badness` |
/// | 3.14 | a process of root has 3 % of its own pages less, no longer 30 thousandths of the memory | `oom_badness` |
/// | 4.17 | a process of root has no bonus | `oom_badness` |
/// | 5.2 | a child no longer dies for its parent; the score is no longer printed | `oom_kill_process` |
/// | 5.3 | of equals the one that is found last dies, no longer the first | `oom_evaluate_task` |
/// | 5.9 | points may be zero or negative; before, they counted as 1 | `oom_badness` |
/// | 5.9 | `/proc/PID/oom_score` is two thirds of 1000 plus the thousandths | `proc_oom_score` of `fs/proc/base.c` |
///
/// A vendor's kernel may have a change of a later release. Stable and vendor kernels of 3.4 to 3.13 may have the
/// root's bonus of 3.14: say so with `rootBonus`. A release before 2.6.36 has an older rule, which is not reproduced:
/// such a release counts as 2.6.36.
public struct KernelBadness: Hashable, Sendable {
    /// What a process with the capability of an administrator (`CAP_SYS_ADMIN`) counts less.
    public enum RootBonus: Hashable, Sendable {
        /// 30 thousandths of the memory. Source: Linux 2.6.36 to 3.13, `oom_badness`.
        case thousandths
        /// 3 % of what the process holds. Source: Linux 3.14 to 4.16, `oom_badness`.
        case ownShare
        /// Nothing. Source: Linux 4.17 and later, `oom_badness`.
        case none
    }

    /// Which one of several processes with the same points dies, in the order in which the kernel finds them: the
    /// order in which they began.
    public enum Tie: Hashable, Sendable {
        case first
        case last
    }

    /// A process with this `oom_score_adj` never dies (`OOM_SCORE_ADJ_MIN`).
    public static let exempt = -1_000
    /// The largest size that the rule takes for one of its inputs, in pages; larger ones count as this.
    public static let most = 1 << 50

    /// The release.
    public let release: KernelRelease
    /// What a process of root counts less.
    public let rootBonus: RootBonus

    /// The rule of a release.
    ///
    /// - Parameter rootBonus: The bonus of a vendor's kernel that has another one than the release; nil: the release's.
    public init(release: KernelRelease, rootBonus: RootBonus? = nil) {
        self.release = release
        self.rootBonus = rootBonus ?? Self.rootBonus(of: release)
    }

    private static func rootBonus(of release: KernelRelease) -> RootBonus {
        if release < KernelRelease(3, 14) { return .thousandths }
        return release < KernelRelease(4, 17) ? .ownShare : .none
    }

    /// Whether points are thousandths of the memory, from 1 to 1000. Source: Linux before 3.5, `oom_badness`.
    public var countsThousandths: Bool { release < KernelRelease(3, 5) }

    /// Which of equals dies. Sources: before 3.14 `select_bad_process` takes a later one only for more points; from
    /// 3.14 to 5.2 equal points do not displace the leader of a thread group; from 5.3 `oom_evaluate_task` keeps the
    /// chosen one only against fewer points. The order is that of a shortage of the whole machine; the processes of a
    /// memory control group have an order of their own.
    public var tie: Tie { release < KernelRelease(5, 3) ? .first : .last }

    /// Whether a child dies instead of the process with most points. Source: Linux before 5.2, `oom_kill_process`.
    public var sacrificesChildren: Bool { release < KernelRelease(5, 2) }

    /// Whether points below 1 count as 1. Source: Linux before 5.9, `oom_badness`.
    public var countsAtLeastOne: Bool { release < KernelRelease(5, 9) }

    /// The points of a process; nil: it never dies.
    ///
    /// - Parameters:
    ///   - rss: Its pages in RAM.
    ///   - swap: Its pages in swap.
    ///   - pageTables: The pages of its page tables.
    ///   - adjustment: Its `oom_score_adj`, from -1000 to 1000.
    ///   - root: Whether it has the capability of an administrator.
    ///   - total: RAM and swap of the machine, or the limit of the control group that ran short.
    public func points(rss: Int, swap: Int, pageTables: Int, adjustment: Int, root: Bool, total: Int) -> Int? {
        guard adjustment > Self.exempt else { return nil }
        let (held, total) = (Self.size(rss) + Self.size(swap) + Self.size(pageTables), Self.size(total))
        let adjustment = min(adjustment, -Self.exempt)
        if countsThousandths {
            let points = withoutBonus(held * 1_000 / max(1, total), root: root, thousandths: 30) + adjustment
            return min(max(1, points), 1_000)
        }
        let thousandth = total / 1_000
        let points = withoutBonus(held, root: root, thousandths: 30 * thousandth) + adjustment * thousandth
        return countsAtLeastOne ? max(1, points) : points
    }

    private func withoutBonus(_ points: Int, root: Bool, thousandths: Int) -> Int {
        guard root else { return points }
        return switch rootBonus {
        case .thousandths: points - thousandths
        case .ownShare: points - points * 3 / 100
        case .none: points
        }
    }

    private static func size(_ pages: Int) -> Int { min(max(0, pages), most) }

    /// Which process has the most points: its position; nil: none may die.
    ///
    /// - Parameter points: The points of all processes in the order in which they began; nil for one that never dies.
    public func victim(among points: [Int?]) -> Int? {
        var chosen: (index: Int, points: Int)?
        for (index, points) in points.enumerated() {
            guard let points, chosen.map({ displaces($0.points, by: points) }) ?? true else { continue }
            chosen = (index, points)
        }
        return chosen?.index
    }

    /// Whether a process displaces the one that was chosen before it.
    private func displaces(_ chosen: Int, by points: Int) -> Bool { tie == .first ? points > chosen : points >= chosen }

    /// Which child dies instead of its parent, which has most points: the one with most points, the first of equals;
    /// nil: the parent dies itself.
    ///
    /// - Parameter points: The points of those children that do not share the parent's memory, in their order; nil for
    ///   one that never dies.
    public func childSacrificed(among points: [Int?]) -> Int? {
        guard sacrificesChildren else { return nil }
        var chosen: (index: Int, points: Int)?
        for (index, points) in points.enumerated() {
            guard let points, points > (chosen?.points ?? 0) else { continue }
            chosen = (index, points)
        }
        return chosen?.index
    }

    /// The score of the line `Kill process … score N or sacrifice child`; nil: the release prints no such line.
    ///
    /// Sources: before 3.5 `oom_kill_process` prints the points; from 3.5 to 5.1 `select_bad_process` hands it
    /// thousandths of the memory.
    public func printedScore(points: Int, total: Int) -> Int? {
        guard release < KernelRelease(5, 2) else { return nil }
        return countsThousandths ? points : points * 1_000 / max(1, Self.size(total))
    }

    /// What `/proc/PID/oom_score` says of a process with these points; nil points: it never dies.
    ///
    /// Source: `proc_oom_score` of `fs/proc/base.c`: the points before 3.5, thousandths of the memory from 3.5 to 5.8,
    /// and from 5.9 two thirds of 1000 plus the thousandths.
    public func oomScore(points: Int?, total: Int) -> Int {
        guard let points else { return 0 }
        if countsThousandths { return points }
        let thousandths = points * 1_000 / max(1, Self.size(total))
        return countsAtLeastOne ? thousandths : (1_000 + thousandths) * 2 / 3
    }
}
