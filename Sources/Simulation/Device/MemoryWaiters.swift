import Lifecycle
import Memory
import Pressure
import Quantities

/// The processes whose allocations found no room: since when each has waited, what memory is withheld for them, and how
/// much time is lost to waiting.
final class MemoryWaiters {
    /// An allocation that found no room.
    struct Shortage {
        let wanted: ByteCount
        /// The free memory at that moment, and its longest run.
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

    /// A main thread that is busy with making room.
    private struct Stall {
        let process: ProcessReference
        /// The continuation that ends it.
        let serial: Int
        let isDirect: Bool
    }

    /// By memory slot.
    private var waits: [Wait?] = []
    /// In the order in which they began to wait.
    private var queue: [ProcessReference] = []
    /// What the last allocation could not have, because it was withheld for waiting processes.
    private var keptBack = ByteCount.zero
    /// Free memory that no allocation gets; see `PageoutRules.reserve`.
    private var reserved = ByteCount.zero
    /// Memory has come back and the waiting processes have not tried again yet.
    private var areDue = false
    private(set) var stalls = StallMeter()
    /// How often a process found no page and began to make room itself (direct reclaim).
    private(set) var directReclaims = 0
    /// Until when a process has last waited for memory that the system reclaimed, or has made room itself; nil: never.
    private(set) var reclaimedDirectly: Instant?
    /// Processes that make room themselves, or whose pages come back from swap.
    private var stalled: [Stall] = []
    /// Whether that is a stall, as on Linux.
    private let countsReclaim: Bool
    /// The most that is allocated before time passes.
    private let slice: ByteCount
    private let memory: any DeviceMemory
    private let processes: ProcessTable
    private let scheduler: Scheduler
    private let agenda: Agenda
    private let recorder: RunRecorder

    init(
        slice: ByteCount, memory: any DeviceMemory, processes: ProcessTable, scheduler: Scheduler, agenda: Agenda,
        recorder: RunRecorder, countsReclaim: Bool
    ) {
        self.countsReclaim = countsReclaim
        self.slice = slice
        self.memory = memory
        self.processes = processes
        self.scheduler = scheduler
        self.agenda = agenda
        self.recorder = recorder
    }

    // MARK: Questions

    var isEmpty: Bool { queue.isEmpty }

    /// All that wait; ended processes may be among them.
    var references: [ProcessReference] { queue }

    /// Whether memory has come back that they have not tried to get yet.
    var areAboutToTry: Bool { areDue && !queue.isEmpty }

    /// The one that is served first.
    var first: LiveProcess? { queue.isEmpty ? nil : inOrder.first }

    /// The living ones in the order of service: by class, first come first served within one.
    private var inOrder: [LiveProcess] {
        var byClass = ServiceClass.allCases.map { _ in [LiveProcess]() }
        for reference in queue {
            guard let process = processes.process(reference) else { continue }
            byClass[scheduler.service(of: process).rawValue].append(process)
        }
        return byClass.flatMap(\.self)
    }

    func isWaiting(_ process: LiveProcess) -> Bool { since(process) != nil }

    /// Since when the process has been waiting; nil: it is not waiting.
    func since(_ process: LiveProcess) -> Instant? {
        process.slot.index < waits.count ? waits[process.slot.index]?.since : nil
    }

    /// What the process waits for.
    func shortage(of process: LiveProcess) -> Shortage? {
        process.slot.index < waits.count ? waits[process.slot.index]?.shortage : nil
    }

    // MARK: Waiting

    /// The process begins to wait, or continues to.
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
        directReclaims += 1
        recorder.tally.stalls += 1
        recorder.count(of: process) { $0.stalls += 1 }
        let owed = min(memory.available, keptBack)
        recorder.event(
            .stall, at: agenda.now, app: process.profile.name, pid: process.pid, "\(shortage.wanted)",
            reason: explanation(shortage, owed), fact: shortage.fact(keptBack: owed))
        agenda.schedule(.retryWaiters, at: agenda.now)
        return true
    }

    private func explanation(_ shortage: Shortage, _ owed: ByteCount) -> String {
        let kept = owed > .zero ? ", \(owed) more are kept for a process that has waited longer" : ""
        let fragmented =
            shortage.free >= shortage.wanted ? ": fragmented, the longest run is \(shortage.longestRun)" : ""
        return "no room for \(shortage.wanted): \(shortage.free) free\(fragmented)\(kept)"
    }

    /// Ends the process's wait, if it was waiting.
    func end(_ process: LiveProcess) {
        guard let since = since(process) else { return }
        waits[process.slot.index] = nil
        recorder.waitEnded(of: process, since: since, until: agenda.now)
        process.hasWaited(from: since, until: agenda.now)
    }

    /// Removes a process that has ended.
    func forget(_ process: LiveProcess) {
        queue.removeAll { $0 == process.reference }
        endStall(of: process)
    }

    // MARK: Memory comes back

    /// Memory came back: the waiting processes try again.
    func serve() {
        guard !queue.isEmpty else { return }
        areDue = true
        agenda.schedule(.retryWaiters, at: agenda.now)
    }

    /// The processes that try again now, the most urgent first.
    func takeAll() -> [LiveProcess] {
        areDue = false
        guard !queue.isEmpty else { return [] }
        let waiting = inOrder
        queue.removeAll(keepingCapacity: true)
        return waiting
    }

    /// Call before an allocation. While pages are being freed for waiting processes, and until these have tried again,
    /// withholds what the rest of their slices needs. Otherwise a process that happens to run would take the memory
    /// that another process was ended for, and a further process would have to be ended. Nothing is withheld for
    /// processes that are less urgent.
    ///
    /// - Parameters:
    ///   - process: The process that allocates.
    ///   - isFreeing: Whether pages are on their way back to the device.
    func keepBackWhatIsOwed(from process: LiveProcess, isFreeing: Bool) {
        keptBack = .zero
        guard !queue.isEmpty, isFreeing || areDue else { return }
        let service = scheduler.service(of: process)
        keptBack = queue.reduce(.zero) { owed, reference in
            guard let other = processes.process(reference), scheduler.service(of: other) <= service else { return owed }
            let wanted = shortage(of: other)?.wanted ?? .zero
            return owed + max(wanted, min(other.work.remaining ?? .zero, slice) * memory.scale)
        }
        memory.keepBack(keptBack + reserved)
    }

    /// Call after the allocation.
    func keepNothingBack() {
        if keptBack > .zero || reserved > .zero { memory.keepBack(reserved) }
    }

    /// From now on, so much free memory is withheld from all allocations.
    func reserve(_ bytes: ByteCount) {
        guard bytes != reserved else { return }
        reserved = bytes
        memory.keepBack(bytes)
    }

    /// Nothing is withheld until `keepNothingBack`.
    func liftReserve() {
        if reserved > .zero { memory.keepBack(.zero) }
    }

    // MARK: Stalls

    /// Whether a process makes room itself (direct reclaim).
    var isReclaimingDirectly: Bool { stalled.contains(where: \.isDirect) }

    /// The process makes room, or brings pages back, until its present continuation.
    func beginStall(of process: LiveProcess, isDirect: Bool) {
        guard countsReclaim else { return }
        if isDirect { directReclaims += 1 }
        endStall(of: process)
        stalled.append(Stall(process: process.reference, serial: process.thread.serial, isDirect: isDirect))
    }

    /// It does so no longer.
    func endStall(of process: LiveProcess) {
        if !stalled.isEmpty { stalled.removeAll { $0.process == process.reference } }
    }

    private func isStalled(_ process: LiveProcess) -> Bool {
        stalled.contains { $0.process == process.reference && $0.serial == process.thread.serial }
    }

    /// Accounts for the time since the last event: a process that waits for memory has waited all of it. Waiting for
    /// file pages that were dropped counts, too, and on a device like Linux the time to make room.
    func accountStalls(until instant: Instant, _ reads: StorageReads) {
        let isWaiting = !queue.isEmpty || !stalled.isEmpty || reads.isStalling(at: agenda.now)
        let isWorking =
            !isWaiting
            || processes.live.contains {
                $0.thread.isRunning && $0.thread.hangsSince == nil && !self.isWaiting($0) && !self.isStalled($0)
                    && !reads.isRead(by: $0)
            }
        stalls.advance(to: instant, isWaiting: isWaiting, isWorking: isWorking)
        if !queue.isEmpty || isReclaimingDirectly { reclaimedDirectly = instant }
    }
}
