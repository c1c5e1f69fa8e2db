import Quantities
import Testing

@testable import Scenario

@Suite("the line of the text below a fault")
struct ExcerptTests {
    /// The lines below the first fault of the scenario.
    private func below(_ text: String, _ bytes: [UInt8]? = nil) -> [String] {
        guard case .failure(let fault) = ScenarioLoader.load(bytes: bytes ?? Array(text.utf8), file: "a.yaml") else {
            return ["the scenario is valid"]
        }
        return Array(fault.illustrated.split(separator: "\n").map(String.init).dropFirst().prefix(2))
    }

    @Test("the caret stands below the column")
    func caret() {
        let text = "plimsoll: 1\nname: a\nduration: 1s\ndevice: { ceilng: 512MiB }\napps: [{ name: a }]\n"
        #expect(below(text) == ["    4 | device: { ceilng: 512MiB }", "      |           ^"])
    }

    @Test("the fault's own line stays as it was, and one line is all that other programs get")
    func plain() throws {
        let text = "plimsoll: 1\nname: a\nduration: 1s\ndevice: { ceilng: 512MiB }\napps: 3\n"
        guard case .failure(let fault) = ScenarioLoader.load(text: text, file: "a.yaml") else {
            Issue.record("valid")
            return
        }
        let shown = fault.illustrated.split(separator: "\n")
        let faults = shown.enumerated().filter { $0.offset % 3 == 0 }.map(\.element)
        #expect(faults.count == 2 && fault.description.split(separator: "\n") == faults)
    }

    @Test("wide letters, tabs and control characters keep the caret where a terminal shows the column")
    func widths() {
        let wide = "plimsoll: 1\nname: a\nduration: 1s\ndevice: { ceiling: 1GiB }\napps: [{ name: 地図 }]\n"
        let lines = below(wide)
        #expect(lines == ["    5 | apps: [{ name: 地図 }]", "      |                ^"])
        let place = Excerpt(line: 7, scalars: Array("地図\tx\u{1B}[2J\u{301}y".unicodeScalars), column: 10)
        #expect(place.text == "地図 x?[2J\u{301}y")
        #expect(place.lines[1] == "      | " + String(repeating: " ", count: 10) + "^")
    }

    @Test("a long line is cut around the column")
    func long() {
        let scalars = Array(String(repeating: "abcdefghij", count: 1000).unicodeScalars)
        for column in [1, 2, 40, 41, 97, 5_000, 9_990, 10_000, 10_001, 99_999] {
            let place = Excerpt(line: 1, scalars: scalars, column: column)
            #expect(place.text.count <= 98)
            let under = Array(place.text).indices.contains(place.indent) ? Array(place.text)[place.indent] : nil
            let expected = column <= 10_000 ? Character(scalars[column - 1]) : nil
            #expect(under == expected, "\(column)")
        }
    }

    @Test("lines end as YAML's do, and a byte order mark has no column")
    func lines() {
        for end in ["\n", "\r\n", "\r"] {
            let lines = [
                "plimsoll: 1", "name: a", "duration: 1s", "device: { ceilng: 1GiB }", "apps: [{ name: a }]",
            ]
            let shown = below("\u{FEFF}" + lines.joined(separator: end))
            #expect(shown == ["    4 | device: { ceilng: 1GiB }", "      |           ^"])
        }
        #expect(below("\u{FEFF}plimsol: 1").first == "    1 | plimsol: 1")
    }

    @Test("where there is no line to show, none is shown")
    func none() {
        #expect(below("").isEmpty)
        #expect(below("", [0xFF, 0xFE]).isEmpty)
        #expect(below("\n\n").isEmpty)
    }
}
