import Memory
import Plan
import Quantities
import Reclaim
import Scenario

/// Turns a kernel's OOM report into a scenario that begins in the report's state: every process of the table is alive,
/// with its `oom_score_adj` and all that the rule counts of it, and the requester asks for memory.
///
/// The simulated device has no swap. So its memory stands for RAM and swap together, which is also what the rule
/// compares with, and a process holds as much as it held in RAM, in swap and in page tables. In a memory group's report
/// the device is the group, with its limit as the ceiling.
public struct KernelOOMImport: Sendable {
    /// A process of the scenario.
    public struct Member: Sendable {
        /// Its name in the scenario: valid and unique.
        public let name: String
        /// Its row in the report.
        public let task: KernelTask
        /// What it holds here, in whole pages of the device.
        public let footprint: ByteCount
    }

    /// The report and the rule's answer.
    public let verdict: KernelVerdict
    /// The processes, in the table's order.
    public let members: [Member]
    /// Every size is the report's divided by this, so that the machine fits on the largest device.
    public let divisor: Int
    let ceiling: ByteCount
    let reserved: ByteCount
    /// What is available when the run begins.
    let available: ByteCount
    /// How far the ceiling exceeds RAM and swap, or the group's limit, because the processes would not fit.
    let raised: ByteCount
    /// Processes of a larger table that are part of the reserved memory: those with fewest points.
    let left: Int
    /// The requester's place among the members; nil: it is not in the table.
    let requester: Int?
    let requesterName: String
    private let source: String

    /// The most processes that the scenario takes from a table, beside the requester.
    static let mostProcesses = RunPlan.mostApps - 1
    private static let page = 4_096

    /// Makes the scenario of one report.
    ///
    /// - Parameters:
    ///   - log: The file's reports.
    ///   - number: Which of them, from 1; nil: the last one.
    ///   - file: The file's name.
    /// - Throws: That there is no such report, or no table in it, in one line.
    public init(_ log: KernelLog, number: Int? = nil, file: String) throws(ScenarioFault) {
        let report = try log.report(number)
        verdict = KernelVerdict(report)
        source = onOneLine(file.split(separator: "/").last.map(String.init) ?? "a log")
        guard !report.tasks.isEmpty else {
            throw KernelLog.fault(
                file,
                "the report at line \(report.line) has no table of processes (vm.oom_dump_tasks is 0, or it is "
                    + "cut); expected one to begin with")
        }
        let all = report.tasks.indices
        let kept = all.count <= Self.mostProcesses ? Array(all) : Self.heaviest(verdict)
        left = all.count - kept.count
        let held = report.size(report.sum(\.heldPages))
        let told = verdict.total.map(report.size)
        let whole = max(told ?? held, held)
        var divisor = 1
        while whole.bytes / divisor > MemoryLimits.highestCeiling.bytes - (64 << 20) { divisor *= 2 }
        self.divisor = divisor
        func scaled(_ size: ByteCount) -> ByteCount { ByteCount(size.bytes / divisor / Self.page * Self.page) }
        var names = ImportedNames()
        members = kept.map { place in
            let task = report.tasks[place]
            return Member(
                name: names.name(for: task.name), task: task,
                footprint: max(ByteCount(Self.page), scaled(report.size(task.heldPages))))
        }
        requesterName = names.name(for: "requester")
        requester = Self.requester(of: report, among: members)
        let sum = members.reduce(ByteCount.zero) { $0 + $1.footprint }
        let goal = max(.mebibytes(1), scaled(told ?? held))
        let room = min(max(.kibibytes(512), ByteCount(goal.bytes / 256 / Self.page * Self.page)), .mebibytes(8))
        // The requester grows by this much before the kernel looks: by less than what it lacks to be the victim.
        let margin = verdict.badness.countsThousandths ? nil : verdict.margin
        available = margin.map { min(room, max(.kibibytes(64), scaled(report.size($0 / 2)))) } ?? room
        let own = requester == nil ? ByteCount.kibibytes(256) : .zero
        ceiling = max(goal, sum + own + available)
        raised = ceiling - goal
        reserved = max(.zero, ceiling - sum - own - available)
    }

    /// The places of the processes with most points, and of those that are never chosen last; in the table's order.
    private static func heaviest(_ verdict: KernelVerdict) -> [Int] {
        let isRanked = Set(verdict.ranking)
        let order = verdict.ranking + verdict.report.tasks.indices.filter { !isRanked.contains($0) }
        return order.prefix(mostProcesses).sorted()
    }

    private static func requester(of report: KernelReport, among members: [Member]) -> Int? {
        guard let request = report.request, report.request?.order ?? 0 >= 0 else { return nil }
        if let pid = request.pid, let place = members.firstIndex(where: { $0.task.pid == pid }) { return place }
        let named = members.indices.filter { members[$0].task.name == request.name }
        return named.count == 1 ? named[0] : nil
    }

    /// The simulated release: the nearest with the same rule, for what the device can have of it.
    var kernel: LinuxKernel {
        let wanted = verdict.badness
        let fits = LinuxKernel.allCases.filter { kernel in
            let badness = kernel.badness
            return badness.countsThousandths == wanted.countsThousandths && badness.tie == wanted.tie
                && badness.countsAtLeastOne == wanted.countsAtLeastOne
        }
        return fits.last { $0.badness.release <= wanted.release } ?? fits.first ?? .standard
    }

    /// What the import says: the state, the rule's answer, and what the scenario cannot have.
    public var summary: String {
        let report = verdict.report
        let victim = verdict.predicted.flatMap { task in members.first { $0.task.pid == task.pid } }
        return importReport([
            ("report", "\(source), line \(report.line), Linux \(onOneLine(report.release ?? "(not printed)"))"),
            ("device", "\(ceiling.readable)" + (divisor > 1 ? ", 1/\(divisor) of the report" : "")),
            ("processes", "\(members.count)" + (left > 0 ? ", \(left) more are reserved memory" : "")),
            ("requester", requester.map { members[$0].name } ?? "\(requesterName), not in the table"),
            ("rule", "kernel-oom, \(kernel.rawValue): " + (victim.map { "'\($0.name)' is the first" } ?? "nobody")),
        ])
    }
}

extension KernelOOMImport {
    /// A complete scenario, ready to run.
    public var scenario: String {
        let rate = ByteRate(bytesPerSecond: max(1 << 20, available.bytes))
        var lines = heading + ["device: { ceiling: \(ceiling), reserved: \(reserved), linux: \(kernel.rawValue) }"]
        lines += [
            "policy: kernel-oom",
            "limits: { background_time: 1h, protect_audible: false, protect_foreground: false }",
            "apps:", "  # The requester: it takes \(rate), so that soon no page is left.",
        ]
        lines.append(app(rate))
        if members.count > (requester == nil ? 0 : 1) { lines.append("processes:") }
        for (place, member) in members.enumerated() where place != requester {
            lines.append(
                "  - { name: \"\(member.name)\", kind: daemon, oom_score_adj: \(member.task.adjustment), memory: "
                    + "{ base: \(member.footprint), \(objects) }, limits: { active: none, inactive: none, "
                    + "active_fatal: none } }")
        }
        lines += ["# In the report's order, which is that of the kernel's look.", "start:"]
        for (place, member) in members.enumerated() {
            let state = place == requester ? ", state: background" : ""
            lines.append("  - { process: \"\(member.name)\"\(state), footprint: \(member.footprint)\(age(place)) }")
        }
        if requester == nil {
            lines.append(
                "  - { process: \"\(requesterName)\", state: background, footprint: 256KiB\(age(members.count)) }")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private var objects: String { "objects: { constant: 4KiB }" }

    /// The earlier in the table, the older: a report says only the order.
    private func age(_ place: Int) -> String {
        ", age: \(TimeSpan.minutes(10) + .seconds(Int64(members.count - place)))"
    }

    private func app(_ rate: ByteRate) -> String {
        let member = requester.map { members[$0] }
        let base = member?.footprint ?? .kibibytes(256)
        // What is not in the table cannot be chosen.
        let adjustment = member?.task.adjustment ?? KernelBadness.exempt
        return "  - { name: \"\(member?.name ?? requesterName)\", oom_score_adj: \(adjustment), background_modes: "
            + "[location], scenes: { support: false }, limits: { active: \(ceiling * 2), active_fatal: false }, "
            + "memory: { base: \(base), scene: 0B, cache: { size: 0B }, leak: \(rate), \(objects) } }"
    }

    private var heading: [String] {
        let report = verdict.report
        var lines = [
            "# The OOM report at line \(report.line) of \(source).",
            "# Each process holds what the kernel's rule counts of it: RAM, swap and page tables.",
        ]
        if report.constraint == .group {
            let path = onOneLine(report.group.path ?? "not named")
            lines.append("# The device is the memory group (\(path)): its ceiling is the group's limit.")
        } else {
            lines.append("# The device's memory stands for RAM and swap together, which the rule compares with.")
        }
        let swapped = report.sum { $0.swappedPages ?? 0 }
        if swapped > 0 {
            lines.append(
                "# The device has no swap: \(report.size(swapped).readable) that lay there count as held in memory.")
        }
        if verdict.total == nil {
            lines.append("# The report does not say RAM or the limit, so oom_score_adj has another weight here.")
        }
        if raised > .kibibytes(64) {
            lines.append(
                "# The ceiling is \(raised.readable) higher, or the processes would not fit: shared pages count for "
                    + "each, and a group's")
            lines.append("# limit leaves out swap. So an oom_score_adj weighs more here than in the report.")
        }
        if divisor > 1 { lines.append("# Every size is 1/\(divisor) of the report's.") }
        if left > 0 { lines.append("# Left out: \(left.counted("process", "processes")) with fewest points.") }
        if verdict.badness.rootBonus != .none, report.tasks.contains(where: { $0.uid == 0 }) {
            lines.append("# This release spares root's processes a little; the device has no process of root.")
        }
        lines += choice
        return lines + ["plimsoll: 1", "name: kernel-oom", "duration: 10s"]
    }

    /// Whom the kernel ended.
    private var choice: [String] {
        guard let named = verdict.report.killed.first ?? verdict.report.chosen else { return [] }
        let place = members.first { $0.task.pid == named.pid }
        let here = place.map { ", '\($0.name)' here" } ?? ""
        return ["# The kernel ended \(onOneLine(named.name, atMost: 40)) (\(named.pid))\(here)."]
    }
}
