import Lifecycle
import Pressure
import Quantities
import Testing

@testable import Reclaim

/// A snapshot of a device with 1,000 MiB of RAM and the given MiB available.
func device(
    _ available: Int, _ processes: [ProcessSnapshot], demand: ReclaimDemand = .nothing,
    _ change: (inout SystemSnapshot) -> Void = { _ in }
) -> SystemSnapshot {
    var snapshot = SystemSnapshot(
        now: now, demand: demand, level: .normal, ceiling: .mebibytes(1000), resident: .mebibytes(1000 - available),
        available: .mebibytes(available), threshold: .zero, processes: processes, monitor: .ios)
    change(&snapshot)
    return snapshot
}

/// A process in a band that it entered `position` seconds after second 900.
func banded(
    _ number: Int, _ band: Int, position: Int64 = 0, size: Int = 50,
    _ change: (inout ProcessSnapshot) -> Void = { _ in }
) -> ProcessSnapshot {
    process(number, band >= 100 ? .active : (band == 0 ? .suspended : .background), size: size) {
        $0.band = JetsamBand(band)
        $0.positionedAt = .zero + .seconds(900 + position)
        change(&$0)
    }
}

extension Decision {
    /// The numbers of the processes that would be ended, in order.
    var victims: [Int] { ranking.filter { $0.action.isTermination }.map { $0.action.target.number } }
    var firstCause: KillCause? { ranking.first { $0.action.isTermination }?.cause }
}

@Suite("jetsam, row by row of its table of behaviours")
struct JetsamTests {
    private func jetsam(_ parameters: [PolicySettings.Assignment] = []) throws -> any ReclaimPolicy {
        try policy("jetsam", parameters)
    }

    @Test("A1: kills ascend the bands; inside one the least recently positioned goes first, whatever its size")
    func a1() throws {
        let all = [
            banded(1, 40, position: 1, size: 900), banded(2, 0, position: 9, size: 300),
            banded(3, 0, position: 2, size: 5), banded(4, 30, position: 1), banded(5, 0, position: 5, size: 800),
        ]
        #expect(try jetsam().decide(device(10, all)).victims == [3, 5, 2, 4, 1])
    }

    @Test("helpers end before their app in its band, however late they came; in another band they have no app")
    func helpersFirst() throws {
        func member(_ number: Int, _ band: Int, _ position: Int64, _ group: Int, _ role: GroupRole) -> ProcessSnapshot {
            banded(number, band, position: position) { ($0.group, $0.role) = (group, role) }
        }
        let all = [
            member(1, 0, 3, 1, .leader), banded(2, 0, position: 2), member(3, 0, 9, 1, .helper),
            banded(4, 0, position: 5), member(5, 0, 7, 1, .helper), member(6, 30, 1, 6, .leader),
            member(7, 0, 8, 6, .helper),
            member(8, 0, 9, 1, .extension), member(9, 0, 1, 1, .helper),
        ]
        #expect(try jetsam().decide(device(10, all)).victims == [9, 2, 5, 3, 1, 4, 7, 8, 6])
    }

    @Test("the default limit warns at a whole percentage, cut off, never below 80 %; a scale model at the same share")
    func nearDefault() {
        for (limit, share) in [(1_400, 92), (1_850, 94), (2_000, 95), (2_098, 95), (3_376, 97), (300, 80)] {
            for scale in [Ratio.one, .percent(25), .percent(7), Ratio(partsPerMillion: 33_333)] {
                let (bytes, margin) = (ByteCount.mebibytes(limit) * scale, ByteCount.mebibytes(100) * scale)
                let near = MemoryLimit(standard: bytes, warnedBefore: margin).near
                #expect(near == bytes * .percent(Int64(share)), "\(limit) at \(scale)")
            }
        }
    }

    @Test("A2: a foreground group dies undefined, extension, helper, leader")
    func a2() throws {
        let roles: [GroupRole] = [.leader, .extension, .undefined, .helper]
        let group = roles.enumerated().map { index, role in
            banded(index + 1, 100, position: Int64(index)) {
                $0.group = 7
                $0.role = role
            }
        }
        #expect(try jetsam().decide(device(10, group)).victims == [3, 2, 4, 1])
    }

    @Test("A3: the larger of two foreground groups goes first; without groups the footprint decides")
    func a3() throws {
        func member(_ number: Int, _ group: Int?, _ size: Int, _ role: GroupRole = .undefined) -> ProcessSnapshot {
            banded(number, 100, size: size) {
                $0.group = group
                $0.role = role
            }
        }
        let groups = [
            member(1, 1, 300, .leader), member(2, 1, 10), member(3, 2, 200, .leader), member(4, 2, 150),
        ]
        #expect(try jetsam().decide(device(10, groups)).victims == [4, 3, 2, 1])
        let alone = [member(1, nil, 500), member(2, nil, 0), member(3, nil, 2500)]
        #expect(try jetsam().decide(device(10, alone)).victims == [3, 1, 2])
    }

    private func limited(_ number: Int, _ band: Int, size: Int, limit: Int, isFatal: Bool = false) -> ProcessSnapshot {
        banded(number, band, size: size) { $0.limit = MemoryLimit(bytes: .mebibytes(limit), isFatal: isFatal) }
    }

    @Test("A4: between soft and idle only those over a soft limit die; nobody over one, nobody dies")
    func a4() throws {
        let all = [banded(1, 0), limited(2, 40, size: 60, limit: 50)]
        let decision = try jetsam().decide(device(120, all))
        #expect(decision.victims == [2] && decision.firstCause == .highwater)
        #expect(try jetsam().decide(device(120, [banded(1, 0)])).victims.isEmpty)
        #expect(try jetsam().decide(device(160, all)).victims.isEmpty, "above soft nobody pays")
    }

    @Test("A5: between idle and critical only band 0 dies, by idle-exit, and nobody once it is empty")
    func a5() throws {
        let all = [banded(1, 0, position: 2), banded(2, 30), banded(3, 0, position: 1)]
        let decision = try jetsam().decide(device(99, all))
        #expect(decision.victims == [3, 1] && decision.firstCause == .idleExit)
        #expect(try jetsam().decide(device(100, all)).victims.isEmpty, "at the threshold it stops")
        #expect(try jetsam().decide(device(60, [banded(2, 30)])).victims.isEmpty)
    }

    @Test("A6: below critical any band may go, by vm-pageshortage; at critical it stops")
    func a6() throws {
        let running = [banded(1, 30), banded(2, 40)]
        let decision = try jetsam().decide(device(49, running))
        #expect(decision.victims == [1, 2] && decision.firstCause == .pageShortage)
        #expect(decision.evidence?.threshold == Int64(ByteCount.mebibytes(50).bytes))
        #expect(try jetsam().decide(device(50, running)).ranking.isEmpty)
    }

    @Test("A7: who is over a soft limit goes before the top process, even from a higher band")
    func a7() throws {
        let all = [banded(1, 0), limited(2, 100, size: 90, limit: 50)]
        let decision = try jetsam().decide(device(10, all))
        #expect(decision.victims == [2, 1] && decision.firstCause == .highwater)
        #expect(decision.ranking.map(\.cause) == [.highwater, .pageShortage])
        #expect(decision.ranking.map(\.score) == [2, 1])
        #expect(decision.ranking.map { $0.evidence?.rule } == ["below 15% of RAM", "below 5% of RAM"])
    }

    @Test("a step whose victims have to stay gives way to the next; nobody is ranked twice")
    func stepsFollowOneAnother() throws {
        func causes(_ available: Int, _ all: [ProcessSnapshot], _ demand: ReclaimDemand = .nothing) throws -> [String] {
            try jetsam().decide(device(available, all, demand: demand)).ranking.map {
                "\($0.action.target.number) \($0.cause?.rawValue ?? "")"
            }
        }
        let greedy = limited(3, 100, size: 90, limit: 50)
        let all = [banded(1, 0), banded(2, 40), greedy]
        #expect(try causes(120, all) == ["3 highwater"])
        #expect(try causes(90, all) == ["3 highwater", "1 idle-exit"])
        #expect(try causes(10, all) == ["3 highwater", "1 vm-pageshortage", "2 vm-pageshortage"])
        // That the process itself waits for memory does not save it.
        let waits = ReclaimDemand.allocation(by: ProcessID(3), wanted: .mebibytes(1))
        #expect(try causes(10, all, waits) == ["3 highwater", "1 vm-pageshortage", "2 vm-pageshortage"])
        let thrashing = idleApps(5, back: 2) + [banded(6, 80)]
        #expect(try causes(40, thrashing).suffix(2) == ["5 proc-thrashing", "6 vm-pageshortage"])
    }

    @Test("the session's report is written before the first kill that is not of an idle process")
    func reportOfMixedSteps() throws {
        let all = [banded(1, 0), limited(2, 100, size: 90, limit: 50)]
        let decision = try jetsam().decide(device(90, all))
        #expect(decision.report != nil && decision.ranking.map(\.isReported) == [true, false])
    }

    @Test("who is spared is told what is so")
    func spared() throws {
        func reasons(
            _ available: Int, _ all: [ProcessSnapshot], _ change: (inout SystemSnapshot) -> Void = { _ in }
        ) throws -> [String] {
            try jetsam().decide(device(available, all, change)).spared.map(\.reason)
        }
        let plays = banded(2, 120)
        let violator = limited(3, 30, size: 60, limit: 50)
        #expect(try reasons(120, [banded(1, 0), violator]) == ["not over its soft limit"])
        #expect(try reasons(90, [banded(1, 0), plays]) == ["not in band 0"])
        #expect(try reasons(90, [banded(1, 0), plays, violator]) == ["not over its soft limit, not in band 0"])
        #expect(try reasons(300, [banded(1, 0), plays], sustained(10)) == ["not in band 0"])
        let reaped = [
            banded(1, 0, position: -500), banded(2, 0, position: 0), plays,
            banded(4, 0, position: -500) { $0.relaunchIntervals = [.seconds(1)] },
        ]
        let found = try reasons(190, reaped)
        #expect(
            found == ["idle for less than 5min", "not in band 0", "likely to be launched again"])
    }

    @Test("A8: a soft limit waits for the soft threshold, a fatal one is not the policy's business")
    func a8() throws {
        #expect(try jetsam().decide(device(800, [limited(1, 30, size: 60, limit: 50)])).ranking.isEmpty)
        #expect(try jetsam().decide(device(120, [limited(1, 30, size: 60, limit: 50, isFatal: true)])).ranking.isEmpty)
    }

    @Test("A9: -1, 0 and the default are fatal limits; the default and 100 more stays soft")
    func a9() {
        let standard = ByteCount.mebibytes(50)
        for request in [ByteCount(-1), .zero, standard] {
            #expect(
                MemoryLimit(requested: request, isFatal: false, standard: standard)
                    == MemoryLimit(bytes: standard, isFatal: true))
        }
        let more = standard + .mebibytes(100)
        #expect(
            MemoryLimit(requested: more, isFatal: false, standard: standard) == MemoryLimit(bytes: more, isFatal: false)
        )
        #expect(MemoryLimit(bytes: .mebibytes(100), isFatal: true).near == .mebibytes(80), "told at 80 %")
    }

    @Test("a device's own marks replace the kernel's table; a parameter replaces both, and so does another RAM")
    func marks() throws {
        let marks = JetsamMarks(critical: .bytes(.mebibytes(200)), idle: .percent(30), reaper: .percent(50))
        func firstCause(_ available: Int, _ parameters: [PolicySettings.Assignment] = []) -> KillCause? {
            let all = [banded(1, 0, position: -500), banded(2, 30)]
            return Jetsam(parameters).decide(
                device(available, all) { $0.device = DeviceSize($0.ceiling, marks: marks) }
            ).firstCause
        }
        #expect(firstCause(199) == .pageShortage && firstCause(200) == .idleExit && firstCause(299) == .idleExit)
        #expect(firstCause(300) == .longIdleExit && firstCause(500) == nil)
        let critical = PolicySettings.Assignment(name: "critical", value: .ratio(.percent(25)))
        #expect(firstCause(249, [critical]) == .pageShortage)
        let ram = PolicySettings.Assignment(name: "ram", value: .bytes(.gibibytes(2)))
        #expect(firstCause(99, [ram]) == .idleExit && firstCause(250, [ram]) == nil)
        let classic = PolicySettings.Assignment(name: "kernel", value: .choice("11215"))
        #expect(firstCause(300, [classic]) == nil, "a kernel without a reaper has no such mark")
        let size = DeviceSize(.mebibytes(1_000), marks: marks)
        #expect(Jetsam([]).contentAbove(on: size) == .mebibytes(500))
    }

    @Test("A16: the table of bands and causes counts every kill, and clearing resets it")
    func a16() {
        var table = KillTable()
        for (band, cause) in [(0, KillCause.idleExit), (100, .highwater), (0, .idleExit), (0, .jettisoned)] {
            table.count(cause, in: JetsamBand(band))
        }
        #expect(table[.idle, .idleExit] == 2 && table[.foreground, .highwater] == 1 && table.total == 4)
        #expect(table.cells.map(\.cause) == [.jettisoned, .idleExit, .highwater])
        table.clear()
        #expect(table.total == 0 && table.cells.isEmpty)
    }

    @Test("A17: the likelihood of a relaunch follows from the last ten intervals, by majority")
    func a17() {
        func likelihood(_ seconds: [Int64]) -> RelaunchLikelihood {
            RelaunchLikelihood(intervals: seconds.map { .seconds($0) })
        }
        #expect(likelihood(Array(repeating: 4, count: 10)) == .high)
        #expect(likelihood(Array(repeating: 5, count: 10)) == .medium)
        #expect(likelihood(Array(repeating: 10, count: 10)) == .low)
        #expect(likelihood([1, 1, 1, 6, 6, 20]) == .high)
        #expect(likelihood([1, 20, 20]) == .low)
        #expect(
            likelihood(Array(repeating: 1, count: 5) + Array(repeating: 60, count: 10)) == .low, "older ones are gone")
        #expect(likelihood([]) == .unknown)
    }

    @Test("A18: a ballast moves soft and idle by exactly itself, critical not at all, and back")
    func a18() throws {
        let plain = try #require(try jetsam() as? Jetsam)
        let heavy = try #require(try jetsam([.init(name: "ballast", value: .ratio(.percent(3)))]) as? Jetsam)
        let idle = [banded(1, 0)]
        #expect(heavy.decide(device(129, idle)).firstCause == .idleExit)
        #expect(heavy.decide(device(130, idle)).ranking.isEmpty)
        let violator = [limited(1, 30, size: 60, limit: 50)]
        #expect(heavy.decide(device(179, violator)).firstCause == .highwater)
        #expect(heavy.decide(device(180, violator)).ranking.isEmpty)
        let running = [banded(1, 30)]
        #expect(heavy.decide(device(49, running)).firstCause == .pageShortage)
        #expect(heavy.decide(device(50, running)).ranking.isEmpty)
        #expect(plain.decide(device(129, idle)).ranking.isEmpty, "without it everything is as before")
    }

    @Test("A27: asked to end, who is suspended hears nothing; who runs is called back")
    func a27() {
        #expect(process(1, .suspended).hearsTermination == false)
        #expect(process(1, .background).hearsTermination)
    }

    @Test("A28: the report is taken before the first kill, by band and place, once, and never for idle-only sessions")
    func a28() throws {
        let all = [banded(1, 100), banded(2, 0, position: 5), banded(3, 30), banded(4, 0, position: 1)]
        let first = try jetsam().decide(device(10, all))
        #expect(first.report == [4, 2, 3, 1].map { ProcessID($0) })
        #expect(try jetsam().decide(device(10, all) { $0.history.sessionHasReport = true }).report == nil)
        #expect(try jetsam().decide(device(80, all)).report == nil, "idle-exit alone")
    }

    /// This number of idle apps, each relaunched twice after that many seconds.
    private func idleApps(_ count: Int, back seconds: Int64) -> [ProcessSnapshot] {
        (1...count).map { number in
            banded(number, 0, position: Int64(number)) {
                $0.relaunchIntervals = [.seconds(seconds), .seconds(seconds)]
            }
        }
    }

    @Test("A29: five idle apps, all very likely to be back, at 7 % or less: proc-thrashing; four, or one less so: not")
    func a29() throws {
        let five = idleApps(5, back: 2)
        #expect(try jetsam().decide(device(40, five)).firstCause == .processThrashing)
        #expect(try jetsam().decide(device(40, Array(five.prefix(4)))).firstCause == .pageShortage)
        var unlikely = five
        for seconds in [7, 60] as [Int64] {
            unlikely[2].relaunchIntervals = [.seconds(seconds)]
            #expect(try jetsam().decide(device(40, unlikely)).firstCause == .pageShortage, "back after \(seconds) s")
        }
    }

    @Test("A29: the rounds of one window climb 40, 40, 80, 80, 150")
    func a29Rounds() throws {
        let all = idleApps(5, back: 2) + [banded(6, 40), banded(7, 80), banded(8, 120)]
        for (round, highest) in [40, 40, 80, 80, 150].enumerated() {
            let decision = try jetsam().decide(
                device(40, all) {
                    ($0.history.course.windowBegan, $0.history.course.rounds) = (now - .seconds(1), round)
                })
            let climbed = decision.ranking.filter { $0.cause == .processThrashing }.map(\.action.target)
            let reached = climbed.map { victim in all.first { $0.pid == victim }?.band.number ?? 0 }.max()
            #expect(reached == (highest == 150 ? 120 : highest), "round \(round)")
        }
    }

    private func sustained(_ minutes: Int64, kills: Int = 0, lastAgo: Int64 = 600) -> (inout SystemSnapshot) -> Void {
        { snapshot in
            snapshot.history.notNormalSince = now - .minutes(minutes)
            snapshot.history.idleAtSustained = kills == 0 ? nil : 2
            for index in 0..<kills {
                snapshot.history.noteKill(
                    .init(
                        at: now - .milliseconds(lastAgo * Int64(kills - index)), pid: ProcessID(90 + index),
                        band: .idle, cause: .sustainedPressure, footprint: .zero))
            }
        }
    }

    @Test("A30: ten minutes not normal end band 0 one by one, 0.5 s apart, at most twice its number")
    func a30() throws {
        let all = [banded(1, 0, position: 2), banded(2, 30), banded(3, 0, position: 1)]
        let decision = try jetsam().decide(device(300, all, sustained(10)))
        #expect(decision.victims == [3, 1] && decision.firstCause == .sustainedPressure)
        #expect(try jetsam().decide(device(300, all, sustained(9))).ranking.isEmpty)
        #expect(try jetsam().decide(device(300, all, sustained(10, kills: 1, lastAgo: 499))).ranking.isEmpty)
        #expect(!(try jetsam().decide(device(300, all, sustained(10, kills: 1, lastAgo: 500))).ranking.isEmpty))
        #expect(!(try jetsam().decide(device(300, all, sustained(10, kills: 3))).ranking.isEmpty))
        #expect(try jetsam().decide(device(300, all, sustained(10, kills: 4))).ranking.isEmpty)
        // Kills too old to be remembered individually still count as part of the episode.
        #expect(try jetsam().decide(device(300, all, sustained(60, kills: 4, lastAgo: 700_000))).ranking.isEmpty)
        #expect(!(try jetsam().decide(device(300, all, sustained(60, kills: 3, lastAgo: 700_000))).ranking.isEmpty))
    }

    @Test("A31: nobody left and still critical is an empty ranking without any contentment")
    func a31() throws {
        let decision = try jetsam().decide(device(10, [banded(1, 999)]))
        #expect(decision.ranking.isEmpty && decision.standstill == nil)
        #expect(decision.spared.map(\.reason) == ["in the internal band"])
    }

    @Test("the reaper ends band 0 after 300 s, but not who is often wanted")
    func reaper() throws {
        let all = [
            banded(1, 0, position: -200), banded(2, 0, position: -199),
            banded(3, 0, position: -500) { $0.relaunchIntervals = [.seconds(1)] },
        ]
        let decision = try jetsam().decide(device(190, all))
        #expect(decision.victims == [1] && decision.firstCause == .longIdleExit)
        #expect(try jetsam().decide(device(200, all)).ranking.isEmpty)
    }

    @Test("a scale model takes the row of the device that is meant; a RAM that is given is that device's, too")
    func scaleModel() throws {
        let shown = [banded(1, 40)]
        #expect(try jetsam().decide(device(45, shown)).firstCause == .pageShortage)
        let model = device(45, shown) { $0.device = DeviceSize($0.ceiling, meant: .gibibytes(4), scale: .percent(25)) }
        #expect(try jetsam().decide(model).ranking.isEmpty)
        let given = try jetsam([.init(name: "ram", value: .bytes(.gibibytes(2)))])
        #expect(given.decide(model).firstCause == .pageShortage)
    }

    @Test("what the victim can give without dying goes first")
    func purgeFirst() throws {
        let (unused, purgeable) = (
            banded(1, 0) { $0.dirty = .mebibytes(3) }, banded(1, 0) { $0.memory.purgeable = .mebibytes(3) }
        )
        #expect(try jetsam().decide(device(10, [unused])).order == [.terminate(ProcessID(1))])
        #expect(
            try jetsam().decide(device(10, [purgeable])).order == [.discard(ProcessID(1)), .terminate(ProcessID(1))])
    }
}
