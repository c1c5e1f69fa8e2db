import Quantities

/// iOS's kernel: bands, limits and thresholds of available memory, one kill at a time.
///
/// Reproduces the release that its parameter `kernel` names, by default xnu-11417.101.15. `JetsamKernel` states how the
/// releases differ, `JetsamRules` the order of the steps. Steps that need a compressor or a freezer are left out,
/// because the device has neither. The foreground is ranked like any band; the guardrails decide whether it may be
/// touched.
public struct Jetsam: ReclaimPolicy {
    public static let name = "jetsam"
    public static let summary = "iOS's kernel: priority bands against shares of RAM available (xnu-8792 to xnu-11417)"
    public static let parameters = thresholds + common(of: .standard)
    public static let needs: PolicyNeeds = .everySample

    var rules = JetsamRules()

    public init() {}

    public func contentAbove(on device: DeviceSize) -> ByteCount? { rules.contentAbove(on: device) }

    public func decide(_ snapshot: SystemSnapshot) -> Decision { rules.decide(snapshot) }
}

// MARK: Parameters

/// `jetsam` and `jetsam-classic` share these parameters; `jetsam-classic` has no choice of kernel and no reaper.
protocol JetsamPolicy: ReclaimPolicy {
    var rules: JetsamRules { get set }
}

extension Jetsam: JetsamPolicy {}
extension JetsamClassic: JetsamPolicy {}

extension JetsamPolicy {
    typealias Row = any KeyPath<JetsamThresholds, Ratio> & Sendable

    private static func share(
        _ field: Parameter<Self>.Field<Ratio?>, _ row: Row, _ name: String, _ meaning: String, of kernel: JetsamKernel,
        before: String = ""
    ) -> Parameter<Self> {
        let exception = before.isEmpty ? "" : "; \(before)"
        return Parameter(
            field, name, table: { $0.rules.row(for: $1)[keyPath: row] }, from: Ratio(partsPerMillion: 1), to: .one,
            meaning: "\(meaning); table: \(byRAM(row, kernel))\(exception)", source: kernel.version)
    }

    /// For example "5% up to 3GiB of RAM, 4% up to 6GiB, 4% above".
    private static func byRAM(_ row: Row, _ kernel: JetsamKernel) -> String {
        let bounds = JetsamThresholds.bounds
        let shares = (bounds + [.gibibytes(64)]).map { JetsamThresholds.row(for: $0, in: kernel)[keyPath: row] }
        return "\(shares[0]) up to \(bounds[0]) of RAM, \(shares[1]) up to \(bounds[1]), \(shares[2]) above"
    }

    /// The choice of the kernel, and the thresholds of every kernel.
    static var thresholds: [Parameter<Self>] {
        let kernel = JetsamKernel.standard
        return [
            Parameter(
                \.rules.kernel, "kernel",
                meaning: "the release of XNU whose rules and classes of RAM hold: iOS 16, 17, 18.0, 18.4",
                source: "xnu-8792, xnu-10063, xnu-11215, xnu-11417.101.15"),
            share(
                \.rules.critical, \.critical, "critical", "below this share of RAM available any band may go",
                of: kernel),
            share(
                \.rules.idle, \.idle, "idle",
                "below this share band 0 goes; kernels 8792 and 10063 raise critical to it while band 0 is occupied",
                of: kernel, before: "9% above 3GiB under kernel 8792"),
            share(
                \.rules.soft, \.soft, "soft", "below this share processes over a soft limit go", of: kernel,
                before: "15% everywhere under kernel 8792"),
            share(
                \.rules.reaper, \.reaper, "reaper", "below this share processes that have been idle for long go",
                of: kernel,
                before: "none before kernel 11417"),
            Parameter(
                \.rules.reaperIdle, "reaper_idle", from: .zero, to: .hours(24),
                meaning: "how long in band 0 is long", source: JetsamKernel.xnu11417.version),
        ]
    }

    /// The thresholds of a policy that stands for one kernel without a reaper.
    static func thresholds(of kernel: JetsamKernel) -> [Parameter<Self>] {
        [
            share(
                \.rules.critical, \.critical, "critical", "below this share of RAM available any band may go",
                of: kernel),
            share(\.rules.idle, \.idle, "idle", "below it band 0 goes", of: kernel),
            share(\.rules.soft, \.soft, "soft", "below this share processes over a soft limit go", of: kernel),
        ]
    }

    static func common(of kernel: JetsamKernel) -> [Parameter<Self>] {
        let source = kernel.version
        return [
            Parameter(
                \.rules.ram, "ram", table: { $0.rules.ram ?? $1.meant }, from: ByteCount(1), to: .gibibytes(64),
                isScaled: false, meaning: "the RAM whose row of thresholds is taken; table: the device's own",
                source: source),
            Parameter(
                \.rules.ballast, "ballast", from: .zero, to: .percent(50),
                meaning: "added to every threshold but critical; under kernels 8792 and 10063 to critical alone",
                source: source),
            Parameter(
                \.rules.aggressiveAvailable, "aggressive_available", from: .zero, to: .one,
                meaning: "at or below this share available the aggressive mode may begin", source: source),
            Parameter(
                \.rules.aggressiveCandidates, "aggressive_candidates", from: 1, to: 1_000,
                meaning: "it needs at least this many idle apps, all very likely to be relaunched", source: source),
            Parameter(
                \.rules.aggressiveWindow, "aggressive_window", from: .zero, to: .minutes(10),
                meaning: "rounds within this time climb the bands", source: source),
            Parameter(
                \.rules.sustainedAfter, "sustained_after", from: .zero, to: .hours(24),
                meaning: "after a level other than normal has held for this time, band 0 is ended one by one",
                source: source),
            Parameter(
                \.rules.sustainedSpacing, "sustained_spacing", from: .zero, to: .minutes(10),
                meaning: "the time between two of these kills", source: source),
            Parameter(
                \.rules.sustainedFactor, "sustained_factor", from: 0, to: 1_000,
                meaning: "ends at most this many times the number of processes in band 0 when it began",
                source: source),
            Parameter(
                \.rules.purgesFirst, "purge_first",
                meaning: "the victim's own unused pages go first; if that is enough it is spared", source: source),
        ]
    }
}
