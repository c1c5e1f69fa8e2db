import Pressure
import Quantities
import Testing

@testable import Reclaim

/// XNU's freezer by table: the rows A19 to A24 of jetsam's behaviours in Policies.md, as pure rules.
@Suite("the freezer's rules, row by row")
struct FreezerRulesTests {
    typealias Candidate = FreezerRules.Candidate

    private func at(_ seconds: Int64) -> Instant { .zero + .seconds(seconds) }

    /// A suspended app in band 0 that came there at this second.
    private func app(
        _ number: Int, at second: Int64 = 0, _ mebibytes: Int = 50, _ change: (inout Candidate) -> Void = { _ in }
    ) -> Candidate {
        var candidate = Candidate(ProcessID(number), positionedAt: at(second), footprint: .mebibytes(mebibytes))
        change(&candidate)
        return candidate
    }

    private func frozen(
        _ number: Int, at second: Int64 = 0, thaws: Int = 0, isThawed: Bool = false, band: Int = 75
    ) -> Candidate {
        app(number, at: second) {
            ($0.isFrozen, $0.thaws, $0.isThawed, $0.band) = (true, thaws, isThawed, JetsamBand(band))
        }
    }

    private func rules(slots: Int = 20, above: Int = 0) -> FreezerRules {
        var rules = FreezerRules()
        (rules.slots, rules.suspendedAbove) = (slots, above)
        return rules
    }

    // MARK: Whom

    @Test("A19: only suspended apps of 8 MB and more in band 20 or below; a docked one, in band 40, never")
    func a19() {
        let rows: [(Candidate, isEligible: Bool, FreezerRules.SkipReason?)] = [
            (app(1), true, nil),
            (app(2, 8), true, nil),
            (app(3, 7), false, .belowMinPages),
            (app(4) { $0.band = .ageing }, true, nil),
            (app(5) { $0.band = .elevatedInactive }, false, .elevated),
            (app(6) { $0.isSuspended = false }, false, nil),
            (app(7) { $0.isApp = false }, false, nil),
            (app(8) { $0.hasFailed = true }, false, nil),
            (frozen(9), false, nil),
        ]
        for (candidate, isEligible, reason) in rows {
            #expect(rules().isEligible(candidate) == isEligible, "process \(candidate.pid.number)")
            #expect(rules().skipReason(for: candidate) == reason, "process \(candidate.pid.number)")
            let choice: FreezerRules.Choice? = isEligible ? .freeze(candidate.pid, members: []) : nil
            #expect(rules().next(of: [candidate]) == choice, "process \(candidate.pid.number)")
        }
    }

    @Test("the head of the lowest band goes first, whatever its size")
    func order() {
        let all = [app(1, at: 9, 900), app(2, at: 3, 10), app(3, at: 5), app(4, at: 1) { $0.band = .ageing }]
        #expect(rules().next(of: all) == .freeze(ProcessID(2), members: []))
        #expect(rules().next(of: [all[3], all[0]]) == .freeze(ProcessID(1), members: []))
        #expect(rules().next(of: [app(7, at: 3), app(6, at: 3)]) == .freeze(ProcessID(6), members: []))
    }

    @Test("it works while more than four suspended processes are not frozen, and a slot or three thawed ones are there")
    func mayWork() {
        let suspended = (1...5).map { app($0) }
        #expect(rules(above: 4).mayWork(on: suspended))
        #expect(!rules(above: 4).mayWork(on: Array(suspended.dropLast())))
        var running = frozen(6, isThawed: true)
        running.isSuspended = false
        #expect(!rules(above: 4).mayWork(on: suspended + [running]), "one that runs is frozen, and not suspended")
        let full = suspended + (6...8).map { frozen($0, isThawed: $0 < 8) }
        #expect(!rules(slots: 3, above: 4).mayWork(on: full), "two are thawed")
        #expect(rules(slots: 3, above: 4).mayWork(on: suspended + (6...8).map { frozen($0, isThawed: true) }))
    }

    /// An app with so many members beside it.
    private func group(_ number: Int, members: Int) -> [Candidate] {
        (0...members).map { place in
            app(number + place, place == 0 ? 50 : 1) {
                ($0.group, $0.role, $0.isApp) = (number, place == 0 ? .leader : .helper, place == 0)
            }
        }
    }

    @Test("A20: of 8 slots a group of 11 takes exactly 8, its leader among them; with full slots the next gets none")
    func a20() throws {
        var all = group(1, members: 10) + group(20, members: 2)
        guard case .freeze(let leader, let members) = rules(slots: 8).next(of: all) else {
            Issue.record("nothing is frozen")
            return
        }
        #expect(leader == ProcessID(1) && members.count == 7)
        #expect(Set(members).isSubset(of: all[1...10].map(\.pid)))
        for index in all.indices where all[index].pid == leader || members.contains(all[index].pid) {
            all[index] = frozen(all[index].pid.number)
        }
        #expect(all.count(where: \.isFrozen) == 8)
        #expect(rules(slots: 8).next(of: all) == nil && !rules(slots: 8).mayWork(on: all))
    }

    @Test("at most ten members go with their leader, and only those that are suspended")
    func members() {
        var all = group(1, members: 12)
        guard case .freeze(_, let ten) = rules().next(of: all) else {
            Issue.record("nothing is frozen")
            return
        }
        #expect(ten.count == 10)
        for index in 3...12 { all[index].isSuspended = false }
        #expect(rules().next(of: all) == .freeze(ProcessID(1), members: [ProcessID(3), ProcessID(2)]))
    }

    @Test("thawed processes are frozen anew when slots are full, or when three are thawed and no other is left")
    func refreeze() {
        let thawed = [frozen(1, at: 9, isThawed: true), frozen(2, at: 4, isThawed: true), frozen(3)]
        #expect(rules(slots: 3).next(of: thawed + [app(4)]) == .refreeze(ProcessID(2)))
        #expect(rules().next(of: thawed + [app(4)]) == .freeze(ProcessID(4), members: []))
        #expect(rules().next(of: thawed) == nil, "two are thawed")
        #expect(rules().next(of: thawed + [frozen(5, at: 5, isThawed: true)]) == .refreeze(ProcessID(2)))
        #expect(rules(slots: 3).next(of: [frozen(1), frozen(2), frozen(3)]) == nil, "none has run since")
        // A demoted one that has run since stands in band 0 among the others, and needs no slot.
        let demoted = frozen(6, at: 1, isThawed: true, band: 0)
        #expect(rules().next(of: [app(4, at: 2), demoted]) == .refreeze(ProcessID(6)))
    }

    // MARK: Thaws and demotion

    @Test("A21: a thaw counts one and leaves the process frozen; a second one in the interval does not raise the share")
    func a21() {
        var ledger = FreezerLedger()
        for number in 1...4 { ledger.freeze(ProcessID(number)) }
        #expect(ledger.thawedShare == .zero && !ledger.isThawed(ProcessID(1)))
        ledger.thaw(ProcessID(1))
        #expect(ledger.thawedShare == .percent(25) && ledger.thaws(of: ProcessID(1)) == 1)
        #expect(ledger.isThawed(ProcessID(1)) && ledger.frozenInInterval == 4)
        ledger.thaw(ProcessID(1))
        #expect(ledger.thawedShare == .percent(25) && ledger.thaws(of: ProcessID(1)) == 2 && ledger.thaws == 2)
        ledger.freeze(ProcessID(1))
        #expect(!ledger.isThawed(ProcessID(1)) && ledger.frozenInInterval == 4, "frozen anew is no further process")
        ledger.thaw(ProcessID(9))
        #expect(ledger.thaws == 2, "a process that was never frozen is not thawed")
        ledger.beginInterval()
        #expect(ledger.thawedShare == .zero)
        ledger.thaw(ProcessID(1))
        #expect(ledger.thawedShare == .percent(25), "a new interval counts anew")
        ledger.forget(ProcessID(1))
        #expect(ledger.thaws(of: ProcessID(1)) == 0 && !ledger.isThawed(ProcessID(1)))
    }

    @Test("A22: two a day lose their place, the longest there that were thawed less than five times")
    func a22() {
        let all = [
            frozen(1, at: 1, thaws: 5), frozen(2, at: 7), frozen(3, at: 3, thaws: 4), frozen(4, at: 5),
            frozen(5, at: 2, band: 100), app(6),
        ]
        #expect(rules().demotedDaily(all) == [ProcessID(3), ProcessID(4)])
        #expect(rules().demotedWithoutBudget(all) == nil, "none is thawed")
        let thawed = all + [frozen(7, at: 9, thaws: 9, isThawed: true), frozen(8, at: 8, isThawed: true)]
        #expect(rules().demotedWithoutBudget(thawed) == ProcessID(8))
    }

    // MARK: A reset

    @Test("A24: a reset ends frozen processes, from band 0 up to 75, not those that run, and the budget is whole")
    func a24() {
        var (running, member, gone) = (frozen(3, at: 1), frozen(8, at: 6), app(9))
        running.isSuspended = false
        member.isApp = false
        gone.hasFailed = true
        let all = [
            frozen(1, at: 9, thaws: 9, isThawed: true), frozen(2, at: 4), running, frozen(4, at: 2, band: 100),
            frozen(5, at: 8, band: 0), frozen(6, at: 7, band: 20), app(7), member, gone,
        ]
        #expect(rules().endedByReset(all).map(\.number) == [5, 6, 2, 8, 1])
        #expect(rules().endedByReset([running, app(7)]).isEmpty)
        var budget = FreezerBudget(daily: .mebibytes(100), at: .zero)
        // Neither the rest nor what was written too much counts any longer.
        for spent in [30, 170] {
            budget.spend(.mebibytes(spent))
            budget.reset(at: at(60))
            #expect(budget.left == .mebibytes(100) && budget.spent == .zero, "\(spent) MiB written")
            #expect(budget.ends == at(60) + FreezerBudget.interval)
        }
    }

    // MARK: The budget

    @Test("A23: a budget whose interval ended 32 h ago is that of a day and 1.33 of it")
    func a23() {
        let daily = ByteCount.mebibytes(2_048)
        let hours: [(Int64, Int)] = [(0, 100), (12, 150), (24, 200), (32, 233), (48, 300)]
        for (late, hundredths) in hours {
            let budget = FreezerBudget.renewed(daily: daily, expired: .minutes(60 * late), rollover: .zero)
            #expect(budget == ByteCount(daily.bytes * hundredths / 100), "\(late) h")
        }
        #expect(FreezerBudget.renewed(daily: daily, expired: .zero, rollover: .mebibytes(3)) == daily + .mebibytes(3))
    }

    @Test("a day's rest is carried over, too much is not paid back, and a reset makes the budget whole")
    func budget() {
        let hour: Int64 = 3_600
        var budget = FreezerBudget(daily: .mebibytes(100), at: .zero)
        budget.spend(.mebibytes(70))
        #expect(budget.left == .mebibytes(30))
        let (early, due) = (budget.renew(at: at(24 * hour - 1)), budget.renew(at: at(24 * hour)))
        #expect(!early && due)
        #expect(budget.left == .mebibytes(130) && budget.ends == at(48 * hour))
        budget.spend(.mebibytes(150))
        #expect(budget.left == .zero)
        budget.reset(at: at(30 * hour))
        #expect(budget.left == .mebibytes(100) && budget.spent == .zero && budget.ends == at(54 * hour))
        budget.spend(.mebibytes(120))
        let later = budget.renew(at: at(54 * hour))
        #expect(later)
        #expect(budget.left == .mebibytes(80), "120 of 100 were written: 20 beyond the new budget of 100")
        var endless = FreezerBudget(daily: nil, at: .zero)
        endless.spend(.gibibytes(100))
        #expect(endless.left == nil)
    }
}
