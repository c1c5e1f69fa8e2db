import Quantities
import Reclaim

/// What the kernel's rule says about a report's processes: whom it ends, by how much, and who is next.
///
/// The rule is that of the report's release (`KernelBadness`). Where a report prints the score of the chosen process,
/// the score decides between what the release does not settle: whether root's processes are spared a little, which
/// vendors changed, and whether swap counts in a group's total.
public struct KernelVerdict: Sendable {
    /// The report that the verdict is about.
    public let report: KernelReport
    /// The rule.
    public let badness: KernelBadness
    /// Whether the release is a guess from the table's columns.
    public let guessesRelease: Bool
    /// RAM and swap, or the group's limit, in pages; nil: the report does not say, so `oom_score_adj` has no weight.
    public let total: Int?
    /// The points of each process, in the table's order; nil: it can never be chosen. In pages, or before Linux 3.5 in
    /// thousandths of the total.
    public let points: [Int?]
    /// The places of all that can be chosen, the first victim first.
    public let ranking: [Int]
    /// The score of the predicted victim as the kernel prints it; nil: its release prints none, or the total is not
    /// known.
    public let printedScore: Int?

    /// Applies the rule.
    public init(_ report: KernelReport) {
        self.report = report
        guessesRelease = KernelRelease(report.release ?? "") == nil
        let release =
            KernelRelease(report.release ?? "") ?? KernelRelease(report.assumedRelease) ?? KernelRelease(5, 10)
        (badness, total) = KernelVerdict.rule(report, release)
        (points, ranking) = KernelVerdict.ranked(report.tasks, badness, total ?? 0)
        if let total, let first = ranking.first, let most = points[first] {
            printedScore = badness.printedScore(points: most, total: total)
        } else {
            printedScore = nil
        }
    }

    /// The rule and the total under which the report's own score comes out, if there are such; otherwise those of the
    /// release.
    private static func rule(_ report: KernelReport, _ release: KernelRelease) -> (KernelBadness, Int?) {
        let usual: KernelBadness.RootBonus? = hasLaterBonus(report.release ?? "", release) ? .ownShare : nil
        let (plain, total) = (KernelBadness(release: release, rootBonus: usual), report.total.pages)
        guard let score = report.chosen?.score, let victim = report.victim, let total else { return (plain, total) }
        let isEarly = release >= KernelRelease(3, 4)
        let others: [KernelBadness.RootBonus] =
            victim.uid == 0 ? (isEarly ? [.ownShare, .thousandths, .none] : [.none]) : []
        let rules = [plain] + others.map { KernelBadness(release: release, rootBonus: $0) }
        for total in [total, report.totalWithoutSwap].compactMap(\.self) {
            for rule in rules {
                guard let points = points(victim, rule, total), rule.printedScore(points: points, total: total) == score
                else { continue }
                return (rule, total)
            }
        }
        return (plain, total)
    }

    /// Whether a kernel of 3.10 to 3.13 has the root's bonus of 3.14. A guess: vendors' and late stable ones do.
    private static func hasLaterBonus(_ text: String, _ release: KernelRelease) -> Bool {
        guard release >= KernelRelease(3, 10), release < KernelRelease(3, 14) else { return false }
        let third = text.split(separator: ".").dropFirst(2).first.map { Int($0.prefix(while: \.isNumber)) ?? 0 } ?? 0
        return third >= 30 || text.contains("-")
    }

    private static func points(_ task: KernelTask, _ badness: KernelBadness, _ total: Int) -> Int? {
        badness.points(
            rss: task.residentPages, swap: task.swappedPages ?? 0, pageTables: task.tablePages ?? 0,
            adjustment: task.adjustment, root: task.uid == 0, total: total)
    }

    private static func ranked(_ tasks: [KernelTask], _ badness: KernelBadness, _ total: Int) -> ([Int?], [Int]) {
        let points = tasks.map { KernelVerdict.points($0, badness, total) }
        let places = points.indices.filter { points[$0] != nil }
        let order = places.sorted { a, b in
            let (x, y) = (points[a] ?? 0, points[b] ?? 0)
            return x == y ? (a < b) == (badness.tie == .first) : x > y
        }
        return (points, order)
    }

    // MARK: The answer

    /// Whom the rule chooses; nil: there is no table, or it has only processes that are never chosen.
    public var predicted: KernelTask? { ranking.first.map { report.tasks[$0] } }

    /// Whether the rule chooses the process that the report says was chosen; nil: either is not known.
    public var agrees: Bool? {
        guard let predicted, report.chosen != nil || !report.killed.isEmpty else { return nil }
        if report.victim == predicted { return true }
        // A thread's number stands for its process's, which the next line names.
        return report.killed.contains { $0.pid == predicted.pid } || report.chosen?.pid == predicted.pid
    }

    /// The points of a process of the table.
    public func points(of task: KernelTask) -> Int? {
        report.tasks.firstIndex { $0.pid == task.pid }.flatMap { points[$0] }
    }

    /// How many points the victim has more than the next; nil without a next.
    public var margin: Int? {
        guard ranking.count > 1, let first = points[ranking[0]], let second = points[ranking[1]] else { return nil }
        return first - second
    }

    /// A process by its name, the one with most points first; nil: the table has none.
    public func task(named name: String) -> (task: KernelTask, rank: Int?)? {
        // The kernel keeps 15 bytes of a name.
        let short = String(decoding: name.utf8.prefix(15), as: UTF8.self)
        func fits(_ task: KernelTask) -> Bool { task.name == name || task.name == short || "\(task.pid)" == name }
        if let rank = ranking.firstIndex(where: { fits(report.tasks[$0]) }) {
            return (report.tasks[ranking[rank]], rank)
        }
        return report.tasks.first(where: fits).map { ($0, nil) }
    }

    // MARK: What would have changed it

    /// The highest `oom_score_adj` below its own with which a process is not the victim, and who would be; nil: it is
    /// not the victim now, or nobody else can be.
    public func saving(_ task: KernelTask) -> (adjustment: Int, next: KernelTask)? {
        guard let place = ranking.first, report.tasks[place].pid == task.pid, ranking.count > 1 else { return nil }
        var others = points
        others[place] = nil
        guard let next = badness.victim(among: others) else { return nil }
        func survives(_ adjustment: Int) -> Bool {
            var changed = report.tasks[place]
            changed.adjustment = adjustment
            var points = others
            points[place] = KernelVerdict.points(changed, badness, total ?? 0)
            return badness.victim(among: points) != place
        }
        guard total != nil else { return (KernelBadness.exempt, report.tasks[next]) }
        // Points never fall when the adjustment rises.
        var (low, high) = (KernelBadness.exempt, max(KernelBadness.exempt, task.adjustment))
        while high - low > 1 {
            let middle = (low + high) / 2
            if survives(middle) { low = middle } else { high = middle }
        }
        return (low, report.tasks[next])
    }

    /// The least total above the report's with which another process is chosen, holding what it holds now; nil: none
    /// is, because no other has a higher `oom_score_adj`, or the total is not known.
    public var growth: (pages: Int, next: KernelTask)? {
        guard let total, let place = ranking.first, !badness.countsThousandths else { return nil }
        let victim = report.tasks[place]
        var least: Int?
        for other in ranking.dropFirst() where report.tasks[other].adjustment > victim.adjustment {
            let gap = (points[place] ?? 0) - (points[other] ?? 0)
            let step = report.tasks[other].adjustment - victim.adjustment
            let more = (gap / step + 1) * 1_000
            least = min(least ?? .max, more)
        }
        guard let least, least <= total * 3 else { return nil }
        let (_, changed) = KernelVerdict.ranked(report.tasks, badness, total + least)
        guard let next = changed.first, next != place else { return nil }
        return (least, report.tasks[next])
    }
}
