import Lifecycle
import Pressure
import Quantities
import Testing

@testable import Reclaim

@Suite("kernel-oom, by table")
struct KernelOOMTests {
    private static let waits = ReclaimDemand.allocation(by: ProcessID(1), wanted: .mebibytes(1))

    private static func app(_ number: Int, _ size: Int, adj: Int, _ phase: ProcessPhase = .suspended) -> ProcessSnapshot
    {
        process(number, phase, size: size) { $0.declaredOomScoreAdj = adj }
    }

    private static func decision(
        _ apps: [ProcessSnapshot], _ parameters: [PolicySettings.Assignment] = [], demand: ReclaimDemand = waits,
        _ change: (inout SystemSnapshot) -> Void = { _ in }
    ) throws -> Decision {
        var moment = snapshot(apps, demand: demand)
        change(&moment)
        return try policy("kernel-oom", parameters).decide(moment)
    }

    private static func numbers(_ decision: Decision) -> [Int] { decision.ranking.map { $0.action.target.number } }

    private static func under(_ kernel: LinuxKernel, _ apps: [ProcessSnapshot]) throws -> Decision {
        try decision(apps) { $0.device.linux = kernel }
    }

    @Test("it ranks by pages and oom_score_adj, whatever is in front or waits")
    func ranks() throws {
        // The device has 1 GiB: an oom_score_adj of 100 weighs 26,200 pages, or 102 MiB.
        let decision = try Self.decision([
            Self.app(1, 300, adj: 0, .active), Self.app(2, 100, adj: 200), Self.app(3, 250, adj: 100),
            Self.app(4, 400, adj: -1_000),
        ])
        #expect(Self.numbers(decision) == [3, 2, 1])
        #expect(decision.ranking.map(\.score) == [64_000 + 26_200, 25_600 + 52_400, 76_800])
        #expect(decision.spared == [Spared(ProcessID(4), reason: "its oom_score_adj is -1000")])
        #expect(
            decision.ranking[0].reason
                == "most badness under Linux 6.12: 90200 pages, with an oom_score_adj of 100")
        #expect(decision.ranking.allSatisfy { $0.cause == .pageShortage })
    }

    @Test("swap counts in full, and RAM and swap are the total")
    func swap() throws {
        let apps = [Self.app(1, 300, adj: 0), Self.app(2, 100, adj: 150)]
        #expect(try Self.numbers(Self.decision(apps)) == [1, 2])
        #expect(try Self.numbers(Self.decision(apps) { $0.measures.swapTotal = .gibibytes(1) }) == [2, 1])
        let swapped = [Self.app(1, 100, adj: 0), Self.app(2, 300, adj: 0)].map { app in
            var app = app
            app.swapped = app.footprint
            return app
        }
        #expect(try Self.numbers(Self.decision(swapped)) == [2, 1])
    }

    @Test("it does nothing for a level, however critical")
    func levels() throws {
        for demand in [ReclaimDemand.nothing, .pressure(deficit: .mebibytes(500))] {
            let decision = try Self.decision([Self.app(2, 100, adj: 900)], demand: demand)
            #expect(decision.ranking.isEmpty)
            #expect(decision.standstill == .content("the kernel acts when an allocation finds no page"))
        }
        #expect(KernelOOM.needs.isEmpty)
    }

    @Test("for a limit on background apps it ends by badness, too")
    func limits() throws {
        let decision = try Self.decision(
            [Self.app(1, 300, adj: 0), Self.app(2, 20, adj: 900)], demand: .backgroundProcesses(excess: 1))
        #expect(Self.numbers(decision) == [2, 1])
    }

    @Test("the release decides among equals, about the scale, and about negative points")
    func releases() throws {
        let equals = [Self.app(1, 100, adj: 0), Self.app(2, 100, adj: 0)]
        #expect(try Self.numbers(Self.under(.linux4x19, equals)) == [1, 2])
        #expect(try Self.numbers(Self.under(.linux5x4, equals)) == [2, 1])
        let old = try Self.under(.linux3x4, equals)
        #expect(old.ranking.map(\.score) == [97, 97])
        #expect(old.ranking[0].reason.contains("97 thousandths of memory"))
        // The small one began first; before 5.9 both count as 1.
        let guarded = [Self.app(1, 1, adj: -998), Self.app(2, 300, adj: -998)]
        #expect(try Self.numbers(Self.under(.linux4x19, guarded)) == [1, 2])
        #expect(try Self.numbers(Self.under(.linux5x10, guarded)) == [2, 1])
    }

    @Test("oom_kill_allocating_task takes the requester, unless it is exempt")
    func allocatingTask() throws {
        let on = [PolicySettings.Assignment(name: "oom_kill_allocating_task", value: .flag(true))]
        let decision = try Self.decision([Self.app(1, 10, adj: -900), Self.app(2, 300, adj: 900)], on)
        #expect(Self.numbers(decision) == [1])
        #expect(decision.spared.map(\.pid.number) == [2])
        let exempt = try Self.decision([Self.app(1, 10, adj: -1_000), Self.app(2, 300, adj: 0)], on)
        #expect(Self.numbers(exempt) == [2])
    }

    @Test("earlyoom's oom_score is the kernel's of 5.9")
    func oomScore() {
        var random = SeededGenerator(seed: 5, stream: "oom_score")
        for _ in 0..<500 {
            let total = random.number(in: 1...4_000_000)
            let (held, adjustment) = (random.number(in: 0...total), random.number(in: -1_000...1_000))
            let badness = held + adjustment * (total / 1_000)
            let expected = adjustment == -1_000 ? 0 : (1_000 + badness * 1_000 / total) * 2 / 3
            let score = LinuxScore.score(
                holding: ByteCount(held * 4_096), adjustment: adjustment, of: ByteCount(total * 4_096))
            #expect(score == Int64(expected))
        }
    }
}
