import Lifecycle
import Pressure
import Quantities

extension SystemSnapshot {
    /// Why the policy is asked, for people: what was observed against which threshold.
    public var reason: String {
        switch demand {
        case .nothing: "\(obtainable.readable) available"
        case .pressure:
            if let reading, reading.measure != .available {
                "\(level.rawValue): \(reading.text)"
            } else {
                "\(level.rawValue): \(obtainable.readable) available, \(threshold.readable) needed"
            }
        case .allocation(let pid, let wanted):
            "process \(pid.number) waits for \(wanted.readable), \(available.readable) available"
        case .backgroundProcesses(let excess):
            "\(excess.counted("background process", "background processes")) too many"
        case .backgroundMemory(let excess):
            "background memory is \(excess.readable) above its limit of \(threshold.readable)"
        }
    }

    /// Whether the answer may be delayed: no allocation and no limit waits for it.
    public var mayBePutOff: Bool {
        switch demand {
        case .nothing, .pressure: true
        case .allocation, .backgroundProcesses, .backgroundMemory: false
        }
    }
}
