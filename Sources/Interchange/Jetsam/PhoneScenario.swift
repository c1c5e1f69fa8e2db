import Lifecycle
import Pressure
import Quantities
import Reclaim
import Scenario
import Workload

/// The text of a scenario in which every process of a report is alive when the run begins.
struct PhoneScenario {
    private let phone: JetsamPhoneImport
    /// What a replay adds; nil: nothing.
    private let replay: ReplayAssumptions?

    init(_ phone: JetsamPhoneImport, replay: ReplayAssumptions? = nil) {
        (self.phone, self.replay) = (phone, replay)
    }

    private var report: JetsamReport { phone.report }
    private var members: [JetsamPhoneImport.Member] { phone.members }

    var text: String {
        let apps = members.filter { kind(of: $0) == nil }
        let parts = members.filter { kind(of: $0) != nil }
        var lines = heading + device + policyLines + (replay?.limitLines ?? [])
        lines += ["apps:"] + apps.map { "  - { name: \"\($0.name)\", \(settings(of: $0)) }" } + (replay?.appLines ?? [])
        if !parts.isEmpty || phone.unshown > .zero { lines += ["processes:"] + parts.map(line(ofPart:)) }
        if phone.unshown > .zero { lines += unshownPart }
        lines += ["# In the report's order: jetsam ends them from the top, band by band.", "start:"]
        lines += members.map(line(ofStart:))
        if phone.unshown > .zero { lines.append(unshownStart) }
        return (lines + (replay?.startLines ?? whatIsNext)).joined(separator: "\n") + "\n"
    }

    // MARK: Before the processes

    /// In a replay the kernel's compressor works only in need, so that jetsam acts at its marks.
    private var device: [String] { phone.device.lines(managedBy: replay == nil ? nil : report.kernel) }

    /// The release of jetsam that the report's system has, as far as it is known.
    private var policyLines: [String] {
        let kernel = report.kernel
        guard kernel != .standard else { return ["policy: jetsam"] }
        return [
            "# The oldest release of jetsam that is reproduced and not newer than the report's system, or the oldest "
                + "of all.",
            "policy: { name: jetsam, parameters: { kernel: \(kernel.rawValue) } }",
        ]
    }

    private var heading: [String] {
        let told = [report.product, report.system, report.date].compactMap { $0 }.map { onOneLine($0) }
        let source = onOneLine(report.source.file.split(separator: "/").last.map(String.init) ?? "a report")
        var lines = [
            "# The JetsamEvent report \(source)" + (told.isEmpty ? "" : ": \(told.joined(separator: ", "))") + ".",
            "# All of its \(members.count.counted("process", "processes")) are alive when the run begins, at the "
                + "report's moment.",
            "# What each is follows from its name, its states and its coalition: a guess where the report is silent.",
        ]
        if members.contains(where: { $0.process.priority == nil }) {
            lines.append("# The report shows no bands; they are guessed from states and from the report's order.")
        }
        let ahead = members.filter { $0.state == .prewarmed }.map { "'\($0.name)'" }
        if !ahead.isEmpty {
            lines.append(
                "# Prewarmed, so that the next launch is cold: " + onOneLine(ahead.joined(separator: ", "), atMost: 400)
                    + ". A guess from footprint and CPU time.")
        }
        if !phone.late.isEmpty {
            lines.append(
                "# Left out: \(phone.late.count) launched after the report was begun, and ended: "
                    + onOneLine(phone.late.map(\.name).joined(separator: ", ")) + ".")
        }
        lines += phone.victims.map {
            "# jetsam ended \($0.name)\($0.process.pid.map { " (pid \($0))" } ?? ""): "
                + "\(onOneLine($0.process.reason ?? "")); it held \($0.footprint.readable)."
        }
        lines += (replay?.words ?? []).map { "# \($0)" }
        let time = replay == nil ? "1min" : "\(ReplayAssumptions.time)"
        return lines + ["plimsoll: 1", "name: jetsam-event", "duration: \(time)"]
    }

    // MARK: Processes

    /// In a replay an app stands for a process that has to grow, because only an app works for as long as it likes.
    private func kind(of member: JetsamPhoneImport.Member) -> ProcessKind? {
        replay?.grows(member) == true ? nil : member.kind
    }

    private func settings(of member: JetsamPhoneImport.Member) -> String {
        var parts = ["memory: { \(memory(of: member).joined(separator: ", ")) }"]
        if let limits = replay?.limits(of: member) ?? limits(of: member) { parts.append("limits: { \(limits) }") }
        // In a replay no app is suspended by itself.
        let mode: BackgroundMode? =
            replay == nil ? member.runsFor : kind(of: member) == nil && member.state != .front ? .location : nil
        if let mode { parts.append("background_modes: [\(mode.rawValue)]") }
        return parts.joined(separator: ", ")
    }

    /// Objects have the size of one page, because a report counts only pages.
    private func memory(of member: JetsamPhoneImport.Member) -> [String] {
        if member.state == .prewarmed && replay?.grows(member) != true { return memory(ofPrewarmed: member) }
        let isPlain = member.kind != nil || replay?.grows(member) == true || replay?.hasLimit(member) == true
        let scene = isPlain ? .zero : JetsamEventImport.scene(of: member.footprint)
        let cache = isPlain ? .zero : JetsamEventImport.cache(of: member.footprint)
        // A base that reaches a limit, or is larger than the device's memory, would be refused.
        let base = min(member.footprint - scene - cache, room)
        var facts = ["base: \(replay?.grows(member) == true ? ByteCount(base.bytes / 2) : base)"]
        if scene > .zero || isPlain && kind(of: member) == nil { facts.append("scene: \(scene)") }
        if cache > .zero {
            let rate = ByteRate(bytesPerSecond: cache.bytes)
            facts.append("cache: { size: \(cache * 2), rate: \(rate) }")
        } else if isPlain && kind(of: member) == nil {
            facts.append("cache: { size: 0B }")
        }
        facts.append("objects: { constant: \(ByteCount(JetsamEventImport.page)) }")
        if let growth = replay?.growth(of: member) { facts.append("leak: \(growth)") }
        return facts
    }

    /// What a prewarmed app will hold once it is launched, the report does not show: that of a plain app.
    private func memory(ofPrewarmed member: JetsamPhoneImport.Member) -> [String] {
        let base = room < .mebibytes(256) ? ["base: \(member.footprint)"] : []
        return base + ["objects: { constant: \(ByteCount(JetsamEventImport.page)) }"]
    }

    /// What a daemon may hold is not known, and an extension or an app that holds more has a higher limit.
    private func limits(of member: JetsamPhoneImport.Member) -> String? {
        guard let kind = member.kind else {
            guard let limit = phone.device.preset?.appLimit?.value, member.footprint >= limit * .percent(95) else {
                return nil
            }
            return "active: \(phone.device.ceiling * 2)"
        }
        guard let limit = kind.limit, kind == .daemon || limit <= member.footprint else { return nil }
        return "active: none, inactive: none, active_fatal: none"
    }

    private func line(ofPart member: JetsamPhoneImport.Member) -> String {
        var kind = member.kind ?? .daemon
        var host = member.host.map { ", of: \"\($0)\"" } ?? ""
        // In a replay a helper off screen stands alone, so that jetsam ends it, and not the end of its app.
        if replay != nil, kind.family == .helper, member.state != .front { (kind, host) = (.otherExtension, "") }
        // In the report it may have been idle for long.
        let stays = kind.family == .extension ? ", idle_exit: none" : ""
        return "  - { name: \"\(member.name)\", kind: \(kind.rawValue)\(host)\(stays), \(settings(of: member)) }"
    }

    private func line(ofStart member: JetsamPhoneImport.Member) -> String {
        let compressed = member.compressed > .zero ? ", compressed: \(member.compressed)" : ""
        let state = replay?.state(of: member) ?? member.state
        return
            "  - { process: \"\(member.name)\", state: \(state.rawValue), footprint: \(member.footprint)\(compressed), "
            + "band: \(member.band), idle: \(member.idle), age: \(member.age)\(replay?.relaunches(of: member) ?? "") }"
    }

    private var room: ByteCount { phone.device.ceiling - phone.device.reserved }

    private var unshownPart: [String] {
        let objects = "objects: { constant: \(ByteCount(JetsamEventImport.page)) }"
        return [
            "  # The report's compressor holds more than its processes show. Whose memory that is, it does not say.",
            "  - { name: \"\(phone.unshownName)\", kind: daemon, memory: { base: \(min(phone.unshown, room)), "
                + "\(objects) }, limits: { active: none, inactive: none, active_fatal: none } }",
        ]
    }

    private var unshownStart: String {
        "  - { process: \"\(phone.unshownName)\", footprint: \(phone.unshown), compressed: \(phone.unshown), "
            + "band: \(JetsamBand.internal.number) }"
    }

    /// Comment lines that show in which order jetsam would end the processes.
    private var whatIsNext: [String] {
        guard let front = phone.front else { return [] }
        let burst = "{ after: 0s, size: \(phone.device.ceiling), over: 25s }"
        let setting = ShellWord.quoted("apps.\(front.name).memory.bursts=[\(burst)]")
        return ["# To see which process ends next while the app in front takes more and more:", "# --set \(setting)"]
    }
}
