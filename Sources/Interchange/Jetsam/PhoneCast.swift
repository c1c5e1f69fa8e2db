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
    let kinds: [ProcessKind?]
    private let hosts: [Int?]
    /// The background mode for which an app runs off screen.
    private var runs: [BackgroundMode?]
    private var states: [StartedProcess.State]
    private let bands: [Int]

    init(_ report: JetsamReport) {
        let roles = JetsamRoles(report)
        let standings = report.standings(of: roles)
        bands = PhoneCast.bands(report, standings)
        (kinds, hosts) = (roles.kinds, roles.hosts)
        states = Array(repeating: .suspended, count: report.processes.count)
        runs = zip(roles.kinds, standings).map { kind, standing in
            guard kind == nil, case .running(let mode) = standing else { return nil }
            return mode
        }
        findFront(report, standings)
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
                state: states[place], runsFor: runs[place], band: isKernel ? JetsamBand.internal.number : bands[place],
                footprint: footprint,
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

    /// One app is in front, with its helpers and with what it shows of others. What else the report has on the screen
    /// runs off it here, in its band. A prewarmed app stays so.
    private mutating func findFront(_ report: JetsamReport, _ standings: [JetsamStanding?]) {
        let processes = report.processes
        let candidates = processes.indices.filter { standings[$0] == .front && kinds[$0] == nil }
        let front = candidates.first { processes[$0].states.contains("frontmost") } ?? candidates.first
        for place in processes.indices {
            let goesAlong =
                standings[place] == .front && front != nil
                && (kinds[place]?.family == .helper && hosts[place] == front || kinds[place]?.isPresented == true)
            if place == front || goesAlong {
                states[place] = .front
            } else if kinds[place] == nil, let standing = standings[place] {
                if standing != .suspended { states[place] = .background }
                if standing == .front { runs[place] = .location }
                if report.isPrewarmed(processes[place]) { states[place] = .prewarmed }
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
