import Plan
import Quantities
import Reclaim
import Scenario

/// The device of a whole report: its pages, and where there is a compressor, its compressor.
struct PhoneDevice: Sendable {
    /// The preset of the report's product; nil if there is none.
    let preset: DevicePreset?
    let ceiling: ByteCount
    let reserved: ByteCount
    /// What the compressor may hold, if that is more than the RAM.
    let input: Ratio?
    /// The share of RAM below which the compressor works: in the report it rests.
    let keepFree: Ratio?
    /// Comments on the figures, and, for a report that says nothing of a compressor, the device itself.
    private let remarks: [String]
    private let page: ByteCount?

    /// The device of a report that says nothing about a compressor.
    init(_ report: JetsamReport, apps: [ByteCount]) {
        let device = JetsamDevice(report, apps: apps, stands: true)
        preset = PhoneDevice.preset(of: report)
        (ceiling, reserved) = (device.ceiling, device.reserved)
        (input, keepFree, page) = (nil, nil, nil)
        remarks = device.lines(report, raised: "processes", preset: preset)
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
        let unit = JetsamEventImport.page
        func bytes(_ pages: Int) -> ByteCount { ByteCount(pages * report.pageSize) }
        preset = PhoneDevice.preset(of: report)
        let pool = compressed * Compressibility.typical.kept * PhoneDevice.segments
        let reported = bytes(report.pages.available)
        let available = max(reported, PhoneDevice.leastAvailable)
        let left = bytes(report.pages.all) - available - pool - resident
        let raised = max(.zero, .zero - left).roundedUp(toMultipleOf: unit)
        ceiling = bytes(report.pages.all).roundedUp(toMultipleOf: unit) + raised
        reserved = ByteCount(max(.zero, left).bytes / unit * unit)
        // Pages of one repeated word do not count.
        let held = (compressed - compressed * Compressibility.typical.repeated).share(of: ceiling)
        let isFull = report.processes.contains { $0.reason == KillCause.compressorSpaceShortage.rawValue }
        let most = Ratio.percent(isFull ? 99 : 90)
        input = held > most ? Ratio.percent(held.partsPerMillion / (isFull ? 10_000 : 9_000) + 1) : nil
        let share = bytes(report.pages.available).share(of: ceiling).partsPerMillion / 10_000
        keepFree = min(CompressorSettings.keptFree, .percent(max(1, share - 1)))
        page = preset == nil && report.pageSize == 16_384 ? .kibibytes(16) : nil
        remarks = PhoneDevice.remarks(
            report, shares, raised: raised, spared: available - reported, mayHoldMore: input != nil, preset: preset)
    }

    /// A process at the start is filled in pieces, and each is compressed once it is there. So the state needs room for
    /// a piece of 4 MiB beside everything that it holds, and a replay for a process of its own.
    private static let leastAvailable = ByteCount.mebibytes(8)

    /// The lines of the scenario.
    ///
    /// - Parameter kernel: The release of XNU that manages the device's memory, if it has a compressor; nil: Plimsoll's
    ///   own rules, under which the compressor rests in the report's state.
    func lines(managedBy kernel: JetsamKernel? = nil) -> [String] {
        guard let keepFree else { return remarks }
        let rest: Ratio? = kernel == nil ? keepFree : nil
        // What a device by name has in addition would change the report's state.
        let (none, off): (String?, String?) = preset == nil ? (nil, nil) : ("none", "off")
        func entry(_ key: String, _ value: (some CustomStringConvertible)?) -> (String, Tree)? {
            value.map { (key, .plain("\($0)")) }
        }
        // Apple's compressor is no swap, which the scenario says where neither name nor kernel does.
        let isUnknown = preset == nil && kernel == nil
        let swap: (String, Tree)? = isUnknown ? ("swap", .record([("zram", .plain("false"))])) : nil
        let compressor = [entry("keep_free", rest), entry("input", input)]
        let device =
            [
                entry("like", preset?.name), entry("ceiling", ceiling), entry("reserved", reserved),
                entry("page", page), ("compressor", Tree.record(compressor.compactMap(\.self))),
                entry("kernel", kernel?.rawValue ?? none), entry("file_cache", off), entry("freezer", off), swap,
            ]
        return remarks + ["device: " + Tree.record(device.compactMap(\.self)).line]
    }

    /// Segments are never quite full: 2 % more than their contents, as measured in runs.
    private static let segments = Ratio.percent(102)

    private static func remarks(
        _ report: JetsamReport, _ shares: CompressedShares, raised: ByteCount, spared: ByteCount, mayHoldMore: Bool,
        preset: DevicePreset?
    ) -> [String] {
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
        if mayHoldMore {
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
        if spared > .zero {
            lines.append("# \(spared.readable) more are available, so that there is room to make the processes.")
        }
        if raised > .zero {
            lines.append("# The ceiling is \(raised.readable) higher, or processes and available memory would not fit.")
        }
        if let preset {
            lines.append(
                "# \(onOneLine(report.product ?? "")) is \(preset.title): its other figures are the preset's. "
                    + "Pages of files take no memory here; they count as available.")
        }
        return lines
    }
}
