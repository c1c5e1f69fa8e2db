import Lifecycle
import Quantities
import Scenario

extension JetsamEventImport {
    /// A complete scenario, ready to run.
    public var scenario: String {
        (heading + device.lines(report) + policyLines + prewarming + ["apps:"] + apps.flatMap(lines) + userLines)
            .joined(separator: "\n")
            + "\n"
    }

    private var heading: [String] {
        let told = [report.product, report.system, report.date].compactMap { $0 }.map { onOneLine($0) }
        let source = onOneLine(report.source.file.split(separator: "/").last.map(String.init) ?? "a report")
        var lines = [
            "# The JetsamEvent report \(source)" + (told.isEmpty ? "" : ": \(told.joined(separator: ", "))") + ".",
            "# \(report.processes.count.counted("process", "processes")), with \(apps.count.counted("app")), launched "
                + "here the least recently used first.",
            "# At \(stateAt) each is in the band that the report shows and holds what it held there.",
        ]
        for victim in victims {
            let size = ByteCount(victim.pages * report.pageSize).readable
            let place = apps.first { $0.process == victim || $0.helpers.contains(victim) }
            lines.append(
                "# jetsam ended \(onOneLine(victim.name))\(pid(victim)): \(onOneLine(victim.reason ?? "")); it held "
                    + size + (place.map { ", and is '\($0.name)' here." } ?? ", and is reserved memory here."))
        }
        return lines + [
            "plimsoll: 1", "name: jetsam-event", "duration: \(stateAt + JetsamEventImport.afterwards)",
        ]
    }

    /// How long the run continues after `stateAt`.
    private static let afterwards = TimeSpan.minutes(1)

    private func pid(_ process: JetsamReport.Process) -> String { process.pid.map { " (pid \($0))" } ?? "" }

    private func readable(_ pages: Int) -> String { ByteCount(pages * report.pageSize).readable }

    private var policyLines: [String] {
        var lines: [String] = []
        if stateAt > .minutes(4) {
            lines += [
                "# The launches take longer than the 5 min after which an idle app counts as long idle.",
                "policy: { name: jetsam, parameters: { reaper_idle: \(min(stateAt + .minutes(5), .hours(24))) } }",
            ]
        } else {
            lines.append("policy: jetsam")
        }
        if let stay, stay > .seconds(30) {
            lines += [
                "# Those that were finishing off screen are launched over more than the 30 s that they may take.",
                "limits: { background_time: \(stay) }",
            ]
        }
        return lines
    }

    /// A prewarmed app holds its footprint before its launch.
    private var prewarming: [String] {
        guard apps.contains(where: \.isPrewarmed) else { return [] }
        return [
            "# Prewarmed apps hold so little that all of it is taken for the part of their base that comes first.",
            "lifecycle: { prewarmed_base: 100% }",
        ]
    }

    /// How long apps that finish something off screen keep working: until `stateAt` and 30 s more.
    private var stay: TimeSpan? {
        apps.first { $0.standing == .finishing }.map { stateAt - $0.tapped + .seconds(30) }
    }

    private func lines(of app: App) -> [String] {
        let process = app.process
        var facts = [app.isPrewarmed ? "prewarmed" : app.standing.words]
        if let priority = process.priority { facts.append("band \(priority) in the report") }
        if !process.states.isEmpty { facts.append("states: " + process.states.joined(separator: ", ")) }
        facts.append("held \(readable(process.pages))")
        if let most = process.lifetimeMaximum { facts.append("at most \(readable(most)) in its life") }
        var who = app.name == process.name ? [] : ["\"\(onOneLine(process.name, atMost: 40))\""]
        if let pid = process.pid { who.append("pid \(pid)") }
        let title = who.isEmpty ? "" : who.joined(separator: ", ") + ": "
        var lines = ["  # " + onOneLine(title + facts.joined(separator: "; "), atMost: 110)]
        if !app.helpers.isEmpty {
            let names = app.helpers.map { "\(onOneLine($0.name, atMost: 40)), \(readable($0.pages))" }
            lines.append("  # " + onOneLine("with its helpers in front: " + names.joined(separator: "; "), atMost: 110))
        }
        lines += ["  - name: \"\(app.name)\"", "    memory: \(memory(of: app))"]
        if app.isPrewarmed { return lines }
        let snapshot = "snapshot: \(JetsamEventImport.snapshot(of: app.footprint))"
        switch app.standing {
        case .suspended, .front: lines.append("    background: { \(snapshot) }")
        case .finishing: lines.append("    background: { \(snapshot), work: \(stay ?? .seconds(30)) }")
        case .running(let mode):
            lines += ["    background: { \(snapshot) }", "    background_modes: [\(mode.rawValue)]"]
        }
        return lines
    }

    /// Objects have the size of one page, because a report counts only pages.
    private func memory(of app: App) -> String {
        let objects = "objects: { constant: \(ByteCount(JetsamEventImport.page)) }"
        if app.isPrewarmed { return "{ base: \(app.footprint), \(objects) }" }
        let kept = JetsamEventImport.cache(of: app.footprint)
        let scene = JetsamEventImport.scene(of: app.footprint)
        let cache = app.standing == .front ? kept : kept * 2
        // The cache fills at once: memory that arrives in several parts would not come in whole pages.
        return "{ base: \(app.footprint - scene - kept), scene: \(scene), "
            + "cache: { size: \(cache), rate: \(ByteRate(bytesPerSecond: cache.bytes * 16)) }, "
            + "\(objects) }"
    }

    private var userLines: [String] {
        var lines =
            ["user:"]
            + apps.map {
                "  - { at: \($0.tapped), \($0.isPrewarmed ? "prewarm" : "launch"): \"\($0.name)\" }"
            }
        if front == nil {
            lines.append("  - { at: \(stateAt - JetsamEventImport.settling), home: true }")
        }
        return lines + ["# \(stateAt): as in the report."] + whatIsNext
    }

    /// Comment lines that show in which order jetsam would end the apps. The scenario itself ends none.
    private var whatIsNext: [String] {
        guard let front else { return [] }
        let burst =
            "{ after: \(stateAt - front.tapped), size: \(device.ceiling), over: \(JetsamEventImport.rise) }"
        let setting = ShellWord.quoted("apps.\(front.name).memory.bursts=[\(burst)]")
        return ["# To see which process ends next while the app in front takes more and more:", "# --set \(setting)"]
    }

    /// How long the app in front takes to fill the device.
    private static let rise = TimeSpan.seconds(25)
}

extension JetsamDevice {
    /// The lines about the device.
    ///
    /// - Parameters:
    ///   - held: What a scenario holds: apps, or all processes.
    ///   - preset: The preset that the device is like, but for its compressor.
    func lines(_ report: JetsamReport, raised held: String = "apps", preset: DevicePreset? = nil) -> [String] {
        let pages = report.pages
        func readable(_ pages: Int) -> String { ByteCount(pages * report.pageSize).readable }
        var lines = [
            "# The ceiling is the report's memoryPages and its compressor's: \(readable(pages.all)). Reserved is what",
            "# no \(held == "apps" ? "app" : "process") of this scenario holds and is not available: wired "
                + "\(readable(pages.wired)), the compressor's "
                + "\(readable(pages.compressor)), \(held == "apps" ? "daemons and the system" : "the system").",
            "# Available in the report: \(readable(pages.available)), free or backed by a file.",
        ]
        if added > .zero {
            lines.append(
                "# The ceiling is \(added.readable) higher: footprints count at full size what was compressed."
            )
        }
        if widened > .zero {
            lines.append(
                "# The ceiling is \(widened.readable) higher, or \(held) and available memory would not fit."
            )
        }
        if spared > .zero {
            lines += [
                "# \(spared.readable) more are available, so "
                    + (held == "apps" ? "no app is warned or ended before all are launched." : "none ends at once."),
                "# For the report's own shortage: --set device.reserved=\(reserved + spared)",
            ]
        }
        let like = preset.map { "like: \($0.name), compressor: off, " } ?? ""
        return lines + ["device: { \(like)ceiling: \(ceiling), reserved: \(reserved) }"]
    }
}
