import Experiments
import Quantities
import Testing

@testable import Survival

@Suite("trials that stop when their answer is decided")
struct TrialTests {
    /// Runs a trial on known outcomes, as many at a time as it asks for.
    private func run(_ trial: Trial, _ outcomes: [Bool?]) -> Trial {
        var trial = trial
        while !trial.wanted.isEmpty { trial.learn(trial.wanted.map { outcomes[$0] }) }
        return trial
    }

    private func decide(_ outcomes: [Bool?], _ share: Ratio, risky: Int = 0) -> (verdict: Bool?, runs: Int) {
        let trial = run(Trial(.decide(share), order: Array(outcomes.indices), risky: risky), outcomes)
        return (trial.verdict(of: share), trial.outcomes.count)
    }

    /// Outcomes of up to 40 seeds, the first ones of which are more likely to be ends, and a share to ask for.
    private func drawn(_ generator: inout SeededGenerator) -> (outcomes: [Bool?], share: Ratio, risky: Int) {
        let count = generator.number(in: 1...40)
        let chance = Ratio(partsPerMillion: Int64(generator.below(1_000_001)))
        let risky = generator.number(in: 0...count)
        let outcomes = (0..<count).map { place -> Bool? in
            if generator.chance(.percent(10)) { return nil }
            return generator.chance(chance) && (place >= risky || generator.chance(.percent(50)))
        }
        return (outcomes, Ratio(partsPerMillion: Int64(generator.number(in: 1...100)) * 10_000), risky)
    }

    @Test("no run is made after an answer is decided, and all runs together decide every question exactly")
    func curtailed() {
        var generator = SeededGenerator(seed: 1, stream: "trials")
        for _ in 0..<500 {
            let (outcomes, share, risky) = drawn(&generator)
            let lived = outcomes.count { $0 == true }
            let whole = Proportion(lived, of: lived + outcomes.count { $0 == false })
            var all = Trial(.whole, order: Array(outcomes.indices), risky: risky)
            all.learn(outcomes)
            #expect(all.verdict(of: share) == whole.isAtLeast(partsPerMillion: share.partsPerMillion))
            let (verdict, runs) = decide(outcomes, share, risky: risky)
            #expect(verdict != nil)
            guard runs > 1 else { continue }
            var before = Trial(.decide(share), order: Array(outcomes.indices), risky: risky)
            before.learn(Array(outcomes.prefix(runs - 1)))
            #expect(before.verdict(of: share) == nil, "run \(runs) of \(outcomes.count) was made in vain")
        }
    }

    @Test("two ends decide against 90 % of 40 seeds, and twenty lives for it, as the hypergeometric distribution says")
    func fewRuns() {
        #expect(decide([Bool?](repeating: false, count: 40), .percent(90)) == (false, 2))
        // (20 * 19 * 18 * 17 * 16) / (40 * 39 * 38 * 37 * 36) is 0.0236: five ends among the other twenty seeds.
        #expect(decide([Bool?](repeating: true, count: 40), .percent(90)) == (true, 20))
        #expect(decide([Bool?](repeating: nil, count: 40), .percent(90)) == (false, 40))
        #expect(decide([Bool?](repeating: true, count: 40), .percent(50)) == (true, 5))
        #expect(decide([Bool?](repeating: true, count: 40), .percent(100)) == (true, 39))
        // Few seeds leave nothing to an interval.
        #expect(decide([Bool?](repeating: true, count: 4), .percent(75)) == (true, 3))
        #expect(decide([Bool?](repeating: false, count: 4), .percent(75)) == (false, 2))
    }

    @Test("ends under the seeds that come first as they end anyway are held against as many seeds only")
    func risky() {
        let ends = [Bool?](repeating: false, count: 3) + [Bool?](repeating: true, count: 37)
        #expect(decide(ends, .percent(90), risky: 3).verdict == true)
        #expect(decide(ends, .percent(90)).verdict == false)
        #expect(decide([Bool?](repeating: false, count: 40), .percent(90), risky: 23) == (false, 2))
    }

    @Test("a suspicion of a yes needs eight lives; whoever insists makes the runs of a decision")
    func suspicion() {
        let lives = [Bool?](repeating: true, count: 40)
        var trial = run(Trial(.suspect(.percent(90)), order: Array(lives.indices)), lives)
        #expect(trial.outcomes.count == 8 && trial.suspicion(of: .percent(90)) == true)
        #expect(trial.verdict(of: .percent(90)) == nil && !trial.isComplete)
        trial.insist()
        trial = run(trial, lives)
        #expect(trial.outcomes.count == 20 && trial.verdict(of: .percent(90)) == true)
        let ends = [Bool?](repeating: false, count: 40)
        #expect(run(Trial(.suspect(.percent(90)), order: Array(ends.indices)), ends).verdict(of: .percent(90)) == false)
    }

    @Test("a trial of all seeds runs them all, in its order")
    func allSeeds() {
        var trial = Trial(.whole, order: [3, 1, 0, 2])
        #expect(Array(trial.wanted) == [3, 1, 0, 2])
        trial.learn([false, true, nil, true])
        #expect(trial.isComplete && trial.wanted.isEmpty && trial.bySeed == [nil, true, true, false])
        #expect(trial.proportion == Proportion(2, of: 3) && trial.mostGained == nil)
    }

    @Test("a change that saves none of the first seeds stops, and one that saves a single one runs under all")
    func gains() {
        let order = Array(0..<40)
        let vain = run(Trial(.gain, order: order, risky: 23), [Bool?](repeating: false, count: 40))
        // With five of 23 seeds to gain, eleven without a gain have a chance of 0.0235.
        #expect(vain.outcomes.count == 11 && vain.mostGained == 4)
        let saving = (0..<40).map { seed -> Bool? in seed == 4 }
        #expect(run(Trial(.gain, order: order, risky: 23), saving).isComplete)
        let few = run(Trial(.gain, order: order, risky: 3), [Bool?](repeating: false, count: 40))
        #expect(few.outcomes.count == 3 && few.mostGained == 0)
    }
}

@Suite("the search along a row of settings")
struct RowSearchTests {
    private func search(_ row: [Bool], distance: Int = 8) -> RowSearch {
        var search = RowSearch(count: row.count, distance: distance)
        while !search.wanted.isEmpty { for place in search.wanted { search.learn(place, row[place]) } }
        return search
    }

    @Test("every falling row gives the last yes, after few settings")
    func falling() {
        for count in [1, 2, 7, 8, 9, 65] {
            for last in -1..<count {
                let found = search((0..<count).map { $0 <= last })
                #expect(found.lastOfFirst == (last < 0 ? nil : last) && found.isFalling, "\(last) of \(count)")
                #expect(found.answers.count <= (count + 7) / 8 + 1 + 3 + 4)
            }
        }
    }

    @Test("a row that changes back is reported, with each place of change to the setting")
    func changingBack() {
        let row = (0..<65).map { $0 < 20 || (33...46).contains($0) }
        let found = search(row)
        #expect(!found.isFalling && !found.isRising)
        #expect(found.lastOfFirst == 19 && found.last == 46)
        #expect(found.stretches.map(\.answer) == [true, false, true, false])
        #expect(found.stretches.map(\.places.lowerBound) == [0, 20, 33, 47])
    }

    @Test("a single setting out of line is seen beside a change, and can remain unseen within one distance of the scan")
    func singles() {
        var row = (0..<65).map { $0 < 20 }
        row[21] = true
        #expect(!search(row).isFalling)
        row[21] = false
        row[42] = true
        #expect(search(row).isFalling)
    }

    private func search(_ row: [Bool], below: Int, _ answer: Bool, distance: Int = 8) -> RowSearch {
        var search = RowSearch(count: row.count, distance: distance, known: .init(below: below, answer: answer))
        while !search.wanted.isEmpty { for place in search.wanted { search.learn(place, row[place]) } }
        return search
    }

    @Test("with a known answer every falling row gives the last yes, too, and nothing below a yes is tried")
    func known() {
        for last in -1..<65 {
            let row = (0..<65).map { $0 <= last }
            for below in 0...65 {
                let answer = below <= last + 1
                let found = search(row, below: below, answer)
                // A yes of a setting between two of the row says nothing certain about the smaller one of them.
                #expect(found.lastOfFirst == (last < 0 ? nil : last), "\(last), known after \(below)")
                if answer { #expect(found.tried.allSatisfy { $0.place >= below }) }
                #expect(found.answers.count <= 9 + 3 + 4)
            }
        }
    }

    @Test("if the settings beside the known one disagree with it, the whole row is searched")
    func misled() {
        let row = (0..<65).map { $0 < 20 }
        var found = search(row, below: 40, true)
        #expect(found.lastOfFirst == 39 && found.lasts == [39])
        found.learn(39, false)
        while !found.wanted.isEmpty { for place in found.wanted { found.learn(place, row[place]) } }
        #expect(found.lastOfFirst == 19 && found.lasts == [19])
    }

    @Test("yeses above a known no are found")
    func islands() {
        let row = (0..<65).map { $0 < 10 || (40...60).contains($0) }
        let found = search(row, below: 20, false)
        #expect(found.lastOfFirst == 9 && found.lasts == [9, 60] && !found.isFalling)
    }

    @Test("a row without order ends, too")
    func chaos() {
        let row = (0..<65).map { $0 % 2 == 0 || $0 % 3 == 0 }
        #expect(search(row).answers.count <= RowSearch.most + 16)
    }
}
