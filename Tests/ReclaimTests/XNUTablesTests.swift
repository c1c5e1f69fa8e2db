import Pressure
import Quantities
import Testing

@testable import Reclaim

/// The tables of XNU's own tests, as numbers: xnu-11417.101.15, tests/vm/memorystatus_sort_test.c,
/// memorystatus_convert_limit_bytes.c and memorystatus_freeze_test.c, tests/memorystatus_is_assertion.c. `Policies.md`
/// says which cases are left out, and why.
@Suite("XNU's own tables")
struct XNUTablesTests {
    private func at(_ seconds: Int64) -> Instant { .zero + .seconds(seconds) }

    // MARK: memorystatus_sort_test.c

    @Test("memorystatus_sort_coalition: undefined, extension, service, leader, whoever came first")
    func coalition() throws {
        let roles: [GroupRole] = [.leader, .extension, .undefined, .helper]
        let group = roles.enumerated().map { index, role in
            banded(index, 100, position: Int64(index)) { ($0.group, $0.role) = (1, role) }
        }
        #expect(try policy("jetsam").decide(device(10, group)).victims == [2, 1, 3, 0])
    }

    /// XNU's test sorts band 0 by footprint, which the kernel itself does in no band but the foreground's.
    @Test("memorystatus_sort_footprint: 500, 0 and 2500 pages become the third, the first and the second")
    func footprint() throws {
        let children = [500, 0, 2_500].enumerated().map { banded($0.offset, 100, size: $0.element) }
        #expect(try policy("jetsam").decide(device(10, children)).victims == [2, 0, 1])
    }

    // MARK: memorystatus_convert_limit_bytes.c

    /// The default limit, as any number of MiB.
    private static let standard = 1_850

    @Test(
        "a limit that is not asked for is the default's, which is fatal; a larger one stays what it was",
        arguments: [
            (asked: -1, becomes: standard, isFatal: true), (0, standard, true), (standard, standard, true),
            (standard + 100, standard + 100, false),
        ])
    func limits(asked: Int, becomes: Int, isFatal: Bool) {
        let limit = MemoryLimit(
            requested: asked < 0 ? ByteCount(asked) : .mebibytes(asked), isFatal: false,
            standard: .mebibytes(Self.standard))
        #expect(limit == MemoryLimit(bytes: .mebibytes(becomes), isFatal: isFatal))
    }

    // MARK: memorystatus_is_assertion.c

    private enum Step {
        case clean, dirty, relinquish, wait
        case assert(Int)
    }

    private func take(_ step: Step, _ machine: inout BandMachine, _ second: inout Int64) throws {
        second += 1
        switch step {
        case .clean: try machine.setDirty(false, at: at(second))
        case .dirty: try machine.setDirty(true, at: at(second))
        case .relinquish: machine.relinquish(at: at(second))
        case .wait: second += 30
        case .assert(let band): try machine.assert(JetsamBand(band), at: at(second))
        }
    }

    @Test("assertion_test_allow_idle_exit: the band, the limit in force and the assertion after each of 15 steps")
    func allowsIdleExit() throws {
        // The active limit is 35 MB, the inactive one 25 MB.
        let steps: [(Step, band: Int, limit: Int, isHeld: Bool)] = [
            (.relinquish, 10, 35, false), (.assert(100), 100, 35, true), (.assert(30), 30, 35, true),
            (.relinquish, 10, 35, false), (.wait, 0, 25, false), (.assert(100), 100, 35, true),
            (.dirty, 100, 35, true), (.assert(30), 80, 35, true), (.relinquish, 80, 35, false),
            (.assert(100), 100, 35, true), (.clean, 100, 35, true), (.dirty, 100, 35, true),
            (.assert(30), 80, 35, true), (.relinquish, 80, 35, false), (.clean, 10, 35, false),
        ]
        var daemon = BandMachine(.daemon, band: .interfaceSupport, at: at(0))
        daemon.track(at: at(0))
        var second: Int64 = 0
        for (number, row) in steps.enumerated() {
            try take(row.0, &daemon, &second)
            #expect(daemon.band(at: at(second)).number == row.band, "step \(number)")
            #expect((daemon.hasActiveLimit(at: at(second)) ? 35 : 25) == row.limit, "step \(number)")
            #expect((daemon.assertion != nil) == row.isHeld, "step \(number)")
        }
        #expect(steps.count == 15)
    }

    /// Without idle exit the dirty state moves no band, as with a process that is not tracked. It moves the limit,
    /// which a run's reasons decide.
    @Test("assertion_test_do_not_allow_idle_exit: the band and the assertion after each of its steps with assertions")
    func allowsNoIdleExit() throws {
        let steps: [(Step, band: Int, isHeld: Bool)] = [
            (.relinquish, 120, false), (.assert(100), 120, true), (.assert(30), 120, true), (.relinquish, 120, false),
            (.assert(100), 120, true), (.assert(30), 120, true), (.relinquish, 120, false), (.assert(190), 190, true),
            (.assert(30), 120, true), (.relinquish, 120, false),
        ]
        var daemon = BandMachine(.daemon, band: JetsamBand(120), at: at(0))
        var second: Int64 = 0
        for (number, row) in steps.enumerated() {
            try take(row.0, &daemon, &second)
            #expect(daemon.band(at: at(second)).number == row.band, "step \(number)")
            #expect((daemon.assertion != nil) == row.isHeld, "step \(number)")
        }
    }

    @Test(
        "assertion_test_repetitive: three times given up, three times taken, clean and dirty",
        arguments: [nil, false, true] as [Bool?])
    func repeats(isDirty: Bool?) throws {
        var machine = BandMachine(isDirty == nil ? .app : .daemon, band: .interfaceSupport, at: at(0))
        if let isDirty {
            machine.track(at: at(0))
            try machine.setDirty(isDirty, at: at(0))
        }
        var second: Int64 = 0
        for round in 0..<2 {
            if let isDirty, round == 1 {
                try take(.wait, &machine, &second)
                try take(isDirty ? .clean : .dirty, &machine, &second)
            }
            for _ in 0..<3 { try take(.relinquish, &machine, &second) }
            #expect(machine.assertion == nil)
            for _ in 0..<3 { try take(.assert(100), &machine, &second) }
            #expect(machine.assertion == .foreground && machine.band(at: at(second)) == .foreground)
        }
    }

    @Test("idle_aging_app_to_sysproc: an app that ages in 20 and is tracked then ages in 10, and is idle after 30 s")
    func appBecomesDaemon() {
        var app = BandMachine(.app, band: .interfaceSupport, at: at(0))
        app.set(.idle, at: at(1))
        #expect(app.band(at: at(1)) == .ageing)
        app.track(at: at(2))
        #expect(app.band(at: at(2)) == .daemonAgeing)
        #expect(app.band(at: at(32)) == .idle)
    }

    @Test("idle_aging_leaked_importance_boost: 10, after 30 s 15, after 35 s more 0")
    func leaks() throws {
        var daemon = BandMachine(.daemon, band: .interfaceSupport, at: at(0))
        daemon.track(at: at(0))
        try daemon.assert(.foreground, at: at(0))
        daemon.assertionIsStuck(at: at(0))
        #expect([0, 30, 65].map { daemon.band(at: at($0)).number } == [10, 15, 0])
    }

    @Test("daemon_memlimits: a daemon of band 80 with limits of 6 and 4 MB, in seven looks")
    func daemonLimits() throws {
        var daemon = BandMachine(.daemon, band: .interfaceSupport, at: at(0))
        daemon.track(at: at(0))
        var second: Int64 = 0
        var looks = [[daemon.band(at: at(0)).number, daemon.hasActiveLimit(at: at(0)) ? 6 : 4]]
        for step in [Step.wait, .dirty, .clean, .wait, .dirty, .clean] {
            try take(step, &daemon, &second)
            looks.append([daemon.band(at: at(second)).number, daemon.hasActiveLimit(at: at(second)) ? 6 : 4])
        }
        #expect(looks == [[10, 6], [0, 4], [80, 6], [10, 6], [0, 4], [80, 6], [10, 6]])
    }
}

/// The cases of memorystatus_freeze_test.c that are about whom the kernel freezes, and what it remembers of them.
@Suite("XNU's own tables: the freezer")
struct XNUFreezerTablesTests {
    private func at(_ seconds: Int64) -> Instant { .zero + .seconds(seconds) }

    /// A suspended leader in band 0 and the members of its group: services, suspended, too.
    private func coalition(_ first: Int, of count: Int) -> [FreezerRules.Candidate] {
        (0..<count).map { place in
            var member = FreezerRules.Candidate(
                ProcessID(first + place), positionedAt: at(0), footprint: .mebibytes(place == 0 ? 50 : 1))
            (member.group, member.role, member.isApp) = (first, place == 0 ? .leader : .helper, place == 0)
            return member
        }
    }

    /// Freezes what the rules choose, once; returns how many processes of it are frozen then.
    private func freeze(_ processes: inout [FreezerRules.Candidate]) -> Int {
        var rules = FreezerRules()
        (rules.slots, rules.suspendedAbove) = (8, 0)
        guard rules.mayWork(on: processes), case .freeze(let leader, let members) = rules.next(of: processes) else {
            return 0
        }
        for index in processes.indices where ([leader] + members).contains(processes[index].pid) {
            (processes[index].isFrozen, processes[index].band) = (true, .freezer)
        }
        return 1 + members.count
    }

    @Test("memorystatus_coalition_freeze: with eight slots all eight of a group")
    func wholeGroup() {
        var processes = coalition(1, of: 8)
        #expect(freeze(&processes) == 8 && processes.allSatisfy(\.isFrozen))
    }

    @Test("memorystatus_coalition_freezer_slot_limit: of eleven exactly eight, the leader among them")
    func slotLimit() {
        var processes = coalition(1, of: 11)
        #expect(freeze(&processes) == 8)
        #expect(processes[0].isFrozen && processes.count(where: \.isFrozen) == 8)
    }

    @Test("memorystatus_two_coalition_freeze: with all slots taken none of the second group")
    func secondGroup() {
        var processes = coalition(1, of: 8) + coalition(20, of: 8)
        #expect(freeze(&processes) == 8)
        #expect(freeze(&processes) == 0)
        #expect(processes[8...].allSatisfy { !$0.isFrozen })
    }

    @Test("memorystatus_freeze_skip_docked: who is docked is not frozen, and nobody else is there")
    func docked() {
        var processes = coalition(1, of: 1)
        processes[0].band = .elevatedInactive
        #expect(freeze(&processes) == 0)
        processes[0].band = .idle
        #expect(freeze(&processes) == 1, "it would be, if it were not docked")
    }

    /// `freezer_snapshot_frozen_state`, `freezer_snapshot_thaw_state`, `memorystatus_get_process_is_frozen`.
    @Test("a frozen process that is resumed stays frozen, was thawed, and counts one")
    func thawed() {
        var ledger = FreezerLedger()
        ledger.freeze(ProcessID(1))
        #expect(ledger.frozenInInterval == 1 && !ledger.isThawed(ProcessID(1)) && ledger.thaws(of: ProcessID(1)) == 0)
        ledger.thaw(ProcessID(1))
        #expect(ledger.isThawed(ProcessID(1)) && ledger.thaws(of: ProcessID(1)) == 1)
        ledger.beginInterval()
        #expect(ledger.frozenInInterval == 1, "it has its slot still")
    }

    @Test("memorystatus_freezer_thaw_percentage: none, none, more, as much, none, more")
    func thawShare() {
        var ledger = FreezerLedger()
        let (asleep, used) = (ProcessID(2), ProcessID(1))
        ledger.freeze(asleep)
        #expect(ledger.thawedShare == .zero)
        ledger.beginInterval()
        #expect(ledger.thawedShare == .zero)
        ledger.freeze(used)
        ledger.thaw(used)
        let once = ledger.thawedShare
        #expect(once > .zero)
        ledger.freeze(used)
        ledger.thaw(used)
        #expect(ledger.thawedShare == once)
        ledger.freeze(used)
        ledger.beginInterval()
        #expect(ledger.thawedShare == .zero)
        ledger.thaw(used)
        #expect(ledger.thawedShare > .zero)
    }

    @Test("budget_replenishment: 32 h after the end of an interval whose budget was spent, a day's and 1.33 times that")
    func budget() {
        let pages = 2_048 << 8
        let expected = pages + 32 * 3_600 * 100 / 86_400 * pages / 100
        let daily = ByteCount(pages * 4_096)
        // The kernel counts whole pages.
        let budget = FreezerBudget.renewed(daily: daily, expired: .minutes(32 * 60), rollover: .zero)
        #expect(budget.bytes / 4_096 == expected)
    }

    @Test("memorystatus_reset_freezer_state: with a budget of 0 a reset ends the frozen process, and a budget is there")
    func reset() {
        var processes = coalition(1, of: 1)
        #expect(freeze(&processes) == 1)
        var budget = FreezerBudget(daily: .mebibytes(2_048), at: at(0))
        budget.spend(.mebibytes(2_048))
        #expect(budget.left == .zero)
        #expect(FreezerRules().endedByReset(processes) == [ProcessID(1)])
        budget.reset(at: at(1))
        #expect(budget.left == .mebibytes(2_048))
    }

    /// The kernel's test holds the process in the freezer's band by an assertion, and demotes all frozen processes.
    @Test("assertion_test_demote_frozen: the assertion's band holds; without it the process ages in band 20")
    func demoted() throws {
        var app = BandMachine(.app, band: .interfaceSupport, at: at(0))
        try app.assert(.freezer, at: at(1))
        app.set(.idle, at: at(2))
        #expect(app.band(at: at(2)) == .freezer)
        app.relinquish(at: at(3))
        #expect(app.band(at: at(3)) == .ageing)
        #expect(app.band(at: at(5)) == .idle)
    }
}
