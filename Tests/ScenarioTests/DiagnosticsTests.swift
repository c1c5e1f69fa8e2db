import Foundation
import Quantities
import Scenario
import Testing

@Suite("how many faults are told, and how long they are")
struct DiagnosticsTests {
    private static func lines(_ text: String, _ overrides: Overrides = Overrides()) -> [Substring] {
        guard case .failure(let fault) = Samples.load(text, overrides) else { return [] }
        return fault.description.split(separator: "\n", omittingEmptySubsequences: false)
    }

    @Test("the first hundred faults are told, and then how many more there are", arguments: [100, 101, 60_000])
    func cap(count: Int) {
        let keys = (0..<count).map { "k\($0): 1\n" }.joined()
        let began = Self.cpuSeconds
        let lines = Self.lines(Samples.minimal + keys)
        #expect(lines.count == min(count, 101))
        #expect(lines[0].hasPrefix("test.yaml:6:1: error: unknown key 'k0' in the scenario; valid keys: plimsoll,"))
        #expect(lines[99].hasPrefix("test.yaml:105:1: error: unknown key 'k99'"))
        if count == 101 { #expect(lines[100] == "and 1 more error") }
        if count == 60_000 { #expect(lines[100] == "and 59,900 more errors") }
        // The limit suits a debug build; an earlier version did work for every fault and took ten times as long.
        #expect(Self.cpuSeconds - began < 15)
    }

    /// The CPU time of this thread: that of the clock would tell how busy the machine is.
    private static var cpuSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    @Test("the hundred that are told are the first in the file, whatever was read first")
    func order() {
        // The loader reads the apps before the user's events, but they come later in the file.
        let user = (0..<150).map { "  - { at: 0s, launch: nobody\($0) }\n" }.joined()
        let apps = (0..<150).map { "  - { name: a\($0), like: plane }\n" }.joined()
        let text = "plimsoll: 1\nname: x\nduration: 1s\ndevice: { ceiling: 1GiB }\nuser:\n\(user)apps:\n\(apps)"
        let lines = Self.lines(text)
        #expect(lines.count == 101)
        #expect(lines[0].hasPrefix("test.yaml:6:23: error: user.0.launch: unknown app 'nobody0'"))
        #expect(lines[99].contains("nobody99'"))
        #expect(lines[100] == "and 200 more errors")
    }

    @Test("one fault of many aliases, said once, counts once")
    func twice() {
        let overrides = Overrides(sets: Array(repeating: "nothing=1", count: 300))
        #expect(Self.lines(Samples.minimal, overrides).count == 1)
    }

    /// Replaces `LONG`, `BLANKS`, `LESS` and `KEY` by very long texts.
    private static func filled(_ text: String) -> String {
        text.replacing("LONG", with: String(repeating: "x", count: 50_000))
            .replacing("BLANKS", with: String(repeating: "x y ", count: 12_500))
            .replacing("KEY", with: String(repeating: "k", count: 1_000))
            .replacing("NINES", with: String(repeating: "9", count: 50_000))
            .replacing("LESS", with: String(repeating: "<", count: 50_000))
            .replacing("STEPS", with: String(repeating: "a.", count: 20_000))
            .replacing("MARKS", with: String(repeating: "e\u{301}", count: 50_000))
    }

    private static func list(_ count: Int, _ element: String) -> String {
        let elements = (0..<count).map { element.replacing("#", with: "\($0)") }
        return "[" + elements.joined(separator: ", ") + "]"
    }

    @Test(
        "whatever is long is shortened, wherever it stands",
        arguments: [
            "KEY: 1", "LONG: 1", "KEY: 1\nKEY: 2", "name: LONG", "description: {KEY: 1}", "seed: LONG", "seed: 1BLANKS",
            "duration: LONG", "duration: 9NINESs",
            "duration: 0.NINESs", "backend: LONG", "backend: BLANKS",
            "monitor: { KEY: 1 }", "policy: LONG", "policy: { name: lru, parameters: { KEY: 1 } }",
            "policy: { name: LONG, label: LONG }", "policy: { rules: [{ name: LONG, when: LONG }] }",
            "policy: { rules: [{ name: a, when: LONG < 1 }] }",
            "policy: { rules: [{ name: a, when: available < BLANKS }] }",
            "policy: { rules: [{ name: a, when: available < 5% for LONG }] }",
            "policy: { rules: [{ name: a, when: available LESS 1 }] }",
            "expect: [BLANKS]", "expect: [LONG < 1]", "expect: [terminations < BLANKS]",
            "expect: [terminations LESS 1]",
            "user: [{ at: 0s, launch: LONG }]", "user: [{ at: 0s, KEY: 1 }]",
            "limits: { protected: [LONG] }", "apps: [{ name: LONG, like: LONG, memory: { base: LONG } }]",
            "{ KEY: 1, KEY: 2 }", "a: &LONG", "a: *LONG", "%LONG", "\"LONG",
            "e: MARKS",
        ])
    func long(line: String) {
        let lines = Self.lines(Samples.minimal + Self.filled(line))
        #expect(!lines.isEmpty)
        for text in lines {
            #expect(text.utf8.count < 6_000, "\(text.prefix(100)) … \(text.utf8.count)")
            #expect(text.split(separator: " ").allSatisfy { $0.unicodeScalars.count <= 260 })
        }
    }

    @Test(
        "and so it is behind --set",
        arguments: [
            "device.ceiling=LONG", "device.ceiling=BLANKS", "LONG=1", "apps.LONG.memory.base=1MiB",
            "STEPSb=1", "policy=LONG", "expect=[LONG]", "device=[LONG",
        ])
    func longSet(assignment: String) {
        let lines = Self.lines(Samples.minimal, Overrides(sets: [Self.filled(assignment)]))
        #expect(!lines.isEmpty)
        #expect(lines.allSatisfy { $0.utf8.count < 6_000 })
    }

    @Test("a policy file's faults are bounded, too")
    func policyFile() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).yaml")
        defer { try? FileManager.default.removeItem(at: file) }
        let keys = (0..<5_000).map { "k\($0): 1\n" }.joined()
        try Data("name: lru\n\(Self.filled("KEY")): 1\n\(keys)".utf8).write(to: file)
        let lines = Self.lines(Samples.minimal, Overrides(policy: file.path()))
        #expect(lines.count == 101 && lines[100] == "and 4,901 more errors")
        #expect(lines.allSatisfy { $0.utf8.count < 1_000 })
    }

    // MARK: Lists

    @Test(
        "a list has an end",
        arguments: [
            ("policy: { rules: LIST }", 1_001, "{ name: r# }", "policy.rules: 1001 rules are too many; at most 1000"),
            ("expect: LIST", 1_001, "terminations == 0", "are too many; at most 1000"),
            ("user: LIST", 100_001, "{ at: 0s, home: true }", "user: 100001 events are too many; at most 100000"),
            (
                "user: LIST", 17, "{ every: 1ms, from: 0s, to: 1min, home: true }",
                "user: these stand for 1020017 events; at most 1000000"
            ),
            ("limits: { protected: LIST }", 4_001, "only", "4001 app names are too many; at most 4000"),
            (
                "policy: { rules: [{ name: a, when: LIST }] }", 10_001, "available < 5%",
                "the rules make 10001 claims; at most 10000"
            ),
            ("policy: { rules: [{ name: a, order: LIST }] }", 1_001, "{ by: idle }", "1001 tiers are too many"),
        ])
    func lists(text: String, count: Int, element: String, expected: String) {
        let lines = Self.lines(Samples.minimal + text.replacing("LIST", with: Self.list(count, element)))
        #expect(lines.count == 1 && lines.first?.contains(expected) == true, "\(lines.first ?? "")")
    }

    @Test(
        "so has an app's list",
        arguments: [
            ("observers: LIST", "{ of: UIScene.didActivateNotification }", "1001 observers"),
            ("memory: { bursts: LIST }", "{ after: 1s, size: 1MiB, over: 1s }", "1001 bursts"),
            ("memory: { objects: { histogram: LIST } }", "{ size: 8B, weight: 1 }", "1001 bins"),
            ("background_modes: LIST", "audio", "1001 background modes"),
            ("features: LIST", "url", "1001 features"),
        ])
    func appLists(keys: String, element: String, expected: String) {
        let keys = keys.replacing("LIST", with: Self.list(1_001, element))
        let lines = Self.lines(Samples.minimal.replacing("name: only", with: "name: only, \(keys)"))
        let sentence = "\(expected) are too many; at most 1000"
        #expect(lines.count == 1 && lines.first?.contains(sentence) == true, "\(lines.first ?? "")")
    }
}
