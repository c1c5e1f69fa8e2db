import Plan
import Quantities
import Reclaim
import Scenario

/// The device of a whole report: its pages, and where there is a compressor, its compressor.
struct WorldDevice: Sendable {
    /// The preset of the report's product; nil if there is none.
    let preset: DevicePreset?
    private(set) var ceiling: ByteCount
    private(set) var reserved: ByteCount
    /// What the compressor may hold, if that is more than the RAM.
    private(set) var input: Ratio?
    /// The share of RAM below which the compressor works: in the report it rests.
    private(set) var keepFree: Ratio?
    /// The lines of the scenario.
    private(set) var lines: [String]

    /// The device of a report that says nothing about a compressor.
    init(_ report: JetsamReport, apps: [ByteCount]) {
        let device = JetsamDevice(report, apps: apps, stands: true)
        preset = WorldDevice.preset(of: report)
        (ceiling, reserved) = (device.ceiling, device.reserved)
        lines = device.lines(report, raised: "processes", preset: preset)
    }

    private static func preset(of report: JetsamReport) -> DevicePreset? {
        report.product.flatMap {
            DevicePreset.of(product: $0, counted: ByteCount(report.pages.all * report.pageSize))
        }
    }

    /// The device of a report that says what was compressed.
    ///
    /// What is reserved belongs to no process: wired memory, and anonymous memory that no process shows. It is what is
    /// left beside the processes, the compressor's pool at the ratio of the simulation, and the memory that jetsam
    /// counts as available. So free memory in the scenario is what is available in the report. Where a footprint
    /// contains wired memory, less is reserved.
    init(_ report: JetsamReport, _ shares: CompressedShares, resident: ByteCount, compressed: ByteCount) {
        let page = JetsamEventImport.page
        func bytes(_ pages: Int) -> ByteCount { ByteCount(pages * report.pageSize) }
        preset = WorldDevice.preset(of: report)
        let pool = compressed * Compressibility.typical.kept * WorldDevice.segments
        let left = bytes(report.pages.all) - bytes(report.pages.available) - pool - resident
        let raised = max(.zero, .zero - left).roundedUp(toMultipleOf: page)
        ceiling = bytes(report.pages.all).roundedUp(toMultipleOf: page) + raised
        reserved = ByteCount(max(.zero, left).bytes / page * page)
        // Pages of one repeated word do not count.
        let held = (compressed - compressed * Compressibility.typical.repeated).share(of: ceiling)
        let isFull = report.processes.contains { $0.reason == KillCause.compressorSpaceShortage.rawValue }
        if isFull {
            if held > .percent(99) { input = Ratio.percent(held.partsPerMillion / 10_000 + 1) }
        } else if held > .percent(90) {
            input = Ratio.percent(held.partsPerMillion / 9_000 + 1)
        }
        let share = bytes(report.pages.available).share(of: ceiling).partsPerMillion / 10_000
        keepFree = min(CompressorSettings().keepFree, .percent(max(1, share - 1)))
        lines = []
        lines = remarks(report, shares, raised: raised) + settings(report)
    }

    /// Segments are never quite full: 2 % more than their contents, as measured in runs.
    private static let segments = Ratio.percent(102)

    private func settings(_ report: JetsamReport) -> [String] {
        var keys: [String] = []
        if let preset { keys.append("like: \(preset.name)") }
        keys += ["ceiling: \(ceiling)", "reserved: \(reserved)"]
        if preset == nil, report.pageSize == 16_384 { keys.append("page: 16KiB") }
        var facts = keepFree.map { ["keep_free: \($0)"] } ?? []
        if let input { facts.append("input: \(input)") }
        keys.append("compressor: { \(facts.joined(separator: ", ")) }")
        return ["device: { \(keys.joined(separator: ", ")) }"]
    }

    private func remarks(_ report: JetsamReport, _ shares: CompressedShares, raised: ByteCount) -> [String] {
        let pages = report.pages
        func readable(_ pages: Int) -> String { ByteCount(pages * report.pageSize).readable }
        var lines = [
            "# The ceiling is the report's memoryPages and its compressor's: \(readable(pages.all)). Reserved is the "
                + "rest",
            "# beside processes, compressor and available memory: wired \(readable(pages.wired)), less what footprints "
                + "contain of it.",
            "# Available in the report: \(readable(pages.available)), free or backed by a file.",
            "# In the report \(readable(pages.uncompressed)) are compressed into \(readable(pages.compressor)). How "
                + "well pages compress",
            "# here does not come from the report: 2.7 : 1, the median of nine reports. The report's state lasted, so",
            "# the compressor rests until less is available.",
        ]
        if input != nil {
            lines.append("# The report's compressor holds so much, so it may hold more than the RAM: an assumption.")
        }
        switch shares.origin {
        case .reported:
            if shares.extra > 0 {
                lines += [
                    "# \(readable(shares.extra)) of footprints are in no count of the report (page tables, graphics). "
                        + "Assumption:",
                    "# they are compressed, because the report's sum has more than the counts of its processes.",
                ]
            }
        case .guessed:
            lines += [
                "# The report does not say whose pages are compressed. A guess: first what no process shows, then",
                "# idle and suspended processes from the top of the list, all but 2.6 %, then all others evenly.",
            ]
        }
        if raised > .zero {
            lines.append("# The ceiling is \(raised.readable) higher, or processes and available memory would not fit.")
        }
        if let preset {
            lines.append("# \(onOneLine(report.product ?? "")) is \(preset.title): its other figures are the preset's.")
        }
        return lines
    }
}
