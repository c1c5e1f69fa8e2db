import Foundation
import Lifecycle
import Quantities
import Reclaim
import Scenario
import Testing

/// The rule files of real systems, row by row. `OomdDefaultTests` has oomd's.
@Suite("rule files of real systems")
struct RuleFileTests {
    private typealias Samples = RuleSamples

    private static func policy(_ file: String) throws -> any ReclaimPolicy {
        let path = ProjectScenarioTests.folder.appending(path: "policies/\(file).yaml").path()
        let settings = try ScenarioTests.Samples.load(
            ScenarioTests.Samples.minimal, Overrides(policy: path)
        ).get().policy
        return try #require(PolicyCatalogue.make(settings))
    }

    private static func actions(_ file: String, _ snapshot: SystemSnapshot) throws -> [ReclaimAction] {
        try policy(file).decide(snapshot).ranking.map(\.action)
    }

    /// The seconds at which the policy asks for an action of this kind first, on a device that stays as it is.
    private static func seconds(
        _ file: String, _ kind: RuleAction, for span: Int64, _ snapshot: SystemSnapshot
    ) throws -> [Int] {
        let snapshots = (0...span).map { second in
            var later = snapshot
            later.now = snapshot.now + .seconds(second)
            return later
        }
        let actions = Samples.play(try policy(file), snapshots)
        return actions.indices.filter { actions[$0]?.kind == kind }
    }

    @Test("a file of a real system ends the process whose allocation waits, too; a rule of one's own does not")
    func requester() throws {
        let all = [Samples.process(1, size: 10), Samples.process(2, size: 90)]
        let waits = Samples.device(100, all, demand: .allocation(by: ProcessID(2), wanted: .mebibytes(1)))
        #expect(try Samples.targets("[{ name: r, order: largest }]", waits) == [1])
        #expect(try Samples.targets("[{ name: r, order: largest, spare_requester: false }]", waits) == [2, 1])
        for file in ["oomd-default", "nohang", "webkit", "fuchsia-watermarks"] {
            let path = ProjectScenarioTests.folder.appending(path: "policies/\(file).yaml").path()
            let rules = try ScenarioTests.Samples.load(ScenarioTests.Samples.minimal, Overrides(policy: path))
                .get().policy.rules
            #expect(rules.filter(\.action.isTermination).allSatisfy { !$0.sparesRequester }, "\(file)")
        }
    }

    // MARK: Fuchsia

    @Test("fuchsia: eviction begins below 149 MiB, and one process ends below 49 MiB, then none for 10 s")
    func fuchsia() throws {
        let dirty = [Samples.process(1, size: 40) { $0.dirty = .mebibytes(1) }, Samples.process(2)]
        #expect(try Self.actions("fuchsia-watermarks", Samples.device(149, dirty)).isEmpty)
        #expect(try Self.actions("fuchsia-watermarks", Samples.device(148, dirty)) == [.purge(ProcessID(1))])
        let clean = [Samples.process(1, size: 40), Samples.process(2)]
        #expect(try Self.actions("fuchsia-watermarks", Samples.device(49, clean)).isEmpty)
        let low = Samples.device(48, clean)
        #expect(try Self.actions("fuchsia-watermarks", low).first == .terminate(ProcessID(2)))
        #expect(try Self.seconds("fuchsia-watermarks", .terminate, for: 25, low) == [0, 10, 20])
    }

    // MARK: WebKit

    /// The first action for a process off screen of this size in MiB on a device of 1 GiB.
    private static func webkit(
        _ size: Int, warned: Int64? = nil, _ change: (inout ProcessSnapshot) -> Void = { _ in }
    ) throws -> RuleAction? {
        let process = Samples.process(1, .background, size: size) {
            $0.warnedAt = warned.map { Samples.now - .seconds($0) }
            change(&$0)
        }
        return try actions("webkit", Samples.device(20, [process])).first?.kind
    }

    @Test("webkit: half of RAM conservatively, 65 % strictly, every 30 s, and an end only if that did not help")
    func webkit() throws {
        #expect(try Self.webkit(511) { $0.dirty = .mebibytes(1) } == nil)
        #expect(try Self.webkit(512) { $0.dirty = .mebibytes(1) } == .purge)
        #expect(try Self.webkit(665) == nil)
        #expect(try Self.webkit(666) == .warn)
        #expect(try Self.webkit(666, warned: 29) == nil)
        #expect(try Self.webkit(666, warned: 30) == .warn)
        // 90 % of 1 GiB are 921.6 MiB.
        #expect(try Self.webkit(921, warned: 5) == nil)
        #expect(try Self.webkit(922, warned: 5) == .terminate)
        #expect(try Self.webkit(922, warned: 5) { $0.answersWarning = true } == nil)
        // In front the threshold is 8 GiB.
        #expect(try Self.webkit(922, warned: 5) { $0.phase = .active } == nil)
        let own: (inout ProcessSnapshot) -> Void = { $0.limit = MemoryLimit(bytes: .mebibytes(300), isFatal: false) }
        #expect(try Self.webkit(299, warned: 5, own) == nil)
        #expect(try Self.webkit(300, warned: 5, own) == .terminate)
    }

    // MARK: nohang

    /// The first action at these MiB available of 1 GiB, with this much of 100 MiB of swap free; nil: no swap.
    private static func nohang(_ available: Int, swapFree: Int? = nil) throws -> RuleAction? {
        let all = [Samples.process(1, .background, size: 100), Samples.process(2, .background, size: 90)]
        return try actions("nohang", Samples.device(available, all) { swap(&$0, swapFree) }).first?.kind
    }

    private static func swap(_ snapshot: inout SystemSnapshot, _ free: Int?) {
        snapshot.measures.swapTotal = free == nil ? .zero : .mebibytes(100)
        snapshot.measures.swapFree = .mebibytes(free ?? 0)
    }

    @Test("nohang: 5 % and 10 % of swap ask, 2 % and 4 % kill, 20 % and 25 % warn; without swap, swap is used up")
    func nohang() throws {
        // 1 GiB: 20 % are 204.8 MiB, 5 % are 51.2 MiB and 2 % are 20.48 MiB.
        #expect(
            try [205, 204, 52, 51, 21, 20].map { try Self.nohang($0) } == [
                nil, .warn, .warn, .terminatePolitely, .terminatePolitely, .terminate,
            ])
        #expect(
            try [26, 25, 11, 10, 5, 4].map { try Self.nohang(10, swapFree: $0) } == [
                nil, .warn, .warn, .terminatePolitely, .terminatePolitely, .terminate,
            ])
    }

    @Test("nohang: full stalls of 40 % for 30 s ask, of 90 % kill, every 15 s, only with swap and memory short")
    func stalls() throws {
        func stalled(_ percent: Int64, available: Int, swap free: Int? = 50) -> SystemSnapshot {
            Samples.device(available, [Samples.process(1), Samples.process(2)]) {
                $0.measures.full.avg10 = .percent(percent)
                Self.swap(&$0, free)
            }
        }
        func seconds(_ kind: RuleAction, _ snapshot: SystemSnapshot) throws -> [Int] {
            try Self.seconds("nohang", kind, for: 50, snapshot)
        }
        #expect(try seconds(.terminatePolitely, stalled(40, available: 51)) == [30, 45])
        #expect(try seconds(.terminatePolitely, stalled(39, available: 51)).isEmpty)
        #expect(try seconds(.terminatePolitely, stalled(40, available: 52)).isEmpty)
        #expect(try seconds(.terminate, stalled(90, available: 20)) == [30, 45])
        #expect(try seconds(.terminate, stalled(90, available: 21)).isEmpty)
        #expect(try seconds(.terminatePolitely, stalled(90, available: 52, swap: nil)).isEmpty)
    }

    @Test("nohang takes the highest oom_score: size and oom_score_adj together, and never -1000")
    func badness() throws {
        let all = [
            Samples.process(1, size: 300) { $0.declaredOomScoreAdj = 0 },
            Samples.process(2, size: 50) { $0.declaredOomScoreAdj = 300 },
            Samples.process(3, size: 600) { $0.declaredOomScoreAdj = -1_000 },
        ]
        let kills = try Self.actions("nohang", Samples.device(20, all)).filter { $0.kind == .terminate }
        #expect(kills == [.terminate(ProcessID(2)), .terminate(ProcessID(1))])
    }
}
