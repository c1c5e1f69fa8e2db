import Lifecycle
import Pressure

/// A process's state in a report, mapped to a state that a simulated app can have.
enum JetsamStanding: Hashable, Sendable {
    /// In memory, running no code: band 0, whatever band the report shows (frozen apps have a band of their own).
    case suspended
    /// Off screen, finishing something: band 30.
    case finishing
    /// Off screen with a reason to run: band 40, or 120 with audio.
    case running(BackgroundMode)
    /// On the screen: band 100.
    case front

    /// The band of the simulated app.
    var band: JetsamBand {
        switch self {
        case .suspended: JetsamBand.band(of: .suspended, modes: [])
        case .finishing: JetsamBand.band(of: .background, modes: [])
        case .running(let mode): JetsamBand.band(of: .background, modes: [mode])
        case .front: JetsamBand.band(of: .active, modes: [])
        }
    }

    var words: String {
        switch self {
        case .suspended: "suspended"
        case .finishing: "off screen, finishing"
        case .running(let mode): "running off screen (\(mode.rawValue))"
        case .front: "in front"
        }
    }
}

extension JetsamReport {
    /// Whether the report numbers bands from 0 to 21, as iOS 15 and earlier do.
    var hasOldBands: Bool {
        if let system, let major = JetsamReport.majorVersion(of: system) { return major < 16 }
        return processes.allSatisfy { ($0.priority ?? 0) <= 21 }
    }

    /// The major version: 14 for `iPhone OS 14.2 (18B5061e)`.
    static func majorVersion(of system: String) -> Int? {
        guard let start = system.firstIndex(where: \.isNumber) else { return nil }
        return Int(system[start...].prefix { $0.isASCII && $0.isNumber })
    }

    /// The band on today's scale, or nil where the report lacks it (iOS 10 to 12).
    func band(of process: Process) -> JetsamBand? {
        guard let priority = process.priority else { return nil }
        guard hasOldBands else { return JetsamBand(priority) }
        // iOS 16 multiplied the scale by ten. Bands that the table lacks are therefore multiplied by ten.
        return JetsamBand.band(before16: priority) ?? JetsamBand(priority * 10)
    }

    /// The number of processes that lived when the report was begun. Those behind them were launched later and ended:
    /// the kernel adds them to the end of the list, whatever their bands are.
    ///
    /// Source: xnu-4903 and later, `memorystatus_update_jetsam_snapshot_entry_locked`, recalled.
    var listed: Int {
        var highest = Int.min
        let first = processes.compactMap { $0.reason == nil ? nil : $0.generation }.min() ?? 0
        let isAdded = processes.map { process in
            defer { highest = max(highest, rank(of: process)) }
            guard process.reason != nil else { return false }
            return (process.generation ?? first) > first || mayBeLow(process) && rank(of: process) < highest
        }
        let count = isAdded.lastIndex(of: false).map { $0 + 1 } ?? 0
        return count > 0 ? count : processes.count
    }

    /// Whether a process can be known to be in a lower band than others.
    private func mayBeLow(_ process: Process) -> Bool {
        process.priority != nil || process.states.contains("idle") || process.states.contains("suspended")
    }

    /// The band, or for a report without bands: whether the process is surely above all that come and go.
    private func rank(of process: Process) -> Int {
        if let band = band(of: process) { return band.number }
        let isOnScreen = !Set(process.states).isDisjoint(with: ["frontmost", "foreground", "active"])
        return isOnScreen || ["SpringBoard", "backboardd", "launchd"].contains(process.name) ? 1 : 0
    }

    /// For a report without bands: the number of processes that are in band 0. Bands ascend, so the list is cut where
    /// the fewest daemons at work come before and the fewest idle or suspended processes after.
    var idleCount: Int {
        let places = processes[..<listed].map { process in
            if !Set(process.states).isDisjoint(with: ["suspended", "idle"]) { return -1 }
            return process.states == ["daemon"] ? 1 : 0
        }
        var (best, least, balance) = (0, 0, 0)
        for (place, step) in places.enumerated() {
            balance += step
            if balance < least { (best, least) = (place + 1, balance) }
        }
        return best
    }

    /// The state of each process in the report's order; nil for a process of the system.
    var standings: [JetsamStanding?] { standings(of: JetsamRoles(self)) }

    /// As `standings`.
    ///
    /// A report without bands does not say in which band a `background` process is. Its order tells (`idleCount`).
    func standings(of roles: JetsamRoles) -> [JetsamStanding?] {
        let idleCount = idleCount
        return processes.enumerated().map { index, process in
            guard roles.kinds[index] != .daemon else { return nil }
            if process.isSuspended { return .suspended }
            let band = band(of: process)
            if isOnScreen(process, band, roles.kinds[index]) { return .front }
            guard let band else {
                if index < idleCount { return .suspended }
                return process.states.contains("audio") ? .running(.audio) : .finishing
            }
            // A helper whose app is gone to sleep may call itself an idle daemon.
            if process.states.contains("idle") { return .suspended }
            if band >= .audio { return .running(.audio) }
            return band > .background ? .running(.location) : .finishing
        }
    }

    /// Whether it is on the screen: it says so, and its band is one of the screen. A helper need not say so.
    private func isOnScreen(_ process: Process, _ band: JetsamBand?, _ kind: ProcessKind?) -> Bool {
        if let band, band < .foreground { return false }
        if process.states.contains(where: JetsamReport.onScreen.contains) { return true }
        return band == .foreground && kind?.family == .helper
    }
}
