import Lifecycle
import Pressure
import Quantities
import Testing

@testable import Reclaim

/// One look of lmkd: what it sees, and whom it would kill in which order.
///
/// The sources are lines of lmkd.cpp in the tags android-13.0.0_r83, android-14.0.0_r75 and android-15.0.0_r23. Where a
/// version has no such property, the line is that of a later one, with its version before it.
private struct Situation: Sendable {
    let name: String
    /// By version.
    let lines: [String]
    /// By version; one list: the same under all.
    private let byVersion: [[Int]]
    let parameters: [PolicySettings.Assignment]
    private let change: @Sendable (inout SystemSnapshot) -> Void

    init(
        _ name: String, _ lines: [String], _ victims: [Int]..., with parameters: [PolicySettings.Assignment] = [],
        _ change: @escaping @Sendable (inout SystemSnapshot) -> Void
    ) {
        (self.name, self.lines, byVersion) = (name, lines, victims)
        (self.parameters, self.change) = (parameters, change)
    }

    func victims(_ version: Int) -> [Int] { byVersion.count == 1 ? byVersion[0] : byVersion[version] }

    /// A phone with 4 GiB, of which 1 GiB is free: what is in front (1), two apps that play or navigate (2 and 3), a
    /// service (4), the previous app (5), three cached ones (6 to 8), and the telephone (9).
    var snapshot: SystemSnapshot {
        let processes = [
            process(1, .active, idle: 0, size: 300), process(2, .background, idle: 100, size: 20, modes: [.location]),
            process(3, .background, idle: 50, size: 80, modes: [.audio]), process(4, .background, idle: 80),
            process(5, idle: 10), process(6, idle: 60), process(7, idle: 90),
            process(8, idle: 20) { $0.declaredOomScoreAdj = 950 },
            process(9, idle: 20) { $0.declaredOomScoreAdj = OomScore.persistent },
        ]
        var snapshot = SystemSnapshot(
            now: now, demand: .nothing, level: .normal, ceiling: .gibibytes(4), resident: .gibibytes(3),
            available: .gibibytes(1), threshold: .zero, processes: processes, monitor: .android)
        snapshot.measures.watermarks = KernelWatermarks(least: .mebibytes(40), low: .mebibytes(50))
        change(&snapshot)
        return snapshot
    }
}

extension SystemSnapshot {
    /// Some processes have waited for long enough to wake lmkd.
    fileprivate mutating func wake() { measures.someLost = .milliseconds(70) }

    fileprivate mutating func fallBelowLow() { available = .mebibytes(45) }

    fileprivate mutating func fallBelowMin() { available = .mebibytes(30) }

    /// Swap of 1 GiB, of which 50 MiB are free.
    fileprivate mutating func fillSwap() { (measures.swapTotal, measures.swapFree) = (.gibibytes(1), .mebibytes(50)) }

    /// Swap of 3 GiB.
    fileprivate mutating func swap(free: ByteCount, files: ByteCount) {
        (measures.swapTotal, measures.swapFree, measures.fileBacked) = (.gibibytes(3), free, files)
    }

    fileprivate mutating func thrash(_ percent: Int64) { measures.thrashing = .percent(percent) }

    /// lmkd has killed a process, and not looked since.
    fileprivate mutating func kill(_ ago: Int64, lowersLimit: Bool = false) {
        let at = now - .milliseconds(ago)
        history.kills = [.init(at: at, pid: ProcessID(50), band: .idle, cause: nil, footprint: .zero)]
        (history.lmkd.lookedAt, history.lmkd.pollsSince, history.lmkd.pollsFast) = (at, at, true)
        history.lmkd.request = .init(at: at, lowersLimit: lowersLimit)
    }

    /// lmkd has looked, and polls since then.
    fileprivate mutating func look(_ ago: Int64) {
        (history.lmkd.lookedAt, history.lmkd.pollsSince) = (now - .milliseconds(ago), now - .milliseconds(ago))
    }

    /// What has been scanned is known: nothing since the last look.
    fileprivate mutating func scan(_ change: (inout PageScans) -> Void = { _ in }) {
        var scans = PageScans()
        history.lmkd.scans = scans
        change(&scans)
        measures.scans = scans
    }

    /// A kill has lowered the limit of thrashing, in a window that began so long ago.
    fileprivate mutating func lowerLimit(to percent: Int, _ ago: Int64) {
        look(100)
        (history.lmkd.limit, history.lmkd.windowBegan) = (percent, now - .milliseconds(ago))
    }

    /// A low-RAM device, some processes of which have waited for long enough to wake lmkd.
    fileprivate mutating func shrink() {
        (ceiling, measures.someLost) = (.gibibytes(2), .milliseconds(200))
    }
}

private let nobody: [Int] = []
private let everybody = [8, 7, 6, 5, 4, 3, 2, 1]
private let from201 = [8, 7, 6, 5, 4]
private let from701 = [8, 7, 6]

private func given(_ name: String, _ value: ParameterValue) -> [PolicySettings.Assignment] {
    [.init(name: name, value: value)]
}

@Suite("lmkd by version, in situations")
struct LMKDTableTests {
    private static let stalls: [Situation] = [
        Situation("it sleeps below a stall of 70 ms", ["3731", "3784", "4078"], nobody) {
            $0.measures.someLost = .milliseconds(69)
            $0.fallBelowMin()
        },
        Situation("all processes waited", ["2745", "2776", "2913"], everybody) {
            ($0.measures.fullLost, $0.measures.directReclaim) = (.milliseconds(700), true)
        },
        Situation("they waited for too short a time", ["3733", "3786", "4080"], nobody) {
            $0.wake()
            ($0.measures.fullLost, $0.measures.directReclaim) = (.milliseconds(699), true)
        },
        Situation("a complete stall is reported once a second", ["131", "130", "136"], nobody) {
            $0.wake()
            ($0.measures.fullLost, $0.measures.directReclaim) = (.milliseconds(900), true)
            $0.history.lmkd.completeAt = now - .milliseconds(999)
        },
        Situation("after a second it is reported again", ["131", "130", "136"], everybody) {
            ($0.measures.fullLost, $0.measures.directReclaim) = (.milliseconds(900), true)
            $0.history.lmkd.completeAt = now - .seconds(1)
        },
        Situation("nothing is scanned", ["2657", "2688", "2824"], nobody) {
            $0.measures.fullLost = .milliseconds(900)
            $0.scan()
        },
        Situation(
            "kswapd has scanned since the last look and sleeps now", ["2655", "2681", "2806"], everybody, everybody,
            nobody
        ) {
            $0.measures.fullLost = .milliseconds(900)
            $0.scan { $0.kswapd = 5 }
        },
        Situation("kswapd works", ["2655", "2681", "2806"], everybody) {
            $0.measures.fullLost = .milliseconds(900)
            $0.scan { ($0.kswapd, $0.isKswapdAwake) = (5, true) }
        },
        Situation("a page of a file has come back", ["2657", "2688", "2824"], everybody) {
            $0.measures.fullLost = .milliseconds(900)
            $0.scan { $0.refaults = 1 }
        },
        Situation(
            "stalled for long, it spares nobody", ["2832", "2871", "3021"], everybody,
            with: given("stall_limit_critical", .ratio(.percent(40)))
        ) {
            $0.wake()
            $0.thrash(101)
            ($0.measures.directReclaim, $0.measures.full.avg10) = (true, .percent(41))
        },
        Situation(
            "at the limit of a stall it spares apps", ["2731", "2761", "2898"], from201,
            with: given("stall_limit_critical", .ratio(.percent(40)))
        ) {
            $0.wake()
            $0.thrash(101)
            ($0.measures.directReclaim, $0.measures.full.avg10) = (true, .percent(40))
        },
    ]

    private static let looks: [Situation] = [
        Situation("between two polls", ["140", "139", "145"], nobody) {
            $0.look(50)
            $0.thrash(101)
            $0.measures.directReclaim = true
        },
        Situation("at the next poll", ["140", "139", "145"], from201) {
            $0.look(100)
            $0.thrash(101)
            $0.measures.directReclaim = true
        },
        Situation("it polls faster with low swap", ["2870", "2909", "3059"], from201) {
            $0.look(10)
            $0.history.lmkd.pollsFast = true
            $0.thrash(101)
            $0.measures.directReclaim = true
        },
        Situation("it has polled for a second", ["3560", "3611", "3866"], nobody) {
            $0.look(100)
            $0.history.lmkd.pollsSince = now - .milliseconds(1_200)
            $0.thrash(101)
            $0.measures.directReclaim = true
        },
        Situation("the victim is dying", ["2607", "2632", "2760"], nobody) {
            $0.kill(99)
            $0.fallBelowMin()
            $0.measures.returning = .mebibytes(1)
        },
        Situation("it waits for 100 ms at most", ["3724", "3775", "4069"], everybody) {
            $0.kill(100)
            $0.fallBelowMin()
            $0.measures.returning = .mebibytes(1)
        },
        Situation("the victim is dead: it looks at once", ["2245", "2267", "2372"], everybody) {
            $0.kill(1)
            $0.fallBelowMin()
        },
        Situation("what was reported meanwhile is lost", ["2611", "2636", "2764"], nobody) {
            $0.kill(60)
            ($0.measures.fullLost, $0.measures.directReclaim) = (.milliseconds(900), true)
            $0.history.lmkd.completeAt = now - .milliseconds(50)
        },
        Situation("after a kill, above the min watermark", ["2737", "2767", "2904"], nobody, from701, from701) {
            $0.kill(20)
            $0.fallBelowLow()
        },
        Situation("the second look after a kill", ["2633", "2658", "2786"], nobody, from701, from701) {
            $0.kill(200)
            $0.history.lmkd.answered = $0.history.lastKill
            $0.look(100)
            $0.fallBelowMin()
        },
        Situation(
            "a vendor spares apps after a kill", ["14:2773", "2773", "2910"], from201,
            with: given("pressure_after_kill_min_score", .count(201))
        ) {
            $0.kill(20)
            $0.fallBelowMin()
        },
    ]

    private static let swap: [Situation] = [
        Situation("swap is low, and files thrash", ["2753", "2784", "2921"], from201) {
            $0.wake()
            $0.fillSwap()
            $0.thrash(101)
        },
        Situation("swap is low, and files do not thrash yet", ["2753", "2784", "2921"], nobody) {
            $0.wake()
            $0.fillSwap()
            $0.thrash(100)
        },
        Situation("the same below the min watermark", ["2760", "2791", "2928"], everybody) {
            $0.wake()
            $0.fillSwap()
            $0.thrash(101)
            $0.fallBelowMin()
        },
        Situation("twice the limit is critical in 13", ["3741", "3794", "4088"], everybody, from201, from201) {
            $0.wake()
            $0.fillSwap()
            $0.thrash(200)
        },
        Situation("three times the limit is critical", ["3741", "3794", "4088"], everybody) {
            $0.wake()
            $0.fillSwap()
            $0.thrash(300)
        },
        Situation("swap and free memory are low", ["2764", "2795", "2932"], from201) {
            $0.wake()
            $0.fillSwap()
            $0.fallBelowLow()
        },
        Situation("swap is low below the min watermark", ["2771", "2802", "2939"], everybody) {
            $0.wake()
            $0.fillSwap()
            $0.fallBelowMin()
        },
        Situation("a tenth of swap is not low", ["2645", "2670", "2798"], nobody, from701, from701) {
            $0.wake()
            $0.fallBelowLow()
            $0.swap(free: .gibibytes(3) * .percent(10), files: .gibibytes(2))
        },
        Situation(
            "half of swap is free, and there is no memory for it", ["2645", "1897", "2000"], nobody, from201, from201
        ) {
            $0.wake()
            $0.fallBelowLow()
            $0.swap(free: .mebibytes(1_500), files: .mebibytes(100))
        },
        Situation(
            "it would be compressed", ["15:2000", "15:2000", "2000"], nobody, from701, from701,
            with: given("swap_compression_ratio", .count(4))
        ) {
            $0.wake()
            $0.fallBelowLow()
            $0.swap(free: .mebibytes(1_500), files: .mebibytes(100))
        },
        // 2048 MiB in swap and 700 MiB in memory: 74 %.
        Situation(
            "too much is in swap", ["2774", "2805", "2942"], everybody,
            with: given("swap_util_max", .ratio(.percent(73)))
        ) {
            $0.wake()
            $0.fallBelowLow()
            $0.swap(free: .gibibytes(1), files: .gibibytes(3))
        },
        Situation(
            "just as much as may be is in swap", ["2775", "2806", "2943"], nobody, from701, from701,
            with: given("swap_util_max", .ratio(.percent(74)))
        ) {
            $0.wake()
            $0.fallBelowLow()
            $0.swap(free: .gibibytes(1), files: .gibibytes(3))
        },
        Situation("by default all of it may be", ["3742", "3795", "4089"], nobody, from701, from701) {
            $0.wake()
            $0.fallBelowLow()
            $0.swap(free: .gibibytes(1), files: .gibibytes(3))
        },
    ]

    private static let files: [Situation] = [
        Situation("free memory is low, and files thrash", ["2784", "2815", "2952"], from201) {
            $0.wake()
            $0.fallBelowLow()
            $0.thrash(101)
        },
        Situation("they thrash twice as much", ["2791", "2822", "2959"], everybody, from201, from201) {
            $0.wake()
            $0.fallBelowLow()
            $0.thrash(200)
        },
        Situation("processes scan themselves, and files thrash", ["2795", "2826", "2963"], from201) {
            $0.wake()
            $0.thrash(101)
            $0.measures.directReclaim = true
        },
        Situation("they do not thrash yet", ["2795", "2826", "2963"], nobody) {
            $0.wake()
            $0.thrash(100)
            $0.measures.directReclaim = true
        },
        Situation("they thrash critically", ["2802", "2833", "2970"], everybody) {
            $0.wake()
            $0.thrash(300)
            $0.measures.directReclaim = true
        },
        Situation(
            "a process has scanned since the last look", ["2651", "2676", "2814"], from201, from201, nobody
        ) {
            $0.wake()
            $0.thrash(101)
            $0.scan { $0.direct = 1 }
        },
        Situation("a kill for thrashing lowers the limit", ["2846", "2885", "3035"], from201) {
            $0.kill(20, lowersLimit: true)
            $0.thrash(91)
            $0.measures.directReclaim = true
        },
        Situation("by a tenth", ["2846", "2885", "3035"], nobody) {
            $0.kill(20, lowersLimit: true)
            $0.thrash(90)
            $0.measures.directReclaim = true
        },
        Situation("the limit is lowered for a second", ["2699", "2729", "2865"], nobody) {
            $0.lowerLimit(to: 90, 1_001)
            $0.thrash(91)
            $0.measures.directReclaim = true
        },
        Situation("with low swap it is as configured", ["2753", "2784", "2921"], nobody) {
            $0.lowerLimit(to: 81, 500)
            $0.fillSwap()
            $0.thrash(95)
        },
        Situation("so is what is critical", ["2802", "2833", "2970"], from201) {
            $0.lowerLimit(to: 81, 500)
            $0.thrash(199)
            $0.measures.directReclaim = true
        },
        Situation(
            "few files are left after thrashing", ["2809", "2840", "2982"], from201,
            with: given("filecache_min", .bytes(.mebibytes(150)))
        ) {
            $0.wake()
            ($0.history.lmkd.checksFileCache, $0.measures.fileBacked) = (true, .mebibytes(149))
        },
        Situation(
            "enough are left", ["2809", "2840", "2982"], nobody,
            with: given("filecache_min", .bytes(.mebibytes(150)))
        ) {
            $0.wake()
            ($0.history.lmkd.checksFileCache, $0.measures.fileBacked) = (true, .mebibytes(150))
        },
        Situation("by default none need be left", ["3743", "3796", "4090"], nobody) {
            $0.wake()
            $0.history.lmkd.checksFileCache = true
        },
        Situation(
            "there was no thrashing", ["2806", "2837", "2979"], nobody,
            with: given("filecache_min", .bytes(.mebibytes(150)))
        ) { $0.wake() },
    ]

    private static let others: [Situation] = [
        Situation("only the low watermark is crossed", ["2784", "2854", "2996"], nobody, from701, from701) {
            $0.wake()
            $0.fallBelowLow()
        },
        Situation("only the min watermark is crossed", ["2784", "2854", "2996"], nobody, from701, from701) {
            $0.wake()
            $0.fallBelowMin()
        },
        Situation(
            "another score for the low watermark", ["15:3000", "15:3000", "3000"], [8, 7],
            with: given("lowmem_min_oom_score", .count(901))
        ) {
            $0.wake()
            $0.fallBelowLow()
        },
        Situation(
            "it is 201 at least", ["15:4097", "15:4097", "4097"], from201,
            with: given("lowmem_min_oom_score", .count(1))
        ) {
            $0.wake()
            $0.fallBelowLow()
        },
        Situation(
            "stuck in direct reclaim", ["15:2974", "15:2974", "2974"], everybody,
            with: given("direct_reclaim_threshold", .time(.milliseconds(200)))
        ) {
            $0.wake()
            ($0.measures.directReclaim, $0.history.lmkd.directSince) = (true, now - .milliseconds(201))
        },
        Situation(
            "not stuck yet", ["15:2974", "15:2974", "2974"], nobody,
            with: given("direct_reclaim_threshold", .time(.milliseconds(200)))
        ) {
            $0.wake()
            ($0.measures.directReclaim, $0.history.lmkd.directSince) = (true, now - .milliseconds(200))
        },
        Situation("nobody has such a score", ["2404", "2436", "2541"], nobody) {
            $0.wake()
            $0.fallBelowLow()
            $0.processes.removeLast(6)
        },
        Situation("of equals the least recently used", ["2416", "2448", "2553"], from201) {
            $0.wake()
            $0.thrash(101)
            $0.measures.directReclaim = true
            for index in 5...6 { $0.processes[index].declaredOomScoreAdj = 900 }
            $0.processes[5].footprint = .mebibytes(90)
        },
        Situation(
            "of equals the heaviest", ["2402", "2434", "2539"], [8, 6, 7, 5, 4],
            with: given("kill_heaviest_task", .flag(true))
        ) {
            $0.wake()
            $0.thrash(101)
            $0.measures.directReclaim = true
            for index in 5...6 { $0.processes[index].declaredOomScoreAdj = 900 }
            $0.processes[5].footprint = .mebibytes(90)
        },
        Situation("a low-RAM device sleeps below 200 ms", ["156", "155", "161"], nobody) {
            $0.shrink()
            $0.measures.someLost = .milliseconds(199)
            $0.fallBelowMin()
        },
        Situation("there files thrash from 31 % on", ["150", "149", "155"], from201) {
            $0.shrink()
            $0.thrash(31)
            $0.measures.directReclaim = true
        },
        Situation("and critically from 60 or 90 % on", ["3741", "3794", "4088"], everybody, from201, from201) {
            $0.shrink()
            $0.thrash(60)
            $0.measures.directReclaim = true
        },
        Situation("there a kill halves the limit", ["153", "152", "158"], from201) {
            $0.kill(20, lowersLimit: true)
            $0.shrink()
            $0.thrash(16)
            $0.measures.directReclaim = true
        },
    ]

    @Test("it kills whom its source kills, in this order", arguments: LMKDVersion.allCases)
    func table(version: LMKDVersion) throws {
        let place = try #require(LMKDVersion.allCases.firstIndex(of: version))
        let all =
            LMKDTableTests.stalls + LMKDTableTests.looks + LMKDTableTests.swap + LMKDTableTests.files
            + LMKDTableTests.others
        #expect(all.count == 63 && Set(all.map(\.name)).count == all.count)
        for situation in all {
            let lmkd = try policy("lmkd", given("version", .choice(version.rawValue)) + situation.parameters)
            let victims = lmkd.decide(situation.snapshot).victims
            #expect(
                victims == situation.victims(place),
                "\(situation.name): lmkd.cpp of \(version.rawValue), line \(situation.lines[place])")
        }
    }

    @Test("what it remembers leads from one look to the next")
    func course() throws {
        var state = Situation("", [], []) {
            $0.wake()
            $0.fallBelowMin()
            $0.thrash(101)
        }.snapshot
        let lmkd = try policy("lmkd")
        // A report wakes it, and it kills.
        var decision = lmkd.decide(state)
        #expect(decision.victims == from201)
        state.history.lmkd = try #require(decision.lmkd)
        #expect(state.history.lmkd.partialAt == now && state.history.lmkd.request?.lowersLimit == true)
        // The limits kept all of them: it polls on.
        #expect(lmkd.decide(state).ranking.isEmpty)
        state.now = now + .milliseconds(100)
        #expect(lmkd.decide(state).victims == from201)
        // The kill was carried out; the first look after it may end everybody.
        state.history.kills = [.init(at: now, pid: ProcessID(8), band: .idle, cause: nil, footprint: .zero)]
        state.processes.remove(at: 7)
        decision = lmkd.decide(state)
        #expect(decision.victims == [7, 6, 5, 4, 3, 2, 1])
        state.history.lmkd = try #require(decision.lmkd)
        #expect(state.history.lmkd.answered == now && state.history.lmkd.limit == 90)
        // A second after the last look it waits for a report again; the next one is due by then.
        state.measures.someLost = .zero
        state.now = now + .milliseconds(1_400)
        #expect(lmkd.decide(state).victims.isEmpty)
        state.measures.someLost = .milliseconds(70)
        #expect(lmkd.decide(state).victims == [7, 6, 5, 4])
    }

    @Test(
        "the activity manager's scores change with time where the policy asks for it",
        arguments: ["lmkd", "lmkd-minfree"])
    func activityManager(name: String) throws {
        func scores(_ processes: [ProcessSnapshot], home: [String] = [], ages: Bool = true) -> [Int] {
            var manager = ActivityManager()
            (manager.home, manager.ages) = (home, ages)
            return OomScore.all(of: snapshot(processes), by: manager)
        }
        // Previous for less than a minute, then the first of the cached.
        #expect(scores([process(1, idle: 59), process(2, idle: 90)]) == [700, 900])
        #expect(scores([process(1, idle: 60), process(2, idle: 90)]) == [900, 910])
        #expect(scores([process(1, idle: 60), process(2, idle: 90)], ages: false) == [700, 900])
        // A third of the services, and one more, are A; the rest is B, and cached after half an hour.
        let services = (1...6).map { process($0, .background, idle: Int64($0) * 100) }
        #expect(scores(services) == [500, 500, 500, 800, 800, 800])
        #expect(scores([process(1, .background, idle: 100)]) == [500])
        #expect(scores([process(1, .background, idle: 1_799), process(2, .background, idle: 1_800)]) == [500, 900])
        #expect(scores(services, ages: false) == [500, 500, 500, 500, 500, 500])
        // Recently in front and still playing.
        func player(_ idle: Int64) -> [ProcessSnapshot] { [process(1, .background, idle: idle, modes: [.audio])] }
        #expect(scores(player(14)) == [50] && scores(player(15)) == [200] && scores(player(14), ages: false) == [200])
        // The home app, in front and off screen.
        #expect(scores([process(1, idle: 90)], home: ["app1"], ages: false) == [600])
        #expect(scores([process(1, .active, idle: 0)], home: ["app1"], ages: false) == [0])
        // A score that the scenario sets does not change.
        #expect(scores([process(1, idle: 90) { $0.declaredOomScoreAdj = 500 }]) == [500])

        var state = snapshot([process(1, idle: 90), process(2, .background, idle: 100)], demand: .nothing)
        (state.available, state.measures.someLost, state.measures.fullLost) = (.zero, .seconds(1), .seconds(1))
        let ranked = try policy(name, given("activity_manager", .flag(true))).decide(state)
        #expect(ranked.ranking.map(\.score) == [900, 500])
        #expect(try policy(name).decide(state).ranking.map(\.score) == [700, 500])
        let home = try policy(name, given("home", .names(["app1"]))).decide(state)
        #expect(home.ranking.map(\.score) == [600, 500])
    }
}
