import Lifecycle
import Quantities

// What must hold at every sample; checked by `--verify` and in the tests.
extension Simulation {
    func checkInvariants() {
        let books = memory.books
        claim(books.resident <= books.ceiling, "\(books.resident) are resident under a ceiling of \(books.ceiling)")
        for isExternal in [false, true] {
            let active = live.filter { isActive($0, onExternalDisplay: isExternal) }
            claim(
                active.count <= 1,
                "more than one app is active on \(isExternal ? "the second" : "the first") display: "
                    + "\(active.map(\.profile.name))")
        }
        for owner in cores.owners(at: now) {
            claim(process(owner) != nil, "a core works for process \(owner.pid.number), which is dead")
        }
        for waiter in waiters {
            claim(process(waiter) != nil, "process \(waiter.pid.number) waits for memory, but is dead")
        }
        var held = ByteCount.zero
        for process in live {
            held += memory.books(of: process.slot).footprint
            check(process)
        }
        claim(held + books.reserved == books.resident, "processes hold \(held), but \(books.resident) are resident")
        checkOwners()
        checkWaiters()
        checkReclaim()
    }

    // MARK: Nothing belongs to the dead

    /// Who owns a display, or is in front, is alive.
    private func checkOwners() {
        for (position, process) in live.enumerated() {
            let isKnown = processes[process.slot.index] === process && process.position == position
            claim(isKnown, "\(process.profile.name) is alive, but not where it is looked for")
        }
        if let displayOwner {
            claim(self.process(displayOwner) != nil, "process \(displayOwner.number) owns the display, but is dead")
        }
        for app in [foregroundApp, externalApp].compactMap(\.self) {
            claim(process(of: app) != nil, "\(apps[app.index].profile.name) is on a display, but is dead")
        }
    }

    private func checkWaiters() {
        for process in live where process.waitingSince != nil {
            claim(waiters.contains(process.reference), "\(process.profile.name) waits for memory, but nobody knows")
        }
    }

    private func checkReclaim() {
        let shown = reclaim.shown.map(\.pid)
        claim(shown == live.prefix(shown.count).map(\.pid), "policies are shown the processes \(shown.map(\.number))")
        for pid in [guardrails.ending, reclaim.acting?.asked].compactMap(\.self) {
            claim(process(pid) != nil, "process \(pid.number) was asked to end, and is dead")
        }
    }

    private func isActive(_ process: LiveProcess, onExternalDisplay isExternal: Bool) -> Bool {
        guard process.profile.scenes.support else { return process.phase == .active && !isExternal }
        return process.record.sessions.contains {
            $0.machine.phase == .foregroundActive && $0.isExternal == isExternal
        }
    }

    private func check(_ process: LiveProcess) {
        let name = process.profile.name
        let sessions = process.record.sessions
        for isExternal in [false, true] {
            claim(
                sessions.count { $0.machine.phase == .foregroundActive && $0.isExternal == isExternal } <= 1,
                "\(name) has more than one active scene on a display")
        }
        if process.phase == .suspended {
            claim(!process.work.isUnderWay, "\(name) is suspended, but works on memory")
            claim(process.isQuiet, "\(name) is suspended, but has steps to do")
            claim(process.assertions.isEmpty, "\(name) is suspended, but holds a reason to run")
        }
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
