import Quantities
import Scenario

/// A kernel's OOM report: the state of a machine, or of a memory group, when the kernel had to end a process.
///
/// Read from kernels 3.2 to 6.12. A report may lack any part: the kernel's ring buffer loses the beginning, people cut
/// the middle, and settings suppress the table.
public struct KernelReport: Sendable {
    /// What a request could not get memory from.
    public enum Constraint: String, Sendable {
        /// The whole machine.
        case none = "CONSTRAINT_NONE"
        /// A memory group at its limit.
        case group = "CONSTRAINT_MEMCG"
        /// The nodes of a cpuset.
        case cpuset = "CONSTRAINT_CPUSET"
        /// The nodes of a memory policy.
        case memoryPolicy = "CONSTRAINT_MEMORY_POLICY"
    }

    /// What asked for memory.
    public struct Request: Hashable, Sendable {
        /// The thread's name.
        public var name: String
        /// The thread's number, if the report shows it.
        public var pid: Int?
        /// 2 to this power pages in one piece; -1: nobody asked, the keys SysRq-f did. Nil: not told.
        public var order: Int?
        /// The request's flags (`gfp_mask`), and their names as the kernel prints them from 4.6 on.
        public var mask: Int?
        public var flags = ""
        /// The requester's `oom_score_adj`.
        public var adjustment: Int?
    }

    /// A memory group. Sizes are in KiB.
    public struct Group: Hashable, Sendable {
        /// The group at its limit.
        public var path: String?
        /// What the group and those below it use, and may use; nil: not told. A limit is nil if there is none.
        public var usageKiB, limitKiB: Int?
        /// Memory and swap together (version 1 of groups).
        public var bothUsageKiB, bothLimitKiB: Int?
        /// Swap alone (version 2).
        public var swapUsageKiB, swapLimitKiB: Int?
        /// Sizes by name from the group's statistics, in bytes: `anon`, `file`, `shmem`, `slab`.
        public var statistics: [String: Int] = [:]
    }

    /// A process that the report names in its last lines.
    public struct Named: Hashable, Sendable {
        public var pid: Int
        public var name: String
        /// The score that kernels before 5.1 print.
        public var score: Int?
    }

    /// Why no process was ended by the rule; nil: one was, or the report is cut.
    public enum Outcome: Sendable {
        /// The kernel stops the machine (`vm.panic_on_oom`).
        case panic
        /// No process could be ended.
        case noneLeft
        /// The requester, by a setting (`vm.oom_kill_allocating_task`).
        case requester
    }

    /// The line of the file at which it begins, from 1.
    public internal(set) var line: Int
    public internal(set) var request: Request?
    /// The kernel's release as printed; nil if it is not.
    public internal(set) var release: String?
    public internal(set) var constraint = Constraint.none
    public internal(set) var group = Group()
    /// The cpuset's name and the nodes that the requester may use.
    public internal(set) var cpuset, nodes: String?
    public internal(set) var memory = KernelMemory()
    /// The processes that could be chosen, in the report's order, which is the order of the kernel's look.
    public internal(set) var tasks: [KernelTask] = []
    /// The layout of the table; nil if there is no table.
    public internal(set) var layout: KernelTableLayout?
    /// Rows that are cut or mixed with other lines.
    public internal(set) var brokenRows = 0
    /// Whom the rule chose, by the report's own lines.
    public internal(set) var chosen: Named?
    /// Whom the kernel ended; several if a whole group is ended at once.
    public internal(set) var killed: [Named] = []
    public internal(set) var outcome: Outcome?
    /// Whether a group is ended as a whole (`memory.oom.group`).
    public internal(set) var endsGroup = false
    /// The size of a page, in bytes: from the report's own figures, or else 4 KiB.
    public internal(set) var pageSize = 4_096
    /// The file, for messages.
    let file: String

    init(file: String, line: Int) { (self.file, self.line) = (file, line) }

    /// The size of a count of pages; a count that no machine has is cut to 2^58 bytes.
    public func size(_ pages: Int) -> ByteCount { ByteCount(min(pages, (1 << 58) / pageSize) * pageSize) }

    /// The sum of a figure over all processes, in pages; cut like a figure.
    func sum(_ figure: (KernelTask) -> Int) -> Int { tasks.reduce(0) { min(KernelText.mostNumber, $0 + figure($1)) } }

    /// The release that decides about the rule: the printed one, or a guess from the table.
    public var assumedRelease: String { release ?? layout?.guessedRelease ?? "5.10" }

    /// The process that the report says the rule chose, if the table has it. A thread stands for its process.
    public var victim: KernelTask? {
        for named in [chosen, killed.first] {
            if let named, let task = tasks.first(where: { $0.pid == named.pid }) { return task }
        }
        return nil
    }

    /// A child that was ended in place of the chosen process, as kernels before 5.2 do; nil if none was.
    public var sacrificed: Named? {
        guard let chosen, let first = killed.first, first.pid != chosen.pid,
            tasks.contains(where: { $0.pid == chosen.pid })
        else { return nil }
        return first
    }

    /// The pages that the rule compares with, and where the figure is from.
    public enum Total: Hashable, Sendable {
        /// From the report: RAM and swap, or the group's limit.
        case told(Int)
        /// From the printed score of the chosen process.
        case fromScore(Int)
        case unknown

        public var pages: Int? {
            switch self {
            case .told(let pages), .fromScore(let pages): pages
            case .unknown: nil
            }
        }
    }

    /// Source: Linux, `constrained_alloc` and `mem_cgroup_get_max` (`mem_cgroup_get_limit` before 4.8).
    public var total: Total {
        let unit = max(1, pageSize / 1_024)
        let swap = memory.swapTotalKiB.map { $0 / unit }
        let told: Int? =
            switch constraint {
            case .none: memory.usable.map { $0 + (swap ?? 0) }
            case .group: groupTotal(unit, swap)
            case .cpuset, .memoryPolicy: nodeTotal(unit).map { $0 + (swap ?? 0) }
            }
        if let told, told > 0 { return .told(told) }
        guard let score = chosen?.score, score > 0, let victim, victim.adjustment == 0, victim.heldPages > 0 else {
            return .unknown
        }
        return .fromScore(max(1, victim.heldPages * 1_000 / score))
    }

    /// The group's limit alone, which is the total where the machine has no swap or the group may use none; nil: not
    /// told, or the same.
    var totalWithoutSwap: Int? {
        guard constraint == .group, let limit = group.limitKiB.map({ $0 / max(1, pageSize / 1_024) }), limit > 0,
            limit != total.pages
        else { return nil }
        return limit
    }

    private func groupTotal(_ unit: Int, _ swap: Int?) -> Int? {
        guard let limit = group.limitKiB.map({ $0 / unit }) else { return nil }
        let swapLimit = group.swapLimitKiB.map { $0 / unit }
        if let both = group.bothLimitKiB.map({ $0 / unit }), both >= limit {
            return swap.map { min(both, limit + $0) } ?? both
        }
        switch (swap, swapLimit) {
        case (let swap?, let most?): return limit + min(swap, most)
        case (let only?, nil), (nil, let only?): return limit + only
        case (nil, nil): return limit
        }
    }

    /// The RAM of the nodes that the requester may use.
    private func nodeTotal(_ unit: Int) -> Int? {
        let allowed = nodeNumbers
        let zones = memory.zones.filter { allowed?.contains($0.node) ?? true }
        guard !zones.isEmpty else { return nil }
        return zones.reduce(0) { min(KernelText.mostNumber, $0 + $1.presentKiB / unit) }
    }

    /// `0-1,3` as ranges; nil if it is not told.
    private var nodeNumbers: [Int]? {
        guard let nodes else { return nil }
        var numbers: [Int] = []
        for part in nodes.split(separator: ",").prefix(64) {
            let ends = part.split(separator: "-").compactMap { Int($0) }.map { min(max($0, 0), 1_023) }
            guard let first = ends.first, let last = ends.last, first <= last else { continue }
            numbers += first...last
        }
        return numbers
    }
}
