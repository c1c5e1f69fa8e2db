import Lifecycle
import Plan
import Pressure
import Quantities
import Reclaim
import Simulation

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
struct PhoneCast {
    /// Nil: an app.
    var kinds: [ProcessKind?]
    private var hosts: [Int?]
    private var states: [StartedProcess.State]
    private let bands: [Int]

    init(_ report: JetsamReport) {
        let processes = report.processes
        let standings = report.standings
        bands = PhoneCast.bands(report, standings)
        kinds = zip(processes, standings).map { PhoneCast.kind(of: $0, $1) }
        hosts = Array(repeating: nil, count: processes.count)
        states = Array(repeating: .suspended, count: processes.count)
        findHosts(processes)
        findFront(processes, standings)
    }

    func members(
        _ report: JetsamReport, _ shares: CompressedShares?, _ names: inout ImportedNames
    ) -> [JetsamPhoneImport.Member] {
        let given = report.processes.map { names.name(for: $0.name) }
        let idle = PhoneCast.idleTimes(report)
        return report.processes.enumerated().map { place, process in
            let isKernel = process.pid == 0 || process.name == "kernel_task"
            let age = TimeSpan(microseconds: Int64((process.age ?? 0) / 24))
            let page = JetsamEventImport.page
            let footprint = ByteCount(process.pages * report.pageSize).roundedUp(toMultipleOf: page)
            let compressed = ByteCount((shares?.compressed[place] ?? 0) * report.pageSize / page * page)
            return JetsamPhoneImport.Member(
                name: given[place], process: process, kind: kinds[place], host: hosts[place].map { given[$0] },
                state: states[place], band: isKernel ? JetsamBand.internal.number : bands[place], footprint: footprint,
                compressed: compressed,
                idle: idle[place], age: min(max(age, idle[place] + .seconds(20)), .hours(24 * 365)))
        }
    }

    /// How long each has been in its place: the earlier in the report, the longer. A report does not say it. A guess:
    /// less than a minute and a half, so that none is idle for long (5 min), unless jetsam ended it for that.
    private static func idleTimes(_ report: JetsamReport) -> [TimeSpan] {
        let count = report.processes.count
        let step = min(1_000, 60_000 / Int64(count))
        let long = report.processes.lastIndex { $0.reason == KillCause.longIdleExit.rawValue } ?? -1
        return (0..<count).map { place in
            let base = TimeSpan.seconds(10) + .milliseconds(Int64(count - place) * step)
            return place <= long ? base + .minutes(6) : base
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
        let idleCount = report.idleCount
        return report.processes.enumerated().map { place, process in
            if let band = report.band(of: process) { return min(max(0, band.number), 999) }
            guard place >= idleCount else { return 0 }
            let own: Int =
                switch (process.name, standings[place]) {
                case ("SpringBoard", _): JetsamBand.home.number
                case ("backboardd", _): JetsamBand.executive.number
                case (_, let standing?): standing.band.number
                case (_, nil):
                    highest == JetsamBand.foreground.number
                        ? JetsamBand.audio.number : max(highest, JetsamBand.background.number)
                }
            highest = max(highest, own)
            return highest
        }
    }
}
