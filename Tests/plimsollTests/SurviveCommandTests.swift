import Foundation
import Testing

@Suite("plimsoll survive, as a person runs it", .serialized)
struct SurviveCommandTests {
    private let question = [
        "survive", "tiny.yaml", "--app", "a", "--seeds", "1..6", "--footprint", "20MiB..60MiB", "--set",
        "user=[{ at: 0s, launch: a }, { from: 2s, to: 12s, model: commuter }]",
    ]

    private static let tables = [
        "survival.csv", "background.csv", "ends.csv", "settings.csv", "runs.csv", "stays.csv", "answer.txt",
        "plan.json", "datapackage.json", "scenario.yaml",
    ]

    private func bytes(_ folder: URL, _ file: String) throws -> Data {
        try Data(contentsOf: folder.appending(path: file))
    }

    @Test("the answer, its tables and their package do not depend on the number of jobs")
    func jobs() throws {
        try Experiments.within { folder in
            let one = try Program.run(question + ["--jobs", "1", "--out", "one"], in: folder)
            let two = try Program.run(question + ["--jobs", "2", "--out", "two"], in: folder)
            #expect(one.status == 0 && two.status == 0, "\(one.error)\(two.error)")
            for file in Self.tables {
                #expect(try bytes(folder, "one/\(file)") == bytes(folder, "two/\(file)"), "\(file)")
            }
            let answer = try #require(try Experiments.rows(folder.appending(path: "one/survival.csv")).first)
            #expect(answer["app"] == "a" && answer["runs"] == "6")
            let text = String(decoding: try bytes(folder, "one/answer.txt"), as: UTF8.self)
            #expect(text.contains("a survives in \(answer["lived"] ?? "") of 6 runs"), "\(text)")
            #expect(one.out.hasPrefix(text.split(separator: "\n")[0]))
            let settings = try Experiments.rows(folder.appending(path: "one/settings.csv"))
            let runs = try Experiments.rows(folder.appending(path: "one/runs.csv"))
            #expect(runs.count == settings.reduce(0) { $0 + (Int($1["runs"] ?? "") ?? 0) })
            #expect(settings.contains { $0["kind"] == "footprint" } && settings.contains { $0["kind"] == "change" })
        }
    }

    @Test("a command that was interrupted goes on with --resume, without a run made twice, to the same answer")
    func resuming() throws {
        try Experiments.within { folder in
            #expect(try Program.run(question + ["--out", "whole", "--quiet"], in: folder).status == 0)
            let arguments = question + ["--out", "part", "--quiet"]
            #expect(try Program.run(arguments, in: folder).status == 0)
            // As a killed process leaves it: some of the runs, the last one torn.
            let ledger = folder.appending(path: "part/ledger.txt")
            let lines = try String(contentsOf: ledger, encoding: .utf8).split(separator: "\n")
            let kept = lines.prefix(5).joined(separator: "\n") + "\n" + lines[5].prefix(9)
            try Data(kept.utf8).write(to: ledger)
            try FileManager.default.removeItem(at: folder.appending(path: "part/survival.csv"))
            #expect(try Program.run(arguments + ["--resume"], in: folder).status == 0)
            for file in Self.tables {
                #expect(try bytes(folder, "whole/\(file)") == bytes(folder, "part/\(file)"), "\(file)")
            }
            let after = try String(contentsOf: ledger, encoding: .utf8).split(separator: "\n")
            #expect(after.count == lines.count && Array(after.prefix(5)) == Array(lines.prefix(5)))
            let other = try Program.run(arguments + ["--resume", "--probability", "50%"], in: folder)
            #expect(other.status == 65 && other.error.contains("begun with another question"), "\(other.error)")
        }
    }

    @Test("an app of the catalogue needs no scenario; a report is one")
    func withoutFile() throws {
        try Experiments.within { folder in
            let like = try Program.run(
                ["survive", "--like", "weather", "--seeds", "1..2", "--share-only", "--out", "w"], in: folder)
            #expect(like.status == 0 && like.out.contains("my-weather on iphone-13 survives in "), "\(like.error)")
            let words = ["w/scenario.yaml", "--app", "my-weather", "--seeds", "1..2", "--share-only", "--out", "x"]
            let again = try Program.run(["survive"] + words, in: folder)
            #expect(again.status == 0, "\(again.error)")
            for file in ["survival.csv", "runs.csv", "background.csv"] {
                #expect(try bytes(folder, "w/\(file)") == bytes(folder, "x/\(file)"), "\(file)")
            }
            let report = """
                {"bug_type":"298","os_version":"iPhone OS 14.0.1 (18A393)"}
                { "memoryStatus" : { "pageSize" : 16384, "memoryPages" :
                    { "active" : 4000, "inactive" : 4000, "free" : 3000, "wired" : 2000 } },
                  "processes" : [
                    { "name" : "Notes", "rpages" : 900, "priority" : 0, "states" : ["suspended"] },
                    { "name" : "Maps", "rpages" : 1900, "priority" : 100, "states" : ["frontmost"] } ] }
                """
            try Data(report.utf8).write(to: folder.appending(path: "state.ips"))
            let imported = try Program.run(
                ["survive", "state.ips", "--app", "Notes", "--seeds", "1..2", "--share-only", "--out", "r"], in: folder)
            #expect(
                imported.status == 0 && imported.out.contains("Notes survives in 2 of 2 runs"),
                "\(imported.error)")
        }
    }

    @Test("an extension is a subject, of a scenario or without one, with a footprint of its own size")
    func processes() throws {
        try Experiments.within { folder in
            let kind = ["survive", "--kind", "keyboard", "--seeds", "1..2", "--share-only", "--footprint", "60MiB"]
            let result = try Program.run(kind + ["--out", "k"], in: folder)
            #expect(result.status == 0 && result.out.contains("keyboard on iphone-13 survives in "), "\(result.error)")
            let answer = try #require(try Experiments.rows(folder.appending(path: "k/survival.csv")).first)
            let footprint = try #require(Int(answer["footprint_bytes"] ?? ""))
            #expect(abs(footprint - 60 << 20) < 1 << 20 && answer["app"] == "keyboard")
            #expect(try Program.text(folder.appending(path: "k/scenario.yaml")).contains("kind: keyboard"))
            let path = Program.scenario("extensions")
            let words = ["--app", "chat-notify", "--seeds", "1..2", "--footprint", "4MiB..40MiB", "--out", "n"]
            let named = try Program.run(["survive", path] + words, in: folder)
            #expect(named.status == 0 && !named.out.contains("never leaves the screen"), "\(named.error)")
            let settings = try Experiments.rows(folder.appending(path: "n/settings.csv"))
            #expect(settings.count { $0["kind"] == "footprint" } > 1, "\(named.out)")
        }
    }

    @Test("a footprint up to the entitled limit of the device is accepted, and the entitlement is said")
    func entitled() throws {
        try Experiments.within { folder in
            let like = ["survive", "--like", "document-editor", "--seeds", "1..1", "--share-only", "--footprint"]
            let pro = ["--device", "iphone-15-pro"]
            let large = try Program.run(like + ["6GiB", "--out", "l"] + pro, in: folder)
            #expect(large.status == 0, "\(large.error)")
            let said = large.out.replacing("\n", with: " ")
            #expect(said.contains("the entitlement for a limit of 6GiB in place of 3376MiB"), "\(said)")
            #expect(try Program.text(folder.appending(path: "l/scenario.yaml")).contains("entitled: true"))
            let most = try Program.run(like + ["6145MiB"] + pro, in: folder)
            #expect(most.status == 64 && most.error.contains("from 20MiB to 6GiB"), "\(most.error)")
            // A phone without the entitlement: as before.
            let usual = try Program.run(like + ["5GiB"], in: folder)
            #expect(usual.status == 64 && usual.error.contains("from 20MiB to 4GiB"), "\(usual.error)")
            let small = try Program.run(like + ["100MiB", "--out", "s"] + pro, in: folder)
            #expect(small.status == 0 && !small.out.contains("entitlement"), "\(small.error)")
        }
    }

    @Test("memory that does not compress is asked about with --incompressible")
    func incompressible() throws {
        try Experiments.within { folder in
            let like = ["survive", "--like", "weather", "--seeds", "1..1", "--share-only", "--incompressible"]
            let result = try Program.run(like + ["75%", "--out", "i"], in: folder)
            #expect(result.status == 0, "\(result.error)")
            #expect(result.out.replacing("\n", with: " ").contains("75 % is taken not to compress"), "\(result.out)")
            let text = try Program.text(folder.appending(path: "i/scenario.yaml"))
            #expect(text.contains("incompressible: 75%") && text.contains("incompressible: 10%"))
        }
    }

    @Test("what the page quotes of memory that does not compress is what survive says")
    func quoted() throws {
        let page = try Program.text(Program.root.appending(path: "Sources/plimsoll/plimsoll.docc/Survive.md"))
        let lines = page.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let first = try #require(lines.firstIndex { $0.hasPrefix("    $ plimsoll survive") && $0.contains("4GiB") })
        let shown = lines[(first + 1)...].prefix { $0.hasPrefix("    ") }.map { String($0.dropFirst(4)) }
        let words = lines[first].split(separator: " ").dropFirst(2).map(String.init)
        try Experiments.within { folder in
            let said = try Program.run(words, in: folder).out.split(separator: "\n").map(String.init)
            #expect(Array(said.prefix(shown.count)) == shown && shown.count > 5, "\(said)")
        }
    }

    @Test("--guesses says how much hangs on guesses behind the same answer, and goes on where it was interrupted")
    func guesses() throws {
        try Experiments.within { folder in
            let words = ["survive", "tiny.yaml", "--app", "a", "--seeds", "1..2", "--share-only"]
            let asked = words + ["--set", "device.compressor={}"]
            #expect(try Program.run(asked + ["--out", "plain"], in: folder).status == 0)
            #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "plain/guesses.csv").path()))
            let one = try Program.run(asked + ["--guesses", "--jobs", "1", "--out", "one"], in: folder)
            let two = try Program.run(asked + ["--guesses", "--jobs", "2", "--out", "two"], in: folder)
            #expect(one.status == 0 && two.status == 0, "\(one.error)\(two.error)")
            for file in Self.tables + ["guesses.csv"] {
                #expect(try bytes(folder, "one/\(file)") == bytes(folder, "two/\(file)"), "\(file)")
            }
            #expect(try bytes(folder, "one/survival.csv") == bytes(folder, "plain/survival.csv"))
            let answers = try ["plain", "one"].map {
                try Program.text(folder.appending(path: "\($0)/answer.txt")).replacing("\n", with: " ")
            }
            #expect(answers[1].hasPrefix(answers[0]) && answers[1].contains("of 40 draws of all guesses together"))
            #expect(one.out.replacing("\n", with: " ").contains("of 40 draws of all guesses together"), "\(one.out)")
            let rows = try Experiments.rows(folder.appending(path: "one/guesses.csv"))
            #expect(rows.count { $0["guess"] == "draw" } == 40 && rows.count > 50)
            // As a killed process leaves it: some of the runs, the last ones of guesses.
            let ledger = folder.appending(path: "two/ledger.txt")
            let lines = try String(contentsOf: ledger, encoding: .utf8).split(separator: "\n")
            try Data((lines.prefix(9).joined(separator: "\n") + "\n").utf8).write(to: ledger)
            #expect(try Program.run(asked + ["--out", "two", "--resume"], in: folder).status == 65)
            #expect(try Program.run(asked + ["--guesses", "--out", "two", "--resume"], in: folder).status == 0)
            #expect(try bytes(folder, "one/guesses.csv") == bytes(folder, "two/guesses.csv"))
            let after = try String(contentsOf: ledger, encoding: .utf8).split(separator: "\n")
            #expect(after.count == lines.count && Array(after.prefix(9)) == Array(lines.prefix(9)))
            let none = try Program.run(words + ["--guesses", "--out", "none"], in: folder)
            #expect(none.status == 0 && none.out.contains("The answer hangs on no guess"), "\(none.error)")
        }
    }

    @Test("with few descriptors survive ends with one line or with its answer")
    func fewFiles() throws {
        try Experiments.within { folder in
            for most in 4...10 {
                let words = ["survive", "tiny.yaml", "--app", "a", "--seeds", "1..2", "--share-only", "--jobs", "2"]
                let result = try Program.run(
                    words + ["--out", "f\(most)"], in: folder, shell: "ulimit -n \(most); exec \"$@\"")
                let lines = result.error.split(separator: "\n").count
                #expect(
                    result.status == 0 && lines == 0 || [71, 73, 74].contains(result.status) && lines == 1,
                    "\(most): \(result.status) \(result.error)")
            }
        }
    }

    @Test("the smallest of several devices is named, and all of a system are tried for one")
    func devices() throws {
        try Experiments.within { folder in
            let like = ["survive", "--like", "weather", "--seeds", "1..2", "--set", "duration=10min", "--set"]
            let user = ["user=[{ at: 0s, launch: my-weather }, { from: 1min, to: 10min, model: commuter }]"]
            let two = ["--device", "iphone-13", "--device", "iphone-6s", "--out", "two"]
            let result = try Program.run(like + user + two, in: folder)
            #expect(result.status == 0 && result.out.contains("my-weather on iphone-13 survives"), "\(result.error)")
            #expect(result.out.replacing("\n", with: " ").contains("The smallest device on which it survives"))
            let settings = try Experiments.rows(folder.appending(path: "two/settings.csv"))
            #expect(settings.filter { $0["kind"] == "device" }.map { $0["name"] } == ["iphone-6s", "iphone-13"])
            // It may survive on this one; then no larger one is tried.
            let large = ["--device", "iphone-15-pro", "--out", "one", "--quiet"]
            let one = try Program.run(like + user + large, in: folder)
            #expect(one.status == 0, "\(one.error)")
            let names = try Experiments.rows(folder.appending(path: "one/settings.csv"))
                .filter { $0["kind"] == "device" }.compactMap { $0["name"] }
            #expect(names.count > 3 && names.allSatisfy { $0.hasPrefix("iphone") })
        }
    }

    @Test("wrong input is one clear line with its status")
    func faults() throws {
        try Experiments.within { folder in
            let cases: [([String], Int32, String)] = [
                (["tiny.yaml", "--app", "b2"], 65, "the scenario has no app 'b2'; did you mean 'b'?"),
                (["none.yaml", "--app", "a"], 66, "none.yaml"),
                (["tiny.yaml"], 64, "name the app with --app"),
                ([], 64, "name a scenario and --app, or an app of the catalogue with --like"),
                (["--kind", "keybord"], 64, "there is no such process; did you mean 'keyboard'?"),
                (["--like", "keyboard"], 64, "--kind keyboard asks about such a process"),
                (["--like", "mail", "--kind", "widget"], 64, "--kind is not; leave one out"),
                (["tiny.yaml", "--kind", "widget"], 64, "--kind needs no scenario"),
                (["tiny.yaml", "--app", "a", "--incompressible", "2"], 64, "expected a share from 0 to 1"),
                (["tiny.yaml", "--app", "a", "--footprint", "5MiB"], 64, "from 20MiB to 4GiB"),
                (["--like", "photo"], 64, "there is no such archetype"),
                (["--like", "mail", "--app", "chat"], 64, "another app of the day has that name"),
                (["tiny.yaml", "--app", "a", "--like", "mail"], 64, "--like needs no scenario"),
                (["tiny.yaml", "--app", "a", "--day", "gaming"], 64, "--day needs --like"),
                (["tiny.yaml", "--app", "a", "--footprint", "80MiB..40MiB"], 64, "the range is empty or upside down"),
                (["tiny.yaml", "--app", "a", "--footprint", "big"], 64, "--footprint big: expected a size"),
                (["tiny.yaml", "--app", "a", "--probability", "0"], 64, "expected a share above 0 and up to 1"),
                (["tiny.yaml", "--app", "a", "--seeds", "5..1"], 64, "upside down"),
                (["tiny.yaml", "--app", "a", "--set", "seed=1"], 64, "--seeds sets the seeds"),
                (["tiny.yaml", "--app", "a", "--device", "iphone-31"], 64, "there is no such device"),
                (["--like", "mail", "--device", "iphone-x", "--device", "iphone-x"], 64, "is given twice"),
                (["tiny.yaml", "--app", "a", "--resume"], 64, "--resume needs the folder of --out"),
            ]
            for (arguments, status, said) in cases {
                let result = try Program.run(["survive"] + arguments, in: folder)
                #expect(result.status == status && result.error.contains(said), "\(arguments): \(result.error)")
                #expect(result.out.isEmpty && !FileManager.default.fileExists(atPath: folder.path() + "/runs"))
            }
            let out = try Program.run(question + ["--out", "tiny.yaml"], in: folder)
            #expect(out.status == 73, "\(out.error)")
        }
    }
}
