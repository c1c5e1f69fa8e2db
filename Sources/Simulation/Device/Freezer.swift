import Lifecycle
import Memory
import Plan
import Pressure
import Quantities
import Reclaim

/// The device's freezer: when it works, which process's pages go to flash, and what it knows of those that it has
/// frozen. The rules are those of `FreezerRules`; how its pages come back is the compressor's matter.
///
/// It looks at samples. A freeze takes the pages of one process: they are compressed on a core, then their contents go
/// to the store, which is at work meanwhile. The members of a group follow their app one by one. A process that is
/// resumed before its pages are compressed is not frozen.
///
/// Source: xnu-11417.101.15, bsd/kern/kern_memorystatus_freeze.c (`memorystatus_freeze_thread`).
final class Freezer {
    /// A freeze whose pages are being compressed.
    private struct Work {
        let process: ProcessReference
        let serial: Int
        /// Whether the process was chosen by itself, and does not follow its app.
        let isLeader: Bool
    }

    /// What the freezer knows of the process in a slot.
    private struct Standing {
        /// Whether it has a slot of the freezer, and parts of it may be on flash.
        var isFrozen = false
        /// Whether freezing it has failed since it ran last.
        var hasFailed = false
    }

    /// It looks again so long after it has looked: the time that apps age (`memorystatus_apps_idle_delay_time`; the
    /// multiplier is 1 on iOS).
    static let pause = BandMachine.appAgeing
    /// Less than the contents of one page cannot be written for sure.
    private static let page = ByteCount.kibibytes(4)
    /// The shortest time that a freeze takes; our own figure.
    private static let leastTime = TimeSpan(microseconds: 100)

    let settings: FreezerSettings
    private let rules: FreezerRules
    private let compressor: PageCompressor
    private var budget: FreezerBudget
    private var ledger = FreezerLedger()
    /// By memory slot.
    private var standings: [Standing] = []
    /// How many processes have a slot of the freezer.
    private(set) var frozen = 0
    private var underWay: Work?
    /// The members of a group that follow their app.
    private var members: [ProcessReference] = []
    private var serial = 0
    private var nextLook = Instant.zero
    /// When the store has taken or given what it was asked for, and the pause after a policy's thaw is over.
    private var storeIsFree = Instant.zero
    private var sampled: CompressorBooks
    private let memory: any DeviceMemory
    private let pages: any CompressedPages
    private let supply: MemorySupply
    private let processes: ProcessTable
    private let scheduler: Scheduler
    private let recorder: RunRecorder
    private let agenda: Agenda

    /// Nil for a device without a freezer.
    init?(
        _ device: Device, _ memory: any DeviceMemory, _ worker: MemoryWorker, _ processes: ProcessTable,
        _ scheduler: Scheduler, _ recorder: RunRecorder, _ agenda: Agenda
    ) {
        guard let settings = device.freezer, let compressor = worker.compressor, let pages = memory.compressor else {
            return nil
        }
        self.settings = settings
        self.compressor = compressor
        self.pages = pages
        rules = settings.rules
        budget = FreezerBudget(daily: settings.budget, at: .zero)
        sampled = pages.figures
        self.memory = memory
        supply = worker.supply
        self.processes = processes
        self.scheduler = scheduler
        self.recorder = recorder
        self.agenda = agenda
    }

    private var now: Instant { agenda.now }

    // MARK: What it knows

    private func standing(of process: LiveProcess) -> Standing {
        process.slot.index < standings.count ? standings[process.slot.index] : Standing()
    }

    private func change(_ process: LiveProcess, _ change: (inout Standing) -> Void) {
        while standings.count <= process.slot.index { standings.append(Standing()) }
        change(&standings[process.slot.index])
    }

    /// Whether the process has a slot of the freezer. It keeps it when it runs again.
    func isFrozen(_ process: LiveProcess) -> Bool { standing(of: process).isFrozen }

    /// What it has done with the process, as policies see it.
    func place(of process: LiveProcess) -> FreezerPlace {
        guard isFrozen(process) else { return .none }
        return ledger.isThawed(process.pid) ? .thawed : .frozen
    }

    /// Whether it can freeze a process now, as policies see it.
    var state: FreezerState {
        if underWay != nil || now < storeIsFree { return .busy }
        if budgetIsSpent { return .outOfBudget }
        if isSpent(storeLeft) { return .outOfSpace }
        return frozen < rules.slots ? .ready : .outOfSlots
    }

    /// Whether most of the process is in no memory, and a part of that on flash.
    func isMostlyFrozen(_ process: LiveProcess) -> Bool {
        let books = memory.books(of: process.slot)
        return books.swapped > .zero && books.compressed + books.swapped > books.resident
    }

    /// All live processes, as the rules look at them.
    private var candidates: [FreezerRules.Candidate] { processes.live.map(candidate) }

    /// A prewarmed process is suspended, too, but holds little, and the system may drop it at any time.
    private func candidate(_ process: LiveProcess) -> FreezerRules.Candidate {
        let standing = standing(of: process)
        var candidate = FreezerRules.Candidate(
            process.pid, band: process.bands.band(at: now), positionedAt: process.bands.position(at: now),
            footprint: process.profile.faults.reported(memory.books(of: process.slot).footprint))
        candidate.isApp = !process.record.isPart
        candidate.isSuspended = process.phase == .suspended && !process.isEnding
        candidate.group = process.record.membership.group
        candidate.role = process.record.membership.role
        candidate.isFrozen = standing.isFrozen
        candidate.isThawed = ledger.isThawed(process.pid)
        candidate.thaws = ledger.thaws(of: process.pid)
        candidate.hasFailed = standing.hasFailed
        return candidate
    }

    // MARK: Looking

    /// Begins a freeze, if there is a reason to; when a day is over, some processes lose their places.
    func consider() {
        if budget.renew(at: now) {
            ledger.beginInterval()
            for pid in rules.demotedDaily(candidates) { demote(pid, "a day is over") }
        }
        guard underWay == nil, now >= storeIsFree else { return }
        if beginMember() { return }
        let enough = memory.books.ceiling * settings.below
        guard now >= nextLook, supply.obtainable < enough else { return }
        nextLook = now + Freezer.pause
        let all = candidates
        guard rules.mayWork(on: all), !isSpent(storeLeft) else { return }
        if budgetIsSpent {
            // Of what a thawed process holds now, nothing can go to flash: it weighs on the processes in lower bands.
            if let pid = rules.demotedWithoutBudget(all) { demote(pid, "the budget is spent") }
            return
        }
        switch rules.next(of: all) {
        case .freeze(let pid, members: let followers):
            members = followers.compactMap { processes.process($0)?.reference }
            begin(pid)
        case .refreeze(let pid): begin(pid)
        case nil: break
        }
    }

    private var storeLeft: ByteCount { max(.zero, settings.store - pages.figures.onStorage) }

    /// Whether this is too little for the contents of any page.
    private func isSpent(_ left: ByteCount) -> Bool { left < Freezer.page * memory.scale }

    private var budgetIsSpent: Bool { budget.left.map(isSpent) ?? false }

    private func begin(_ pid: ProcessID) {
        guard let process = processes.process(pid) else { return members.removeAll() }
        begin(process, isLeader: true)
    }

    /// Begins the freeze of the next member. Returns whether there was one.
    private func beginMember() -> Bool {
        while !members.isEmpty {
            guard frozen < rules.slots, !budgetIsSpent, !isSpent(storeLeft) else {
                members.removeAll()
                return false
            }
            guard let process = processes.process(members.removeFirst()), process.phase == .suspended,
                !process.isEnding, !isFrozen(process)
            else { continue }
            begin(process, isLeader: false)
            return true
        }
        return false
    }

    private func begin(_ process: LiveProcess, isLeader: Bool) {
        serial += 1
        underWay = Work(process: process.reference, serial: serial, isLeader: isLeader)
        // The time passes before anybody looks into the pages.
        scheduler.run(
            time(toCompress: process), WorkOrder(kind: .freeze, owner: nil, serial: serial, purpose: .reclaim))
    }

    /// The time of a core to compress the pages of a process, as its profile has them.
    private func time(toCompress process: LiveProcess) -> TimeSpan {
        let resident = memory.books(of: process.slot).resident
        let repeated = resident * process.profile.memory.compressibility.repeated
        return max(compressor.settings.compressTime(resident, repeated: repeated), Freezer.leastTime)
    }

    // MARK: Freezing

    /// The time to compress a process's pages has passed.
    ///
    /// - Returns: Whether pages lost their frames.
    func finish(_ serial: Int) -> Bool {
        guard let work = underWay, work.serial == serial else { return false }
        underWay = nil
        nextLook = now + Freezer.pause
        guard let process = processes.process(work.process), mayStillFreeze(process, isLeader: work.isLeader) else {
            if work.isLeader { members.removeAll() }
            return false
        }
        let before = memory.available
        if !moveAndNote(process) {
            // The next candidate's turn comes at once.
            nextLook = now
            if work.isLeader { members.removeAll() }
        }
        return memory.available > before
    }

    /// Moves the process's pages to the store. Returns whether a part of it is there then.
    private func moveAndNote(_ process: LiveProcess) -> Bool {
        let moved = moveToStore(process)
        guard memory.books(of: process.slot).swapped > .zero else {
            fail(process)
            return false
        }
        note(moved, of: process)
        return true
    }

    /// Whether nothing has lifted the process meanwhile.
    private func mayStillFreeze(_ process: LiveProcess, isLeader: Bool) -> Bool {
        guard process.phase == .suspended, !process.isEnding else { return false }
        let band = process.bands.band(at: now)
        return !isLeader || band <= FreezerRules.highestBand || isFrozen(process) && band == .freezer
    }

    /// Compresses the process's pages and moves their contents to the store, as far as the budget and the store allow.
    /// Where the pool is full, what has gone to the store makes room for more.
    private func moveToStore(_ process: LiveProcess) -> SwappedPages {
        var moved = SwappedPages(pages: .zero, written: .zero)
        while true {
            let resident = memory.books(of: process.slot).resident
            if resident > .zero { _ = compressor.compress(all: process) }
            let compressed = resident - memory.books(of: process.slot).resident
            let room = min(storeLeft, budget.left ?? storeLeft)
            let part = pages.swapOut(process.slot, atMost: room)
            budget.spend(part.written)
            moved.pages += part.pages
            moved.written += part.written
            guard compressed > .zero, part.pages > .zero else { return moved }
        }
    }

    /// The process is frozen, or frozen anew.
    private func note(_ moved: SwappedPages, of process: LiveProcess) {
        let isAgain = isFrozen(process)
        if !isAgain {
            frozen += 1
            change(process) { $0.isFrozen = true }
        }
        ledger.freeze(process.pid)
        if !process.course.isElevated { process.enterFreezerBand(at: now) }
        storeIsFree = supply.reads.occupy(for: settings.writeRate.time(for: moved.written), at: now)
        recorder.event(
            .freeze, at: now, app: process.profile.name, pid: process.pid, moved.written.readable,
            reason: "\(isAgain ? "anew" : "for the first time"): \(moved.pages.readable) of its pages; "
                + "\(frozen.counted("process", "processes")) frozen",
            fact: .amount("written_bytes", moved.written))
        if !isAgain && frozen == rules.slots { skipOthers(.outOfSlots) }
        if budgetIsSpent && moved.written > .zero { skipOthers(.outOfBudget) }
    }

    /// Nothing of the process could go to the store: it is not tried again until it has run.
    private func fail(_ process: LiveProcess) {
        change(process) { $0.hasFailed = true }
        skip(process, pages.figures.isFull ? .noCompressorSpace : .noSwapSpace)
    }

    /// From now on none of the candidates can be frozen.
    private func skipOthers(_ reason: FreezerRules.SkipReason) {
        for process in processes.live where rules.isEligible(candidate(process)) { skip(process, reason) }
    }

    private func skip(_ process: LiveProcess, _ reason: FreezerRules.SkipReason) {
        recorder.event(
            .freeze, at: now, app: process.profile.name, pid: process.pid, "skipped", reason: reason.rawValue)
    }

    private func demote(_ pid: ProcessID, _ why: String) {
        guard let process = processes.process(pid) else { return }
        ledger.demote(pid)
        process.leaveFreezerBand(at: now)
        recorder.event(
            .demote, at: now, app: process.profile.name, pid: pid, "band \(process.bands.band(at: now).number)",
            reason: "\(why); it was thawed \(ledger.thaws(of: pid).counted("time"))")
    }

    // MARK: A reset

    /// Begins an interval with the whole budget. A freeze that is under way goes on, but no member follows its app.
    ///
    /// - Returns: The processes that end by it, in this order. They keep their slots until they have ended.
    func reset() -> [ProcessID] {
        members.removeAll()
        budget.reset(at: now)
        ledger.beginInterval()
        return rules.endedByReset(candidates)
    }

    // MARK: What policies ask for

    /// Freezes a process at once, without those of its group. A policy may freeze one that the freezer leaves alone;
    /// slots, the budget and the store have to allow it (`state`).
    ///
    /// - Returns: The time of a core to compress its pages.
    func freeze(_ process: LiveProcess) -> TimeSpan {
        let time = time(toCompress: process)
        _ = moveAndNote(process)
        return time
    }

    /// Brings the process's pages back. It keeps its slot, and its place in band 75, and may be frozen anew: not before
    /// the freezer has paused, or a policy could freeze and thaw it without end.
    ///
    /// - Returns: The time of a core to decompress the pages, and when the store has delivered them; nil: none came
    ///   back.
    func thaw(_ process: LiveProcess) -> (time: TimeSpan, delivered: Instant)? {
        cancel(process)
        let swapped = memory.books(of: process.slot).swapped
        guard let back = compressor.bringBack(all: process) else { return nil }
        ledger.bringBack(process.pid)
        let delivered = supply.reads.occupy(for: settings.readRate.time(for: back.read), at: now)
        storeIsFree = max(delivered, now + Freezer.pause)
        recorder.event(
            .thaw, at: now, app: process.profile.name, pid: process.pid, "\(swapped.readable) on flash",
            reason: "the policy asks for it", fact: .amount("swapped_bytes", swapped))
        return (back.time, delivered)
    }

    // MARK: Running again, and ending

    /// The process has left the suspended state. One that ends is not resumed.
    func noteResume(of process: LiveProcess) {
        guard process.phase.runsCode else { return }
        cancel(process)
        if standing(of: process).hasFailed { change(process) { $0.hasFailed = false } }
        guard isFrozen(process) else { return }
        ledger.thaw(process.pid)
        let swapped = memory.books(of: process.slot).swapped
        recorder.event(
            .thaw, at: now, app: process.profile.name, pid: process.pid, "\(swapped.readable) on flash",
            reason: "resumed, so far \(ledger.thaws(of: process.pid).counted("time"))",
            fact: .amount("swapped_bytes", swapped))
        // As its band is requested anew, it goes to the tail.
        if process.course.isElevated { process.enterFreezerBand(at: now) }
    }

    /// The process has ended. What it has on flash goes when its memory goes back to the device.
    func forget(_ process: LiveProcess) {
        cancel(process)
        guard process.slot.index < standings.count else { return }
        if isFrozen(process) {
            frozen -= 1
            ledger.forget(process.pid)
        }
        standings[process.slot.index] = Standing()
    }

    private func cancel(_ process: LiveProcess) {
        guard let work = underWay, work.process == process.reference else { return }
        underWay = nil
        nextLook = now + Freezer.pause
        if work.isLeader { members.removeAll() }
    }

    // MARK: Samples

    /// The row of this moment.
    func sample() -> FreezerRow {
        let (figures, all) = (pages.figures, candidates)
        defer { sampled = figures }
        return FreezerRow(
            at: now, frozen: frozen, thawed: all.count { $0.isFrozen && $0.isThawed }, books: figures,
            before: sampled, budgetLeft: budget.left, candidates: all.count(where: rules.isEligible))
    }

    // MARK: Claims

    /// Checks that what is on flash belongs to processes with slots, and that the bounds are kept.
    func check(_ faults: RunFaults) {
        let holders = processes.live.filter(isFrozen)
        faults.claim(
            holders.count == frozen && frozen <= rules.slots,
            "\(holders.count) processes are frozen; the freezer counts \(frozen) of \(rules.slots)")
        for process in processes.live where !isFrozen(process) {
            let swapped = memory.books(of: process.slot).swapped
            faults.claim(
                swapped == .zero && !process.course.isElevated,
                "\(process.profile.name) is not frozen, but has \(swapped) on flash, or the place of a frozen process")
        }
        let stored = pages.figures.onStorage
        faults.claim(stored <= settings.store, "the store of \(settings.store) holds \(stored)")
    }
}

extension RunPlan {
    /// Whether the run's device has a freezer, so that there is a `freezer.csv`. Unbounded memory needs none.
    var hasFreezer: Bool {
        device.freezer != nil && device.compressor != nil && effectiveCeiling == device.ceiling
    }
}
