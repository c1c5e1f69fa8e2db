import Foundation
import Testing

/// Each row of the page is tried: an input at its bound, and one beyond it.
@Suite("the page of limits, held against the program")
struct LimitsPageTests {
    private struct Row {
        let what: String
        let bound: Int
        let said: String
    }

    /// A command, and the files that it reads.
    private struct Attempt: Sendable {
        var arguments: [String]
        var files: [(name: String, text: String)] = []
        /// Files without content, as long as this.
        var empty: [(name: String, bytes: Int)] = []
        /// Whether an input at the bound is made, too; some of them take seconds.
        var isCheap = true
    }

    private static func rows() throws -> [Row] {
        let page = "Sources/plimsoll/plimsoll.docc/Limits.md"
        let text = try Program.text(Program.root.appending(path: page))
        return try text.split(separator: "\n").filter { $0.hasPrefix("| ") && !$0.hasPrefix("| what |") }.map { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            return Row(what: cells[0], bound: try #require(Int(cells[1]), "\(line)"), said: cells[2])
        }
    }

    @Test("what is at a bound is not refused for it, and what is beyond it is, in the words of the page")
    func rows() throws {
        let rows = try Self.rows()
        #expect(rows.map(\.what).sorted() == Self.attempts.keys.sorted())
        let folder = try Program.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        for row in rows {
            guard let attempt = Self.attempts[row.what] else { continue }
            let beyond = try Self.run(attempt(row.bound + 1), in: folder)
            let expected = row.said.replacing(#/\bN\b/#, with: "\(row.bound + 1)")
            #expect([64, 65].contains(beyond.status), "\(row.what): \(beyond.status) \(beyond.error)")
            #expect(beyond.error.contains(expected), "\(row.what): \(beyond.error.prefix(400))")
            guard attempt(row.bound).isCheap else { continue }
            let at = try Self.run(attempt(row.bound), in: folder)
            let unexpected = row.said.replacing(#/\bN\b/#, with: "\(row.bound)")
            #expect(!at.error.contains(unexpected), "\(row.what): \(at.error.prefix(400))")
        }
    }

    private static func run(_ attempt: Attempt, in folder: URL) throws -> Program.Result {
        for (name, text) in attempt.files { try Data(text.utf8).write(to: folder.appending(path: name)) }
        for (name, bytes) in attempt.empty {
            let path = folder.appending(path: name).path()
            try Data().write(to: folder.appending(path: name))
            try #require(truncate(path, bytes) == 0)
        }
        return try Program.run(attempt.arguments, in: folder)
    }

    // MARK: Inputs

    private static let apps = "apps: [{ name: a }]"

    private static func scenario(
        _ more: String, head: String = "name: x\nduration: 1s", device: String = "ceiling: 64MiB", isCheap: Bool = true
    ) -> Attempt {
        let text = "plimsoll: 1\n\(head)\ndevice: { \(device) }\n\(more)\n"
        return Attempt(arguments: ["validate", "s.yaml"], files: [("s.yaml", text)], isCheap: isCheap)
    }

    private static func list(_ count: Int, _ element: (Int) -> String) -> String {
        "[" + (0..<count).map(element).joined(separator: ", ") + "]"
    }

    private static func experiment(_ command: String, _ words: String...) -> Attempt {
        // The scenario is missing, which comes after the options.
        Attempt(arguments: [command, "none.yaml"] + words + ["--out", "none"])
    }

    private static func trace(_ text: String) -> Attempt {
        Attempt(arguments: ["import", "memory-replay", "t.txt"], files: [("t.txt", text)])
    }

    private static func empty(_ name: String, _ bytes: Int, _ arguments: String...) -> Attempt {
        // At the bound the file would be read.
        Attempt(arguments: arguments + [name], empty: [(name, bytes)], isCheap: false)
    }

    /// An archive without compression; its checksums are not looked at before its files are counted.
    private static func archive(_ count: Int) -> Attempt {
        func number(_ value: Int, _ bytes: Int) -> [UInt8] { (0..<bytes).map { UInt8(value >> (8 * $0) & 0xff) } }
        var (bytes, directory): ([UInt8], [UInt8]) = ([], [])
        for index in 0..<count {
            let name = Array("\(index)".utf8)
            let sizes = number(0, 4) + number(1, 4) + number(1, 4) + number(name.count, 2)
            directory += number(0x0201_4b50, 4) + number(20, 2) + number(20, 2) + number(0, 8) + sizes
            directory += number(0, 12) + number(bytes.count, 4) + name
            bytes += number(0x0403_4b50, 4) + number(20, 2) + number(0, 8) + sizes + number(0, 2) + name + [0x41]
        }
        let end = number(0x0605_4b50, 4) + number(0, 4) + number(count, 2) + number(count, 2)
        let whole = bytes + directory + end + number(directory.count, 4) + number(bytes.count, 4) + number(0, 2)
        return trace(String(decoding: whole, as: UTF8.self))
    }

    private static func usage(_ rows: String, isCheap: Bool = true) -> Attempt {
        Attempt(
            arguments: ["import", "app-usage", "u.csv"], files: [("u.csv", "timestamp,user,app,event\n" + rows)],
            isCheap: isCheap)
    }

    private static let attempts = ofScenarios.merging(ofOthers) { first, _ in first }

    private static let ofScenarios: [String: @Sendable (Int) -> Attempt] = [
        "bytes of a scenario": { empty("s.yaml", $0, "validate") },
        "bytes of a policy file": { bytes in
            var attempt = scenario(apps, isCheap: false)
            attempt.arguments += ["--policy", "./p.yaml"]
            attempt.empty = [("p.yaml", bytes)]
            return attempt
        },
        "levels of nesting": { levels in
            // The scenario itself is a level.
            let (open, close) = (String(repeating: "[", count: levels - 1), String(repeating: "]", count: levels - 1))
            return scenario("\(apps)\nx: \(open)\(close)")
        },
        "keys and values, aliases resolved": { count in
            scenario(
                "\(apps)\nx: &a \(list(999) { _ in "~" })\ny: \(list(count / 1_000 + 1) { _ in "*a" })", isCheap: false)
        },
        "apps": { scenario("apps: \(list($0) { "{ name: a\($0) }" })", isCheap: false) },
        "entries of processes": { scenario("\(apps)\nprocesses: \(list($0) { _ in "~" })") },
        "entries of start": { scenario("\(apps)\nstart: \(list($0) { _ in "~" })") },
        "events of one entry with every": { count in
            scenario(
                "\(apps)\nuser: [{ every: 1s, from: 1s, to: \(count)s, launch: a }]", head: "name: x\nduration: 2d")
        },
        "events of all entries of user": { count in
            let entry = "{ every: 1s, from: 1s, to: 100000s, launch: a }"
            let rest = count % 100_000 == 0 ? "" : ", { at: 1s, home: true }"
            let entries = Array(repeating: entry, count: count / 100_000).joined(separator: ", ")
            return scenario("\(apps)\nuser: [\(entries)\(rest)]", head: "name: x\nduration: 2d", isCheap: false)
        },
        "names in limits.protected": { scenario("\(apps)\nlimits: { protected: \(list($0) { _ in "a" }) }") },
        "claims in expect": { scenario("\(apps)\nexpect: \(list($0) { _ in "terminations == 0" })") },
        "claims of all rules": { count in
            let claims = "{ all: \(list(100) { _ in "available < 5%" }) }"
            let rest = count % 100 == 0 ? "" : ", { do: terminate, when: available < 5% }"
            let rules = list(count / 100) { _ in "{ do: terminate, when: \(claims) }" }.dropLast()
            return scenario("\(apps)\npolicy: { name: ladder, rules: \(rules)\(rest)] }", isCheap: false)
        },
        "MiB of a ceiling": { scenario(apps, device: "ceiling: \($0)MiB") },
        "MiB of a ceiling with a compressor": { scenario(apps, device: "ceiling: \($0)MiB, compressor: {}") },
        "characters of a name": { count in
            scenario(apps, head: "name: \(String(repeating: "x", count: count))\nduration: 1s")
        },
        "characters of a description": { count in
            scenario(apps, head: "name: x\nduration: 1s\ndescription: \(String(repeating: "x", count: count))")
        },
        "days of a duration": { scenario(apps, head: "name: x\nduration: \($0)d") },
    ]

    private static let ofOthers: [String: @Sendable (Int) -> Attempt] = [
        "seeds of compare and sweep": {
            experiment("compare", "--policy", "ladder", "--policy", "jetsam", "--seeds", "1..\($0)")
        },
        "seeds of survive": { experiment("survive", "--app", "a", "--seeds", "1..\($0)") },
        "values of one --vary": { experiment("sweep", "--vary", "device.ceiling=64MiB..65MiB/\($0)") },
        "combinations of --sample": {
            experiment("sweep", "--vary", "device.ceiling=64MiB..65MiB", "--sample", "lhs:\($0)")
        },
        "parts of a sweep": { experiment("sweep", "--vary", "device.ceiling=64MiB..65MiB/2", "--shard", "1/\($0)") },
        "bytes of a line of a trace": { bytes in
            let word = "1: malloc 0x10 8"
            return trace(word + String(repeating: " ", count: bytes - word.count) + "\n")
        },
        "bytes of an object of a trace": { trace("1: malloc 0x10 \($0)\n") },
        "files in an archive": { archive($0) },
        "bytes of a JetsamEvent report": { empty("r.ips", $0, "import", "jetsam-event") },
        "levels of nesting of a report": { levels in
            let (open, close) = (String(repeating: "[", count: levels - 1), String(repeating: "]", count: levels - 1))
            return Attempt(
                arguments: ["import", "jetsam-event", "r.ips"], files: [("r.ips", "{\"a\": \(open)\(close)}\n{}")])
        },
        "bytes of a usage trace": { empty("u.csv", $0, "import", "app-usage") },
        "apps of a usage trace": { count in
            usage((0..<count).map { "\($0),a,app\($0),opened\n" }.joined(), isCheap: false)
        },
        "days of a usage trace": { usage("1,a,b,opened\n\($0 * 86_400 - 60),a,b,closed\n") },
        "bytes of a kernel's log": { empty("k.log", $0, "import", "kernel-oom") },
    ]
}
