import Quantities
import Testing
import Workload

@testable import Plan
@testable import Simulation

@Suite("entries of what the user does")
struct UserEntryTests {
    private let a = AppID(0)
    private let b = AppID(1)
    private let c = AppID(2)

    private func at(_ seconds: Int64) -> Instant { .zero + .seconds(seconds) }

    private func repeated(_ action: UserAction, every: Int64, from: Int64, to: Int64) -> UserEntry {
        .repeated(action, Repetition(every: .seconds(every), from: at(from), to: at(to)))
    }

    private func plan(_ user: [UserEntry]) -> RunPlan {
        testPlan((0..<3).map { testApp("app\($0)") }, seconds: 900, user: []) {
            $0.backend = .accounting
            $0.user = user
        }
    }

    /// Entries with several at the same instant.
    private var ties: [UserEntry] {
        [
            .once(.launch(b), at: at(10)), repeated(.launch(a), every: 5, from: 0, to: 14),
            .once(.home, at: at(10)), repeated(.switchTo(c), every: 10, from: 0, to: 20),
            repeated(.launch(b), every: 9, from: 5, to: 5),
        ]
    }

    @Test("both ends of a repetition count, if an instant falls on them")
    func repetition() {
        let counts: [(every: Int64, from: Int64, to: Int64, count: Int)] = [
            (5, 0, 14, 3), (5, 0, 15, 4), (9, 5, 5, 1), (9, 5, 13, 1),
        ]
        for (every, from, to, count) in counts {
            let repetition = Repetition(every: .seconds(every), from: at(from), to: at(to))
            #expect(repetition.count == count)
            #expect(repetition.instants == (0..<Int64(count)).map { at(from + every * $0) })
        }
    }

    @Test("events are in the order of the entries")
    func order() {
        let events: [(Int64, UserAction)] = [
            (10, .launch(b)), (0, .launch(a)), (5, .launch(a)), (10, .launch(a)), (10, .home), (0, .switchTo(c)),
            (10, .switchTo(c)), (20, .switchTo(c)), (5, .launch(b)),
        ]
        #expect(plan(ties).expandedUser == events.map { UserEvent(at: at($0), action: $1) })
    }

    @Test("a run of entries is the run of their single events, those of one instant and persons after them included")
    func runs() throws {
        let person = UserEntry.model(.commuter, from: at(30), until: at(900))
        let events = plan(ties).expandedUser.map { UserEntry.once($0.action, at: $0.at) }
        let repeated = try runToEnd(plan(ties + [person]))
        #expect(try repeated.tables == runToEnd(plan(events + [person])).tables)
        #expect(try repeated.tables != runToEnd(plan(ties.reversed() + [person])).tables)
        let rows = repeated.eventRows.filter { $0.event == "user" && Double($0.time) == 10 }
        #expect(rows.map { "\($0.detail) \($0.app)" } == ["launch app1", "launch app0", "home ", "switch app2"])
    }

    @Test("every event of a repetition opens a scene that the host must have room for")
    func scenes() {
        func needed(_ user: [UserEntry]) -> ByteCount {
            var plan = plan(user)
            plan.policy.name = "unbounded"
            plan.device.ceiling = .mebibytes(8)
            plan.apps[0].scenes.multiple = true
            return plan.neededMemory
        }
        let scenes = [0, 5, 10].map { UserEntry.once(.openScene(a), at: at($0)) }
        #expect(needed([repeated(.openScene(a), every: 5, from: 0, to: 14)]) == needed(scenes))
        #expect(needed(scenes) > needed([]))
        #expect(needed([repeated(.openScene(b), every: 5, from: 0, to: 14)]) == needed([]))
    }
}
