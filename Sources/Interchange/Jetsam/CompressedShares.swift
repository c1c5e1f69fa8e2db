import Quantities

/// Which part of each process's footprint was compressed in a report, in the report's pages.
struct CompressedShares {
    /// How the shares are known.
    enum Origin {
        /// The report has them by process (`physicalPages.internal`).
        case reported
        /// The report has only the sum. Who holds how much of it is a guess.
        case guessed
    }

    /// By the process's place in the report.
    private(set) var compressed: [Int]
    /// Compressed pages that no process shows: memory of the kernel, shared memory, memory of ended processes.
    private(set) var unshown = 0
    let origin: Origin
    /// Pages that footprints contain beyond the two counts of a report, and that count as compressed here.
    private(set) var extra = 0

    /// The share of a suspended process that stays uncompressed: 61 of 2312 MiB in a report of iOS 14.2.
    static let restingResident = Ratio(partsPerMillion: 26_000)

    /// Nil if the report says nothing about a compressor.
    init?(_ report: JetsamReport) {
        let total = report.pages.uncompressed
        guard total > 0, report.pages.compressor > 0 else { return nil }
        compressed = Array(repeating: 0, count: report.processes.count)
        // Reports without the counts, and tools that write zeros for them, say nothing.
        let isReported = report.processes.contains { ($0.own?.compressed ?? 0) > 0 }
        origin = isReported ? .reported : .guessed
        if isReported { takeCounts(report, total) } else { spread(report, total) }
    }

    /// All compressed pages.
    var all: Int { compressed.reduce(unshown, +) }

    /// Takes the report's counts. A footprint also contains page tables, graphics buffers and the like, which are in
    /// neither count. As far as the report's sum leaves room, these count as compressed: an assumption.
    private mutating func takeCounts(_ report: JetsamReport, _ total: Int) {
        var others: [Int] = []
        for (place, process) in report.processes.enumerated() {
            let own = process.own ?? .init(resident: 0, compressed: 0)
            let resident = min(own.resident, process.pages)
            compressed[place] = min(own.compressed, process.pages - resident)
            others.append(process.pages - resident - compressed[place])
        }
        let (sum, left) = (others.reduce(0, +), max(0, total - all))
        let most = min(sum, left)
        for (place, other) in others.enumerated() where sum > 0 {
            let share = other * most / sum
            compressed[place] += share
            extra += share
        }
        unshown = max(0, total - all)
    }

    /// Spreads the report's sum: first what no process shows, then idle and suspended processes in the report's order,
    /// then all others evenly.
    private mutating func spread(_ report: JetsamReport, _ total: Int) {
        let held = report.processes.reduce(0) { $0 + $1.pages }
        unshown = min(total, max(0, total + report.pages.anonymous - held))
        var left = total - unshown
        let rests = report.rests
        for (place, process) in report.processes.enumerated() where rests[place] {
            let share = min(left, process.pages - process.pages.share(CompressedShares.restingResident))
            compressed[place] = share
            left -= share
        }
        let running = zip(report.processes, rests).reduce(0) { $0 + ($1.1 ? 0 : $1.0.pages) }
        let most = min(left, running)
        for (place, process) in report.processes.enumerated() where !rests[place] && running > 0 {
            compressed[place] = process.pages * most / running
            left -= compressed[place]
        }
        unshown += left
    }
}

extension Int {
    /// A share of a count, rounded down.
    fileprivate func share(_ share: Ratio) -> Int {
        Int(scaled(Int64(self), by: share.partsPerMillion, over: 1_000_000))
    }
}

extension JetsamReport {
    /// Whether each process runs no code: it is suspended, or idle.
    fileprivate var rests: [Bool] {
        zip(processes, standings).map { $0.states.contains("idle") || $1 == .suspended }
    }
}
