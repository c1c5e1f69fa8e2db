import Quantities

/// Android's older low-memory killer: a table of free memory against importance.
///
/// The first row whose figure both free memory and the file cache are below gives the floor; whoever scores at least
/// that much may go, the highest score first. Reproduces AOSP lmkd android-13 with `use_minfree_levels`.
public struct LMKDMinfree: ReclaimPolicy {
    public static let name = "lmkd-minfree"
    public static let summary = "Android's table of free memory against importance (lmkd android-13)"
    public static let needs: PolicyNeeds = .everySample

    /// The rows' floors.
    public static let floors = [0, 100, 200, 250, 900, 950]
    /// Free memory for devices below 512 MiB, and for those of about 1 GiB and more.
    public static let small = [12_288, 18_432, 24_576, 36_864, 43_008, 49_152].map(ByteCount.kibibytes)
    public static let large = [73_728, 92_160, 110_592, 129_024, 147_456, 184_320].map(ByteCount.kibibytes)

    private static let source = "AOSP lmkd android-13"

    public static let parameters: [PolicyParameter] =
        floors.indices.map { row in
            PolicyParameter(
                "minfree_\(floors[row])", .bytes(.zero), from: .bytes(.zero), to: .bytes(.gibibytes(64)),
                meaning: "below it, scores from \(floors[row]) on may go; 0B: \(large[row]), "
                    + "or \(small[row]) with less RAM than small_below",
                source: source)
        } + [
            PolicyParameter(
                "small_below", .bytes(.mebibytes(512)), from: .bytes(.zero), to: .bytes(.gibibytes(64)),
                isScaled: false, meaning: "devices with less RAM use the small table", source: source),
            PolicyParameter(
                "heaviest_at", .count(200), from: .count(0), to: .count(1_000),
                meaning: "of one score at or below this the largest goes first, else the oldest", source: source),
        ]

    public static func meaning(
        ofDefault parameter: String, in values: ParameterValues, on device: DeviceSize
    ) -> ParameterValue? {
        let table = standard(for: device, smallBelow: values.bytes("small_below"))
        return floors.firstIndex { "minfree_\($0)" == parameter }.map { .bytes(table[$0] * device.scale) }
    }

    private static func standard(for device: DeviceSize, smallBelow: ByteCount) -> [ByteCount] {
        device.meant < smallBelow ? small : large
    }

    private let given: [ByteCount]
    private let smallBelow: ByteCount
    private let heaviestAt: Int

    public init(_ values: ParameterValues) {
        given = LMKDMinfree.floors.map { values.bytes("minfree_\($0)") }
        smallBelow = values.bytes("small_below")
        heaviestAt = values.count("heaviest_at")
    }

    /// The figures for a device: those given are about it, those of the table about the one that is meant.
    private func table(for device: DeviceSize) -> [ByteCount] {
        let standard = LMKDMinfree.standard(for: device, smallBelow: smallBelow)
        return zip(given, standard).map { $0 == .zero ? $1 * device.scale : $0 }
    }

    public func contentAbove(on device: DeviceSize) -> ByteCount? { table(for: device).max() }

    public func decide(_ snapshot: SystemSnapshot) -> Decision {
        if snapshot.isAboutLimits {
            return snapshot.rankingByScore(floor: 0, heaviestAt: heaviestAt, because: "a limit is exceeded")
        }
        for (floor, figure) in zip(LMKDMinfree.floors, table(for: snapshot.device))
        where snapshot.available < figure && snapshot.measures.fileBacked < figure {
            var decision = snapshot.rankingByScore(
                floor: floor, heaviestAt: heaviestAt, because: "free memory and file cache are low")
            decision.justify(
                by: Evidence(
                    "available_bytes", observed: Int64(snapshot.available.bytes), threshold: Int64(figure.bytes),
                    rule: "below the row of score \(floor)"))
            return decision
        }
        if snapshot.requester != nil {
            return snapshot.rankingByScore(floor: 0, heaviestAt: heaviestAt, because: "a process waits for memory")
        }
        return .nothing(.content("free memory or the file cache is above every row"), snapshot)
    }
}
