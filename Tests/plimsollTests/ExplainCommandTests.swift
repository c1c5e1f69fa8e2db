import Foundation
import Scenario
import Testing

@Suite("plimsoll explain, as a person runs it", .serialized)
struct ExplainCommandTests {
    /// Runs the tiny scenario, in which `lru` ends `a`.
    private func run(_ out: String = "r", _ arguments: [String] = [], in folder: URL) throws {
        let result = try Program.run(["run", "tiny.yaml", "--quiet", "--out", out] + arguments, in: folder)
        #expect(result.status == 0, "\(result.error)")
    }

    private func edit(_ file: URL, _ old: String, _ new: String) throws {
        let text = try Program.text(file)
        #expect(text.contains(old), "\(file.lastPathComponent) has no \(old)")
        try Data(text.replacingOccurrences(of: old, with: new).utf8).write(to: file)
    }

    @Test("with few descriptors explain ends with one line or with its answer")
    func fewFiles() throws {
        try Experiments.within { folder in
            try run(in: folder)
            let whole = try Program.run(["explain", "r", "--most", "1"], in: folder).out
            for most in 4...8 {
                let result = try Program.run(
                    ["explain", "r", "--most", "1"], in: folder, shell: "ulimit -n \(most); exec \"$@\"")
                let lines = result.error.split(separator: "\n").count
                #expect(
                    result.status == 0 && result.out == whole || [66, 71, 73].contains(result.status) && lines == 1,
                    "\(most): \(result.status) \(result.error)")
            }
        }
    }

    @Test("processes that live when the run begins, as in an imported report, have remedies")
    func started() throws {
        try Experiments.within { folder in
            let text = """
                plimsoll: 1
                name: started
                duration: 40s
                backend: accounting
                device: { ceiling: 300MiB }
                policy: earlyoom
                apps:
                  - { name: front, like: plain, memory: { base: 120MiB, leak: 4MiB/s, scene: 0B } }
                  - { name: old, like: plain, memory: { base: 40MiB, scene: 0B } }
                start:
                  - { process: old, state: suspended }
                  - { process: front, state: front }
                user: []
                """
            try Data(text.utf8).write(to: folder.appending(path: "s.yaml"))
            #expect(try Program.run(["run", "s.yaml", "--quiet", "--out", "s"], in: folder).status == 0)
            let result = try Program.run(["explain", "s", "--app", "old"], in: folder)
            #expect(result.out.contains("plimsoll run s/scenario.yaml --set "), "\(result.out)\(result.error)")
            #expect(result.out.contains("oom_score_adj") && !result.out.contains("has no process"), "\(result.out)")
        }
    }

    @Test("a run that plays a trace is explained")
    func trace() throws {
        try Experiments.within { folder in
            let lines = (1...2_000).map { "1: malloc 0x\(String($0 * 16, radix: 16)) 4000" }
            try Data(lines.joined(separator: "\n").utf8).write(to: folder.appending(path: "t.txt"))
            let traced = "memory: { base: 25MiB, trace: { file: t.txt, pace: 1000/s } }"
            try edit(
                folder.appending(path: "tiny.yaml"), "memory: { base: 25MiB, cache: { size: 8MiB } }", traced)
            try run(in: folder)
            let result = try Program.run(["explain", "r", "--most", "1"], in: folder)
            #expect(result.status == 0 && result.out.contains("was ended by the policy lru"), "\(result.error)")
        }
    }

    @Test("only what the run did is explained, and what is missing is said")
    func incomplete() throws {
        try Experiments.within { folder in
            try run(in: folder)
            let explain = ["explain", "r"]
            let whole = try Program.run(explain, in: folder)
            #expect(whole.status == 0 && whole.error == "" && whole.out.contains("was ended"), "\(whole.error)")

            // The run as if interrupted at its first sample.
            let manifest = folder.appending(path: "r/manifest.json")
            let complete = try Program.text(manifest)
            try edit(manifest, #""ending" : "completed""#, #""ending" : "interrupted""#)
            let object = try JSONSerialization.jsonObject(with: Data(try Program.text(manifest).utf8))
            let events = try #require((object as? [String: Any])?["queue_events"] as? Int)
            try edit(manifest, #""queue_events" : \#(events)"#, #""queue_events" : 1"#)
            let decisions = folder.appending(path: "r/decisions.csv")
            let rows = try Program.text(decisions)
            let header = String(rows.prefix { $0 != "\n" }) + "\n"
            try Data(header.utf8).write(to: decisions)
            let cut = try Program.run(explain, in: folder)
            #expect(cut.status == 0 && cut.out.contains("ended no app in this run, as far as it came."), "\(cut.out)")
            #expect(cut.error == "plimsoll: warning: this run was interrupted; it is explained as far as it came\n")

            // The run as if killed: it has no manifest, and the record ends before the first termination.
            try FileManager.default.removeItem(at: manifest)
            let killed = try Program.run(explain, in: folder)
            #expect(
                killed.out.contains("ended no app") && killed.error.contains("no r/manifest.json"), "\(killed.error)")
            // A damaged manifest is not a missing one.
            try Data("{".utf8).write(to: manifest)
            let damaged = try Program.run(explain, in: folder)
            #expect(damaged.error.contains("r/manifest.json is not the manifest of a run"), "\(damaged.error)")
            try FileManager.default.removeItem(at: manifest)
            // While the run is in progress there is no manifest yet.
            let descriptor = open(folder.appending(path: "r").path(), O_RDONLY)
            #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
            let early = try Program.run(explain, in: folder)
            #expect(early.error.contains("r is still being written; it is explained up to"), "\(early.error)")
            close(descriptor)
            // With its decisions on record the run can be explained again.
            try Data(rows.utf8).write(to: decisions)
            #expect(try Program.run(explain, in: folder).out == whole.out)

            // Without decisions nothing can be compared; without a manifest, too, nothing is known about the run.
            try FileManager.default.removeItem(at: decisions)
            let nothing = try Program.run(explain, in: folder)
            #expect(nothing.status == 66 && nothing.error.contains("nothing says how far the run"), "\(nothing.error)")
            try Data(complete.utf8).write(to: manifest)
            let uncompared = try Program.run(explain, in: folder)
            #expect(uncompared.out == whole.out)
            #expect(uncompared.error.contains("there is no r/decisions.csv to compare with"), "\(uncompared.error)")
        }
    }

    @Test("a seed that was edited in the run's scenario is noticed")
    func editedSeed() throws {
        try Experiments.within { folder in
            try run(in: folder)
            try edit(folder.appending(path: "r/scenario.yaml"), "seed: 5", "seed: 6")
            let result = try Program.run(["explain", "r"], in: folder)
            #expect(result.error.contains("has seed 6, but the run was made with seed 5"), "\(result.error)")
        }
    }

    @Test("in a dry run nobody was ended, and manifest, summary and explain say so")
    func dryRun() throws {
        try Experiments.within { folder in
            let dry = try Program.run(["run", "tiny.yaml", "--dry-run", "--out", "r"], in: folder)
            #expect(dry.out.contains("dry run"), "\(dry.out)")
            #expect(try Program.text(folder.appending(path: "r/manifest.json")).contains(#""dry_run" : true"#))
            let result = try Program.run(["explain", "r"], in: folder)
            #expect(result.status == 0 && result.error == "" && result.out.contains("This was a dry run"))
            try run("wet", in: folder)
            #expect(try Program.text(folder.appending(path: "wet/manifest.json")).contains(#""dry_run" : false"#))
        }
    }

    @Test("an end that the policy did not order is explained, too; where there is none, the others are counted")
    func otherwise() throws {
        try Experiments.within { folder in
            try run("r", ["--policy", "none", "--set", "device.ceiling=64MiB"], in: folder)
            let all = try Program.run(["explain", "r"], in: folder)
            #expect(all.out.contains(" was ended by the system, "), "\(all.out)")
            #expect(all.out.contains("(memoryPressure)") && all.out.contains("no room for "), "\(all.out)")
            let quit = "user=[{ at: 0s, launch: a }, { at: 5s, quit: a }]"
            try run("s", ["--policy", "none", "--set", quit], in: folder)
            let none = try Program.run(["explain", "s", "--app", "a"], in: folder)
            #expect(none.out.hasPrefix("a was not ended by the system in this run. These ends"), "\(none.out)")
            #expect(none.out.contains("\n  userTerminated: 1\n"), "\(none.out)")
            // There it goes on: a command that answers.
            let next = try #require(none.out.split(separator: "\n").last).trimmingCharacters(in: .whitespaces)
            #expect(next.hasSuffix("survive s/scenario.yaml --app a"), "\(none.out)")
            let asked = try Program.run([], in: folder, shell: next + " --seeds 1..2 --share-only --out t")
            #expect(asked.status == 0 && asked.out.contains("survives in"), "\(asked)")
        }
    }

    @Test("a misspelt app is answered with the one that was probably meant, any other word with all of them")
    func misspelt() throws {
        try Experiments.within { folder in
            try edit(folder.appending(path: "tiny.yaml"), "name: b,", "name: browser,")
            try edit(folder.appending(path: "tiny.yaml"), "launch: b }", "launch: browser }")
            try run(in: folder)
            let near = try Program.run(["explain", "r", "--app", "brwoser"], in: folder)
            let message = "plimsoll: the run has no app 'brwoser'; did you mean 'browser'?\n"
            #expect(near.status == 65 && near.error == message, "\(near.error)")
            let far = try Program.run(["explain", "r", "--app", "zzzzzz"], in: folder)
            #expect(far.status == 65 && far.error.contains("'zzzzzz'; valid apps: a, browser"), "\(far.error)")
        }
    }

    @Test("a claim about the seed holds where it is true, and fails where it is not")
    func seedClaim() throws {
        try Experiments.within { folder in
            try run("r", ["--set", "expect=[seed == 5]"], in: folder)
            let other = try Program.run(
                ["run", "tiny.yaml", "--quiet", "--out", "s", "--set", "expect=[seed == 4]"], in: folder)
            #expect(other.status == 99 && other.error.contains("(observed 5)"), "\(other.error)")
            let absent = try Program.run(
                [
                    "run", "tiny.yaml", "--quiet", "--out", "t", "--set", "user=[]", "--set",
                    "expect=[hot_launch_ratio > 0]",
                ],
                in: folder)
            #expect(absent.status == 99 && absent.error.contains("(this run has no such value)"), "\(absent.error)")
        }
    }

    @Test(
        "a shell reads a quoted word as what was meant",
        arguments: ["plain/path.yaml", "a b", "it's", "'", "", "$HOME `x` \"q\" \\", "a=[b, c]", "~x", "*?;&|<>(){}!#"])
    func words(word: String) throws {
        try Experiments.within { folder in
            let shell = "printf '%s' \(ShellWord.quoted(word)) > word"
            let result = try Program.run([], in: folder, shell: shell)
            #expect(result.status == 0, "\(result.error)")
            #expect(try Program.text(folder.appending(path: "word")) == word)
        }
    }

    /// What `explain --format json` writes.
    private struct Document: Decodable {
        struct Paragraph: Decodable, Equatable { let label: String, sentences: [String] }
        struct Remedy: Decodable { let actor, kind, words, command: String, assignments: [String] }
        struct Explained: Decodable {
            let app, head: String
            let pid: Int
            let atS, sinceS: Double
            let wasForeground, wasPerceived: Bool
            let cause: [[String: String]]
            let spared: [[String: String]]
            let remedies: [Remedy]
            let words: [Paragraph]
        }
        let format: Int
        let scenario: String
        let warnings: [String]
        let note: String?
        let explanations: [Explained]
    }

    private func document(_ arguments: [String], in folder: URL) throws -> (document: Document, error: String) {
        let result = try Program.run(["explain"] + arguments + ["--format", "json"], in: folder)
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return (try decoder.decode(Document.self, from: Data(result.out.utf8)), result.error)
    }

    @Test("as JSON, stdout is one document that says all that --all says; --felt chooses the ends that the user felt")
    func json() throws {
        try Experiments.within { folder in
            try run(in: folder)
            let (said, error) = try document(["r", "--most", "50"], in: folder)
            #expect(error.isEmpty && said.format == 1 && said.scenario == "r/scenario.yaml" && said.warnings.isEmpty)
            let all = try Program.run(["explain", "r", "--all", "--most", "50"], in: folder)
            let words = all.out.split(whereSeparator: \.isWhitespace)
            let rendered = said.explanations.map { end in
                ([end.head] + end.words.flatMap { ["\($0.label):"] + $0.sentences }).joined(separator: " ")
            }
            #expect(rendered.joined(separator: " ").split(separator: " ") == words)
            let first = try #require(said.explanations.first)
            #expect(first.app == "a" && first.atS > first.sinceS && first.cause.count == 3 && !first.remedies.isEmpty)
            for remedy in first.remedies {
                #expect(["app", "user", "device", "policy"].contains(remedy.actor) && !remedy.assignments.isEmpty)
                #expect(all.out.contains(remedy.command), "\(remedy.command)")
            }
            let felt = try document(["r", "--felt"], in: folder).document.explanations.map(\.pid)
            let wanted = said.explanations.filter { $0.wasForeground || $0.wasPerceived }.map(\.pid)
            #expect(felt == wanted && !felt.isEmpty && felt.count < said.explanations.count)
            #expect(try Program.run(["explain", "r", "--felt", "--most", "1"], in: folder).status == 64)
        }
    }

    @Test("as JSON, what is missing and why nothing is explained is said in the document, too")
    func jsonWithoutExplanation() throws {
        try Experiments.within { folder in
            try run(in: folder)
            try FileManager.default.removeItem(at: folder.appending(path: "r/decisions.csv"))
            let (said, error) = try document(["r"], in: folder)
            #expect(said.warnings.map { "plimsoll: warning: \($0)\n" } == [error] && said.note == nil)
            try run("none", ["--policy", "none"], in: folder)
            let none = try document(["none"], in: folder).document
            #expect(none.note == "The system ended no app in this run." && none.explanations.isEmpty)
            try run("dry", ["--dry-run"], in: folder)
            #expect(try document(["dry"], in: folder).document.note?.hasPrefix("This was a dry run") == true)
        }
    }

    /// What `explain --guesses --format json` writes.
    private struct GuessDocument: Decodable {
        struct Value: Decodable {
            let text: String
            let isOwn: Bool
            let ends, felt, expectationsHeld: Int
        }
        struct Guess: Decodable { let title, key, source: String, values: [Value] }
        struct Draw: Decodable { let values: [String], ends, felt, expectationsHeld: Int }
        struct Claim: Decodable { let text: String, held: Int }
        struct Exception: Decodable { let title, text: String }
        struct End: Decodable { let app, reason: String, times: Int, isOwn: Bool, unless: [Exception] }
        let format, runs: Int
        let scenario: String
        let guesses: [Guess]
        let draws: [Draw]
        let expectations: [Claim]
        let ends: [End]
    }

    @Test("--guesses says what hangs on them, as text and as JSON; where there are none, it says so")
    func guesses() throws {
        try Experiments.within { folder in
            try run("r", ["--set", "device.compressor={}", "--set", "expect=[seed == 5]"], in: folder)
            let text = try Program.run(["explain", "r", "--guesses"], in: folder)
            #expect(text.status == 0 && text.error == "", "\(text.error)")
            #expect(text.out.hasPrefix("tiny: 3 guesses one at a time, and 40 draws of all: "), "\(text.out)")
            #expect(text.out.contains("seed == 5") && text.out.contains("\nWHAT DECIDES, in ends"), "\(text.out)")
            let json = try Program.run(["explain", "r", "--guesses", "--format", "json"], in: folder)
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            let said = try decoder.decode(GuessDocument.self, from: Data(json.out.utf8))
            #expect(said.format == 1 && said.scenario == "r/scenario.yaml" && said.draws.count == 40)
            #expect(said.expectations.map(\.text) == ["seed == 5"] && said.expectations[0].held == said.runs)
            let ended = try Experiments.rows(folder.appending(path: "r/terminations.csv"))
            for guess in said.guesses {
                #expect(guess.values.count == 5 && !guess.key.isEmpty && !guess.source.isEmpty, "\(guess.title)")
                #expect(guess.values.filter(\.isOwn).map(\.ends) == [ended.count], "\(guess.title)")
            }
            #expect(Set(said.ends.filter(\.isOwn).map(\.app)) == Set(ended.compactMap { $0["app"] }))
            #expect(said.ends.allSatisfy { $0.isOwn || $0.unless.isEmpty })
            for option in [["--all"], ["--felt"], ["--most", "2"], ["--at", "3s"]] {
                let both = try Program.run(["explain", "r", "--guesses"] + option, in: folder)
                #expect(both.status == 64 && both.error.contains("--guesses asks about the whole run"), "\(option)")
            }
            try run("plain", in: folder)
            let none = try Program.run(["explain", "plain", "--guesses"], in: folder)
            #expect(none.status == 0 && none.out.hasPrefix("Nothing in this run hangs on a guess: "), "\(none.out)")
        }
    }

    @Test("commands run as they are printed, whatever the folder is called; --most is at least 1")
    func commands() throws {
        try Experiments.within { folder in
            let rules = "policy={ name: ladder, rules: [{ name: room, when: available < 25%, order: largest }] }"
            try run("it's a run", ["--set", rules], in: folder)
            let explained = try Program.run(["explain", "it's a run", "--most", "1"], in: folder)
            let printed = try #require(explained.out.split(separator: "\n").last { $0.contains("plimsoll run ") })
            let shell = "exe=$1; plimsoll() { \"$exe\" \"$@\"; }; \(printed) --quiet --out saved"
            let saved = try Program.run([], in: folder, shell: shell)
            #expect(saved.status == 0, "\(printed): \(saved.error)")
            #expect(FileManager.default.fileExists(atPath: folder.appending(path: "saved/summary.csv").path()))
            #expect(try Program.run(["explain", "it's a run", "--most", "0"], in: folder).status == 64)
        }
    }
}
