import Lifecycle
import Pressure
import Quantities
import Testing

@testable import Reclaim

/// Tables of the originals' own tests, as numbers. `Policies.md` says which cases are left out, and why.
@Suite("the originals' own tables")
struct ReplayedTablesTests {
    // MARK: earlyoom 1.9, testsuite_unit_test.go

    private struct Row {
        var score: Int64
        var kibibytes: Int
    }

    /// A process with this `oom_score` on a device of 64 GiB, and so much in RAM.
    private func process(_ number: Int, _ row: Row, in snapshot: SystemSnapshot) throws -> ProcessSnapshot {
        var made = ReclaimTests.process(number, .background)
        made.footprint = .kibibytes(row.kibibytes)
        for adjustment in -999...1_000 {
            made.declaredOomScoreAdj = adjustment
            if snapshot.linuxScore(of: made) == row.score { return made }
        }
        return try #require(nil as ProcessSnapshot?, "no adjustment gives the score \(row.score)")
    }

    /// The number of pairs. Of each the process that comes later in the table is larger. One met second that is equal
    /// is not.
    private func pairs(_ rows: [Row], _ parameters: [PolicySettings.Assignment]) throws -> Int {
        var empty = device(0, [])
        empty.ceiling = .gibibytes(64)
        var count = 0
        for (i, first) in rows.enumerated() {
            for (j, second) in rows.enumerated() {
                var snapshot = empty
                snapshot.processes = [try process(1, first, in: empty), try process(2, second, in: empty)]
                let victim = try policy("earlyoom", parameters).decide(snapshot).victims.first
                #expect(victim == (j > i ? 2 : 1), "\(i) and \(j)")
                count += 1
            }
        }
        return count
    }

    @Test("earlyoom's Test_is_larger: five processes, 25 pairs")
    func isLarger() throws {
        let rows = [
            Row(score: 100, kibibytes: 1_234), Row(score: 100, kibibytes: 1_238), Row(score: 101, kibibytes: 4),
            Row(score: 102, kibibytes: 4), Row(score: 103, kibibytes: 0),
        ]
        #expect(try pairs(rows, []) == 25)
    }

    @Test("earlyoom's Test_is_larger_by_rss: six processes, 36 pairs")
    func isLargerByRSS() throws {
        let rows = [
            Row(score: 100, kibibytes: 4), Row(score: 100, kibibytes: 8), Row(score: 101, kibibytes: 8),
            Row(score: 99, kibibytes: 12), Row(score: 102, kibibytes: 0), Row(score: 102, kibibytes: 12),
        ]
        #expect(try pairs(rows, [.init(name: "sort_by_rss", value: .flag(true))]) == 36)
    }

    // MARK: systemd, test-oomd-util.c

    @Test("systemd's test_oomd_sort_cgroups: seven groups by swap and by reclaim, one omitted and one avoided")
    func sorts() throws {
        // In swap, reclaimed since the last look (a counter that fell began anew), in memory.
        let rows = [(20, 33, 10), (60, 1, 20), (40, 32, 40), (10, 2, 10), (11, 0, 10), (90, 900, 0), (99, 900, 0)]
        let processes = rows.enumerated().map { index, row in
            ReclaimTests.process(index, .background, size: row.2) {
                ($0.swapped, $0.recentlyReclaimed) = (.mebibytes(row.0), .mebibytes(row.1))
                if index > 4 { $0.linux.preference = index == 5 ? .omit : .avoid }
            }
        }
        let bySwap = device(0, processes) { $0.measures.swapTotal = .gibibytes(1) }
        let oomd = try policy("systemd-oomd", [.init(name: "candidate_swap", value: .ratio(.zero))])
        #expect(oomd.decide(bySwap).victims == [1, 2, 0, 4, 3, 6])
        #expect(oomd.decide(stalled(99, processes)).victims == [0, 2, 3, 1, 4, 6])
    }

    /// A device whose full stalls have had this share for 30 s.
    private func stalled(_ percent: Int64, _ processes: [ProcessSnapshot]) -> SystemSnapshot {
        device(0, processes) {
            let share = StallAverages(avg10: .percent(percent))
            for second in [Int64(30), 0] {
                $0.measures.stallUpdates.append(.init(at: now - .seconds(second), some: share, full: share))
            }
            ($0.measures.full, $0.measures.lastReclaim) = (share, now)
        }
    }

    /// Memory and swap in KiB: total, used.
    private func isUsedUp(_ memory: (Int, Int), _ swap: (Int, Int)) throws -> Bool {
        var snapshot = device(0, [ReclaimTests.process(1) { $0.swapped = .gibibytes(19) }])
        (snapshot.ceiling, snapshot.available) = (.kibibytes(memory.0), .kibibytes(memory.0 - memory.1))
        (snapshot.measures.swapTotal, snapshot.measures.swapFree) = (.kibibytes(swap.0), .kibibytes(swap.0 - swap.1))
        let oomd = try policy("systemd-oomd", [.init(name: "used", value: .ratio(.percent(80)))])
        return !oomd.decide(snapshot).victims.isEmpty
    }

    @Test("systemd's test_oomd_mem_and_swap_free_below: six comparisons at 20 % free")
    func below() throws {
        let (total, full, some) = (20_971_512, 20_971_440, 3_310_136)
        // The policy asks for both, so the other one holds.
        #expect(try !isUsedUp((total, some), (total, full)))
        #expect(try isUsedUp((total, full), (total, full)))
        #expect(try isUsedUp((total, full), (total, full)))
        #expect(try !isUsedUp((total, full), (total, some)))
        #expect(try !isUsedUp((0, 0), (total, full)))
        #expect(try !isUsedUp((total, full), (0, 0)))
    }

    @Test("systemd's test_oomd_pressure_above: 99.99 % is above 80 %, and 1.11 % is not", arguments: [99, 1])
    func pressure(percent: Int64) throws {
        let oomd = try policy(
            "systemd-oomd",
            [
                .init(name: "pressure", value: .ratio(.percent(80))),
                .init(name: "duration", value: .time(.zero)),
            ])
        #expect(oomd.decide(stalled(percent, [ReclaimTests.process(1)])).victims == (percent == 99 ? [1] : []))
    }

    // MARK: oomd at 88c28fd, CorePluginsTest.cpp

    @Test("oomd's SwapFreeTest: LowSwap, EnoughSwap and SwapOff", arguments: [(20_971_440, true), (3_310_136, false)])
    func swapFree(used: Int, acts: Bool) {
        let claim = SystemClaim(.swapFree, .below, .share(.percent(20)), for: .zero)
        func decision(_ total: Int, _ used: Int) -> Decision {
            RuleLadder(rules: [LadderRule(name: "swap_free", when: .claim(claim))]).decide(
                device(500, [ReclaimTests.process(1)]) {
                    $0.measures.swapTotal = .kibibytes(total)
                    $0.measures.swapFree = .kibibytes(total - used)
                })
        }
        #expect(decision(20_971_512, used).victims == (acts ? [1] : []))
        #expect(decision(0, 0).victims.isEmpty)
    }

    @Test("oomd's PressureAboveTest: 99.99 % is above 80 %, and 1.11 % is not", arguments: [99, 1])
    func pressureAbove(percent: Int64) {
        let claim = SystemClaim(.fullAvg10, .above, .share(.percent(80)), for: .zero)
        let ladder = RuleLadder(rules: [LadderRule(name: "pressure_above", when: .claim(claim))])
        #expect(ladder.decide(stalled(percent, [ReclaimTests.process(1)])).victims == (percent == 99 ? [1] : []))
    }

    @Test(
        "oomd's KillPgScanTest: the highest rate goes first, with or without a sibling",
        arguments: [([10, 30, 50], 3), ([10, 30, 50, 100], 4)])
    func pgscan(rates: [Int], victim: Int) throws {
        let processes = rates.enumerated().map { index, rate in
            ReclaimTests.process(index + 1, .background) { $0.recentlyReclaimed = ByteCount(rate) }
        }
        #expect(try policy("systemd-oomd").decide(stalled(99, processes)).victims.first == victim)
    }

    @Test("oomd's KillSwapUsageTest: the most in swap, nobody without any, and nobody at the threshold")
    func swapUsage() {
        func victim(_ swapped: [Int], above threshold: Int = 0) -> Int? {
            let who = RuleCondition.claim(ProcessClaim(.swapped, .above, .bytes(ByteCount(threshold))))
            let rule = LadderRule(name: "swap", who: who, order: [RuleTier(.named(.mostSwapped))])
            let processes = swapped.enumerated().map { index, size in
                ReclaimTests.process(index + 1) { $0.swapped = ByteCount(size) }
            }
            return RuleLadder(rules: [rule]).decide(device(500, processes)).victims.first
        }
        // KillsBigSwapCgroup and KillsBigSwapCgroupMultiCgroup.
        #expect(victim([20, 60, 40]) == 2)
        #expect(victim([20, 60, 40, 70]) == 4)
        // ThresholdTest: 20 % of 100 KiB.
        #expect(victim([1, 2, 3], above: 20 << 10) == nil)
        #expect(victim([20 << 10, 60 << 10, 40 << 10], above: 20 << 10) == 2)
        // DoesntKillNoSwap.
        #expect(victim([0, 0, 0]) == nil)
    }
}

/// oomd's `KillMemoryGrowth`, as tiers. A kill preference puts its processes before or after all others.
@Suite("oomd's KillMemoryGrowthTest")
struct KillMemoryGrowthTests {
    enum Preference: CaseIterable { case prefer, normal, avoid }

    /// A process of the table: what it holds and its average in MiB, and its kill preference.
    struct Row: Sendable {
        var current: Int
        var average: Int
        var preference = Preference.normal

        init(_ current: Int, _ average: Int? = nil, _ preference: Preference = .normal) {
            (self.current, self.average, self.preference) = (current, average ?? current, preference)
        }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var rows: [Row]
        var victim: Int
        /// `growing_size_percentile`, and `min_growth_ratio` in percent.
        var percentile: Int64 = 80
        var growth: Int64 = 125

        var testDescription: String { name }

        init(_ name: String, _ rows: [Row], _ victim: Int, percentile: Int64 = 80, growth: Int64 = 125) {
            (self.name, self.rows, self.victim) = (name, rows, victim)
            (self.percentile, self.growth) = (percentile, growth)
        }
    }

    private static let growing = [Row(40, 7), Row(50, 30), Row(60, 60)]

    private static let cases: [Case] = [
        Case("KillsBigCgroup", [Row(60), Row(20), Row(20)], 1),
        Case("PreferredOverridesSize", [Row(60), Row(20, 20, .prefer), Row(20)], 2),
        Case("AvoidedOverridesSize", [Row(60, 60, .avoid), Row(30), Row(20)], 2),
        Case("AvoidedNoEffect", [Row(60), Row(30, 30, .avoid), Row(20, 20, .avoid)], 1),
        Case("PreferredNoEffect", [Row(60, 60, .prefer), Row(30, 30, .prefer), Row(20, 20, .prefer)], 1),
        Case("KillsOneOfPreferred", [Row(60, 60, .prefer), Row(30, 30, .avoid), Row(20, 20, .prefer)], 1),
        Case("KillsBigCgroupGrowth, last-ditch size", [Row(21, 20), Row(20, 20), Row(30, 30)], 3),
        Case(
            "DoesntGrowthKillBelowUsageThreshold, percentile 50", growing, 2, percentile: 50),
        Case("DoesntGrowthKillBelowUsageThreshold, percentile 20", growing, 1, percentile: 20),
        Case("DoesntGrowthKillBelowUsageThreshold, percentile 0, ratio 0", growing, 1, percentile: 0, growth: 0),
        Case("DoesntGrowthKillBelowUsageThreshold, percentile 67", growing, 3, percentile: 67),
        Case("DoesntGrowthKillBelowUsageThreshold, ratio 10", growing, 3, percentile: 20, growth: 1_000),
        Case("KillsByPreferredGrowth", [Row(21, 5, .prefer), Row(99, 5, .prefer), Row(1_000)], 2),
        Case("ConsistentWithPreference, normal", [Row(21, 5), Row(99, 5), Row(30)], 2),
        Case("ConsistentWithPreference, prefer", [Row(21, 5, .prefer), Row(99, 5, .prefer), Row(30)], 2),
        Case("KillsBigCgroupMultiCgroup", [Row(60), Row(20), Row(20), Row(100)], 4),
    ]

    @Test("the victim is oomd's", arguments: cases)
    func victim(of table: Case) {
        let processes = table.rows.enumerated().map { index, row in
            process(index + 1, size: row.current) {
                $0.growth = ByteCount(row.current).share(of: ByteCount(row.average))
            }
        }
        let snapshot = device(0, processes) { $0.ceiling = .gibibytes(2) }
        #expect(ladder(of: table).decide(snapshot).victims.first == table.victim)
    }

    @Test("there are sixteen decisions of eleven tests")
    func count() { #expect(Self.cases.count == 16) }

    private func ladder(of table: Case) -> RuleLadder {
        func claim(_ feature: ProcessFeature, _ comparison: RuleComparison, _ percent: Int64)
            -> RuleCondition<ProcessClaim>
        { .claim(ProcessClaim(feature, comparison, .share(.percent(percent)))) }
        let fast = claim(.growth, .atLeast, table.growth)
        let large = table.percentile == 0 ? RuleCondition.all([]) : claim(.sizeRank, .above, table.percentile)
        let tiers = Preference.allCases.flatMap { preference in
            let members = RuleCondition.any(
                table.rows.enumerated().filter { $0.element.preference == preference }.map { index, _ in
                    .claim(ProcessClaim(.app, .equal, .word("app\(index + 1)")))
                })
            return [
                RuleTier(.named(.largest), where: .all([members, claim(.siblingShare, .atLeast, 50)])),
                RuleTier(.named(.fastestGrowing), where: .all([members, fast, large])),
                RuleTier(.named(.largest), where: members),
            ]
        }
        return RuleLadder(rules: [LadderRule(name: "growth", order: tiers)])
    }
}
