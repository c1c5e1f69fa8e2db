import Lifecycle
import Pressure

/// Where a process of a report stood, as far as a simulated app can stand there.
enum JetsamStanding: Hashable, Sendable {
    /// In memory, no code runs: band 0, whatever band the report shows (frozen apps are in a band of their own).
    case suspended
    /// Off screen, finishing something: band 30.
    case finishing
    /// Off screen with a reason to run: band 40, or 120 with audio.
    case running(BackgroundMode)
    /// On the screen: band 100.
    case front

    /// The band that the simulated app is in.
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
    /// Whether bands are numbered as in iOS 15 and before, 0 to 21.
    var hasOldBands: Bool {
        if let system, let major = JetsamReport.majorVersion(of: system) { return major < 16 }
        return processes.allSatisfy { ($0.priority ?? 0) <= 21 }
    }

    /// 14 of `iPhone OS 14.2 (18B5061e)`.
    static func majorVersion(of system: String) -> Int? {
        guard let start = system.firstIndex(where: \.isNumber) else { return nil }
        return Int(system[start...].prefix { $0.isASCII && $0.isNumber })
    }

    /// The band on today's scale; nil where the report does not say (iOS 10 to 12).
    func band(of process: Process) -> JetsamBand? {
        guard let priority = process.priority else { return nil }
        guard hasOldBands else { return JetsamBand(priority) }
        // The scale was stretched tenfold; numbers that the table lacks are stretched alike.
        return JetsamBand.band(before16: priority) ?? JetsamBand(priority * 10)
    }

    /// Where each process stood, in the report's order; nil: it is no app, but belongs to the system.
    ///
    /// A process that calls itself a daemon is none, nor is one in the home screen's band or above, nor one without any
    /// state. Where there is no band, the file's order says what `background` leaves open: bands ascend, so who stands
    /// before a suspended or idle process is in band 0 as well.
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
