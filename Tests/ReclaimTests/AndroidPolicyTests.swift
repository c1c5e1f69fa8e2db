import Foundation
import Lifecycle
import Pressure
import Quantities
import Testing

@testable import Reclaim

@Suite("Android's killers, by table")
struct AndroidPolicyTests {
    /// A device with RAM and free memory in KiB, and one process per band of importance: in front, perceptible, a
    /// service, the previous app, and two cached apps.
    private func phone(
        ram: ByteCount, free: Int, fileBacked: Int = 0, _ change: (inout SystemSnapshot) -> Void = { _ in }
    ) -> SystemSnapshot {
        let processes = [
            process(1, .active, idle: 0), process(2, .background, idle: 100, size: 20, modes: [.location]),
            process(3, .background, idle: 80), process(4, idle: 10), process(5, idle: 60), process(6, idle: 90),
        ]
        var snapshot = SystemSnapshot(
            now: now, demand: .nothing, level: .normal, ceiling: ram, resident: ram - .kibibytes(free),
            available: .kibibytes(free), threshold: .zero, processes: processes, monitor: .ios)
        snapshot.measures.fileBacked = .kibibytes(fileBacked)
        change(&snapshot)
        return snapshot
    }

    @Test("the scores: foreground 0, perceptible 200, service 500, previous 700, cached from 900 by idleness")
    func scores() {
        #expect(OomScore.all(of: phone(ram: .gibibytes(1), free: 0)) == [0, 200, 500, 700, 900, 910])
    }

    @Test("the table of bands and scores in the documentation is the code's")
    func page() throws {
        let page = PolicyFilesTests.project
            .appending(path: "Sources/Simulation/Simulation.docc/PolicyWithoutSwift.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let table = try #require(text.components(separatedBy: "| state | `band` | `oom_score` |\n").last)
        let rows = table.components(separatedBy: "\n").dropFirst().prefix { $0.hasPrefix("|") }
        let cells = rows.map { $0.components(separatedBy: " | ").suffix(2).map { $0.prefix(while: \.isNumber) } }

        let shown = [
            process(1, .background), process(2, .background, modes: [.location]),
            process(3, .background, modes: [.audio]), process(4, .inactive, idle: 0), process(5, .active, idle: 0),
        ]
        let scores = OomScore.all(of: snapshot(shown))
        var expected = zip(shown, scores).map { ["\($0.band.number)", "\($1)"] }
        // A process that works on an event has the band of a background mode, and the score of a service.
        expected.insert(["\(JetsamBand.elevatedInactive.number)", "\(scores[0])"], at: 1)
        let suspended = [
            ["\(JetsamBand.idle.number)", "\(OomScore.cached.lowerBound)"], ["", "\(OomScore.previous)"],
            ["\(JetsamBand.ageing.number)", ""],
        ]
        #expect(cells.map { $0.map(String.init) } == suspended + expected)
    }

    @Test("who was never in front is not the previous app: it comes after all who were, the latest launch first")
    func neverInFront() {
        func pushed(_ number: Int, at seconds: Int64) -> ProcessSnapshot {
            process(number) { ($0.lastForeground, $0.launchedAt) = (nil, .zero + .seconds(seconds)) }
        }
        let seen = [process(1, .active, idle: 0), process(2, idle: 300), process(3, idle: 90)]
        let all = snapshot(seen + [pushed(4, at: 900), pushed(5, at: 990)])
        #expect(OomScore.all(of: all) == [0, 900, 700, 920, 910])
        #expect(OomScore.all(of: snapshot([pushed(4, at: 900), pushed(5, at: 990)])) == [910, 900])
        #expect(pushed(4, at: 900).idleTime(at: now) == .seconds(100))
        #expect(all.rankingByScore(floor: 900, heaviestAt: 0, because: "test").order.map(\.target.number) == [4, 5, 2])
    }

    @Test(
        "minfree: the first row that free memory and the file cache are below gives the floor",
        arguments: [
            (256, [12_288, 18_432, 24_576, 36_864, 43_008, 49_152]),
            (512, [40_724, 52_556, 64_388, 79_520, 125_476, 175_700]),
            (1_024, [73_728, 92_160, 110_592, 129_024, 221_184, 322_560]),
        ])
    func minfree(mebibytes: Int, figures: [Int]) throws {
        let ram = ByteCount.mebibytes(mebibytes)
        let minfree = try policy("lmkd-minfree")
        #expect(LMKDMinfree.floors == [0, 100, 200, 250, 900, 950])
        let victims = [[6, 5, 4, 3, 1, 2], [6, 5, 4, 3, 2], [6, 5, 4, 3, 2], [6, 5, 4, 3], [6, 5], []]
        for (index, figure) in figures.enumerated() {
            let decision = minfree.decide(phone(ram: ram, free: figure - 1))
            #expect(decision.victims.sorted() == victims[index].sorted(), "below \(figure)")
            #expect(decision.evidence?.threshold == Int64(figure) * 1_024)
            #expect(Array(decision.victims.prefix(2)) == Array(victims[index].prefix(2)), "highest score first")
        }
        #expect(minfree.decide(phone(ram: ram, free: figures[5])).ranking.isEmpty)
        #expect(
            minfree.decide(phone(ram: ram, free: 1_000, fileBacked: figures[5])).ranking.isEmpty,
            "a large file cache keeps everybody alive")
    }

    @Test(
        "minfree: the figures rise in proportion from 350 to 700 MiB of RAM, the last two higher with 64 bits",
        arguments: [
            (256, [12_288, 18_432, 24_576, 36_864, 43_008, 49_152], [43_008, 49_152]),
            (350, [12_288, 18_432, 24_576, 36_864, 43_008, 49_152], [43_008, 49_152]),
            (400, [21_064, 28_964, 36_864, 50_028, 57_928, 68_460], [68_460, 88_208]),
            (512, [40_724, 52_556, 64_388, 79_520, 91_352, 111_712], [125_476, 175_700]),
            (600, [56_172, 71_092, 86_016, 102_692, 117_612, 145_700], [170_276, 244_440]),
            (700, [73_728, 92_160, 110_592, 129_024, 147_456, 184_320], [221_184, 322_560]),
            (1_024, [73_728, 92_160, 110_592, 129_024, 147_456, 184_320], [221_184, 322_560]),
            (4_096, [73_728, 92_160, 110_592, 129_024, 147_456, 184_320], [221_184, 322_560]),
        ])
    func levels(mebibytes: Int, narrow: [Int], cached: [Int]) throws {
        let ram = ByteCount.mebibytes(mebibytes)
        #expect(LMKDMinfree.levels(ofRAM: ram, is64Bit: false) == narrow.map(ByteCount.kibibytes))
        let wide = narrow.dropLast(2) + cached
        #expect(LMKDMinfree.levels(ofRAM: ram, is64Bit: true) == wide.map(ByteCount.kibibytes))
        for (isWide, figures) in [(false, narrow), (true, Array(wide))] {
            let minfree = try policy("lmkd-minfree", [.init(name: "is_64_bit", value: .flag(isWide))])
            #expect(minfree.contentAbove(on: DeviceSize(ram)) == .kibibytes(figures[5]))
        }
    }

    @Test("minfree: a RAM below which the small table holds leaves nothing between the tables")
    func smallBelow() throws {
        let parameters = [
            PolicySettings.Assignment(name: "small_below", value: .bytes(.mebibytes(512))),
            .init(name: "is_64_bit", value: .flag(false)),
        ]
        let minfree = try policy("lmkd-minfree", parameters)
        #expect(minfree.contentAbove(on: DeviceSize(.mebibytes(511))) == .kibibytes(49_152))
        #expect(minfree.contentAbove(on: DeviceSize(.mebibytes(512))) == .kibibytes(184_320))
    }

    @Test("minfree: a scale model has the table of the device that is meant, at its scale")
    func minfreeOfScaleModel() throws {
        func model(_ free: Int) -> SystemSnapshot {
            phone(ram: .mebibytes(256), free: free) {
                $0.device = DeviceSize($0.ceiling, meant: .gibibytes(1), scale: .percent(25))
            }
        }
        let minfree = try policy("lmkd-minfree")
        #expect(minfree.decide(model(322_560 / 4 - 1)).evidence?.threshold == Int64(322_560 / 4 * 1_024))
        #expect(minfree.decide(model(322_560 / 4)).ranking.isEmpty)
        // A given figure applies to the device of the run.
        let given = try policy("lmkd-minfree", [.init(name: "minfree_950", value: .bytes(.kibibytes(60_000)))])
        #expect(given.decide(model(59_999)).evidence?.threshold == Int64(60_000 * 1_024))
    }

    @Test("the highest score goes first; of one score the oldest, and at and below 200 the heaviest")
    func heaviest() throws {
        let decision = try policy("lmkd-minfree").decide(phone(ram: .gibibytes(1), free: 1))
        #expect(Array(decision.victims.suffix(2)) == [2, 1], "20 MiB that navigate before 50 MiB in front")
        let alike = [
            process(1, .active, size: 500), process(2, .background, idle: 90, size: 20, modes: [.location]),
            process(3, .background, idle: 10, size: 80, modes: [.audio]), process(4, .background, idle: 10, size: 90),
            process(5, .background, idle: 90, size: 10), process(6, .inactive, size: 10),
        ]
        let rank = snapshot(alike).rankingByScore(floor: 0, heaviestAt: 200, because: "test")
        #expect(rank.victims == [5, 4, 3, 2, 6, 1])
        #expect(rank.ranking.map(\.score) == [500, 500, 200, 200, 100, 0])
    }

    /// The figures of a device that is not low-RAM.
    private let highEnd = PolicySettings.Assignment(name: "low_ram_up_to", value: .bytes(.zero))

    /// The decision when a partial stall wakes the policy, with further changes to the snapshot.
    private func woken(
        free: Int = 500_000, _ change: @escaping (inout SystemSnapshot) -> Void = { _ in }
    ) throws -> Decision {
        try policy("lmkd", [highEnd]).decide(
            phone(ram: .gibibytes(1), free: free) {
                $0.measures.someLost = .milliseconds(70)
                change(&$0)
            })
    }

    private func floor(_ decision: Decision) -> Int? {
        decision.ranking.first.flatMap { $0.reason.split(separator: " ").last.flatMap { Int($0) } }
    }

    @Test("lmkd sleeps below a partial stall of 70 ms a second, and without a condition it does nothing")
    func sleeps() throws {
        var asleep = phone(ram: .gibibytes(1), free: 1_000) {
            $0.measures.someLost = .milliseconds(69)
        }
        asleep.measures.fullLost = .milliseconds(600)
        #expect(try policy("lmkd", [highEnd]).decide(asleep).ranking.isEmpty)
        #expect(try woken().ranking.isEmpty)
    }

    @Test("lmkd: the first condition that holds gives the floor, in this order")
    func order() throws {
        let kill = ReclaimHistory.Kill(
            at: now - .milliseconds(500), pid: ProcessID(50), band: .idle, cause: nil, footprint: .zero)
        #expect(floor(try woken(free: 10_000) { $0.history.kills = [kill] }) == 0, "below min after a kill")
        #expect(floor(try woken { $0.measures.fullLost = .milliseconds(700) }) == 0, "a complete stall")
        func lowSwap(_ snapshot: inout SystemSnapshot) {
            snapshot.measures.swapTotal = .mebibytes(100)
            snapshot.measures.swapFree = .mebibytes(9)
        }
        let thrashing = Ratio.percent(101)
        #expect(
            floor(
                try woken {
                    lowSwap(&$0)
                    $0.measures.thrashing = thrashing
                }) == 201, "swap low and thrashing")
        #expect(
            floor(
                try woken {
                    lowSwap(&$0)
                    $0.measures.thrashing = .percent(200)
                }) == 0, "thrashing twice as much as allowed")
        #expect(floor(try woken(free: 20_000) { lowSwap(&$0) }) == 201, "swap low and the low watermark")
        #expect(floor(try woken(free: 10_000) { lowSwap(&$0) }) == 0, "the same, below the min watermark")
        #expect(floor(try woken(free: 20_000) { $0.measures.thrashing = thrashing }) == 201, "low and thrashing")
        #expect(
            floor(
                try woken {
                    $0.measures.thrashing = thrashing
                    $0.measures.directReclaim = true
                }) == 201, "direct reclaim and thrashing")
        let files = PolicySettings.Assignment(name: "filecache_min", value: .bytes(.mebibytes(1)))
        let thrashed = phone(ram: .gibibytes(1), free: 500_000) {
            ($0.measures.someLost, $0.history.lmkd.checksFileCache) = (.milliseconds(200), true)
        }
        #expect(floor(try policy("lmkd", [files]).decide(thrashed)) == 201, "the file cache is low after thrashing")
        #expect(try woken(free: 20_000).ranking.isEmpty, "the low watermark alone is not enough before Android 14")
        let fourteen = try policy("lmkd", [highEnd, .init(name: "low_watermark_alone", value: .flag(true))])
        let low = phone(ram: .gibibytes(1), free: 20_000) { $0.measures.someLost = .milliseconds(70) }
        #expect(floor(fourteen.decide(low)) == 701)
        #expect(fourteen.decide(low).victims == [6, 5])
        // Where nobody has such a score, nobody is killed, and who waits for memory goes on waiting.
        var front = low
        front.processes = low.processes.filter { $0.phase.isForeground }
        front.demand = .allocation(by: front.processes[0].pid, wanted: .mebibytes(1))
        #expect(fourteen.decide(front).standstill == .waiting("no process has a score of 701 or more"))
        front.measures.fullLost = .milliseconds(700)
        #expect(floor(fourteen.decide(front)) == 0)
    }

    @Test("lmkd waits 100 ms while the last victim dies, and a kill for thrashing lowers its limit by a tenth")
    func afterAKill() throws {
        func after(_ milliseconds: Int64, thrashing: Int64) throws -> Decision {
            try woken {
                let at = now - .milliseconds(milliseconds)
                $0.history.kills = [
                    .init(at: at, pid: ProcessID(50), band: .idle, cause: nil, footprint: .zero)
                ]
                $0.history.lmkd.request = .init(at: at, lowersLimit: true)
                $0.measures.returning = .mebibytes(1)
                $0.measures.directReclaim = true
                $0.measures.thrashing = .percent(thrashing)
            }
        }
        #expect(try after(99, thrashing: 150).standstill == .waiting("the last victim is still dying"))
        #expect(!(try after(100, thrashing: 150).ranking.isEmpty))
        #expect(!(try after(100, thrashing: 91).ranking.isEmpty))
        #expect(try after(100, thrashing: 90).ranking.isEmpty)
    }
}
