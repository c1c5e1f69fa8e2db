import Memory
import Pressure
import Quantities

/// The processes whose allocations found no room: who waits, since when, what is kept back for them, and how much time
/// is lost to it.
final class MemoryWaiters {
    /// An allocation that found no room.
    struct Shortage {
        let wanted: ByteCount
        /// What was free then, and the longest run of it.
        let free: ByteCount
        let longestRun: ByteCount

        fileprivate func fact(keptBack: ByteCount) -> EventFact {
            let cause = StallCause(wanted: wanted, free: free, keptBack: keptBack)
            return .stall(cause, wanted: wanted, free: free)
        }
    }

    private struct Wait {
        let since: Instant
        var shortage: Shortage
    }

    /// By memory slot.
    private var waits: [Wait?] = []
    /// In the order in which they are served.
    private var queue: [ProcessReference] = []
    /// What the last allocation could not have, because it was meant for those that wait.
    private var keptBack = ByteCount.zero
    /// Memory came back, and those that wait have not tried again yet.
    private var areDue = false
    private(set) var stalls = StallMeter()
    /// Given out before time passes.
    private let slice: ByteCount
    private let memory: any DeviceMemory
    private let processes: ProcessTable
    private let agenda: Agenda
    private let recorder: RunRecorder

    init(
        slice: ByteCount, memory: any DeviceMemory, processes: ProcessTable, agenda: Agenda, recorder: RunRecorder
    ) {
        self.slice = slice
        self.memory = memory
        self.processes = processes
        self.agenda = agenda
        self.recorder = recorder
    }

    // MARK: Questions

    var isEmpty: Bool { queue.isEmpty }

    /// In the order in which they are served; dead ones may be among them.
    var references: [ProcessReference] { queue }

    /// The first one that is alive.
    var first: LiveProcess? { queue.lazy.compactMap { self.processes.process($0) }.first }

    func isWaiting(_ process: LiveProcess) -> Bool { since(process) != nil }

    /// Since when the process has been waiting; nil: it is not.
    func since(_ process: LiveProcess) -> Instant? {
        process.slot.index < waits.count ? waits[process.slot.index]?.since : nil
    }

    /// What the process waits for.
    func shortage(of process: LiveProcess) -> Shortage? {
        process.slot.index < waits.count ? waits[process.slot.index]?.shortage : nil
    }

    // MARK: Waiting

    /// The process waits from now on, or waits on.
    ///
    /// - Returns: Whether it did not wait before.
    func begin(_ process: LiveProcess, _ shortage: Shortage) -> Bool {
        queue.append(process.reference)
        while waits.count <= process.slot.index { waits.append(nil) }
        if waits[process.slot.index] != nil {
            waits[process.slot.index]?.shortage = shortage
            return false
        }
        waits[process.slot.index] = Wait(since: agenda.now, shortage: shortage)
        recorder.tally.stalls += 1
        let owed = min(memory.available, keptBack)
        recorder.event(
            .stall, at: agenda.now, app: process.profile.name, pid: process.pid, "\(shortage.wanted)",
            reason: explanation(shortage, owed), fact: shortage.fact(keptBack: owed))
        agenda.schedule(.retryWaiters, at: agenda.now)
        return true
    }

    private func explanation(_ shortage: Shortage, _ owed: ByteCount) -> String {
        let kept = owed > .zero ? ", \(owed) more are meant for who waits longer" : ""
        let fragmented =
            shortage.free >= shortage.wanted ? ": fragmented, the longest run is \(shortage.longestRun)" : ""
        return "no room for \(shortage.wanted): \(shortage.free) free\(fragmented)\(kept)"
    }

    /// The process waits no more, if it did.
    func end(_ process: LiveProcess) {
        guard let since = since(process) else { return }
        waits[process.slot.index] = nil
        recorder.waitEnded(of: process, since: since, until: agenda.now)
        process.hasWaited(from: since, until: agenda.now)
    }

    /// The process has died.
    func forget(_ process: LiveProcess) { queue.removeAll { $0 == process.reference } }

    // MARK: Memory comes back

    /// Memory came back: those that wait try again.
    func serve() {
        guard !queue.isEmpty else { return }
        areDue = true
        agenda.schedule(.retryWaiters, at: agenda.now)
    }

    /// Those that try again now, first come first served.
    func takeAll() -> [ProcessReference] {
        areDue = false
        let waiting = queue
        queue.removeAll(keepingCapacity: true)
        return waiting
    }

    /// Before an allocation. From the moment at which pages are freed for those that wait until they have tried again,
    /// what the rest of their slices needs is theirs; else a process that happens to run would take what another one
    /// died for, and the next one would have to die.
    ///
    /// - Parameter isFreeing: Pages are on their way back to the device.
    func keepBackWhatIsOwed(isFreeing: Bool) {
        keptBack = .zero
        guard !queue.isEmpty, isFreeing || areDue else { return }
        keptBack = queue.reduce(.zero) { owed, reference in
            guard let process = processes.process(reference) else { return owed }
            let wanted = shortage(of: process)?.wanted ?? .zero
            return owed + max(wanted, min(process.work.remaining ?? .zero, slice) * memory.scale)
        }
        memory.keepBack(keptBack)
    }

    /// After the allocation.
    func keepNothingBack() {
        if keptBack > .zero { memory.keepBack(.zero) }
    }

    // MARK: Stalls

    /// The time since the last event: a process that waits for memory has waited all of it.
    func accountStalls(until instant: Instant) {
        let isWorking = queue.isEmpty || processes.live.contains { $0.thread.isRunning && !isWaiting($0) }
        stalls.advance(to: instant, isWaiting: !queue.isEmpty, isWorking: isWorking)
    }
}
