import Foundation
import Scenario
import Testing

/// `Scenarios/Invalid` holds one file per diagnostic. Its first comments list all expected diagnostics in order, one `#
/// expect: 7:12: message` each. `PLIMSOLL_RECORD=1` rewrites them.
@Suite("invalid scenarios")
struct InvalidScenarioTests {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Scenarios/Invalid")

    static let files: [String] = {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: folder.path())) ?? []
        return all.filter { $0.hasSuffix(".yaml") }.sorted()
    }()

    private static let mark = Array("# expect: ".utf8)

    @Test("there is a file for every kind of diagnostic")
    func enough() {
        #expect(Self.files.count >= 90)
    }

    @Test("each gives exactly the diagnostics that it names", arguments: files)
    func expectations(file: String) throws {
        let url = Self.folder.appending(path: file)
        let bytes = Array(try Data(contentsOf: url))
        let lines = bytes.split(separator: 0x0a, omittingEmptySubsequences: false)
        let head = lines.prefix { $0.starts(with: Self.mark) }
        let expected = head.map { String(decoding: $0.dropFirst(Self.mark.count), as: UTF8.self) }
        let actual = Self.diagnostics(bytes)
        if ProcessInfo.processInfo.environment["PLIMSOLL_RECORD"] == "1" {
            return try Self.record(lines.dropFirst(head.count), in: url)
        }
        #expect(!expected.isEmpty, "\(file) names no diagnostic")
        #expect(actual == expected)
    }

    private static func diagnostics(_ bytes: [UInt8]) -> [String] {
        guard case .failure(.invalid(let faults)) = ScenarioLoader.load(bytes: bytes, file: "f") else { return [] }
        return faults.map { fault in
            guard case .file(_, let line, let column) = fault.location else { return fault.description }
            return "\(line):\(column): \(fault.message)"
        }
    }

    /// The expectations shift the lines below them, so the file is checked with the final number of expectations.
    private static func record(_ body: ArraySlice<ArraySlice<UInt8>>, in url: URL) throws {
        let body = Array(body.joined(separator: [0x0a]))
        var blank: [UInt8] = []
        for _ in diagnostics(body) { blank += mark + [0x0a] }
        var recorded: [UInt8] = []
        for text in diagnostics(blank + body) { recorded += mark + Array(text.utf8) + [0x0a] }
        try Data(recorded + body).write(to: url)
    }
}

@Suite("the project's own scenarios")
struct ProjectScenarioTests {
    static let folder = InvalidScenarioTests.folder.deletingLastPathComponent()

    static let files: [String] = {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: folder.path())) ?? []
        return all.filter { $0.hasSuffix(".yaml") }.sorted()
    }()

    @Test("each loads, and comes back from the effective scenario", arguments: files)
    func loads(file: String) throws {
        let plan = try ScenarioLoader.load(path: Self.folder.appending(path: file).path()).get()
        let yaml = EffectiveScenario.yaml(of: plan)
        #expect(try ScenarioLoader.load(text: yaml, file: file).get() == plan)
    }
}
