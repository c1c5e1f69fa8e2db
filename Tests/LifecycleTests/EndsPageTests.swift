import Foundation
import Lifecycle
import Testing

@Suite("the table of ends in the documentation")
struct EndsPageTests {
    private static let page = StateTablePageTests.project
        .appending(path: "Sources/plimsoll/plimsoll.docc/HowToReadARun.md")

    @Test("it names every reason once, those that are terminations first, and the times of the deadlines")
    func ends() throws {
        let lines = try String(contentsOf: Self.page, encoding: .utf8).components(separatedBy: "\n")
        func row(_ reason: ExitReason) -> [Int] {
            lines.indices.filter { lines[$0].hasPrefix("| `\(reason.rawValue)` |") }
        }
        for reason in ExitReason.allCases { #expect(row(reason).count == 1, "\(reason)") }
        let ends = ExitReason.allCases.filter(\.isBySystem).flatMap(row)
        let others = ExitReason.allCases.filter { !$0.isBySystem }.flatMap(row)
        #expect(try #require(ends.max()) < #require(others.min()))

        let watchdog = lines[try #require(row(.appWatchdog).first)]
        for deadline in Deadline.allCases {
            let span = deadline.span(LifecycleRules())
            #expect(watchdog.contains(" \(span.microseconds / 1_000_000) s"), "\(deadline)")
        }
    }
}
