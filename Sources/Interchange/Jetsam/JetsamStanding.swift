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

    /// The state of each process in the report's order; nil for a process of the system.
    ///
    /// A process is not an app if it calls itself a daemon, is in the home screen's band or above, or has no state. A
    /// report without bands does not say in which band a `background` process is. Its order tells: bands ascend, so a
    /// process listed before a suspended or idle one is also in band 0.
    var standings: [JetsamStanding?] {
        let lastIdle = processes.lastIndex { $0.states.contains("suspended") || $0.states.contains("idle") } ?? -1
        return processes.enumerated().map { index, process in
            let band = band(of: process)
            guard !process.states.isEmpty, !process.states.contains("daemon"), process.name != "SpringBoard",
                band.map({ $0 < .home }) ?? true
            else { return nil }
            if process.states.contains("suspended") { return .suspended }
            if !Set(process.states).isDisjoint(with: ["frontmost", "foreground", "active"]) { return .front }
            guard let band else {
                if index < lastIdle { return .suspended }
                return process.states.contains("audio") ? .running(.audio) : .finishing
            }
            if band >= .audio { return .running(.audio) }
            return band > .background ? .running(.location) : .finishing
        }
    }
}
