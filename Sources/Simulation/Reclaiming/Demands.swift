import Lifecycle
import Memory
import Pressure
import Quantities
import Reclaim

/// A question to the policy: why it is asked.
struct PolicyQuestion {
    var demand: ReclaimDemand
    var level: PressureLevel
    var threshold = ByteCount.zero
    var reading: PressureReading?
}

/// Finds the present demand: first that of a waiting allocation, then pressure, then the limits.
struct Demands {
    let limits: Limits
    let memory: any DeviceMemory
    let processes: ProcessTable
    let worker: MemoryWorker
    let watch: PressureWatch

    private var waiters: MemoryWaiters { worker.waiters }

    var level: PressureLevel { watch.level }

    /// Whether the monitor measures the device and not single processes.
    var measureConcernsDevice: Bool { watch.measureConcernsDevice }

    /// The present demand; nil: there is none.
    func current() -> PolicyQuestion? { byAllocation() ?? byPressure() ?? byLimits() }

    /// The demand of the allocation that is served first.
    func byAllocation() -> PolicyQuestion? {
        guard !waiters.isEmpty, let process = waiters.first, let shortage = waiters.shortage(of: process) else {
            return nil
        }
        // The compressor is making room.
        if let compressor = worker.compressor, compressor.isHelping { return nil }
        return PolicyQuestion(
            demand: .allocation(by: process.pid, wanted: shortage.wanted), level: max(level, .warning),
            threshold: shortage.wanted)
    }

    /// The memory that is missing until the monitor leaves its level. Nil if none is missing, even if the level still
    /// lasts a while.
    func byPressure() -> PolicyQuestion? {
        guard let demand = watch.demand() else { return nil }
        return PolicyQuestion(
            demand: .pressure(deficit: demand.deficit), level: demand.level, threshold: demand.threshold,
            reading: demand.reading)
    }

    func byLimits() -> PolicyQuestion? {
        // The exact count is needed only if all processes together exceed the limit.
        if let most = limits.backgroundProcesses, processes.live.count > most {
            let count = processes.live.count { $0.countsInBackground && !$0.record.isPart }
            if count > most {
                return PolicyQuestion(demand: .backgroundProcesses(excess: count - most), level: level)
            }
        }
        guard let most = limits.backgroundMemory else { return nil }
        let books = memory.books
        guard books.active + books.dirty > most else { return nil }
        let held = processes.live.lazy.filter(\.countsInBackground).reduce(ByteCount.zero) {
            $0 + memory.books(of: $1.slot).footprint
        }
        guard held > most else { return nil }
        return PolicyQuestion(demand: .backgroundMemory(excess: held - most), level: level, threshold: most)
    }
}

extension LiveProcess {
    /// Whether the process counts against the limits: it is in memory, not in front of the user, and not ending. An
    /// ending process helps to meet the limit by itself.
    /// A helper or an extension counts with its app's memory, but is no app; a daemon is the system's.
    fileprivate var countsInBackground: Bool {
        (phase == .background || phase.restsInMemory) && !isInFront && !isEnding && bands.kind == .app
    }
}
