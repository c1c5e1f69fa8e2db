import Quantities

/// The parameters of `jetsam`, and those of `jetsam-classic`, which has no choice of the kernel.
enum JetsamParameters {
    private static func share(
        _ name: String, _ row: KeyPath<JetsamThresholds, Ratio>, _ meaning: String, of kernel: JetsamKernel,
        before: String = ""
    ) -> PolicyParameter {
        let exception = before.isEmpty ? "" : "; \(before)"
        return PolicyParameter(
            name, .ratio(.zero), from: .ratio(.zero), to: .ratio(.one),
            meaning: "\(meaning); 0%: \(byRAM(row, kernel))\(exception)", source: kernel.version)
    }

    /// "5% up to 3GiB of RAM, 4% up to 6GiB, 4% above".
    private static func byRAM(_ row: KeyPath<JetsamThresholds, Ratio>, _ kernel: JetsamKernel) -> String {
        let bounds = JetsamThresholds.bounds
        let shares = (bounds + [.gibibytes(64)]).map { JetsamThresholds.row(for: $0, in: kernel)[keyPath: row] }
        return "\(shares[0]) up to \(bounds[0]) of RAM, \(shares[1]) up to \(bounds[1]), \(shares[2]) above"
    }

    /// The kernel that is reproduced; `fixed` for a policy that stands for one of them.
    static func kernel(_ values: ParameterValues, fixed: JetsamKernel?) -> JetsamKernel {
        if let fixed { return fixed }
        let name = values.choice("kernel")
        guard let kernel = JetsamKernel(rawValue: name) else { preconditionFailure("no kernel is called \(name)") }
        return kernel
    }

    /// The RAM whose row of thresholds is taken.
    static func ram(_ values: ParameterValues, on device: DeviceSize) -> ByteCount {
        let given = values.bytes("ram")
        return given == .zero ? device.meant : given
    }

    /// The share that a threshold of 0% stands for, and the RAM that 0B does.
    static func meaning(
        ofDefault parameter: String, in values: ParameterValues, on device: DeviceSize, fixed: JetsamKernel?
    ) -> ParameterValue? {
        let ram = ram(values, on: device)
        let row = JetsamThresholds.row(for: ram, in: kernel(values, fixed: fixed))
        switch parameter {
        case "ram": return .bytes(ram)
        case "critical": return .ratio(row.critical)
        case "idle": return .ratio(row.idle)
        case "soft": return .ratio(row.soft)
        case "reaper": return .ratio(row.reaper)
        default: return nil
        }
    }

    /// The choice of the kernel, and the thresholds of every kernel.
    static let table: [PolicyParameter] =
        [
            PolicyParameter(
                "kernel", choice: JetsamKernel.standard.rawValue, among: JetsamKernel.allCases.map(\.rawValue),
                meaning: "the release of XNU whose rules and classes of RAM hold: iOS 16, 17, 18.0, 18.4",
                source: "xnu-8792, xnu-10063, xnu-11215, xnu-11417.101.15"),
            share(
                "critical", \.critical, "below this share of RAM available any band may go", of: .standard),
            share(
                "idle", \.idle,
                "below it band 0 goes; kernels 8792 and 10063 raise critical to it while band 0 is occupied",
                of: .standard, before: "9% above 3GiB under kernel 8792"),
            share(
                "soft", \.soft, "below it those over a soft limit go", of: .standard,
                before: "15% everywhere under kernel 8792"),
            share(
                "reaper", \.reaper, "below it those that have long been idle go", of: .standard,
                before: "none before kernel 11417"),
            PolicyParameter(
                "reaper_idle", .time(.seconds(300)), from: .time(.zero), to: .time(.hours(24)),
                meaning: "how long in band 0 is long", source: JetsamKernel.xnu11417.version),
        ] + common(JetsamKernel.standard.version)

    /// Those of a policy that stands for one kernel without a reaper.
    static func table(of kernel: JetsamKernel) -> [PolicyParameter] {
        [
            share("critical", \.critical, "below this share of RAM available any band may go", of: kernel),
            share("idle", \.idle, "below it band 0 goes", of: kernel),
            share("soft", \.soft, "below it those over a soft limit go", of: kernel),
        ] + common(kernel.version)
    }

    private static func common(_ source: String) -> [PolicyParameter] {
        [
            PolicyParameter(
                "ram", .bytes(.zero), from: .bytes(.zero), to: .bytes(.gibibytes(64)), isScaled: false,
                meaning: "the RAM whose row of thresholds is taken; 0B: the device's own", source: source),
            PolicyParameter(
                "ballast", .ratio(.zero), from: .ratio(.zero), to: .ratio(.percent(50)),
                meaning: "added to every threshold but critical; under kernels 8792 and 10063 to critical alone",
                source: source),
            PolicyParameter(
                "aggressive_available", .ratio(.percent(7)), from: .ratio(.zero), to: .ratio(.one),
                meaning: "at or below this share available the aggressive mode may begin", source: source),
            PolicyParameter(
                "aggressive_candidates", .count(5), from: .count(1), to: .count(1_000),
                meaning: "with so many idle apps, all very likely to be relaunched", source: source),
            PolicyParameter(
                "aggressive_window", .time(.seconds(6)), from: .time(.zero), to: .time(.minutes(10)),
                meaning: "rounds within this time climb the bands", source: source),
            PolicyParameter(
                "sustained_after", .time(.minutes(10)), from: .time(.zero), to: .time(.hours(24)),
                meaning: "a level that is not normal for so long ends band 0 one by one", source: source),
            PolicyParameter(
                "sustained_spacing", .time(.milliseconds(500)), from: .time(.zero), to: .time(.minutes(10)),
                meaning: "between two of these kills", source: source),
            PolicyParameter(
                "sustained_factor", .count(2), from: .count(0), to: .count(1_000),
                meaning: "at most so many times the number in band 0 when it began", source: source),
            PolicyParameter(
                "purge_first", .flag(true), from: .flag(false), to: .flag(true),
                meaning: "the victim's own unused pages go first; if that is enough it is spared", source: source),
        ]
    }
}
