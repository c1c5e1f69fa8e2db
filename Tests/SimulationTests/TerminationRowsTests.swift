import Lifecycle
import Metrics
import Plan
import Quantities
import TestSupport
import Testing
import Workload

@testable import Simulation

/// `terminations.csv` says once what the other tables say in parts.
@Suite("the rows of terminations")
struct TerminationRowsTests {
    /// Where the table contradicts the run's other tables, as sentences.
    static func differences(_ run: RunOutput) -> [String] {
        let rows = run.terminationRows
        let exits = run.eventTable.filter { row in
            row["event"] == "exit" && ExitReason(rawValue: row["exit_reason"])?.isBySystem == true
        }
        let columns = ["time_s", "app", "pid", "exit_reason", "cause"]
        var found: [String] = []
        let (told, ended) = (rows.map { row in columns.map { row[$0] } }, exits.map { row in columns.map { row[$0] } })
        if told != ended { found.append("terminations are \(told), and exits \(ended)") }
        for row in rows { found += contradictions(row, run).map { "\(row): \($0)" } }
        return found
    }

    private static func contradictions(_ row: TableRow, _ run: RunOutput) -> [String] {
        var found: [String] = []
        func claim(_ holds: Bool, _ what: String) { if !holds { found.append(what) } }
        let decisions = run.decisionRows.filter { $0["decision"] == row["decision"] && $0["chosen"] == "true" }
        let isDecided = !row["decision"].isEmpty
        claim(decisions.map { $0["pid"] } == (isDecided ? [row["pid"]] : []), "its decision chose another")
        if let decision = decisions.first {
            for column in ["demand", "band", "measure", "observed", "threshold"] {
                claim(decision[column] == row[column], "\(column) is \(decision[column]) in the decision")
            }
        }
        let isItself = row["beneficiary"] == row["app"]
        switch row["need"] {
        case "allocation":
            let isAsked = row["demand"] == "allocation" || row["cause"] == EventCause.kernelName && !isDecided
            claim(isAsked && !isItself, "no other one's allocation waited")
        case "level":
            claim(["pressure", "nothing"].contains(row["demand"]) && !isItself, "there was no level for another one")
            claim(row.integer("taken_bytes") ?? 0 >= 1 << 20, "the other one took less than 1 MiB")
        case "own_allocation", "own_limit": claim(isItself, "it ended for itself")
        default: claim(row["need"].isEmpty && row["beneficiary"].isEmpty, "it ended for nobody")
        }
        claim(
            (row["exit_reason"] == "memoryResourceLimit") == (row["need"] == "own_limit"), "its limit is its own need")
        let foundNoRoom = StallCause(rawValue: row["cause"]) != nil
        claim(!foundNoRoom || row["need"] == "own_allocation" && !isDecided, "its own allocation ended it, no policy")
        let (isSeen, isOnScreen) = (row["was_foreground"] == "true", ProcessPhase(rawValue: row["state"])?.isForeground)
        let isInFront = isOnScreen == true || row["band"] == "100"
        claim(!isSeen || isInFront, "who is seen is on screen, or the user waits for it")
        // The user has swiped it away before.
        let mayBeUnseen = row["exit_reason"] == "appWatchdog"
        claim(isSeen || isOnScreen == false || mayBeUnseen, "who is on screen is seen")
        if let after = row.number("wanted_after_s") {
            let isSoon = after <= Double(run.perceivedWithin.microseconds) / 1e6
            claim(!isSoon || row["was_perceived"] == "true", "it was wanted soon, and not missed")
        }
        claim(row["was_foreground"] == "false" || row["idle_s"] == "0", "who is on screen is not idle")
        return found
    }

    /// A game grows by a mebibyte per second, until the level ends the app that the user left.
    @Test("who took most pages in ten seconds is the one for whom a level ends others")
    func taker() throws {
        let old = testApp("old") { $0.memory.base = .mebibytes(30) }
        let small = testApp("small") { $0.memory.base = .mebibytes(2) }
        let game = testApp("game") {
            $0.memory.base = .mebibytes(4)
            $0.memory.growth = GrowthProfile(rate: ByteRate(bytesPerSecond: 1 << 20), upTo: .mebibytes(80))
        }
        let run = try runToEnd(
            testPlan(
                [old, small, game], ceiling: .mebibytes(96), seconds: 120, policy: "lru",
                user: [(0, .launch(AppID(0))), (10, .launch(AppID(1))), (20, .launch(AppID(2)))]
            ) { $0.backend = .accounting })
        let row = try #require(run.terminationRows.first)
        #expect(row.texts("app", "beneficiary", "need", "kind") == ["old", "game", "level", "app"])
        let taken = try #require(row.integer("taken_bytes"))
        #expect(taken >= 10 << 20 && taken < 14 << 20, "\(taken)")
        #expect(try #require(row.number("idle_s")) > 20)
        let listed = try #require(run.appSummaryRows.first { $0["app"] == "game" })
        #expect(listed["others_ended_front"] == listed["others_ended"])
        #expect(Self.differences(run) == [])
    }

    @Test("a wish after long is on record, and is no longer missed")
    func wish() throws {
        let old = testApp("old") { $0.memory.base = .mebibytes(30) }
        let game = testApp("game") { $0.memory.base = .mebibytes(40) }
        for (within, isMissed) in [(TimeSpan.seconds(10), "false"), (.seconds(60), "true")] {
            let plan = testPlan(
                [old, game], ceiling: .mebibytes(64), seconds: 90,
                user: [(0, .launch(AppID(0))), (20, .launch(AppID(1))), (60, .launch(AppID(0)))]
            ) {
                $0.backend = .accounting
                $0.perceivedWithin = within
            }
            let run = try runToEnd(plan)
            let row = try #require(run.terminationRows.first)
            #expect(row.texts("app", "was_perceived", "was_foreground") == ["old", isMissed, "false"])
            let after = try #require(row.number("wanted_after_s"))
            #expect(after > 35 && after <= 40, "\(after)")
            #expect(Self.differences(run) == [])
        }
    }

    @Test("ten seconds back is all that counts, and only growth")
    func window() {
        let taken = PagesTaken(apps: 2)
        let app = AppID(1)
        func at(_ seconds: Int64) -> Instant { Instant(microseconds: seconds * 1_000_000 + 500_000) }
        taken.note(.mebibytes(3), by: app, at: at(0))
        taken.note(.mebibytes(2), by: app, at: at(4))
        taken.note(.zero - .mebibytes(1), by: app, at: at(5))
        #expect(taken.lately(by: app, at: at(9)) == .mebibytes(5))
        #expect(taken.lately(by: app, at: at(10)) == .mebibytes(5))
        #expect(taken.lately(by: app, at: at(11)) == .mebibytes(2))
        #expect(taken.lately(by: app, at: at(15)) == .zero && taken.lately(by: AppID(0), at: at(4)) == .zero)
        // The place of second 4 is used again.
        taken.note(.mebibytes(7), by: app, at: at(15))
        #expect(taken.lately(by: app, at: at(15)) == .mebibytes(7))
    }
}
