import Foundation
import Testing

/// The tutorial's code is the program `my-policy`, which is built with the tests.
@Suite("the tutorial on a policy in Swift")
struct TutorialTests {
    private static let page = Program.root
        .appending(path: "Sources/Simulation/Simulation.docc/TutorialPolicy.md")
    private static let code = Program.root.appending(path: "Tests/my-policy")
    private static let program = Program.executable.deletingLastPathComponent().appending(path: "my-policy")

    private static func within(_ body: (URL) throws -> Void) throws {
        let folder = try Program.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    @Test("the page's listings are the code that is compiled, piece by piece and in its order")
    func listings() throws {
        let page = try String(contentsOf: Self.page, encoding: .utf8)
        let code = try ["LargestAsleep.swift", "Main.swift"].map {
            try String(contentsOf: Self.code.appending(path: $0), encoding: .utf8)
        }
        let listings = page.components(separatedBy: "```swift\n").dropFirst().map {
            $0.components(separatedBy: "```")[0]
        }
        // The first listing is the package's manifest.
        #expect(listings.dropFirst().dropLast().joined(separator: "\n") == code[0])
        #expect(listings.last == code[1])
    }

    @Test("the program lists the policy and its parameter, and plimsoll does not know it")
    func isListed() throws {
        try Self.within { folder in
            let words = ["list", "policies", "largest-asleep"]
            let listed = try Program.run(words, of: Self.program, in: folder)
            #expect(listed.status == 0 && listed.out.contains("unseen"), "\(listed.error)")
            #expect(try Program.run(["list", "policies"], of: Self.program, in: folder).out.contains("jetsam-classic"))
            #expect(try Program.run(words, in: folder).status == 64)
        }
    }

    private static let under = [
        "--policy", "largest-asleep", "--set", "device.ceiling=330MiB", "--set", "expect=[]", "--backend", "accounting",
    ]

    @Test("a run ends sleepers only, and explain tries its parameter")
    func runs() throws {
        try Self.within { folder in
            let words = ["run", Program.scenario("quickstart"), "--out", "a", "--format", "json"] + Self.under
            let result = try Program.run(words, of: Self.program, in: folder)
            #expect(result.status == 0, "\(result.error)")
            let summary = try JSONSerialization.jsonObject(with: Data(result.out.utf8)) as? [String: Any] ?? [:]
            let figures = summary["summary"] as? [String: Any] ?? summary
            #expect(figures["policy"] as? String == "largest-asleep", "\(result.out)")
            #expect(figures["terminations"] as? Int ?? 0 > 0 && figures["terminations_foreground"] as? Int == 0)
            #expect(figures["actions_refused"] as? Int == 0)
            let why = try Program.run(["explain", "a", "--all"], of: Self.program, in: folder)
            #expect(why.status == 0 && why.out.contains("unseen"), "\(why.out)\(why.error)")
        }
    }

    @Test("a scenario may set its parameter; a wrong value is refused with its range")
    func isSet() throws {
        try Self.within { folder in
            func validate(_ value: String) throws -> Program.Result {
                let policy = "policy={name: largest-asleep, parameters: {unseen: \(value)}}"
                let words = ["run", Program.scenario("quickstart"), "--set", policy, "--set", "expect=[]", "--quiet"]
                return try Program.run(words + ["--out", "a", "--force"], of: Self.program, in: folder)
            }
            #expect(try validate("1min").status == 0)
            let refused = try validate("2h")
            #expect(refused.status == 65 && refused.error.contains("unseen"), "\(refused.error)")
        }
    }

    @Test("compare makes its runs, each in a process of its own, with the policy")
    func compares() throws {
        try Self.within { folder in
            let words = ["compare", Program.scenario("quickstart"), "--policy", "ladder", "--policy", "largest-asleep"]
            let more = ["--seeds", "1..2", "--backend", "accounting", "--out", "b"]
            let result = try Program.run(words + more, of: Self.program, in: folder)
            #expect(result.status == 0 && result.out.contains("largest-asleep"), "\(result.error)")
        }
    }
}
