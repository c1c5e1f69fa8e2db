import Quantities

/// Android's older low-memory killer, driven by a table that relates free memory to the importance of processes.
///
/// Each row of the table has a size and a score. The first row whose size is above both free memory and the file
/// cache sets the floor. Processes with a score of at least the floor may be killed, the highest score first.
/// Reproduces AOSP lmkd android-13 with `use_minfree_levels`.
///
/// The sizes do not come from lmkd: the activity manager computes them from the device's RAM at boot and sends them to
/// lmkd. It also computes sizes from the display and uses the larger ones. Here the display has 480 by 800 pixels or
/// fewer, so RAM alone decides.
public struct LMKDMinfree: ReclaimPolicy {
    public static let name = "lmkd-minfree"
    public static let summary = "Android's table of free memory against importance (lmkd android-13)"
    public static let needs: PolicyNeeds = .everySample

    /// The lowest score that may be killed, row by row.
    public static let floors = [0, 100, 200, 250, 900, 950]
    /// Free memory in KiB: `small` for devices with at most 350 MiB of RAM, `large` for at least 700 MiB.
    static let small = [12_288, 18_432, 24_576, 36_864, 43_008, 49_152]
    static let large = [73_728, 92_160, 110_592, 129_024, 147_456, 184_320]
    /// The large table of a 64-bit device: 50 % more in the row for cached processes, 75 % more in the last row.
    static let large64 = Array(large[..<4]) + [large[4] * 3 / 2, large[5] * 7 / 4]
    /// Between these amounts of RAM, in MiB, the figures rise in proportion.
    static let between = 350...700

    private static let source = "AOSP lmkd android-13"
    private static let tableSource = "AOSP android-13, ProcessList.updateOomLevels"

    public static let parameters: [Parameter<Self>] =
        floors.indices.map { row in
            Parameter(
                \.given[row], "minfree_\(floors[row])", table: { $0.standard(for: $1)[row] * $1.scale },
                from: ByteCount(1), to: .gibibytes(64),
                meaning: "below it, scores from \(floors[row]) on may be killed; table: \(words(ofRow: row))",
                source: tableSource)
        } + [
            Parameter(
                \.is64Bit, "is_64_bit",
                meaning: "a 64-bit device: larger figures for scores from 900 and 950 on", source: tableSource),
            Parameter(
                \.smallBelow, "small_below", from: ByteCount(1), to: .gibibytes(64), isScaled: false,
                meaning: "devices with less RAM use the small table, others the large one, without values between; "
                    + "table: in proportion, as the activity manager does",
                source: "ours"),
            Parameter(
                \.heaviestAt, "heaviest_at", from: 0, to: 1_000,
                meaning: "of processes with the same score, the largest goes first if the score is at most this, "
                    + "otherwise the least recently used",
                source: source),
        ] + ActivityManager.parameters(ages: \.manager.ages, home: \.manager.home)

    /// For example "12MiB up to 350MiB of RAM, 72MiB from 700MiB on, in proportion between".
    private static func words(ofRow row: Int) -> String {
        let (low, high) = (ByteCount.mebibytes(between.lowerBound), ByteCount.mebibytes(between.upperBound))
        let narrow = large[row] == large64[row] ? "" : " (\(ByteCount.kibibytes(large[row])) with 32 bits)"
        return "\(ByteCount.kibibytes(small[row])) up to \(low) of RAM, "
            + "\(ByteCount.kibibytes(large64[row]))\(narrow) from \(high) on, in proportion between"
    }

    /// The activity manager's figures for a device with this much RAM, row by row.
    ///
    /// The activity manager counts RAM in whole MiB and figures in KiB, and sends them in pages of 4 KiB, each rounded
    /// down. It computes in floating point; whole numbers give the same pages for every RAM. Source: AOSP android-13,
    /// `ProcessList.updateOomLevels`.
    static func levels(ofRAM ram: ByteCount, is64Bit: Bool) -> [ByteCount] {
        let above = min(max(ram.bytes >> 20, between.lowerBound), between.upperBound) - between.lowerBound
        let span = between.upperBound - between.lowerBound
        return zip(small, is64Bit ? large64 : large).map { low, high in
            pages(low + (high - low) * above / span)
        }
    }

    private static func pages(_ kibibytes: Int) -> ByteCount { .kibibytes(kibibytes / 4 * 4) }

    /// The table's figures for the device that this one represents.
    private func standard(for device: DeviceSize) -> [ByteCount] {
        guard let smallBelow else { return LMKDMinfree.levels(ofRAM: device.meant, is64Bit: is64Bit) }
        let table = device.meant < smallBelow ? LMKDMinfree.small : is64Bit ? LMKDMinfree.large64 : LMKDMinfree.large
        return table.map(ByteCount.kibibytes)
    }

    /// The values that the scenario gives. The table decides rows without one.
    private var given = [ByteCount?](repeating: nil, count: floors.count)
    private var smallBelow: ByteCount?
    private var is64Bit = true
    private var heaviestAt = 200
    private var manager = ActivityManager()

    public init() {}

    /// The sizes for this device: given values as they are, the table's values at the device's scale.
    private func table(for device: DeviceSize) -> [ByteCount] {
        zip(given, standard(for: device)).map { $0 ?? $1 * device.scale }
    }

    public func contentAbove(on device: DeviceSize) -> ByteCount? { table(for: device).max() }

    public func decide(_ snapshot: SystemSnapshot) -> Decision {
        if snapshot.isAboutLimits {
            return snapshot.rankingByScore(
                floor: 0, heaviestAt: heaviestAt, by: manager, because: "a limit is exceeded")
        }
        for (floor, figure) in zip(LMKDMinfree.floors, table(for: snapshot.device))
        where snapshot.available < figure && snapshot.measures.fileBacked < figure {
            var decision = snapshot.rankingByScore(
                floor: floor, heaviestAt: heaviestAt, by: manager, because: "free memory and file cache are low")
            decision.justify(
                by: snapshot.evidence(availableBelow: figure, rule: "below the row of score \(floor)"))
            return decision
        }
        if snapshot.requester != nil {
            return snapshot.rankingByScore(
                floor: 0, heaviestAt: heaviestAt, by: manager, because: "a process waits for memory")
        }
        return .nothing(.content("free memory or the file cache is above every row"), snapshot)
    }
}
