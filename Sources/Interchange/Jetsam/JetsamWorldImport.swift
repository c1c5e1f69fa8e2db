import Foundation
import Lifecycle
import Memory
import Pressure
import Quantities
import Reclaim
import Scenario
import Simulation
import Workload

/// Turns a JetsamEvent report into a scenario in which every process of the report is alive when the run begins: in its
/// band, in the report's order, with its footprint.
public struct JetsamWorldImport: Sendable {
    /// A process of the scenario.
    public struct Member: Sendable {
        /// Its name in the scenario: valid and unique.
        public let name: String
        /// The process in the report.
        public let process: JetsamReport.Process
        /// What it is if it is no app.
        public let kind: ProcessKind?
        /// The name of the app that it belongs to.
        public let host: String?
        /// What it does at the start.
        public let state: StartedProcess.State
        /// Its band on today's scale.
        public let band: Int
        /// Its footprint in whole pages of a simulated device.
        public let footprint: ByteCount
        /// How long it has been in its place; the earlier in the report, the longer.
        let idle: TimeSpan
        let age: TimeSpan
    }

    /// The report that the scenario reproduces.
    public let report: JetsamReport
    /// Every process, in the report's order.
    public let members: [Member]
    private let device: JetsamDevice

    /// Reads the report at a path.
    ///
    /// - Throws: Why the file cannot be read, or its first fault with line and column.
    public init(path: String) throws(ScenarioFault) {
        try self.init(SourceText.read(path, as: "a JetsamEvent report"), file: path)
    }

    /// Reads a report's bytes.
    ///
    /// - Parameter file: The report's name, for messages.
    /// - Throws: The first fault, with line and column.
    public init(_ bytes: [UInt8], file: String) throws(ScenarioFault) {
        report = try JetsamReport(bytes, file: file)
        guard !report.processes.isEmpty, report.processes.count <= RunPlan.mostApps else {
            throw report.source.fault(
                at: report.listOffset,
                "\(report.processes.count) processes; expected 1 to \(RunPlan.mostApps)")
        }
        let cast = WorldCast(report)
        guard cast.kinds.contains(where: { $0 == nil }) else {
            throw report.source.fault(
                at: report.listOffset,
                "no app among \(report.processes.count.counted("process", "processes")); expected some that are "
                    + "frontmost, background or suspended")
        }
        members = cast.members(report)
        device = JetsamDevice(report, apps: members.map(\.footprint), stands: true)
        guard device.ceiling <= MemoryLimits.highestCeiling else {
            throw report.source.fault(
                at: report.listOffset,
                "the processes would need a device of \(device.ceiling.readable); at most "
                    + "\(MemoryLimits.highestCeiling)")
        }
    }

    /// The processes that jetsam ended.
    public var victims: [Member] { members.filter { $0.process.reason != nil } }

    /// The app in front; nil for the home screen.
    public var front: Member? { members.first { $0.state == .front && $0.kind == nil } }

    private func count(_ family: ProcessFamily?) -> Int { members.count { $0.kind?.family == family } }

    /// The report's figures, one per line, for people and scripts.
    public var summary: String {
        let held = members.reduce(ByteCount.zero) { $0 + $1.footprint }
        var rows = [
            ("processes", "\(members.count)"), ("apps", "\(count(nil))"), ("helpers", "\(count(.helper))"),
            ("extensions", "\(count(.extension))"), ("daemons", "\(count(.daemon))"),
            ("app_in_front", front?.name ?? "none"), ("page_size_bytes", "\(report.pageSize)"),
            ("ceiling_bytes", "\(device.ceiling.bytes)"), ("reserved_bytes", "\(device.reserved.bytes)"),
            ("processes_bytes", "\(held.bytes)"),
            ("reported_available_bytes", "\(report.pages.available * report.pageSize)"),
        ]
        rows += victims.map { ("ended", "\($0.name), \(onOneLine($0.process.reason ?? ""))") }
        return importReport(rows)
    }
}

// MARK: The scenario

extension JetsamWorldImport {
    /// A complete scenario, ready to run.
    public var scenario: String {
        let apps = members.filter { $0.kind == nil }
        let parts = members.filter { $0.kind != nil }
        var lines = heading + device.lines(report, raised: "processes") + policyLines
        lines += ["apps:"] + apps.map { "  - { name: \"\($0.name)\", \(memory(of: $0)) }" }
        if !parts.isEmpty { lines += ["processes:"] + parts.map(line(ofPart:)) }
        lines += ["# In the report's order: jetsam ends them from the top, band by band.", "start:"]
        lines += members.map(line(ofStart:))
        return (lines + whatIsNext).joined(separator: "\n") + "\n"
    }

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
        lines += victims.map {
            "# jetsam ended \($0.name)\($0.process.pid.map { " (pid \($0))" } ?? ""): "
                + "\(onOneLine($0.process.reason ?? "")); it held \($0.footprint.readable)."
        }
        return lines + ["plimsoll: 1", "name: jetsam-event", "duration: 1min"]
    }

    /// Objects have the size of one page, because a report counts only pages.
    private func memory(of member: Member) -> String {
        let scene = member.kind == nil ? JetsamEventImport.scene(of: member.footprint) : .zero
        let cache = member.kind == nil ? JetsamEventImport.cache(of: member.footprint) : .zero
        var facts = ["base: \(member.footprint - scene - cache)"]
        if scene > .zero { facts.append("scene: \(scene)") }
        if cache > .zero {
            let rate = ByteRate(bytesPerSecond: cache.bytes)
            facts.append("cache: { size: \(cache * 2), rate: \(rate) }")
        }
        facts.append("objects: { constant: \(ByteCount(JetsamEventImport.page)) }")
        var settings = "memory: { \(facts.joined(separator: ", ")) }"
        // What a daemon may hold is not known, and an extension that holds more has a higher limit.
        let limit = member.kind?.limit ?? .zero
        if member.kind == .daemon || member.kind != nil && limit <= member.footprint && limit > .zero {
            settings += ", limits: { active: none, inactive: none, active_fatal: none }"
        }
        return settings
    }

    private func line(ofPart member: Member) -> String {
        let kind = member.kind ?? .daemon
        let host = member.host.map { ", of: \"\($0)\"" } ?? ""
        // In the report it may have been idle for long.
        let stays = kind.family == .extension ? ", idle_exit: none" : ""
        return "  - { name: \"\(member.name)\", kind: \(kind.rawValue)\(host)\(stays), \(memory(of: member)) }"
    }

    private func line(ofStart member: Member) -> String {
        "  - { process: \"\(member.name)\", state: \(member.state.rawValue), footprint: \(member.footprint), "
            + "band: \(member.band), idle: \(member.idle), age: \(member.age) }"
    }

    /// Comment lines that show in which order jetsam would end the processes.
    private var whatIsNext: [String] {
        guard let front else { return [] }
        let burst = "{ after: 0s, size: \(device.ceiling), over: 25s }"
        let setting = ShellWord.quoted("apps.\(front.name).memory.bursts=[\(burst)]")
        return ["# To see which process ends next while the app in front takes more and more:", "# --set \(setting)"]
    }
}

// MARK: Who is who

extension JetsamReport {
    /// The release of XNU that the report's system has, among those that jetsam's rules are known of. A system before
    /// iOS 16 gets the oldest of them.
    var kernel: JetsamKernel {
        guard let system, let version = JetsamReport.version(of: system) else { return .standard }
        switch version {
        case (...16, _): return .xnu8792
        case (17, _): return .xnu10063
        case (18, ...3): return .xnu11215
        default: return .standard
        }
    }

    /// Major and minor version: 14 and 2 for `iPhone OS 14.2 (18B5061e)`.
    private static func version(of system: String) -> (Int, Int)? {
        guard let major = majorVersion(of: system), let start = system.firstIndex(where: \.isNumber) else { return nil }
        let rest = system[start...].drop { $0.isNumber }
        let minor = rest.first == "." ? Int(rest.dropFirst().prefix { $0.isASCII && $0.isNumber }) ?? 0 : 0
        return (major, minor)
    }
}

/// What each process of a report is, by its place in the report.
private struct WorldCast {
    /// Nil: an app.
    var kinds: [ProcessKind?]
    private var hosts: [Int?]
    private var states: [StartedProcess.State]
    private let bands: [Int]

    init(_ report: JetsamReport) {
        let processes = report.processes
        let standings = report.standings
        bands = WorldCast.bands(report, standings)
        kinds = zip(processes, standings).map { WorldCast.kind(of: $0, $1) }
        hosts = Array(repeating: nil, count: processes.count)
        states = Array(repeating: .suspended, count: processes.count)
        findHosts(processes)
        findFront(processes, standings)
    }

    func members(_ report: JetsamReport) -> [JetsamWorldImport.Member] {
        var names = ImportedNames()
        let given = report.processes.map { names.name(for: $0.name) }
        let count = report.processes.count
        return report.processes.enumerated().map { place, process in
            let idle = TimeSpan.seconds(Int64(count - place + 10))
            let age = TimeSpan(microseconds: Int64((process.age ?? 0) / 24))
            let pages = ByteCount(process.pages * report.pageSize)
            return JetsamWorldImport.Member(
                name: given[place], process: process, kind: kinds[place], host: hosts[place].map { given[$0] },
                state: states[place], band: bands[place],
                footprint: pages.roundedUp(toMultipleOf: JetsamEventImport.page), idle: idle,
                age: min(max(age, idle + .seconds(20)), .hours(24 * 365)))
        }
    }

    /// A process with a standing is an app, unless its name says what else it is; any other is a daemon.
    private static func kind(of process: JetsamReport.Process, _ standing: JetsamStanding?) -> ProcessKind? {
        guard standing != nil else { return .daemon }
        let name = process.name
        if name.hasPrefix("com.apple.WebKit.WebContent") { return .webContent }
        if name.hasPrefix("com.apple.WebKit.") { return .networking }
        let parts: [(String, ProcessKind)] = [
            ("Keyboard", .keyboard), ("NotificationService", .notificationService), ("Widget", .widget),
            ("Share", .share), ("Extension", .otherExtension), ("appex", .otherExtension),
        ]
        return parts.first { name.contains($0.0) }?.1
    }

    /// A helper belongs to the first app of its coalition, and so does an extension. A helper without one counts as an
    /// extension of which nothing more is known.
    private mutating func findHosts(_ processes: [JetsamReport.Process]) {
        var apps: [Int: Int] = [:]
        for (place, process) in processes.enumerated() where kinds[place] == nil {
            if let coalition = process.coalition, apps[coalition] == nil { apps[coalition] = place }
        }
        for (place, process) in processes.enumerated() {
            guard let kind = kinds[place], kind != .daemon else { continue }
            hosts[place] = process.coalition.flatMap { apps[$0] }
            if kind.family == .helper && hosts[place] == nil { kinds[place] = .otherExtension }
        }
    }

    /// One app is in front, with its helpers. What else the report has on the screen runs off it here, in its band.
    private mutating func findFront(_ processes: [JetsamReport.Process], _ standings: [JetsamStanding?]) {
        let candidates = processes.indices.filter { standings[$0] == .front && kinds[$0] == nil }
        let front = candidates.first { processes[$0].states.contains("frontmost") } ?? candidates.first
        for place in processes.indices {
            let isHelper = kinds[place]?.family == .helper
            if place == front || isHelper && front != nil && hosts[place] == front && standings[place] == .front {
                states[place] = .front
            } else if kinds[place] == nil, let standing = standings[place], standing != .suspended {
                states[place] = .background
            }
        }
    }

    /// The report's bands on today's scale. Where it has none, they rise along the report's order.
    private static func bands(_ report: JetsamReport, _ standings: [JetsamStanding?]) -> [Int] {
        var highest = 0
        let lastIdle =
            report.processes.lastIndex { $0.states.contains("suspended") || $0.states.contains("idle") } ?? -1
        return report.processes.enumerated().map { place, process in
            if let band = report.band(of: process) { return min(max(0, band.number), 999) }
            guard place > lastIdle else { return 0 }
            let own: Int =
                switch (process.name, standings[place]) {
                case ("SpringBoard", _): JetsamBand.home.number
                case ("backboardd", _): JetsamBand.executive.number
                case (_, let standing?): standing.band.number
                case (_, nil): highest == JetsamBand.foreground.number ? JetsamBand.audio.number : highest
                }
            highest = max(highest, own)
            return highest
        }
    }
}
