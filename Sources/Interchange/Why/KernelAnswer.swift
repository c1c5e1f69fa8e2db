import Quantities
import Reclaim
import Scenario

/// The sentences about one OOM report of a kernel.
struct KernelAnswer {
    private let verdict: KernelVerdict
    /// The process that is asked about.
    private let asked: (task: KernelTask, rank: Int?)?

    /// - Throws: That the table has no such process.
    init(_ verdict: KernelVerdict, app: String?, file: String) throws(ScenarioFault) {
        self.verdict = verdict
        guard let app else {
            asked = nil
            return
        }
        guard let found = verdict.task(named: app) else {
            let table = verdict.report.tasks.isEmpty ? "the report has no table of processes" : "no such process in it"
            throw KernelLog.fault(file, "there is no '\(app.shortened().onOneLine)': \(table)")
        }
        asked = found
    }

    private var report: KernelReport { verdict.report }
    private typealias Sentence = WhyReport.Sentence

    var sentences: [WhyReport.Sentence] {
        [who] + [about, constraint, held].compactMap(\.self) + changes + others + doubts
    }

    // MARK: Words

    private func name(_ name: String) -> String { onOneLine(name, atMost: 40) }
    private func name(_ task: KernelTask) -> String { "\(name(task.name)) (\(task.pid))" }
    private func size(_ pages: Int) -> String { report.size(pages).readable }
    private func kibibytes(_ size: Int) -> String { ByteCount(min(size, KernelText.mostNumber) << 10).readable }

    private var unit: String { verdict.badness.countsThousandths ? "thousandths" : "points" }

    private func points(_ task: KernelTask) -> String {
        verdict.points(of: task).map { "\($0.grouped)" } ?? "none, it is exempt"
    }

    // MARK: Who, and by how much

    private var who: WhyReport.Sentence {
        let release = report.release.map { "Linux \(name($0))" } ?? "Linux (release not printed)"
        switch report.outcome {
        case .panic?:
            return Sentence("\(release) stopped the machine: vm.panic_on_oom asks for a panic in place of a victim.")
        case .noneLeft?: return Sentence("\(release) found no process that it may end.")
        case .requester?:
            let ended = report.killed.first ?? report.chosen
            return Sentence(
                "\(release) ended \(ended.map { "\(name($0.name)) (\($0.pid))" } ?? "a process") because it asked for "
                    + "memory: vm.oom_kill_allocating_task is set, so no points were compared.")
        case nil: break
        }
        if let task = report.victim, verdict.agrees == true { return Sentence("\(release) ended \(ending(task))") }
        if let ended = report.killed.first ?? report.chosen {
            var text = "\(release) ended \(name(ended.name)) (\(ended.pid))."
            if let task = verdict.predicted, verdict.agrees == true {
                text = "\(release) ended \(ending(task))"
            } else if let task = verdict.predicted {
                text += " By the rule it would be \(name(task)) with \(points(task)) \(unit)"
                text +=
                    report.victim.map { ", not this one with \(points($0))." } ?? "; the table lacks the ended one."
            } else if report.tasks.isEmpty {
                text +=
                    " The report has no table of processes (vm.oom_dump_tasks is 0, or it is cut), so nobody can "
                    + "say by how much, or who was next."
            }
            return Sentence(text)
        }
        guard let task = verdict.predicted else {
            return Sentence(
                "\(release) was out of memory; the report is cut before any process, so no victim is known.")
        }
        return Sentence(
            "\(release) was out of memory; the report is cut before its victim. By the rule \(ending(task))")
    }

    /// What asked for memory, where the report says it.
    private var demand: String {
        guard let request = report.request, !request.name.isEmpty, request.order ?? 0 >= 0 else { return "" }
        return " when \(name(request.name))\(request.pid.map { " (\($0))" } ?? "") asked for memory"
    }

    private func counted(_ task: KernelTask) -> String {
        let isOne = verdict.points(of: task) == 1
        return points(task) + " " + (isOne ? String(unit.dropLast()) : unit)
    }

    /// The victim with its points, and the next.
    private func ending(_ task: KernelTask) -> String {
        var text = "\(name(task))\(demand): it had \(counted(task))"
        if let score = report.chosen?.score {
            text += " (printed score \(score)" + (verdict.printedScore == score ? "" : ", not reproduced") + ")"
        }
        text += ", "
        if verdict.ranking.count > 1 {
            let next = report.tasks[verdict.ranking[1]]
            text +=
                verdict.margin == 0
                ? "as many as \(name(next)); of equals the \(verdict.badness.tie == .first ? "first" : "last") dies."
                : "the next, \(name(next)), \(points(next))."
            if verdict.margin == 0, verdict.points(of: task) == 1, verdict.badness.countsAtLeastOne {
                text += " Before Linux 5.9 points below 1 count as 1, so sizes did not decide."
            }
        } else {
            text += "and no other process could be chosen."
        }
        if let child = report.sacrificed {
            text += " In its place its child \(name(child.name)) (\(child.pid)) was ended, as kernels before 5.2 do."
        }
        return text + (report.endsGroup ? " Its whole group ended with it (memory.oom.group)." : "")
    }

    /// The process that is asked about.
    private var about: WhyReport.Sentence? {
        guard let asked else { return nil }
        let task = asked.task
        guard let rank = asked.rank else {
            return Sentence("\(name(task)) has oom_score_adj -1000, so it is never chosen.")
        }
        let adjustment = task.adjustment == 0 ? "" : ", with an oom_score_adj of \(task.adjustment)"
        let place = rank == 0 ? "the first to go" : "number \(rank + 1) of \(verdict.ranking.count)"
        return Sentence("\(name(task)) is \(place): \(points(task)) \(unit), \(size(task.heldPages))\(adjustment).")
    }

    // MARK: The constraint

    private var constraint: WhyReport.Sentence? {
        switch report.constraint {
        case .group: return Sentence(groupText)
        case .cpuset, .memoryPolicy:
            let nodes = report.nodes.map { $0.isEmpty ? "its nodes" : "node \(name($0))" } ?? "its nodes"
            let what = report.constraint == .cpuset ? "cpuset \(name(report.cpuset ?? ""))" : "a memory policy"
            return Sentence(
                "Only \(nodes) could be used (\(what)): free memory elsewhere did not count, but the rule counts what "
                    + "a process holds on every node, so the victim may hold little of what was short.")
        case .none: return machineText.map { Sentence($0) }
        }
    }

    private var groupText: String {
        let group = report.group.path.map { " \(name($0))" } ?? ""
        guard let limit = report.group.limitKiB else {
            return "The memory group\(group) was at its limit, which the report does not say; only its processes count."
        }
        var text = "The memory group\(group) was at its limit of \(kibibytes(limit))"
        if let both = report.group.bothLimitKiB, let used = report.group.bothUsageKiB, used >= both {
            text += " with swap \(kibibytes(both))"
        }
        return text + "; only its processes count, and memory that is free elsewhere does not help."
    }

    private var machineText: String? {
        let memory = report.memory
        if let order = report.request?.order, order < 0 {
            let free = memory.free.map { " with \(size($0)) free" } ?? ""
            return "Nobody lacked memory: SysRq-f asked for a victim\(free)."
        }
        guard let free = memory.free else {
            guard let ram = memory.usable else {
                return "The whole machine was short; the report does not say its size."
            }
            return "The whole machine was short: \(size(ram)) of RAM\(swapText)."
        }
        var text = "The whole machine was short: \(size(free)) "
        text += memory.usable.map { "of \(size($0)) " } ?? ""
        text += "of RAM were free\(swapText)."
        guard let mask = report.request?.mask else { return text }
        if let order = report.request?.order, order > 0 {
            text +=
                " The request was for \(1 << min(order, 20)) pages in one piece, so free memory in smaller pieces "
                + "did not help."
        }
        let zones = memory.zones(for: mask)
        let short = zones.filter { memory.room(in: $0, for: mask, page: max(1, report.pageSize / 1_024)) < 0 }
        if !zones.isEmpty, zones.count < memory.zones.count {
            text += " It may use only " + listed(zones.map { "\($0.name) of node \($0.node)" }) + "."
        } else if !zones.isEmpty, short.count == zones.count {
            text += " What is free is each zone's reserve, which ordinary requests may not use."
        }
        return text
    }

    private var swapText: String {
        guard let total = report.memory.swapTotalKiB else { return "" }
        if total == 0 { return ", without swap" }
        guard let free = report.memory.swapFreeKiB else { return " and \(kibibytes(total)) of swap" }
        return ", \(kibibytes(free)) of \(kibibytes(total)) of swap"
    }

    private func listed(_ names: [String]) -> String {
        names.count > 4
            ? names.prefix(3).joined(separator: ", ") + " and \(names.count - 3) more"
            : names.joined(separator: ", ")
    }

    // MARK: What held the memory

    private var held: WhyReport.Sentence? {
        report.constraint == .group ? heldInGroup : heldOnMachine
    }

    private var heldOnMachine: WhyReport.Sentence? {
        let memory = report.memory
        guard memory.isTold, let all = memory.usable ?? memory.anonymous else {
            guard !report.tasks.isEmpty else { return nil }
            let resident = report.sum(\.residentPages)
            let above = memory.usable.map { resident > $0 } ?? false
            return Sentence(
                "By the table processes held \(size(resident)) in RAM\(above ? " (shared pages count for each)" : "")"
                    + swap(report.sum { $0.swappedPages ?? 0 })
                    + "; the report says nothing of caches and the kernel.")
        }
        let shared = memory.shared ?? 0
        let unit = max(1, report.pageSize / 1_024)
        let parts: [(String, Int)] = [
            ("processes' own memory", max(0, (memory.anonymous ?? 0) - shared)), ("shared memory and tmpfs", shared),
            ("files", memory.file ?? 0), ("unreclaimable slab", memory.slabUnreclaimable ?? 0),
            ("reclaimable slab", memory.slabReclaimable ?? 0), ("page tables", memory.pageTables ?? 0),
            ("kernel stacks", (memory.kernelStackKiB ?? 0) / unit), ("huge-page pools", memory.hugeKiB / unit),
        ]
        let large = parts.filter { $0.1 > all / 100 }.sorted { $0.1 > $1.1 }
        let rest = all - parts.reduce(0) { $0 + $1.1 } - (memory.free ?? 0)
        var texts = large.prefix(5).map { "\($0.0) \(size($0.1))" }
        if memory.usable != nil, rest > all / 50, memory.slabUnreclaimable != nil {
            texts.append("what the report does not name (drivers, the kernel) \(size(rest))")
        }
        guard !texts.isEmpty else { return nil }
        return Sentence("RAM was held by " + texts.joined(separator: ", ") + ".")
    }

    private var heldInGroup: WhyReport.Sentence? {
        let statistics = report.group.statistics
        let names = [
            ("anon", "processes' own memory"), ("shmem", "shared memory"), ("file", "page cache"),
            ("file_dirty", "of it not yet written"), ("slab", "slab"), ("kernel_stack", "kernel stacks"),
            ("pagetables", "page tables"),
        ]
        let parts = names.compactMap { key, words in
            statistics[key].flatMap { $0 > 1 << 20 ? "\(words) \(ByteCount($0).readable)" : nil }
        }
        if !parts.isEmpty { return Sentence("It held " + parts.joined(separator: ", ") + ".") }
        guard !report.tasks.isEmpty, let used = report.group.usageKiB else { return nil }
        let (resident, swapped) = (report.sum(\.residentPages), report.sum { $0.swappedPages ?? 0 })
        let usage = used / max(1, report.pageSize / 1_024)
        var text = "By the table its processes held \(size(resident)) in RAM\(swap(swapped))"
        if resident < usage - usage / 10 {
            text +=
                "; the other \(size(usage - resident)) were page cache or the kernel's, which no choice of a victim "
                + "gives back for sure"
            if report.request?.flags.contains("GFP_NOFS") == true {
                text += ", and the request (GFP_NOFS) could not wait for files to be written"
            }
        }
        return Sentence(text + ".")
    }

    // MARK: What would have changed it

    private var changes: [WhyReport.Sentence] {
        guard let victim = verdict.predicted, report.outcome == nil else { return [] }
        var texts: [String] = []
        if let saving = verdict.saving(victim) {
            texts.append(
                "at the price of \(name(saving.next)), which gives back \(size(saving.next.heldPages)) in place of "
                    + "\(size(victim.heldPages)): \(adjustment(saving.adjustment)) for \(name(victim.name))"
                    + (victim.adjustment == 0 ? "" : " (it has \(victim.adjustment))"))
        }
        if let growth = verdict.growth {
            let what = report.constraint == .group ? "limit" : "RAM or swap"
            texts.append(
                "at the price of \(size(growth.pages)) more \(what): \(name(growth.next)) would go, because a higher "
                    + "oom_score_adj weighs more there")
        }
        var sentences =
            texts.isEmpty
            ? [
                Sentence(
                    "No setting of the victim would have changed the choice: nobody else could be chosen.", weight: 2)
            ]
            : [Sentence("The choice changes " + texts.joined(separator: "; ") + ".", weight: 1)]
        if let asked, let rank = asked.rank, rank > 0, let first = verdict.points(of: victim),
            let own = verdict.points(of: asked.task)
        {
            sentences.append(
                Sentence(
                    "\(name(asked.task.name)) would have to hold \((first - own).grouped) \(unit) more to be the "
                        + "victim.", weight: 1))
        }
        if let room { sentences.append(Sentence(room, weight: 3)) }
        return sentences
    }

    private func adjustment(_ value: Int) -> String {
        guard verdict.total != nil || verdict.margin == nil else {
            return
                "an oom_score_adj that weighs more than \((verdict.margin ?? 0).grouped) \(unit) less (the total is "
                + "not told)"
        }
        return "an oom_score_adj of \(value)" + (value > KernelBadness.exempt ? " or lower" : "")
    }

    /// What processes had in swap, in words.
    private func swap(_ pages: Int) -> String {
        report.layout?.showsAll == false ? "" : pages > 0 ? " and \(size(pages)) in swap" : " and nothing in swap"
    }

    /// What would have made the choice unnecessary, as far as a report can say it.
    private var room: String? {
        let pages = 1 << max(0, report.request?.order ?? 0)
        guard report.request?.order ?? 0 >= 0 else { return nil }
        let swapped = report.sum { $0.swappedPages ?? 0 }
        if report.constraint == .group, let limit = report.group.limitKiB {
            let unit = max(1, report.pageSize / 1_024)
            let all = report.sum(\.heldPages)
            guard all > limit / unit else { return nil }
            return "To hold in RAM all that its processes had, the group would need a limit of \(size(all))."
        }
        guard swapped > 0, let ram = report.memory.usable else {
            return "A report shows a moment, not how much more would have been asked for: at least \(size(pages))."
        }
        return "To hold in RAM what its processes had in swap, the machine would need \(size(ram + swapped))."
    }

    // MARK: Other killers, and doubts

    private var others: [WhyReport.Sentence] {
        guard report.constraint == .none else {
            return [
                Sentence(
                    "earlyoom, nohang and systemd-oomd watch the whole machine, which this report does not show.",
                    weight: 4)
            ]
        }
        return OtherKillers(verdict).words.map { Sentence($0, weight: 2) }
    }

    private var doubts: [WhyReport.Sentence] {
        var texts: [String] = []
        if verdict.guessesRelease, !report.tasks.isEmpty {
            texts.append("The release is a guess from the table's columns: \(verdict.badness.release).")
        }
        if verdict.total == nil, report.tasks.contains(where: { $0.adjustment != 0 && $0.adjustment != -1_000 }) {
            texts.append("The report does not say the total, so oom_score_adj is not weighed.")
        }
        if case .fromScore(let pages) = report.total {
            texts.append("The total of \(size(pages)) follows from the printed score.")
        }
        if report.layout?.isStated == false { texts.append("The table's header is missing; its columns are a guess.") }
        if report.layout?.showsAll == false { texts.append("The table shows neither swap nor page tables.") }
        if report.brokenRows > 0 { texts.append("\(report.brokenRows.counted("row")) of the table cannot be read.") }
        return texts.map { WhyReport.Sentence($0, weight: 1) }
    }
}
