import Foundation
import Testing

@Suite("the help of every command")
struct HelpTests {
    /// The commands that no list of subcommands shows.
    private static let hidden = [["case"], ["cases"], ["serve"], ["build-id"], ["verdict"]]

    /// The commands whose option `--help` shows the help of their Python part.
    private static let python = [["plot"], ["report"], ["tune"]]

    /// The lines of a command's help on a terminal of 80 columns.
    private func help(_ command: [String], in folder: URL) throws -> [String] {
        let words = Self.python.contains(command) ? ["help"] + command : command + ["--help"]
        let result = try Program.run(words, in: folder, shell: "COLUMNS=80 exec \"$@\"")
        #expect(result.status == 0 && result.error.isEmpty, "\(command): \(result.error)")
        return result.out.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// Every command with its help: the program itself, then all subcommands, as the help lists them.
    private func all(in folder: URL) throws -> [(command: [String], help: [String])] {
        var found: [(command: [String], help: [String])] = []
        var open = [[]] + Self.hidden
        while !open.isEmpty {
            let command = open.removeFirst()
            let lines = try help(command, in: folder)
            found.append((command, lines))
            guard let list = lines.firstIndex(of: "SUBCOMMANDS:") else { continue }
            // A line of the list begins with two blanks and a name, the rest of a text with more blanks.
            for line in lines[(list + 1)...].prefix(while: { !$0.isEmpty }) where line.dropFirst(2).first != " " {
                open.append(command + [String(line.dropFirst(2).prefix { $0 != " " })])
            }
        }
        return found
    }

    private func within(_ body: (URL) throws -> Void) throws {
        let folder = try Program.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    // MARK: Lines

    /// Whether `line` ends although the first word of the next line would have fitted.
    private func isBrokenEarly(_ line: String, before next: String) -> Bool {
        let word = next.drop { $0 == " " }.prefix { $0 != " " }
        // ArgumentParser leaves the last column free.
        return line.count + 1 + word.count < 80
    }

    /// Where the help breaks a line that it should not break.
    private func faults(of help: [String]) -> [String] {
        let usage = help.firstIndex { $0.hasPrefix("USAGE: ") } ?? help.endIndex
        var faults = help.filter { $0.count > 80 }.map { "longer than 80 columns: \($0)" }
        for (line, next) in zip(help[..<usage], help[..<usage].dropFirst()) where !line.isEmpty && !next.isEmpty {
            let (isIndented, isNextIndented) = (line.first == " ", next.first == " ")
            if isIndented && !isNextIndented { faults.append("an indented line is wrapped: \(line)") }
            if !isIndented && !isNextIndented && isBrokenEarly(line, before: next) {
                faults.append("wrapped twice: \(line)")
            }
        }
        // The texts of arguments, options and subcommands begin in the 27th column.
        let margin = String(repeating: " ", count: 26)
        for (line, next) in zip(help[usage...], help[usage...].dropFirst()) where next.hasPrefix(margin) {
            if line.dropFirst(25).first == " " && isBrokenEarly(line, before: next) {
                faults.append("wrapped twice: \(line)")
            }
        }
        return faults
    }

    @Test("fits into 80 columns, and is wrapped once")
    func wrapping() throws {
        try within { folder in
            let all = try all(in: folder)
            #expect(all.count >= 17)
            for (command, help) in all { #expect(faults(of: help) == [], "plimsoll \(command.joined(separator: " "))") }
        }
    }

    @Test("a text that is wrapped by hand, too, or too long for a line is noticed")
    func wrappingTwice() {
        let twice = ["OVERVIEW: A sentence that is broken", "by hand.", "USAGE: x"]
        let long = ["OVERVIEW: x", "  plimsoll run a", "--out b", "USAGE: " + String(repeating: "x", count: 80)]
        let margin = String(repeating: " ", count: 26)
        let option = ["USAGE: x", "  --out <out>             The folder", margin + "to write."]
        #expect([twice, long, option].map { faults(of: $0).count } == [1, 2, 1])
    }

    // MARK: Examples

    /// The examples of a help, each as a person would copy it, over several lines if it ends with a backslash.
    private func examples(in help: [String]) -> [String] {
        var examples: [String] = []
        var isOpen = false
        for line in help.prefix(while: { !$0.hasPrefix("USAGE: ") }) {
            let text = line.trimmingCharacters(in: .whitespaces)
            if isOpen {
                examples[examples.count - 1] += "\n" + line
            } else if text.hasPrefix("plimsoll ") {
                examples.append(line)
            } else {
                continue
            }
            isOpen = line.hasSuffix("\\")
        }
        return examples
    }

    /// The scenarios and policy files that an example names.
    private func files(in example: String) -> [String] {
        example.matches(of: #/Scenarios/[A-Za-z0-9/-]+\.yaml/#).map { String($0.output) }
    }

    private static let inputs = [
        "trace.txt": "1: malloc 0x1 100\n1: free 0x1\n",
        "usage.csv": "timestamp,user,app,event\n100,17,Chrome,opened\n160,17,Chrome,closed\n170,18,Mail,opened\n",
        "lsapp.tsv": [
            "user_id\tsession_id\ttimestamp\tapp_name\tevent_type", "0\t1\t2018-01-16 06:01:05\tYouTube\tOpened",
            "0\t1\t2018-01-16 06:02:05\tYouTube\tClosed", "0\t2\t2018-01-16 09:00:00\tChrome\tOpened",
            "0\t2\t2018-01-16 09:00:20\tChrome\tClosed", "",
        ].joined(separator: "\n"),
        "JetsamEvent-2020-10-15-172958.ips": """
        {"bug_type":"298","os_version":"iPhone OS 14.0.1 (18A393)"}
        { "memoryStatus" : { "pageSize" : 16384, "memoryPages" :
            { "active" : 4000, "inactive" : 4000, "free" : 3000, "wired" : 2000 } },
          "processes" : [
            { "name" : "Notes", "rpages" : 900, "priority" : 0, "states" : ["suspended"] },
            { "name" : "Maps", "rpages" : 1900, "priority" : 100, "states" : ["frontmost"] } ] }
        """,
    ]

    /// A folder as the examples expect it, with small scenarios under the names of those that the project has.
    private func furnish(_ folder: URL, for examples: [String]) throws {
        let scenarios = folder.appending(path: "Scenarios")
        try FileManager.default.createDirectory(at: scenarios, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            at: scenarios.appending(path: "policies"),
            withDestinationURL: Program.root.appending(path: "Scenarios/policies"))
        let small = Experiments.tiny.replacing("name: a,", with: "name: weather,")
            .replacing("launch: a", with: "launch: weather").replacing("switch: a", with: "switch: weather")
        for file in Set(examples.flatMap(files)) where !file.contains("/policies/") {
            let name = URL(filePath: file).deletingPathExtension().lastPathComponent
            let text = small.replacing("name: tiny", with: "name: \(name)")
            try Data(text.utf8).write(to: folder.appending(path: file))
        }
        let report = try String(contentsOf: WhyCommandTests.log, encoding: .utf8)
        try Data(String(repeating: report, count: 3).utf8).write(to: folder.appending(path: "kern.log"))
        for (name, text) in Self.inputs { try Data(text.utf8).write(to: folder.appending(path: name)) }
    }

    /// The example with three seeds in place of many.
    private func shortened(_ example: String) -> String {
        example.replacing(#/--seeds 1\.\.[0-9]{2}/#, with: "--seeds 1..3")
    }

    @Test("every example can be copied and run, in the order in which the help has them")
    func run() throws {
        try within { folder in
            let helps = try all(in: folder).map { ($0.command, examples(in: $0.help)) }
            #expect(helps.filter { $0.1.isEmpty }.map { $0.0 } == Self.hidden)
            let python = Program.root.appending(path: ".venv/bin/python").path()
            let hasPython = FileManager.default.isExecutableFile(atPath: python)
            for (command, examples) in helps where !examples.isEmpty {
                guard hasPython || !Self.python.contains(command) else { continue }
                let place = folder.appending(path: "help of plimsoll \(command.joined(separator: " "))")
                try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
                try furnish(place, for: examples)
                for example in examples {
                    for file in files(in: example).map({ Program.root.appending(path: $0).path() }) {
                        #expect(FileManager.default.fileExists(atPath: file), "\(file)")
                    }
                    // The program is found as a person's shell finds it.
                    let result = try Program.run([], in: place, shell: "PATH=\"${1%/*}:$PATH\"\n" + shortened(example))
                    #expect(result.status == 0, "\(example): \(result.status) \(result.error)")
                }
            }
        }
    }
}
