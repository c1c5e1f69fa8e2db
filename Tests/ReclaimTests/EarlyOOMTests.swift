import Lifecycle
import Pressure
import Quantities
import Testing

@testable import Reclaim

/// What earlyoom does at a look.
private enum Answer: Equatable, CustomStringConvertible {
    case rests
    /// SIGTERM.
    case asks(Int)
    /// SIGKILL.
    case kills(Int)

    init(_ decision: Decision) {
        switch decision.ranking.first?.action {
        case .terminatePolitely(let pid): self = .asks(pid.number)
        case .terminate(let pid): self = .kills(pid.number)
        default: self = .rests
        }
    }

    var description: String {
        switch self {
        case .rests: "rests"
        case .asks(let pid): "SIGTERM to \(pid)"
        case .kills(let pid): "SIGKILL to \(pid)"
        }
    }
}

/// A look at a device with 1000 MiB of RAM, which are 256,000 pages of 4 KiB. Without swap 1 MiB is a thousandth, so a
/// process with n MiB and the adjustment a has the `oom_score` (1000 + n + a) * 2/3, rounded down.
private struct Situation: CustomTestStringConvertible, Sendable {
    let name: String
    /// Available memory in MiB.
    let available: Int
    let processes: [ProcessSnapshot]
    var parameters: [PolicySettings.Assignment] = []
    let answer: Answer
    /// How long it sleeps after the look; nil: not asked.
    var sleep: TimeSpan?
    var change: @Sendable (inout SystemSnapshot) -> Void = { _ in }

    var testDescription: String { name }
    var snapshot: SystemSnapshot { device(available, processes, change) }

    init(
        _ name: String, available: Int, _ processes: [ProcessSnapshot],
        _ parameters: [PolicySettings.Assignment] = [], is answer: Answer, sleep: TimeSpan? = nil,
        _ change: @escaping @Sendable (inout SystemSnapshot) -> Void = { _ in }
    ) {
        (self.name, self.available, self.processes) = (name, available, processes)
        (self.parameters, self.answer, self.sleep, self.change) = (parameters, answer, sleep, change)
    }
}

/// A process of an ordinary Linux session: its adjustment is 0.
private func task(_ number: Int, _ mebibytes: Int, adj: Int = 0, swapped: Int = 0) -> ProcessSnapshot {
    process(number, .background, size: mebibytes) {
        $0.declaredOomScoreAdj = adj
        $0.swapped = .mebibytes(swapped)
    }
}

private func swap(_ total: Int, free: Int) -> @Sendable (inout SystemSnapshot) -> Void {
    { snapshot in
        snapshot.measures.swapTotal = .mebibytes(total)
        snapshot.measures.swapFree = .mebibytes(free)
    }
}

/// Process 1 was asked to end this many seconds ago and has not ended.
private func asked(_ seconds: Int64) -> @Sendable (inout SystemSnapshot) -> Void {
    { snapshot in
        snapshot.processes[0].isEnding = true
        snapshot.history.kills = [
            .init(
                at: now - .seconds(seconds), pid: ProcessID(1), band: .background, cause: nil,
                footprint: .mebibytes(600))
        ]
    }
}

/// earlyoom 1.9 in twenty situations. Each answer follows from its rules (`lowmem_sig`, `find_largest_process`,
/// `kill_wait`, `sleep_time_ms`) and the kernel's (`proc_oom_score`); the comments hold the arithmetic.
@Suite("earlyoom, situation by situation")
struct EarlyOOMTests {
    private static let thresholds: [Situation] = [
        .init("1. enough is available", available: 200, [task(1, 500), task(2, 300)], is: .rests),
        // 100 / (100 + 900) = 10 %.
        .init("2. exactly 10 %", available: 100, [task(1, 600), task(2, 300)], is: .asks(1)),
        // 101 / (101 + 900) = 10.1 %.
        .init("3. just above 10 %", available: 101, [task(1, 600), task(2, 300)], is: .rests),
        // 50 / (50 + 950) = 5 %.
        .init("4. exactly 5 %", available: 50, [task(1, 600), task(2, 350)], is: .kills(1)),
        // 51 / (51 + 950) = 5.1 %.
        .init("5. just above 5 %", available: 51, [task(1, 600), task(2, 350)], is: .asks(1)),
        // The system keeps 315 MiB. 85 / (85 + 600) = 12.4 %; of all RAM it is 8.5 %.
        .init("6. the system's memory does not count", available: 85, [task(1, 400), task(2, 200)], is: .rests),
        // 45 / (45 + 600) = 7.0 %; of all RAM it is 4.5 %.
        .init("7. nor does it near the lower share", available: 45, [task(1, 400), task(2, 200)], is: .asks(1)),
        .init(
            "8. swap is free", available: 40, [task(1, 600), task(2, 350)], is: .rests, swap(100, free: 11)),
        .init(
            "9. swap is at its higher share", available: 40, [task(1, 600), task(2, 350)], is: .asks(1),
            swap(100, free: 10)),
        .init(
            "10. swap is at its lower share", available: 40, [task(1, 600), task(2, 350)], is: .kills(1),
            swap(100, free: 5)),
    ]

    private static let victims: [Situation] = [
        // 1302 * 2/3 = 868 and 1303 * 2/3 = 868.7: one score. More in RAM decides, not the lower number.
        .init("11. a near tie", available: 40, [task(1, 302), task(2, 303)], is: .asks(2)),
        // Both hold 300 of 1250: 240 thousandths, 826. Process 1 has 100 in RAM, process 2 has 300.
        .init(
            "12. a process in swap is spared in a tie", available: 40, [task(1, 300, swapped: 200), task(2, 300)],
            is: .asks(2), swap(250, free: 0)),
        // 1050 * 2/3 = 700, and 300 makes 1000. 1400 * 2/3 = 933.
        .init(
            "13. prefer: 5 % against 40 %", available: 40, [task(1, 400), task(2, 50)],
            [.init(name: "prefer", value: .names(["app2"]))], is: .asks(2)),
        // RAM and swap are 1200 MiB. 700 is 583 thousandths: 1583 * 2/3 = 1055, less 300 is 755. 350 is 291: 860.
        .init(
            "14. avoid: 70 % against 35 %", available: 60, [task(1, 700, swapped: 100), task(2, 350, swapped: 50)],
            [.init(name: "avoid", value: .names(["app1"]))], is: .asks(2), swap(200, free: 0)),
        // (1000 + 200 + 300) * 2/3 = 1000. 1400 * 2/3 = 933.
        .init("15. adj 300", available: 40, [task(1, 400), task(2, 200, adj: 300)], is: .asks(2)),
        // The largest is exempt. 1100 * 2/3 = 733 remains.
        .init(
            "16. adj -1000 is never a victim", available: 30, [task(1, 800, adj: -1_000), task(2, 100)], is: .kills(2)),
    ]

    private static let signals: [Situation] = [
        // After 10 s it gives up waiting, looks again, and asks the largest again: no SIGKILL above 5 %.
        .init(
            "17. a victim that has not ended after 10 s", available: 90, [task(1, 600), task(2, 300)], is: .asks(1),
            asked(10)),
        // It waits for process 1 and kills that, although process 2 is now larger.
        .init(
            "18. memory falls to 5 % while a victim ends", available: 45, [task(1, 300), task(2, 600)], is: .kills(1),
            asked(1)),
        // 100 MiB are available and 250 wanted. Nothing asks earlyoom, and 100 / (100 + 800) is 11 %.
        .init("19. an allocation waits", available: 100, [task(1, 500), task(2, 300)], is: .rests) {
            $0.demand = .allocation(by: ProcessID(2), wanted: .mebibytes(250))
        },
        // A tenth of 3572 + 1428 is 500. 3072 MiB are above it: 3,145,728 KiB / 6000 = 524.3.
        .init(
            "20. the next look", available: 3_572, [task(1, 1_428)], is: .rests, sleep: .milliseconds(524)
        ) { $0.ceiling = .mebibytes(8_000) },
    ]

    @Test("the answer is the original's", arguments: thresholds + victims + signals)
    fileprivate func answers(situation: Situation) throws {
        let decision = try policy("earlyoom", situation.parameters).decide(situation.snapshot)
        #expect(Answer(decision) == situation.answer)
        if let sleep = situation.sleep { #expect(decision.nextLook == sleep) }
    }

    @Test("there are twenty situations")
    func twenty() {
        #expect((Self.thresholds + Self.victims + Self.signals).count == 20)
    }

    /// Times in milliseconds. Above the share are `headroom` MiB of memory and `swap` MiB of swap.
    @Test(
        "it sleeps by what is left of memory at 6000 KiB/ms and of swap at 800 KiB/ms",
        arguments: [
            (headroom: 2, swap: 0, sleep: 100),
            // 3,145,728 KiB / 6000 = 524.3.
            (3_072, 0, 524),
            (20_000, 0, 1_000),
            // 204,800 KiB / 800 = 256.
            (0, 200, 256),
            (3_072, 200, 780),
        ])
    func sleeps(headroom: Int, swap: Int, sleep: Int64) throws {
        // The share is a tenth of available and anonymous memory together, so nine tenths of what is available are a
        // tenth of the anonymous memory plus the headroom.
        let anonymous = 9_000
        var snapshot = device(1_000, [task(1, anonymous)])
        snapshot.ceiling = .gibibytes(64)
        snapshot.available = .kibibytes((anonymous + 10 * headroom) * 1_024 / 9)
        snapshot.measures.swapTotal = .mebibytes(1_000)
        snapshot.measures.swapFree = .mebibytes(100 + swap)
        #expect(try policy("earlyoom").decide(snapshot).nextLook == .milliseconds(sleep))
    }

    @Test("it waits 10 s for a victim that it asked to end, and for no process that ends by itself")
    func waits() throws {
        let all = [task(1, 600), task(2, 300)]
        let earlyoom = try policy("earlyoom")
        #expect(earlyoom.decide(device(90, all, asked(9))).isWaiting)
        let leaving = device(90, all) { $0.processes[1].isEnding = true }
        #expect(Answer(earlyoom.decide(leaving)) == .asks(1))
        // If that process is the largest, it asks it, and no other.
        let largest = device(90, all) { $0.processes[0].isEnding = true }
        #expect(earlyoom.decide(largest).victims == [1])
    }

    @Test("it notices every 100 ms that its victim is gone, then sleeps for 100 ms, and looks again")
    func sleepsAfterVictim() throws {
        /// A look so many milliseconds after a request, or a kill, whose victim was gone after `gone` milliseconds.
        func look(
            _ after: Int64, gone: Int64, forced: Bool = false, returning: Int = 0, on linux: LinuxKernel = .standard
        ) throws -> Answer {
            let snapshot = device(40, [task(1, 600), task(2, 300)]) {
                var kill = ReclaimHistory.Kill(
                    at: now - .milliseconds(after), pid: ProcessID(9), band: .background, cause: nil, footprint: .zero)
                (kill.isForced, kill.endedAt) = (forced, kill.at + .milliseconds(gone))
                $0.history.kills = [kill]
                $0.measures.returning = .mebibytes(returning)
                $0.device.linux = linux
            }
            return Answer(try policy("earlyoom").decide(snapshot))
        }
        #expect(try look(99, gone: 0) == .rests)
        #expect(try look(100, gone: 0) == .kills(1))
        #expect(try look(199, gone: 1) == .rests)
        #expect(try look(200, gone: 1) == .kills(1))
        #expect(try look(300, gone: 101) == .kills(1))
        // The memory of a process that it asked to end may be on its way back. After SIGKILL it waits for it, if the
        // kernel can release it at once. What returns counts as memory that processes have: 40 of 1000 MiB.
        #expect(try look(500, gone: 0, returning: 60) == .kills(1))
        #expect(try look(500, gone: 0, forced: true, returning: 60) == .rests)
        #expect(try look(500, gone: 0, forced: true) == .kills(1))
        #expect(try look(500, gone: 0, forced: true, returning: 60, on: .linux5x10) == .kills(1))
    }

    @Test("sort_by_rss: the most in RAM, whatever the score; prefer and avoid weigh 3 GiB; ignore is never a victim")
    func sorts() throws {
        func victims(_ parameters: [(String, ParameterValue)], _ processes: [ProcessSnapshot]) throws -> [Int] {
            let snapshot = device(200, processes) {
                $0.ceiling = .gibibytes(8)
                ($0.measures.swapTotal, $0.measures.swapFree) = (.gibibytes(1), .zero)
            }
            return try policy("earlyoom", parameters.map { .init(name: $0.0, value: $0.1) }).decide(snapshot).victims
        }
        let all = [
            task(1, 2_000, adj: 500), task(2, 3_000, swapped: 1_500), task(3, 2_500, adj: -900),
            task(4, 100, adj: -1_000), task(5, 400),
        ]
        let sorted = ("sort_by_rss", ParameterValue.flag(true))
        #expect(try victims([], all) == [1, 2, 5, 3])
        #expect(try victims([sorted], all) == [3, 1, 2, 5])
        #expect(try victims([sorted, ("prefer", .names(["app5"]))], all) == [5, 3, 1, 2])
        // What is avoided holds less than nothing, so scores are compared: it comes by its score.
        #expect(try victims([sorted, ("avoid", .names(["app3"]))], all) == [1, 2, 5, 3])
        #expect(try victims([sorted, ("ignore", .names(["app3", "app1"]))], all) == [2, 5])
        #expect(try victims([("ignore", .names(["app1"]))], all) == [2, 5, 3])
    }

    @Test("the kernel's figures: two thirds of 1000, the share in thousandths and the adjustment, rounded at each step")
    func score() {
        func score(_ held: Int, _ adjustment: Int, of total: Int) -> Int64 {
            LinuxScore.score(holding: .mebibytes(held), adjustment: adjustment, of: .mebibytes(total))
        }
        #expect(score(0, 0, of: 1_000) == 666)
        #expect(score(1_000, 1_000, of: 1_000) == 2_000)
        #expect(score(500, -1_000, of: 1_000) == 0)
        #expect(score(0, -999, of: 1_000) == 0)
        // 262,144 pages: 900 * 262 = 235,800 pages, which are 899.5 thousandths. 1899 * 2/3 = 1266.
        #expect(score(0, 900, of: 1_024) == 1_266)
    }

    @Test("a process has the adjustment that the scenario sets, or else its band's")
    func adjustments() {
        let bands = [0, 10, 15, 20, 30, 40, 75, 80, 90, 100, 120, 160, 170, 180, 190, 999]
        let values = [900, 800, 800, 700, 500, 200, 200, 100, 100, 0, 200, -700, -800, -800, -900, -1_000]
        #expect(bands.map { LinuxScore.adjustment(of: JetsamBand($0)) } == values)
        #expect(process(1).oomScoreAdj == 900)
        #expect(process(1) { $0.declaredOomScoreAdj = -5 }.oomScoreAdj == -5)
    }

    @Test("lmkd and rules read an adjustment that the scenario sets")
    func others() {
        let all = [process(1, .active), process(2), process(3) { $0.declaredOomScoreAdj = 50 }, process(4, idle: 90)]
        // Without the setting, process 3 would be cached.
        #expect(OomScore.all(of: device(10, all)) == [0, 700, 50, 900])
    }
}
