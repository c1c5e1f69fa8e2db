import Lifecycle
import Pressure
import Quantities
import Testing

@testable import Reclaim

/// Without another word, the source of a row is xnu-11417.101.15. Of 1,000 MiB, below 50 are critical, 100 idle, 150
/// soft and 200 the reaper's.
@Suite("jetsam on a device with a kernel")
struct JetsamDeviceTests {
    /// Idle since this many seconds.
    private static func idle(
        _ number: Int, _ seconds: Int64, _ change: (inout ProcessSnapshot) -> Void = { _ in }
    ) -> ProcessSnapshot {
        banded(number, 0, position: 100 - seconds, change)
    }

    /// Launched again this many seconds after each of its ends.
    private static func returning(_ number: Int, _ band: Int, after seconds: Int64 = 1) -> ProcessSnapshot {
        banded(number, band, position: Int64(number)) { $0.relaunchIntervals = [.seconds(seconds)] }
    }

    private static let three = [idle(1, 400), idle(2, 350), idle(3, 300)]
    private static let five = (1...5).map { returning($0, 0) }
    private static let four = Array(five.prefix(4))
    private static let above = [banded(6, 30), banded(7, 40), banded(8, 80), banded(9, 90)]

    /// A process of 60 MiB over its soft limit of 50 MiB.
    private static func violator(_ band: Int, purgeable: Int = 0) -> ProcessSnapshot {
        banded(9, band, size: 60) {
            $0.limit = MemoryLimit(bytes: .mebibytes(50), isFatal: false)
            $0.memory.purgeable = .mebibytes(purgeable)
        }
    }

    // MARK: The reaper

    private static let likelihoods = ([1, 6, 60] as [Int64]).enumerated().map { index, seconds in
        idle(index + 1, 400) { $0.relaunchIntervals = [.seconds(seconds)] }
    }
    private static let higher = [10, 20, 30].map { banded($0, $0, position: -600) }

    private static let sweeps: [JetsamRow] = [
        JetsamRow(
            "a sweep that is under way wakes the thread whatever is available (memstat_evaluate_page_shortage)",
            JetsamPhone(199, three), [1, 2, 3], .longIdleExit),
        JetsamRow("it begins below the threshold, not at it", JetsamPhone(200, three), []),
        JetsamRow(
            "after 300 s in its band (MEMORYSTATUS_REAPER_MIN_AGE_SECS_DEFAULT)",
            JetsamPhone(190, [idle(1, 300), idle(2, 299)]), [1], .longIdleExit),
        JetsamRow(
            "of low or unknown likelihood (MEMORYSTATUS_REAPER_REAP_RELAUNCH_MASK_DEFAULT): not medium, not high",
            JetsamPhone(190, likelihoods), [3], .longIdleExit),
        JetsamRow(
            "in band 0 alone (MEMORYSTATUS_REAPER_MAX_PRIORITY_DEFAULT)",
            JetsamPhone(190, higher), []),
        JetsamRow(
            "xnu-11215 has no reaper", JetsamPhone(190, three).with { $0.kernel = .xnu11215 }, []),
        JetsamRow(
            "below idle, band 0 ends first; the sweep then takes who is left (memorystatus_pick_action)",
            JetsamPhone(95, [idle(1, 400), idle(2, 350), idle(3, 110)]).with { $0.regains = 10 },
            ["1 idle-exit", "2 long-idle-exit"]),
        JetsamRow(
            "below soft, who is over a soft limit goes before the sweep (memorystatus_pick_action)",
            JetsamPhone(140, [idle(1, 400), violator(30)]), ["9 highwater", "1 long-idle-exit"]),
        JetsamRow(
            "an unhealthy system ends the top process; the sweep goes on once it is healthy again",
            JetsamPhone(40, [idle(1, 400), idle(2, 350)]), ["1 vm-pageshortage", "2 long-idle-exit"]),
        JetsamRow(
            "a device without a kernel of its own: the policy's release sweeps",
            JetsamPhone(190, three).with { $0.kernel = nil }, Array(1...3), .longIdleExit),
    ]

    @Test("A33: the reaper's sweep ends all that are long idle when it begins, row by row", arguments: sweeps)
    func a33(row: JetsamRow) {
        var phone = row.phone
        #expect(phone.acts() == row.expected, "\(row.source)")
    }

    @Test("A33: between two sweeps pass 300 s, also after one that found nobody")
    func a33Rest() {
        for start in [[Self.idle(1, 400)], []] {
            var phone = JetsamPhone(190, start).with { $0.regains = 0 }
            #expect(phone.acts().count == start.count)
            let begun = now
            phone.processes = [Self.idle(2, 400)]
            for (second, ends) in [(10, false), (299, false), (300, false), (301, true)] as [(Int64, Bool)] {
                phone.clock = begun + .seconds(second)
                #expect((phone.act() != nil) == ends, "after \(second) s")
            }
        }
        var hasty = JetsamPhone(190, []).with { $0.regains = 0 }
        hasty.parameters = [.init(name: "reaper_rest", value: .time(.seconds(5)))]
        #expect(hasty.act() == nil)
        hasty.processes = [Self.idle(2, 400)]
        hasty.clock = now + .seconds(6)
        #expect(hasty.act() == "2 long-idle-exit")
    }

    @Test("A33: who is used during a sweep is spared, who is long idle later is too late; the policy is busy till then")
    func a33Meanwhile() {
        var phone = JetsamPhone(190, Self.three + [Self.idle(4, 299)])
        #expect(phone.act() == "1 long-idle-exit" && phone.policy.isBusy(phone.history))
        phone.processes[0].band = .foreground
        #expect(phone.acts() == ["3 long-idle-exit"])
        #expect(!phone.policy.isBusy(phone.history))
    }

    @Test("A33: a sweep whose victims the limits keep is over, as if the kernel had tried in vain")
    func a33Kept() {
        var phone = JetsamPhone(190, Self.three).with { $0.kept = [1, 2, 3] }
        #expect(phone.act() == nil && phone.policy.isBusy(phone.history))
        #expect(phone.act() == nil && !phone.policy.isBusy(phone.history))
        phone.kept = []
        #expect(phone.act() == nil, "it rests")
    }

    // MARK: The aggressive mode

    /// Twenty in band 40 above five that are idle.
    private static let crowd = five + (11...30).map { banded($0, 40, position: Int64($0)) }
    private static let crowdEnded = Array(1...5) + Array(11...15)
    private static let purgeableFive = five.map { process in
        var process = process
        process.memory.purgeable = .mebibytes(5)
        return process
    }

    private static let rounds: [JetsamRow] = [
        JetsamRow(
            "a round does not look at memory, and goes through its band (memorystatus_kill_processes_aggressive)",
            JetsamPhone(40, five + above), Array(1...7), .processThrashing),
        JetsamRow(
            "xnu-8792: up to band 80 (jld_priority_band_max)",
            JetsamPhone(40, five + above).with { $0.kernel = .xnu8792 }, Array(1...8), .processThrashing),
        JetsamRow(
            "xnu-10063: the same", JetsamPhone(40, five + above).with { $0.kernel = .xnu10063 }, Array(1...8),
            .processThrashing),
        JetsamRow(
            "xnu-11215: as 11417 (jld_max_priority_arr)", JetsamPhone(40, five + above).with { $0.kernel = .xnu11215 },
            Array(1...7), .processThrashing),
        JetsamRow(
            "at most two kills for each process below the band (memorystatus_jld_max_kill_loops)",
            JetsamPhone(40, crowd), crowdEnded, .processThrashing),
        JetsamRow(
            "candidates are bands 0 and 10 (system_procs_aging_band)",
            JetsamPhone(40, four + [returning(5, 10)]), Array(1...5), .processThrashing),
        JetsamRow(
            "a candidate in band 10 that is not likely to be back counts as well",
            JetsamPhone(40, five + [returning(6, 10, after: 60)]), ["1 vm-pageshortage"]),
        JetsamRow(
            "fewer than five candidates (kJetsamMinCandidatesThreshold)", JetsamPhone(40, four), ["1 vm-pageshortage"]),
        JetsamRow(
            "one of medium likelihood (kJetsamHighRelaunchCandidatesThreshold: 100 %)",
            JetsamPhone(40, four + [returning(5, 0, after: 7)]), ["1 vm-pageshortage"]),
        JetsamRow(
            "above 7 % (MEMORYSTATUS_AGGR_SYSPROC_AGING_PERCENTAGE), where xnu-10063 is unhealthy already",
            JetsamPhone(71, five).with { $0.kernel = .xnu10063 }, ["1 vm-pageshortage"]),
        JetsamRow(
            "at 7 %", JetsamPhone(70, five).with { $0.kernel = .xnu10063 }, Array(1...5), .processThrashing),
        JetsamRow(
            "a round takes nothing before it kills (memorystatus_do_kill)",
            JetsamPhone(40, purgeableFive), Array(1...5), .processThrashing),
        JetsamRow(
            "who is over a soft limit goes before a round (memorystatus_pick_action)",
            JetsamPhone(40, five + [violator(100)]).with { $0.regains = 1 },
            [
                "9 highwater", "1 proc-thrashing", "2 proc-thrashing", "3 proc-thrashing", "4 proc-thrashing",
                "5 proc-thrashing",
            ]),
        JetsamRow(
            "a device without a kernel of its own: the rounds of the policy's release",
            JetsamPhone(40, five + above).with { $0.kernel = nil }, Array(1...7), .processThrashing),
    ]

    @Test("A34: a round of the aggressive mode ends all up to its band, row by row", arguments: rounds)
    func a34(row: JetsamRow) {
        var phone = row.phone
        #expect(phone.acts() == row.expected, "\(row.source)")
    }

    @Test(
        "A34: the rounds of one window climb; those of 8792 and 10063 fall with the fourth; a later window begins anew",
        arguments: [
            (.xnu8792, [80, 80, 80, 15, 15, 80]), (.xnu10063, [80, 80, 80, 15, 15, 80]),
            (.xnu11215, [40, 40, 80, 80, 150, 40]), (.xnu11417, [40, 40, 80, 80, 150, 40]),
        ] as [(JetsamKernel, [Int])])
    func a34Rounds(kernel: JetsamKernel, reached: [Int]) {
        var phone = JetsamPhone(40, []).with { ($0.kernel, $0.pace) = (kernel, .milliseconds(50)) }
        for (round, expected) in reached.enumerated() {
            if round == 5 { phone.clock = phone.clock + .seconds(7) }
            let first = 20 * round
            let bands = [0, 0, 0, 0, 0, 15, 40, 80, 120, 150, 160]
            let all = bands.enumerated().map { Self.returning(first + $0 + 1, $1) }
            (phone.available, phone.processes) = (40, all)
            let ended = phone.acts().count
            let gone = all.filter { process in !phone.processes.contains { $0.pid == process.pid } }
            #expect(gone.count == ended && gone.map(\.band.number).max() == expected, "round \(round)")
        }
    }

    @Test("A34: who has risen above the round's band is spared, and so is who came later")
    func a34Meanwhile() {
        var phone = JetsamPhone(40, Self.five)
        #expect(phone.act() == "1 proc-thrashing" && phone.policy.isBusy(phone.history))
        phone.processes[1].band = .foreground
        phone.processes.append(Self.idle(6, 10))
        #expect(phone.acts() == ["2 proc-thrashing", "4 proc-thrashing", "5 proc-thrashing"])
        #expect(!phone.policy.isBusy(phone.history))
    }

    // MARK: An unhealthy system

    private static let unhealthy: [JetsamRow] = [
        JetsamRow(
            "an unhealthy system, above soft: the limits first (memorystatus_pick_action)",
            JetsamPhone(500, [idle(1, 60), violator(100)]).with {
                $0.change = { snapshot in
                    let hasKilled = snapshot.history.kills.count > 1
                    snapshot.measures.compressor = hasKilled ? .working : .thrashing
                }
            }, ["9 highwater", "1 vm-compressor-thrashing"]),
        JetsamRow(
            "a thread that waits for a page makes the system unhealthy (memorystatus_pageout_starved)",
            JetsamPhone(500, [idle(1, 60), violator(100)]).with {
                $0.change = { snapshot in
                    guard snapshot.history.kills.isEmpty else { return }
                    snapshot.demand = .allocation(by: ProcessID(1), wanted: .mebibytes(1))
                }
            }, ["9 highwater"]),
        JetsamRow(
            "a full compressor comes before the limits (msh_compressor_exhausted)",
            JetsamPhone(500, [idle(1, 60), violator(100)]).with {
                $0.change = { $0.measures.compressor = $0.history.kills.isEmpty ? .full : .working }
            }, ["1 vm-compressor-space-shortage"]),
        JetsamRow("a healthy system above soft: no limit counts", JetsamPhone(500, [violator(100)]), []),
    ]

    @Test("A35: in an unhealthy system soft limits come first, whatever soft says, row by row", arguments: unhealthy)
    func a35(row: JetsamRow) {
        var phone = row.phone
        #expect(phone.acts() == row.expected, "\(row.source)")
        let first = phone.with { ($0.history, $0.processes) = (ReclaimHistory(), row.phone.processes) }.askedEvidence
        #expect(first.allSatisfy { $0.observed < $0.threshold || $0.measure != "available_bytes" })
    }

    // MARK: Purgeable memory

    private static func purgeable(_ number: Int, _ seconds: Int64, _ size: Int) -> ProcessSnapshot {
        idle(number, seconds) { $0.memory.purgeable = .mebibytes(size) }
    }

    private static let purges: [JetsamRow] = [
        JetsamRow(
            "enough is what reaches soft (memorystatus_kill_proc), though the step began at idle",
            JetsamPhone(95, [purgeable(1, 60, 20)]), ["1 discard", "1 idle-exit"]),
        JetsamRow("it reaches soft: the process is spared", JetsamPhone(95, [purgeable(1, 60, 60)]), ["1 discard"]),
        JetsamRow(
            "over a soft limit, its footprint counts alone: it is above still",
            JetsamPhone(149, [violator(30, purgeable: 5)]), ["9 discard", "9 highwater"]),
        JetsamRow(
            "over a soft limit, its footprint counts alone: it is below now",
            JetsamPhone(120, [violator(30, purgeable: 15)]), ["9 discard"]),
        JetsamRow(
            "a process that is spared so ends the sweep (memorystatus_kill_top_process, _memstat_reaper_end_sweep)",
            JetsamPhone(190, [purgeable(1, 400, 5), idle(2, 350)]), ["1 discard"]),
        JetsamRow(
            "unused pages are no purgeable memory (vm_purgeable_purge_task_owned)",
            JetsamPhone(190, [idle(1, 400) { $0.dirty = .mebibytes(5) }]), ["1 long-idle-exit"]),
    ]

    @Test("A36: a victim gives its purgeable memory, and ends unless that is enough, row by row", arguments: purges)
    func a36(row: JetsamRow) {
        var phone = row.phone
        #expect(phone.acts() == row.expected, "\(row.source)")
    }

    // MARK: The release

    @Test("A37: the release is the device's, unless the scenario gives one")
    func a37() {
        let all = [banded(1, 0), banded(2, 40)]
        var phone = JetsamPhone(80, all).with { $0.kernel = .xnu8792 }
        #expect(phone.ask().firstCause == .pageShortage)
        phone.parameters = [.init(name: "kernel", value: .choice("11215"))]
        #expect(phone.ask().firstCause == .idleExit)
        phone.parameters = [.init(name: "kernel", value: .table)]
        #expect(phone.ask().firstCause == .pageShortage)
        for kernel in JetsamKernel.allCases {
            let present = Jetsam.present([], on: DeviceSize(.gibibytes(4), kernel: kernel))
            #expect(present.first == .choice(kernel.rawValue))
        }
        #expect(Jetsam.present([], on: DeviceSize(.gibibytes(4))).first == .choice("11417"))
    }
}

extension JetsamPhone {
    /// What the candidates of the next decision go by.
    fileprivate var askedEvidence: [Evidence] {
        var phone = self
        return phone.ask().ranking.compactMap(\.evidence)
    }
}
