import Lifecycle
import Metrics
import Quantities
import Testing

@testable import Experiments

@Suite("what a person loses")
struct PersonWaitsTests {
    private func tally(
        front: TimeSpan = .zero, _ launches: [(app: String, at: Int64, latency: Int64?)]
    ) -> RunTally {
        var tally = RunTally(scenario: "s", policy: "p", seed: 1, ceiling: .gibibytes(1), apps: ["mail", "maps"])
        tally.apps[1].activeStallTime = front
        tally.launches = launches.map { app, at, latency in
            .init(
                app: app, kind: .cold, tapped: .zero + .seconds(at),
                latency: latency.map { TimeSpan(microseconds: $0 * 1_000) })
        }
        return tally
    }

    private func waits(
        ends: Int = 0, front: TimeSpan = .zero, _ launches: (app: String, at: Int64, latency: Int64?)...
    ) throws -> PersonWaits {
        let text = PersonWaits(tally(front: front, launches)).text
        return try #require(PersonWaits(parsing: "\(ends)" + text.dropFirst()))
    }

    @Test("launches are compared tap by tap, in milliseconds here; a faster one is a gain")
    func latencies() throws {
        let usual = try waits(("mail", 1, 900), ("maps", 5, 300), ("mail", 9, 200))
        let slow = try waits(("mail", 1, 900), ("maps", 5, 1_300), ("mail", 9, 950))
        #expect(slow.lost(against: usual, .init()) == .milliseconds(1_750))
        #expect(usual.lost(against: slow, .init()) == .zero - .milliseconds(1_750))
        #expect(usual.lost(against: usual, .init()) == .zero)
        // A tap at another time, or of another app, has nothing to be compared with.
        let other = try waits(("mail", 2, 9_000), ("mail", 5, 9_000), ("mail", 9, 300))
        #expect(other.lost(against: usual, .init()) == .milliseconds(100))
    }

    @Test("an end in front and a launch without a frame have their prices; what the yardstick has, too, is no loss")
    func prices() throws {
        let usual = try waits(ends: 1, front: .seconds(1), ("mail", 1, 900), ("maps", 5, nil))
        let run = try waits(ends: 3, front: .seconds(4), ("mail", 1, nil), ("maps", 5, nil))
        #expect(run.lost(against: usual, .init()) == .seconds(2 * 10 + 3 + 5))
        #expect(run.lost(against: usual, .init(end: .seconds(1), launch: .zero)) == .seconds(2 + 3))
        let saved = try waits(ends: 1, front: .seconds(1), ("mail", 1, 900), ("maps", 5, 700))
        #expect(saved.lost(against: usual, .init()) == .zero - .seconds(5))
    }

    @Test("the ledger's word comes back; a row without one, or with a damaged one, has none")
    func text() throws {
        let made = PersonWaits(tally(front: .milliseconds(7), [("maps", 3, 12), ("mail", 4, nil)]))
        #expect(made.text == "0,7000;1,3000000,12000;0,4000000,")
        #expect(PersonWaits(parsing: made.text) == made)
        let row = RunRow("a,b\t\(made.text)")
        #expect(row.summary == "a,b" && row.waits == made && row.text == "a,b\t\(made.text)")
        let damaged = ["", "1", "1,x", "0,0;", "0,0;1,2", "0,0;1,2,x", "0,0;1,2,3,4", "a,0"]
        for text in damaged + ["0,9223372036854775807", "0,0;1,2,-1"] {
            #expect(PersonWaits(parsing: text) == nil, "\(text)")
            let row = RunRow("a,b\t\(text)")
            #expect(row.waits == nil && row.summary == "a,b\t\(text)")
        }
    }
}
