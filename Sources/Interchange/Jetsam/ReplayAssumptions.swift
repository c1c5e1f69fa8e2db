import Plan
import Pressure
import Quantities
import Reclaim

/// What a replay assumes beyond the report: who takes memory, which limits victims had, and that nothing else changes.
struct ReplayAssumptions {
    /// A limit that a victim's own reason shows.
    enum Limit {
        /// A soft one, which the victim is above (`highwater`).
        case soft
        /// A fatal one, which the victim crosses (`per-process-limit`).
        case fatal
    }

    /// How long the run goes on at most. Shorter than the 10 min after which jetsam ends idle processes for a pressure
    /// that lasts.
    static let time = TimeSpan.minutes(9)
    /// How soon a process was launched again after its end, if the report's reasons show that processes were: less than
    /// the 5 s below which jetsam finds the next time likely.
    private static let relaunchedAfter = TimeSpan.seconds(1)

    /// What the app that takes memory takes in a second: about the device's RAM in 100 s.
    let rate: ByteRate
    private let limits: [Limit?]
    private let names: [String]
    private let ceiling: ByteCount
    private let demandName: String
    /// The release of XNU that manages the memory; nil without a compressor.
    private let kernel: JetsamKernel?
    /// Whether idle processes came back soon after their ends: most victims have the reason that says so.
    ///
    /// Source: xnu-6153.141.1 and later, where the aggressive mode begins if all idle processes are likely to be
    /// launched again. In xnu-4903.270.47 it begins if more of them end within 6 s than there were.
    private let hasRelaunches: Bool

    init(_ phone: JetsamPhoneImport) {
        ceiling = phone.device.ceiling
        demandName = phone.demandName
        kernel = phone.device.keepFree == nil ? nil : phone.report.kernel
        let thrashing = phone.victims.count { $0.process.reason == KillCause.processThrashing.rawValue }
        hasRelaunches = thrashing * 2 > phone.victims.count
        rate = ByteRate(bytesPerSecond: max(1, ceiling.bytes / (100 << 20)) << 20)
        names = phone.members.map(\.name)
        limits = phone.members.map { member in
            // What holds next to nothing has no limit that it could be above.
            guard member.footprint >= .kibibytes(8) else { return nil }
            return switch member.process.reason {
            case KillCause.highwater.rawValue: .soft
            case KillCause.perProcessLimit.rawValue: .fatal
            default: nil
            }
        }
    }

    /// The limit that is assumed for the process; nil: none is.
    func limit(of member: JetsamPhoneImport.Member) -> Limit? {
        names.firstIndex(of: member.name).flatMap { limits[$0] }
    }

    // MARK: Words

    /// The assumptions, one sentence per line.
    var words: [String] {
        var lines = [
            "A report does not say who took the memory: here an app off screen that jetsam never ends takes \(rate).",
            "No process changes its state by itself. Nothing is protected from jetsam, not even what is on the screen.",
        ]
        if let kernel {
            lines.append(
                "The compressor goes on as in xnu-\(kernel.rawValue), when few pages are free, so that jetsam acts at "
                    + "its marks, as it did with the report's available memory.")
        }
        if hasRelaunches {
            lines.append(
                "What is in bands 0 and 10 was launched again \(ReplayAssumptions.relaunchedAfter) after its last end, "
                    + "because most reasons are \(KillCause.processThrashing.rawValue). So these reasons prove little.")
        }
        func named(_ limit: Limit) -> String? {
            let found = zip(names, limits).filter { $0.1 == limit }.map { "'\($0.0)'" }
            return found.isEmpty ? nil : found.joined(separator: ", ")
        }
        if let soft = named(.soft) {
            lines.append("A soft limit just below what it held, because its reason is highwater: \(soft).")
        }
        if let fatal = named(.fatal) {
            lines.append(
                "A fatal limit at what it held, and growth across it, because its reason is per-process-limit: "
                    + "\(fatal).")
        }
        return lines
    }

    // MARK: The scenario

    /// Everything that could end or spare a process for another reason than pressure is off.
    var limitLines: [String] {
        ["limits: { background_time: 1h, protect_audible: false, protect_foreground: false }"]
    }

    var appLines: [String] {
        let memory = "base: 1MiB, scene: 0B, cache: { size: 0B }, leak: \(rate), objects: { constant: 16KiB }"
        return [
            "  - { name: \"\(demandName)\", background_modes: [location], scenes: { support: false }, limits: { "
                + "active: \(ceiling * 16), active_fatal: false }, memory: { \(memory) } }"
        ]
    }

    var startLines: [String] {
        [
            "  - { process: \"\(demandName)\", state: background, footprint: 1MiB, band: "
                + "\(JetsamBand.internal.number) }"
        ]
    }

    /// A further entry of the process at the start: how soon it was launched again; empty: nothing is assumed.
    func relaunches(of member: JetsamPhoneImport.Member) -> String {
        let isCandidate = [JetsamBand.idle, .daemonAgeing].contains { $0.number == member.band }
        return hasRelaunches && isCandidate ? ", relaunched_after: [\(ReplayAssumptions.relaunchedAfter)]" : ""
    }

    func hasLimit(_ member: JetsamPhoneImport.Member) -> Bool { limit(of: member) != nil }

    func grows(_ member: JetsamPhoneImport.Member) -> Bool { limit(of: member) == .fatal }

    /// It crosses its limit within a second.
    func growth(of member: JetsamPhoneImport.Member) -> ByteRate? {
        grows(member) ? ByteRate(bytesPerSecond: max(1 << 20, member.footprint.bytes / 50)) : nil
    }

    /// Limits that replace those of the scenario; nil: none do.
    func limits(of member: JetsamPhoneImport.Member) -> String? {
        switch limit(of: member) {
        case .soft:
            let soft = max(ByteCount(JetsamEventImport.page), member.footprint - ByteCount(JetsamEventImport.page))
            return "active: \(soft), inactive: \(soft), fatal: false, active_fatal: false"
        case .fatal: return "active: \(member.footprint), inactive: none, fatal: true, active_fatal: true"
        case nil: return nil
        }
    }

    /// A process must run to cross its limit; only an app is in front.
    func state(of member: JetsamPhoneImport.Member) -> StartedProcess.State {
        let isAppInFront = member.kind == nil && member.state == .front
        return grows(member) && !isAppInFront ? .background : member.state
    }
}
