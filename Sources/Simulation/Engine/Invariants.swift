import Lifecycle
import Memory
import Quantities

/// What must hold, checked by `--verify` and in tests: where the pages are after every event, the rest at every sample.
struct Invariants {
    let agenda: Agenda
    let processes: ProcessTable
    let display: Display
    let memory: any DeviceMemory
    let worker: MemoryWorker
    let scheduler: Scheduler
    let freezer: Freezer?
    let snapshots: Snapshots
    let reclaimer: Reclaimer
    let faults: RunFaults

    private var supply: MemorySupply { worker.supply }
    private var waiters: MemoryWaiters { worker.waiters }

    private func claim(_ holds: Bool, _ text: @autoclosure () -> String) { faults.claim(holds, text()) }

    /// Checks everything but the pages; call it at a sample.
    func check() {
        checkDisplays()
        checkOwners()
        checkWaiters()
        for process in processes.live { check(process) }
        scheduler.check()
        freezer?.check(faults)
        snapshots.check()
        reclaimer.check()
    }

    /// Checks where the pages are, of each process and of the device; call it after any event.
    func checkPages() {
        let books = memory.books
        claim(books.resident <= books.ceiling, "\(books.resident) are resident under a ceiling of \(books.ceiling)")
        var (held, compressed, swapped) = (ByteCount.zero, ByteCount.zero, ByteCount.zero)
        for process in processes.live {
            let mine = memory.books(of: process.slot)
            held += mine.resident
            compressed += mine.compressed
            swapped += mine.swapped
            claim(
                mine.footprint == mine.resident + mine.compressed + mine.swapped && mine.resident >= .zero,
                "\(process.profile.name): \(mine)")
        }
        for mine in reclaimer.returning.books {
            held += mine.resident
            compressed += mine.compressed
            swapped += mine.swapped
        }
        // The canary: two processes seem to hold a page that nobody handed out.
        if faults.hasCanary, processes.live.count > 1 { held += .kibibytes(4) }
        claim(
            held + books.compressor + books.files + books.reserved == books.resident,
            "processes hold \(held), the compressor \(books.compressor), files \(books.files), "
                + "but \(books.resident) are resident")
        claim(
            books.files == supply.fileBacked, "the file cache holds \(supply.fileBacked), not \(books.files)")
        claim(
            books.resident + books.available == books.ceiling && compressed == books.compressed,
            "processes have \(compressed) of compressed pages; \(books)")
        let stored = memory.compressor?.figures.swapped ?? .zero
        claim(
            swapped == books.swapped && swapped == stored,
            "processes have \(swapped) on flash, the device \(books.swapped), the store \(stored)")
        checkSwap(books)
    }

    /// Checks that swap has room for what processes have there. A scale model's parts are rounded, its original's not.
    private func checkSwap(_ books: DeviceBooks) {
        let (swapTotal, disk) = (snapshots.swapTotal, worker.compressor?.diskSize ?? .zero)
        guard swapTotal > .zero, memory.scale == .one else { return }
        let used = books.compressed + books.swapped
        claim(used <= swapTotal, "\(used) are in swap, whose size is \(swapTotal)")
        claim(books.swapped <= disk, "\(books.swapped) are on the disk of swap, whose size is \(disk)")
    }

    /// Checks that nothing is left after the last process has ended.
    func checkDrained() {
        let books = memory.books
        claim(
            books.resident == books.reserved + books.compressor && books.active == .zero && books.dirty == .zero
                && books.compressed == .zero && books.swapped == .zero,
            "all apps have ended, but \(books.resident - books.reserved) are still handed out")
        claim(processes.isEmpty, "all apps have ended, but a process is left")
        for app in processes.apps {
            for session in app.sessions {
                claim(
                    session.machine.phase == .unattached && session.pool == nil,
                    "all apps have ended, but scene \(session.id.number) of \(app.profile.name) is connected")
            }
        }
    }

    // MARK: Nothing belongs to a process that has ended

    /// Checks that a process that owns a display, is in front or has work on a core is alive.
    private func checkOwners() {
        for (position, process) in processes.live.enumerated() {
            let isKnown = processes.isAlive(process) && process.position == position
            claim(isKnown, "\(process.profile.name) is alive, but not where it is looked for")
        }
        for owner in display.owners {
            claim(processes.process(owner.pid) != nil, "process \(owner.pid.number) owns the display, but is dead")
        }
        claim(
            display.owners.count <= (display.isShared ? 2 : 1),
            "\(display.owners.count) processes own the display")
        claim(
            display.besideApp == nil
                || display.frontApp != nil && display.besideApp != display.frontApp,
            "an app is beside none, or beside itself")
        for app in display.shownApps + [display.externalApp].compactMap(\.self) {
            claim(
                processes.process(of: app) != nil, "\(processes[app].profile.name) is on a display, but is dead")
        }
    }

    private func checkWaiters() {
        let waiting = waiters.references
        for waiter in waiting {
            claim(processes.process(waiter) != nil, "process \(waiter.pid.number) waits for memory, but is dead")
        }
        for process in processes.live where waiters.isWaiting(process) {
            claim(waiting.contains(process.reference), "\(process.profile.name) waits for memory, but is not served")
        }
    }

    // MARK: Displays and scenes

    private func checkDisplays() {
        for isExternal in [false, true] {
            let active = processes.live.filter { isActive($0, onExternalDisplay: isExternal) }
            // Side by side, two apps are active on the first display.
            let most = display.isShared && !isExternal ? 2 : 1
            claim(
                active.count <= most,
                "more than \(most == 1 ? "one app is" : "two apps are") active on "
                    + "\(isExternal ? "the second" : "the first") display: \(active.map(\.profile.name))")
        }
    }

    private func isActive(_ process: LiveProcess, onExternalDisplay isExternal: Bool) -> Bool {
        // Beside an app, other processes may be active.
        guard !process.record.isPart else { return false }
        guard process.profile.scenes.support else { return process.phase == .active && !isExternal }
        return process.record.sessions.contains {
            $0.machine.phase == .foregroundActive && $0.isExternal == isExternal
        }
    }

    /// A prewarmed process may still load its libraries. Nothing else happens in it.
    private func checkPrewarmed(_ process: LiveProcess) {
        let name = process.profile.name
        claim(process.bands.band(at: agenda.now) == .idle, "\(name) is prewarmed, but not in band 0")
        claim(!process.reasons.holdsAny, "\(name) is prewarmed, but holds a reason to run")
        claim(
            process.launch.pending == nil && !process.isEnding && !display.isShown(process.app),
            "\(name) is prewarmed, but wanted or ending")
        claim(
            !process.record.sessions.contains { $0.machine.phase.isConnected },
            "\(name) is prewarmed, but has a connected scene")
    }

    private func check(_ process: LiveProcess) {
        let name = process.profile.name
        let sessions = process.record.sessions
        for isExternal in [false, true] {
            claim(
                sessions.count { $0.machine.phase == .foregroundActive && $0.isExternal == isExternal } <= 1,
                "\(name) has more than one active scene on a display")
        }
        if process.isQuiet {
            claim(process.announcements.isEmpty, "\(name) is quiet, but has not posted \(process.announcements)")
        }
        if process.phase == .suspended {
            claim(!process.work.isUnderWay, "\(name) is suspended, but works on memory")
            claim(process.isQuiet, "\(name) is suspended, but has steps to do")
            claim(!process.reasons.holdsAny, "\(name) is suspended, but holds a reason to run")
        }
        if process.phase == .prewarmed { checkPrewarmed(process) }
        guard process.profile.scenes.support else { return }
        for session in sessions where session.machine.phase == .unattached && process.isQuiet {
            let size = session.pool.map { memory.requested(in: $0) } ?? .zero
            claim(size == .zero, "scene \(session.id.number) of \(name) is unattached, but holds \(size)")
        }
        guard process.isQuiet, sessions.contains(where: { $0.machine.phase.isConnected }) else { return }
        let expected = processPhase(
            followingFrom: sessions.map(\.machine.phase), hasReasonToRun: process.phase == .background)
        claim(
            process.phase == expected,
            "\(name) is \(process.phase.rawValue), but its scenes make it \(expected.rawValue)"
        )
    }
}
