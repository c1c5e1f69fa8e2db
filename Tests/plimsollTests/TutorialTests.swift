import Foundation
import Reclaim
import Testing

/// The tutorial's code is `TutorialPolicy.swift`, which is compiled here.
@Suite("the tutorial on a policy in Swift")
struct TutorialTests {
    private static let page = ProjectScenarioTests.folder.deletingLastPathComponent()
        .appending(path: "Sources/Simulation/Simulation.docc/TutorialPolicy.md")
    private static let code = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "TutorialPolicy.swift")

    @Test("the page's listings are the code that is compiled, piece by piece and in its order")
    func listings() throws {
        let page = try String(contentsOf: Self.page, encoding: .utf8)
        let code = try String(contentsOf: Self.code, encoding: .utf8)
        let listings = page.components(separatedBy: "```swift\n").dropFirst().map {
            $0.components(separatedBy: "```")[0]
        }
        // The first listing is the package's manifest.
        #expect(listings.dropFirst().joined(separator: "\n") == code)
    }

    @Test("it runs, ends sleepers only, and does as its parameter says")
    func runs() throws {
        let scenario = ProjectScenarioTests.folder.appending(path: "quickstart.yaml").path()
        let tally = try play(scenario, sets: ["device.ceiling=330MiB"], under: LargestAsleep.self)
        #expect(tally.terminations.contains { $0.reason == .memoryPressure })
        #expect(tally.terminations.allSatisfy { $0.reason != .memoryPressure || !$0.wasForeground })
        #expect(tally.actionsRefused == 0)
    }
}
