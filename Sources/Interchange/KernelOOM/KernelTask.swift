/// A process of a kernel's OOM report: a row of its table. Counts of pages are in pages of the report's machine.
public struct KernelTask: Hashable, Sendable {
    /// The process number, as in the row's brackets.
    public var pid: Int
    /// The owner's number; the kernel's rule once spared root's processes a little.
    public var uid: Int
    /// The command's name, at most 15 bytes.
    public var name: String
    /// The address space.
    public var virtualPages = 0
    /// The pages in RAM; a page that is shared counts for each process that shares it.
    public var residentPages = 0
    /// Of these, pages without a file, of files, and shared; nil before Linux 6.8.
    public var anonymousPages, filePages, sharedPages: Int?
    /// The pages of the page tables; nil before Linux 3.5, which did not print them.
    public var tablePages: Int?
    /// The pages in swap; nil before Linux 3.5, which did not print them.
    public var swappedPages: Int?
    /// `oom_score_adj`, from -1000 to 1000.
    public var adjustment = 0

    /// What the rule counts: RAM, swap and page tables.
    public var heldPages: Int { residentPages + (swappedPages ?? 0) + (tablePages ?? 0) }
}

/// The columns of a report's table. The layout changed with the kernel's releases, so the header decides.
public struct KernelTableLayout: Hashable, Sendable {
    /// The columns between the brackets and the name, in their order.
    let columns: [String]
    /// Whether the header pads `pid` with two blanks, as from Linux 5.0 on.
    let isWide: Bool
    /// Whether there was a header. Without one the columns are guessed from their number.
    public let isStated: Bool

    /// The layouts that are known, by their columns behind `pid uid tgid total_vm rss`.
    private static let shapes: [[String]] = [
        ["nr_ptes", "swapents", "oom_score_adj"],
        ["nr_ptes", "nr_pmds", "swapents", "oom_score_adj"],
        ["rss_anon", "rss_file", "rss_shmem", "pgtables_bytes", "swapents", "oom_score_adj"],
    ]
    private static let start = ["uid", "tgid", "total_vm", "rss"]

    /// Nil if the line is no header.
    init?(header line: KernelText) {
        guard let rest = line.after("]") else { return nil }
        let words = rest.bytes.split(whereSeparator: \.isBlank).map { String(decoding: $0, as: UTF8.self) }
        guard let end = words.firstIndex(of: "name"), end >= 4, end <= 24, words.contains("rss") else { return nil }
        columns = Array(words[..<end])
        isWide = line.place(of: "[  pid") != nil
        isStated = true
    }

    /// The layout of rows without a header: by the number of figures that most rows have, and by whether those of the
    /// page tables are whole pages of bytes. Nil if no layout has that many.
    init?(rows: [KernelText]) {
        var counts = [Int](repeating: 0, count: 16)
        var (figures, inBytes, isZero) = (0, true, true)
        for row in rows {
            let numbers = KernelTableLayout.numbers(row, atMost: 15)
            counts[min(15, numbers.values.count)] += 1
        }
        figures = counts.indices.max { (counts[$0], -$0) < (counts[$1], -$1) } ?? 0
        guard let shape = KernelTableLayout.shapes.first(where: { $0.count + 4 == figures }) else { return nil }
        for row in rows {
            let numbers = KernelTableLayout.numbers(row, atMost: figures).values
            guard figures == 7, numbers.count > 4 else { continue }
            if numbers[4] % 4_096 != 0 { inBytes = false }
            if numbers[4] != 0 { isZero = false }
        }
        let isBytes = figures == 7 && inBytes && !isZero
        columns = KernelTableLayout.start + (isBytes ? ["pgtables_bytes"] + shape.dropFirst() : shape)
        isWide = false
        isStated = false
    }

    /// Whether the kernel printed what it counts beside RAM: page tables and swap.
    public var showsAll: Bool { columns.contains("swapents") }

    /// The release that a report with this table has, if it names none: a release in long use among those with the
    /// layout.
    ///
    /// Source: Linux, `dump_tasks` by release: `nr_ptes` and `swapents` since 3.5, `nr_pmds` since 4.1,
    /// `pgtables_bytes` since 4.15, the wide `pid` since 5.0, the three parts of `rss` since 6.8.
    public var guessedRelease: String {
        if columns.contains("oom_adj") { return "3.2" }
        if columns.contains("rss_anon") { return "6.12" }
        if columns.contains("nr_pmds") { return "4.4" }
        if columns.contains("nr_ptes") { return "3.10" }
        return isWide || !isStated ? "5.10" : "4.19"
    }

    /// The row's task; nil if figures are missing, because the line is cut or mixed with another.
    ///
    /// - Parameters:
    ///   - row: The row from its first bracket on.
    ///   - page: The size of a page, in bytes, for page tables in bytes.
    func task(_ row: KernelText, page: Int) -> KernelTask? {
        guard let pid = KernelText(row.bytes.dropFirst()).number else { return nil }
        let (values, end) = KernelTableLayout.numbers(row, atMost: columns.count)
        guard values.count == columns.count else { return nil }
        let name = KernelText(row.bytes[end...]).trimmed
        guard !name.bytes.isEmpty else { return nil }
        var task = KernelTask(pid: pid, uid: 0, name: name.string)
        var tables: Int?
        for (column, value) in zip(columns, values) {
            let count = max(0, value)
            switch column {
            case "uid": task.uid = count
            case "total_vm": task.virtualPages = count
            case "rss": task.residentPages = count
            case "rss_anon": task.anonymousPages = count
            case "rss_file": task.filePages = count
            case "rss_shmem": task.sharedPages = count
            case "nr_ptes", "nr_pmds", "nr_puds": tables = (tables ?? 0) + count
            case "pgtables_bytes": tables = count / max(1, page)
            case "swapents": task.swappedPages = count
            case "oom_score_adj": task.adjustment = min(max(value, -1_000), 1_000)
            default: break
            }
        }
        task.tablePages = tables
        return task
    }

    /// The figures behind a row's bracket, and the place behind them.
    private static func numbers(_ row: KernelText, atMost most: Int) -> (values: [Int], end: Int) {
        var values: [Int] = []
        var place = (row.bytes.firstIndex(of: UInt8(ascii: "]")) ?? row.bytes.endIndex - 1) + 1
        while values.count < most, let next = KernelText(row.bytes[place...]).leadingNumber {
            // A name such as `0anacron` begins with digits.
            guard next.end == row.bytes.endIndex || row.bytes[next.end].isBlank else { break }
            values.append(next.value)
            place = next.end
        }
        return (values, place)
    }

    /// Whether a row can be one of any known layout: seven figures or more.
    static func isLikely(_ row: KernelText) -> Bool { numbers(row, atMost: 7).values.count == 7 }

    /// The row in a line: from a bracket that holds only digits, before a figure. Nil if there is none.
    static func row(in line: KernelText) -> KernelText? {
        var place = line.bytes.startIndex
        while let open = line.bytes[place...].firstIndex(of: UInt8(ascii: "[")) {
            place = open + 1
            guard let pid = KernelText(line.bytes[place...]).leadingNumber, pid.value >= 0,
                pid.end + 1 < line.bytes.endIndex, line.bytes[pid.end] == UInt8(ascii: "]"),
                line.bytes[pid.end + 1].isBlank, KernelText(line.bytes[(pid.end + 1)...]).leadingNumber != nil
            else { continue }
            return KernelText(line.bytes[open...])
        }
        return nil
    }
}
