import Lifecycle
import Memory
import Pressure
import Quantities
import Reclaim

/// Why the policy is asked.
struct Question {
    var demand: ReclaimDemand
    var level: PressureLevel
    var threshold = ByteCount.zero
    var reading: PressureReading?
}

/// Finds what is demanded: a waiting allocation first, then pressure, then the limits.
struct Demands {
    let limits: Limits
    let memory: any DeviceMemory
    let processes: ProcessTable
    let waiters: MemoryWaiters
    let watch: PressureWatch

    var level: PressureLevel { watch.level }

    /// The monitor's measure is one of the device, not of single processes.
    var measureConcernsDevice: Bool { watch.measureConcernsDevice }

    /// Nil: all is well.
    func current() -> Question? { byAllocation() ?? byPressure() ?? byLimits() }

    private func byAllocation() -> Question? {
        guard !waiters.isEmpty, let process = waiters.first, let shortage = waiters.shortage(of: process) else {
            return nil
        }
        return Question(
            demand: .allocation(by: process.pid, wanted: shortage.wanted), level: max(level, .warning),
            threshold: shortage.wanted)
    }

    /// What is missing before the monitor's level is left; nil: nothing, though the level may hold on for a while.
    func byPressure() -> Question? {
        guard let demand = watch.demand() else { return nil }
        return Question(
            demand: .pressure(deficit: demand.deficit), level: demand.level, threshold: demand.threshold,
            reading: demand.reading)
    }

    func byLimits() -> Question? {
        // With fewer processes than the limit, or less memory in all, none needs to be counted.
        if let most = limits.backgroundProcesses, processes.live.count > most {
            let count = processes.live.count(where: \.countsInBackground)
            if count > most {
                return Question(demand: .backgroundProcesses(excess: count - most), level: level)
            }
        }
        guard let most = limits.backgroundMemory else { return nil }
        let books = memory.books
        guard books.resident - books.reserved > most else { return nil }
        let held = processes.live.lazy.filter(\.countsInBackground).reduce(ByteCount.zero) {
            $0 + memory.books(of: $1.slot).footprint
        }
        guard held > most else { return nil }
        return Question(demand: .backgroundMemory(excess: held - most), level: level, threshold: most)
    }
}

extension LiveProcess {
    /// In memory, not in front of the user, and not on its way out: what is ending answers a limit by itself.
    fileprivate var countsInBackground: Bool { (phase == .background || phase == .suspended) && !isEnding }
}
