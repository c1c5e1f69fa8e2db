import Quantities

/// iOS's kernel: bands, limits and thresholds of available memory.
///
/// Reproduces the release that its parameter `kernel` names, by default the device's or else xnu-11417.101.15.
/// `JetsamKernel` states how the releases differ, `JetsamRules` the order of the steps, those of the compressor and the
/// file cache included. The reaper ends all long-idle processes of one moment, and the aggressive mode goes by rounds
/// (`JetsamCourse`); otherwise each kill is decided alone. Processes in the foreground are ranked like those in any
/// other band; the guardrails decide whether they may be ended.
public struct Jetsam: ReclaimPolicy {
    public static let name = "jetsam"
    public static let summary = "iOS's kernel: priority bands against shares of RAM available (xnu-8792 to xnu-11417)"
    public static let parameters = thresholds + common(of: .standard)
    public static let needs: PolicyNeeds = [.everySample, .obtainable]

    var rules = JetsamRules()

    public init() {}

    public func contentAbove(on device: DeviceSize) -> ByteCount? { rules.contentAbove(on: device) }

    public func isBusy(_ history: ReclaimHistory) -> Bool { history.course.isBusy }

    public func decide(_ snapshot: SystemSnapshot) -> Decision { rules.decide(snapshot) }
}

// MARK: Parameters

/// `jetsam` and `jetsam-classic` share these parameters. Only `jetsam` lets a scenario choose the kernel and has a
/// reaper.
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
                \.rules.kernel, "kernel", table: { $0.rules.release(on: $1) },
                meaning: "the release of XNU whose rules and thresholds apply: iOS 16, 17, 18.0, 18.4; table: the "
                    + "device's own (device.kernel), or \(kernel.rawValue)",
                source: "xnu-8792, xnu-10063, xnu-11215, xnu-11417.101.15"),
            share(
                \.rules.critical, \.critical, "critical",
                "if less than this share of RAM is available, any band may be ended", of: kernel),
            share(
                \.rules.idle, \.idle, "idle",
                "below this share, band 0 is ended; kernels 8792 and 10063 raise critical to it while band 0 has apps",
                of: kernel, before: "9% above 3GiB under kernel 8792"),
            share(
                \.rules.soft, \.soft, "soft", "below this share, processes over a soft limit are ended", of: kernel,
                before: "15% everywhere under kernel 8792"),
            share(
                \.rules.reaper, \.reaper, "reaper", "below this share, long-idle processes are ended",
                of: kernel,
                before: "none before kernel 11417"),
            Parameter(
                \.rules.reaperIdle, "reaper_idle", from: .zero, to: .hours(24),
                meaning: "the time in band 0 after which a process counts as long idle",
                source: JetsamKernel.xnu11417.version),
            Parameter(
                \.rules.reaperRest, "reaper_rest", from: .zero, to: .hours(24),
                meaning: "on a device with a kernel: the time after a sweep of the reaper in which no other begins",
                source: JetsamKernel.xnu11417.version),
        ]
    }

    /// The thresholds of a policy that reproduces only one kernel, without a reaper.
    static func thresholds(of kernel: JetsamKernel) -> [Parameter<Self>] {
        [
            share(
                \.rules.critical, \.critical, "critical",
                "if less than this share of RAM is available, any band may be ended", of: kernel),
            share(\.rules.idle, \.idle, "idle", "below this share, band 0 is ended", of: kernel),
            share(\.rules.soft, \.soft, "soft", "below this share, processes over a soft limit are ended", of: kernel),
        ]
    }

    static func common(of kernel: JetsamKernel) -> [Parameter<Self>] {
        let source = kernel.version
        return [
            Parameter(
                \.rules.ram, "ram", table: { $0.rules.ram ?? $1.meant }, from: ByteCount(1), to: .gibibytes(64),
                isScaled: false,
                meaning: "the thresholds are those for a device with this much RAM; table: the device's own",
                source: source),
            Parameter(
                \.rules.ballast, "ballast", from: .zero, to: .percent(50),
                meaning: "added to every threshold except critical; under kernels 8792 and 10063 only to critical",
                source: source),
            Parameter(
                \.rules.aggressiveAvailable, "aggressive_available", from: .zero, to: .one,
                meaning: "if at most this share of RAM is available, the aggressive mode may begin", source: source),
            Parameter(
                \.rules.aggressiveCandidates, "aggressive_candidates", from: 1, to: 1_000,
                meaning: "the aggressive mode needs at least this many idle apps, all very likely to be relaunched",
                source: source),
            Parameter(
                \.rules.aggressiveWindow, "aggressive_window", from: .zero, to: .minutes(10),
                meaning: "each kill of the aggressive mode counts for this time; the more kills count, the higher "
                    + "the bands that the next one may reach; on a device with a kernel, rounds count, not kills",
                source: source),
            Parameter(
                \.rules.sustainedAfter, "sustained_after", from: .zero, to: .hours(24),
                meaning: "after a level other than normal has held for this time, band 0 is ended one by one",
                source: source),
            Parameter(
                \.rules.sustainedSpacing, "sustained_spacing", from: .zero, to: .minutes(10),
                meaning: "the shortest time between two kills for sustained pressure", source: source),
            Parameter(
                \.rules.sustainedFactor, "sustained_factor", from: 0, to: 1_000,
                meaning: "sustained pressure ends at most this many times as many processes as were in band 0 "
                    + "when it began",
                source: source),
            Parameter(
                \.rules.purgesFirst, "purge_first",
                meaning: "whether the victim's purgeable memory is taken first; if that is enough, it is spared",
                source: source),
        ]
    }
}
