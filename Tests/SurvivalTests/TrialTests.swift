import Experiments
import Quantities
import Testing

@testable import Survival

@Suite("trials that stop when their answer is decided")
struct TrialTests {
    /// Runs a trial on known outcomes, as many at a time as it asks for.
    private func decide(_ outcomes: [Bool?], _ share: Ratio) -> (verdict: Bool?, runs: Int) {
        var trial = Trial(.decide(share), order: Array(outcomes.indices))
        while !trial.wanted.isEmpty { trial.learn(trial.wanted.map { outcomes[$0] }) }
        return (trial.verdict(of: share), trial.outcomes.count)
    }

    @Test("the answer is always that of all runs, and no run is made after it is certain")
    func curtailed() {
        var generator = SeededGenerator(seed: 1, stream: "trials")
        for _ in 0..<2_000 {
            let count = generator.number(in: 1...24)
            let chance = Ratio(partsPerMillion: Int64(generator.below(1_000_001)))
            let outcomes = (0..<count).map { _ -> Bool? in
                generator.chance(.percent(10)) ? nil : generator.chance(chance)
            }
            let share = Ratio(partsPerMillion: Int64(generator.number(in: 1...100)) * 10_000)
            let lived = outcomes.count { $0 == true }
            let whole = Proportion(lived, of: lived + outcomes.count { $0 == false })
            let (verdict, runs) = decide(outcomes, share)
            #expect(verdict == whole.isAtLeast(partsPerMillion: share.partsPerMillion))
            guard runs > 1 else { continue }
            var before = Trial(.decide(share), order: Array(outcomes.indices))
            before.learn(Array(outcomes.prefix(runs - 1)))
            #expect(before.verdict(of: share) == nil, "run \(runs) of \(count) was made in vain")
        }
    }

    @Test("five ends of forty decide against 90 %, and 36 lives for it")
    func fewRuns() {
        #expect(decide([Bool?](repeating: false, count: 40), .percent(90)) == (false, 5))
        #expect(decide([Bool?](repeating: true, count: 40), .percent(90)) == (true, 36))
        #expect(decide([Bool?](repeating: nil, count: 40), .percent(90)) == (false, 40))
    }

    @Test("a trial of all seeds runs them all, and a decided one can be completed")
    func allSeeds() {
        var trial = Trial(.decide(.percent(90)), order: [3, 1, 0, 2])
        #expect(Array(trial.wanted) == [3])
        trial.learn([false])
        #expect(trial.verdict(of: .percent(90)) == false && trial.wanted.isEmpty && !trial.isComplete)
        trial.complete()
        #expect(Array(trial.wanted) == [1, 0, 2])
        trial.learn([true, nil, true])
        #expect(trial.isComplete && trial.bySeed == [nil, true, true, false])
        #expect(trial.proportion == Proportion(2, of: 3))
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

    @Test("a row without order ends, too")
    func chaos() {
        let row = (0..<65).map { $0 % 2 == 0 || $0 % 3 == 0 }
        #expect(search(row).answers.count <= RowSearch.most + 16)
    }
}
