import Quantities
import Scenario

/// The OOM reports in a kernel's log: the output of `dmesg`, a journal, a syslog file, or a pasted piece of one.
///
/// The log may hold anything else, between the lines of a report, too. Each line is looked at once.
public struct KernelLog: Sendable {
    /// The reports in the log's order.
    public let reports: [KernelReport]
    private let file: String

    /// A ten times longer journal than a year of a busy server has.
    static let mostBytes = 1 << 30

    /// Reads the log at a path, or from standard input (`-`).
    ///
    /// - Throws: Why the file cannot be read.
    public init(path: String) throws(ScenarioFault) {
        self.init(try InputFile.read(path, as: KernelLog.kind, atMost: KernelLog.mostBytes), file: path)
    }

    /// Reads a log's bytes. They need not be UTF-8; UTF-16 has its mark first. A journal may be in JSON.
    ///
    /// - Parameter file: The log's name, for messages.
    public init(_ bytes: [UInt8], file: String) {
        self.file = file
        var reader = KernelLogReader(file: file)
        var lines = KernelLines(LogEncoding.plain(bytes))
        while let line = lines.next() { reader.read(line, number: lines.number) }
        reader.close()
        reports = reader.reports
    }

    static let kind = "a kernel's log or a JetsamEvent report"

    /// A report by its place.
    ///
    /// - Parameter number: From 1; nil: the last one.
    /// - Throws: That the log has no such report, in one line.
    public func report(_ number: Int? = nil) throws(ScenarioFault) -> KernelReport {
        guard let last = reports.last else {
            throw KernelLog.fault(
                file,
                "no OOM report of a Linux kernel in this file; expected lines such as 'invoked oom-killer', a table of "
                    + "processes, or 'Killed process'")
        }
        guard let number else { return last }
        guard number >= 1, number <= reports.count else {
            throw KernelLog.fault(
                file, "there is no report \(number); the file has \(reports.count.counted("report"))")
        }
        return reports[number - 1]
    }

    /// What is wrong with a report as a whole, in one line.
    static func fault(_ file: String, _ message: String) -> ScenarioFault {
        .invalid([Diagnostic(location: .file(file, line: 1, column: 1), message: message)])
    }
}

/// Puts the lines of a log together to reports.
struct KernelLogReader {
    /// The parts of a report in their order. A line of an earlier part begins the next report.
    private enum Part: Int, Comparable {
        case request, group, memory, table, choice, end

        static func < (a: Part, b: Part) -> Bool { a.rawValue < b.rawValue }
    }

    private(set) var reports: [KernelReport] = []
    private let file: String
    private var report: KernelReport?
    private var part = Part.request
    private var rows: [KernelText] = []
    private var header: KernelTableLayout?
    /// Whether lines of group statistics may follow.
    private var isInStatistics = false
    /// The virtual size of the ended process, in KiB, which tells the size of a page.
    private var virtualKiB: (pid: Int, size: Int)?
    private var nodeAnonymousKiB: Int?
    /// What the last `CPU:` line before a report says, for one whose beginning is cut.
    private var lastRelease: String?
    private var lastThread: (request: KernelReport.Request, line: Int)?

    init(file: String) { self.file = file }

    /// Reads the next line.
    mutating func read(_ line: KernelText, number: Int) {
        let text = line.message
        if let row = KernelTableLayout.row(in: line), part == .table || KernelTableLayout.isLikely(row) {
            enter(.table, number)
            if rows.count < 1 << 20 { rows.append(row) }
            return
        }
        guard let first = text.bytes.first else { return }
        if let request = text.place(of: "invoked oom-killer") { return readRequest(text, request, number) }
        switch first {
        case UInt8(ascii: "C"), UInt8(ascii: "P"): readThread(text, number)
        case UInt8(ascii: "L"): readVersion(text)
        case UInt8(ascii: "N") where text.begins(with: "Node "): readNode(text, number)
        case UInt8(ascii: "l") where text.begins(with: "lowmem_reserve"): report?.memory.readReserve(text)
        case UInt8(ascii: "["): readHeader(text, number)
        case UInt8(ascii: "T"), UInt8(ascii: "F"), UInt8(ascii: "S"): readTotals(text, number)
        case UInt8(ascii: "M"), UInt8(ascii: "O"), UInt8(ascii: "K"), UInt8(ascii: "o"): readEnding(text, number)
        case UInt8(ascii: "m"), UInt8(ascii: "s"): readGroup(text, number)
        default: if first.isDigit { readPages(text, number) } else { readHeader(text, number) }
        }
        if report != nil, part <= .memory { readDetails(text) }
    }

    /// Ends the last report.
    mutating func close() {
        guard var done = report else { return }
        report = nil
        if header != nil || !rows.isEmpty {
            done.layout = header ?? KernelTableLayout(rows: rows)
        }
        done.pageSize = pageSize(of: done)
        if let layout = done.layout {
            done.tasks.reserveCapacity(rows.count)
            for row in rows {
                if let task = layout.task(row, page: done.pageSize) {
                    done.tasks.append(task)
                } else {
                    done.brokenRows += 1
                }
            }
        } else {
            done.brokenRows = rows.count
        }
        if done.release == nil { done.release = lastRelease }
        reports.append(done)
        (rows, header, virtualKiB, nodeAnonymousKiB, isInStatistics) = ([], nil, nil, nil, false)
    }

    /// The size of a page: the ended process's address space in KiB and in pages, or the node's memory in both.
    private func pageSize(of report: KernelReport) -> Int {
        var sizes: [Int] = []
        if let virtualKiB, virtualKiB.size > 0, let layout = report.layout,
            let row = rows.first(where: { KernelText($0.bytes.dropFirst()).number == virtualKiB.pid }),
            let task = layout.task(row, page: 4_096), task.virtualPages > 0
        {
            sizes.append(virtualKiB.size / task.virtualPages)
        }
        if let node = nodeAnonymousKiB, let pages = report.memory.activeAnonymous, pages > 1_000 {
            sizes.append((node + pages / 2) / pages)
        }
        let known = sizes.first { [4, 8, 16, 64, 256].contains($0) }
        return (known ?? 4) * 1_024
    }

    // MARK: Which report

    /// Goes to a part of the report, which begins a report if the part cannot follow the last one.
    private mutating func enter(_ next: Part, _ line: Int) {
        if report != nil, next < part, part >= .table || next == .request { close() }
        if report == nil {
            report = KernelReport(file: file, line: line)
            part = next
            if let lastThread, line - lastThread.line < 60 { report?.request = lastThread.request }
            lastThread = nil
        }
        part = max(part, next)
        if next != .group { isInStatistics = false }
    }

    private mutating func readRequest(_ text: KernelText, _ place: Int, _ line: Int) {
        if report != nil { close() }
        lastThread = nil
        enter(.request, line)
        part = .request
        var request = KernelReport.Request(name: KernelText(text.bytes[..<place]).trimmed.string)
        let rest = KernelText(text.bytes[place...])
        if let mask = rest.after("gfp_mask=0x") {
            request.mask = mask.bytes.prefix(8).prefix { KernelLogReader.hex($0) != nil }
                .reduce(0) { $0 << 4 | (KernelLogReader.hex($1) ?? 0) }
            if let flags = mask.after("("), mask.place(of: "(") ?? .max < mask.place(of: ",") ?? .max {
                request.flags = flags.before(")").string
            }
        }
        request.order = rest.number(of: "order=").map { min(max($0, -1), 20) }
        request.adjustment = rest.number(of: "oom_score_adj=").map { min(max($0, -1_000), 1_000) }
        report?.request = request
    }

    private static func hex(_ byte: UInt8) -> Int? { Character(Unicode.Scalar(byte)).hexDigitValue }

    // MARK: The requester and the release

    /// `CPU: 4 PID: 29481 Comm: sed Not tainted 3.10.0-514.el7.x86_64 #1`, or before 3.11 `Pid: 4616, comm: mal Not
    /// tainted 3.6.0+ #25`.
    private mutating func readThread(_ text: KernelText, _ line: Int) {
        guard text.begins(with: "CPU: ") || text.begins(with: "Pid: "),
            let pid = text.number(of: "PID: ") ?? text.number(of: "Pid: "), pid >= 0
        else { return }
        let release = KernelLogReader.release(text)
        if let release { lastRelease = release }
        guard report != nil, part < .table else {
            let name = (text.after("omm: ") ?? KernelText([])).before("Not tainted").before("Tainted").trimmed
            lastThread = (KernelReport.Request(name: name.string, pid: pid), line)
            return
        }
        if report?.request?.pid == nil, report?.request != nil { report?.request?.pid = pid }
        if report?.release == nil { report?.release = release }
    }

    /// The word behind the taint flags: the first that is a version and does not stand before them.
    private static func release(_ text: KernelText) -> String? {
        guard let rest = text.after("ainted") else { return nil }
        for word in rest.bytes.split(whereSeparator: \.isBlank) {
            guard word.first?.isDigit == true, word.contains(UInt8(ascii: ".")), word.count < 80 else { continue }
            return String(decoding: word, as: UTF8.self)
        }
        return nil
    }

    /// `Linux version 5.15.0-91-generic (…)`, at the start of the machine.
    private mutating func readVersion(_ text: KernelText) {
        guard let word = text.after("Linux version ")?.bytes.prefix(while: { !$0.isBlank }),
            word.first?.isDigit == true, word.count < 80
        else { return }
        lastRelease = String(decoding: word, as: UTF8.self)
    }

    // MARK: Memory

    private mutating func readNode(_ text: KernelText, _ line: Int) {
        enter(.memory, line)
        if let node = text.number(of: "active_anon:"), text.place(of: "present:") == nil {
            nodeAnonymousKiB = min(KernelText.mostNumber, (nodeAnonymousKiB ?? 0) + max(0, node))
        }
        report?.memory.readNode(text)
    }

    /// Lines that do not begin with a key of their own: continuations of `Mem-Info`, and statistics of a group.
    private mutating func readDetails(_ text: KernelText) {
        if text.place(of: "cpuset=") != nil, text.place(of: "mems_allowed=") != nil { return readCpuset(text) }
        if isInStatistics { readStatistics(text) }
        let keys: [StaticString] = [
            "active_anon:", "active_file:", "unevictable:", "slab_reclaimable:", "mapped:", "free:",
        ]
        guard !text.begins(with: "Node "), keys.contains(where: { text.begins(with: $0) }) else { return }
        report?.memory.readCounts(text)
    }

    private mutating func readCpuset(_ text: KernelText) {
        if let cpuset = text.word(of: "cpuset=") { report?.cpuset = cpuset }
        report?.nodes = KernelText(
            (text.after("mems_allowed=") ?? text).bytes.prefix {
                $0.isDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ",")
            }
        ).string.split(separator: ",").filter { $0.first?.isNumber == true }.joined(separator: ",")
    }

    /// `4115400 pages RAM` and the like.
    private mutating func readPages(_ text: KernelText, _ line: Int) {
        guard let (count, end) = text.leadingNumber, count >= 0 else { return }
        let rest = KernelText(text.bytes[end...]).trimmed
        if rest.begins(with: "pages RAM") {
            enter(.memory, line)
            report?.memory.keep(count, \.ram)
        } else if rest.begins(with: "pages reserved") {
            report?.memory.keep(count, \.reserved)
        } else if rest.begins(with: "total pagecache pages") {
            enter(.memory, line)
            report?.memory.keep(count, \.cache)
        }
    }

    /// Lines that begin with `T`, `F` or `S`: totals, the table's title, the group of the task.
    private mutating func readTotals(_ text: KernelText, _ line: Int) {
        if text.begins(with: "Free swap") {
            enter(.memory, line)
            report?.memory.swapFreeKiB = text.after("=").flatMap(KernelMemory.size)
        } else if text.begins(with: "Total swap") {
            enter(.memory, line)
            report?.memory.swapTotalKiB = text.after("=").flatMap(KernelMemory.size)
        } else if text.begins(with: "Task in "), text.place(of: "killed as a result of limit of ") != nil {
            enter(.group, line)
            report?.constraint = .group
            report?.group.path = text.after("limit of ")?.trimmed.string
        } else if text.begins(with: "Tasks in "), text.place(of: "memory.oom.group") != nil {
            report?.endsGroup = true
        } else if text.begins(with: "Tasks state (memory values") {
            enter(.table, line)
        }
    }

    // MARK: The group

    /// Lines that begin with `m` or `s`: the use and the limits of a memory group.
    private mutating func readGroup(_ text: KernelText, _ line: Int) {
        guard let usage = text.number(of: "usage "), text.place(of: ": usage ") != nil else {
            // A key of Mem-Info may begin like this, too.
            return
        }
        enter(.group, line)
        report?.constraint = .group
        // A limit of 2^53 KiB or more, cut to the largest number that is read, is none.
        let limit = text.number(of: "limit ").flatMap { $0 < 1 << 38 && $0 >= 0 ? $0 : nil }
        guard var group = report?.group else { return }
        if text.begins(with: "memory: ") {
            (group.usageKiB, group.limitKiB) = (max(0, usage), limit)
        } else if text.begins(with: "memory+swap: ") {
            (group.bothUsageKiB, group.bothLimitKiB) = (max(0, usage), limit)
        } else if text.begins(with: "swap: ") {
            (group.swapUsageKiB, group.swapLimitKiB) = (max(0, usage), limit)
        }
        report?.group = group
    }

    /// `anon 5906432` line by line, from 5.0 on.
    private mutating func readStatistics(_ text: KernelText) {
        let keys: [(StaticString, String)] = [
            ("anon", "anon"), ("file", "file"), ("shmem", "shmem"), ("slab", "slab"), ("kernel_stack", "kernel_stack"),
            ("pagetables", "pagetables"), ("slab_unreclaimable", "slab_unreclaimable"), ("file_dirty", "file_dirty"),
            ("kernel", "kernel"), ("sock", "sock"),
        ]
        for (key, name) in keys where text.begins(with: key) && report?.group.statistics[name] == nil {
            let rest = text.bytes.dropFirst(key.utf8CodeUnitCount)
            if rest.first?.isBlank == true, let value = KernelText(rest).number, value >= 0 {
                report?.group.statistics[name] = value
            }
        }
    }

    /// Before 5.0 a line for the group and one for each below it, each without those below: the sum is the group's.
    private mutating func readOldStatistics(_ text: KernelText) {
        let keys: [(StaticString, String)] = [
            ("cache:", "file"), ("rss:", "anon"), ("shmem:", "shmem"), ("dirty:", "file_dirty"),
        ]
        for (key, name) in keys {
            guard let value = text.number(of: key), value >= 0 else { continue }
            let sum = (report?.group.statistics[name] ?? 0) + value * 1_024
            report?.group.statistics[name] = min(KernelText.mostNumber << 10, sum)
        }
    }

    // MARK: The table and the end

    private mutating func readHeader(_ text: KernelText, _ line: Int) {
        guard text.place(of: "total_vm") != nil, let layout = KernelTableLayout(header: text) else { return }
        enter(.table, line)
        // A second header without an end between belongs to the next report.
        if header != nil || !rows.isEmpty {
            close()
            enter(.table, line)
        }
        header = layout
    }

    private mutating func readEnding(_ text: KernelText, _ line: Int) {
        if text.begins(with: "Memory cgroup stats") {
            enter(.group, line)
            isInStatistics = true
            readOldStatistics(text)
        } else if text.begins(with: "Mem-Info:") {
            enter(.memory, line)
        } else if text.begins(with: "oom-kill:") {
            readConstraint(text, line)
        } else if text.begins(with: "Kernel panic"),
            text.place(of: "ut of memory") != nil
                || text.place(of: "deadlocked on memory") != nil
        {
            enter(.choice, line)
            let hasNone = text.place(of: "no killable") != nil || text.place(of: "deadlocked") != nil
            report?.outcome = hasNone ? .noneLeft : .panic
        } else if text.place(of: "ut of memory") != nil, text.place(of: "no killable processes") != nil {
            enter(.choice, line)
            report?.outcome = .noneLeft
        } else if text.begins(with: "Memory cgroup out of memory") || text.begins(with: "Out of memory")
            || text.begins(with: "Kill")
        {
            readKill(text, line)
        }
    }

    /// `oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/a,task_memcg=/a,task=b,
    /// pid=1,uid=0`, from Linux 5.0 on.
    private mutating func readConstraint(_ text: KernelText, _ line: Int) {
        enter(.choice, line)
        if let word = text.word(of: "constraint="), let constraint = KernelReport.Constraint(rawValue: word) {
            report?.constraint = constraint
        }
        if let path = text.word(of: "oom_memcg=") {
            report?.group.path = path
            report?.constraint = .group
        }
        readCpuset(text)
        if report?.constraint == .memoryPolicy, let mask = text.word(of: "nodemask="), mask.first?.isNumber == true {
            report?.nodes = mask
        }
        if let pid = text.number(of: "pid="), pid >= 0, let name = text.after(",task=")?.before(",pid=") {
            report?.chosen = KernelReport.Named(pid: pid, name: name.string)
        }
    }

    /// `Out of memory: Kill process 6576 (mysqld) score 651 or sacrifice child`, `Killed process 6576 (mysqld) …`.
    private mutating func readKill(_ text: KernelText, _ line: Int) {
        let isChoice = text.place(of: "Kill process ") != nil
        guard let rest = text.after("Kill process ") ?? text.after("Killed process "), let pid = rest.number, pid >= 0
        else { return }
        // From 5.1 on one line says both, and the rest of a report may be suppressed.
        if !isChoice, !text.begins(with: "Kill"), report?.killed.isEmpty == false, report?.endsGroup == false {
            close()
        }
        enter(isChoice ? .choice : .end, line)
        if text.begins(with: "Memory cgroup") { report?.constraint = .group }
        if text.place(of: "oom_kill_allocating_task") != nil { report?.outcome = .requester }
        var named = KernelReport.Named(pid: pid, name: KernelLogReader.name(rest))
        if isChoice {
            named.score = rest.number(of: ") score ") ?? rest.after(") score ")?.number
            // A second choice without an end between: the first one's end is lost, or the report before is.
            report?.chosen = named
            return
        }
        report?.killed.append(named)
        if report?.chosen == nil { report?.chosen = named }
        if virtualKiB == nil, let size = rest.number(of: "total-vm:") { virtualKiB = (pid, size) }
    }

    /// The name between the outer brackets; it may hold brackets itself.
    private static func name(_ rest: KernelText) -> String {
        guard let inside = rest.after("(") else { return "" }
        for end: StaticString in [") score ", ") total-vm", "), UID", ") ,"] where inside.place(of: end) != nil {
            return inside.before(end).string
        }
        let close = inside.bytes.lastIndex(of: UInt8(ascii: ")")) ?? inside.bytes.endIndex
        return KernelText(inside.bytes[..<close]).string
    }
}
