import Foundation
import Testing

@Suite("wrong usage says what would be right", .serialized)
struct UsageTests {
    private func expect(
        _ arguments: [String], _ status: Int32, _ words: String, in folder: URL,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let result = try Program.run(arguments, in: folder)
        #expect(
            result.status == status && result.error.contains(words), "\(arguments): \(result.status) \(result.error)",
            sourceLocation: sourceLocation)
    }

    @Test("a value that is none is named with what is expected, also a negative one")
    func values() throws {
        try Experiments.within { folder in
            let seed = "expected a whole number from 0 to 18446744073709551615"
            let scale = "expected a share such as 5% or 0.05, from 0.0001% to 6400%"
            let assignment = "expected key=value, such as device.ceiling=512MiB"
            let cases: [([String], String, String)] = [
                (["run", "tiny.yaml", "--seed", "-1"], "The value '-1'", seed),
                (["run", "tiny.yaml", "--seed", "18446744073709551616"], "'18446744073709551616'", seed),
                (["run", "tiny.yaml", "--seed", "+4"], "'+4'", seed),
                (["sweep", "tiny.yaml", "--sample-seed", "-1", "--dry-run"], "'-1'", seed),
                (
                    ["compare", "tiny.yaml", "--policy", "lru", "--jobs", "-3"], "'-3'",
                    "expected a whole number from 1 to 1024"
                ),
                (["sweep", "tiny.yaml", "--jobs", "1025"], "'1025'", "expected a whole number from 1 to 1024"),
                (["explain", "r", "--at", "-5s"], "'-5s'", "expected a time with its unit, such as 250ms"),
                (["explain", "r", "--at", "5"], "'5'", "expected a time with its unit, such as 250ms"),
                (["explain", "r", "--most", "0"], "'0'", "expected a whole number of at least 1"),
            ]
            for (arguments, value, expected) in cases {
                try expect(arguments, 64, value, in: folder)
                try expect(arguments, 64, expected, in: folder)
            }
            for command in [["run"], ["sweep", "--dry-run"], ["compare", "--policy", "lru"]] {
                for value in ["nan", "0", "-1", "1e-9", "6401%"] {
                    try expect(command + ["tiny.yaml", "--scale", value], 64, scale, in: folder)
                }
                for value in ["device.ceiling", "=3", ""] {
                    try expect(command + ["tiny.yaml", "--set", value], 64, assignment, in: folder)
                }
                // The scenario's own checks judge well-formed values.
                try expect(command + ["tiny.yaml", "--set", "device.ceiling="], 65, "device.ceiling", in: folder)
                try expect(command + ["tiny.yaml", "--scale", "0.01%"], 65, "but the lowest is 1MiB", in: folder)
            }
        }
    }

    @Test("what has an option of its own is not set behind its back")
    func sets() throws {
        try Experiments.within { folder in
            let cases: [(command: [String], option: String, value: String, set: String)] = [
                (["run"], "seed", "4", "seed=3"), (["run"], "policy", "lru", "policy=jetsam"),
                (["run"], "policy", "lru", "policy.name=jetsam"),
                (["run"], "backend", "accounting", "backend=jemalloc"),
                (["compare", "--policy", "lru", "--dry-run"], "backend", "accounting", "backend=jemalloc"),
                (["sweep", "--dry-run"], "backend", "accounting", "backend=jemalloc"),
            ]
            for (command, option, value, set) in cases {
                let arguments = command + ["tiny.yaml", "--\(option)", value, "--set", set]
                let key = set.prefix { $0 != "=" }
                let words = "--set \(key): the \(option) is that of --\(option); leave one of them out"
                try expect(arguments, 64, words, in: folder)
            }
            let vary = [
                "sweep", "tiny.yaml", "--dry-run", "--backend", "accounting", "--vary", "backend=jemalloc,accounting",
            ]
            try expect(vary, 64, "--vary backend: the backend is that of --backend", in: folder)
            // A setting for the named policy does not set the policy's name.
            let run = [
                "run", "tiny.yaml", "--policy", "ladder", "--set", "policy.parameters.size_weight=50%", "--out", "r",
            ]
            let result = try Program.run(run, in: folder)
            #expect(result.status == 0, "\(result.error)")
            #expect(try Program.text(folder.appending(path: "r/scenario.yaml")).contains("size_weight: 50%"))
        }
    }

    @Test("two wishes that exclude each other are refused")
    func quiet() throws {
        try Experiments.within { folder in
            try expect(["run", "tiny.yaml", "--live", "--quiet"], 64, "--live shows the run", in: folder)
            try expect(["run", "tiny.yaml", "--format", "json", "--quiet"], 64, "--quiet does not", in: folder)
        }
    }

    @Test("an empty path or policy is wrong usage")
    func empty() throws {
        try Experiments.within { folder in
            let path = "a scenario's path is empty; name a scenario file"
            let policy = "--policy is empty; name a policy or a policy file"
            for command in [["run"], ["validate"], ["sweep", "--dry-run"], ["compare", "--policy", "lru"]] {
                try expect(command + [""], 64, path, in: folder)
                guard command != ["sweep", "--dry-run"] else { continue }
                try expect(command + ["tiny.yaml", "--policy", ""], 64, policy, in: folder)
            }
            try expect(["explain", ""], 64, "the folder is empty; name the folder of a run", in: folder)
            try expect(["list", "scenarios", "--folder", ""], 64, "--folder is empty", in: folder)
        }
    }

    @Test("a fault is shown in its line, below the message that stays one line")
    func carets() throws {
        try Experiments.within { folder in
            let bad = Experiments.tiny.replacing("ceiling", with: "ceilng")
            try Data(bad.utf8).write(to: folder.appending(path: "bad.yaml"))
            try Data("label: a b c!\n".utf8).write(to: folder.appending(path: "bad-policy.yaml"))
            let fault = [
                "bad.yaml:5:11: error: unknown key 'ceilng' in device; did you mean 'ceiling'?",
                "    5 | device: { ceilng: 96MiB, reserved: 16MiB }", "      |           ^",
            ]
            let more = ["--policy", "lru", "--dry-run"]
            for command in [["run"], ["validate"], ["doctor"], ["compare"] + more, ["sweep", "--dry-run"]] {
                let result = try Program.run([command[0], "bad.yaml"] + command.dropFirst(), in: folder)
                #expect(result.status == 65 && result.out.isEmpty)
                #expect(result.error.split(separator: "\n").prefix(3).map(String.init) == fault, "\(command)")
            }
            let policy = try Program.run(["validate", "tiny.yaml", "--policy", "bad-policy.yaml"], in: folder)
            #expect(policy.error.contains("\n    1 | label: a b c!\n      |        ^\n"), "\(policy.error)")
            let option = try Program.run(["validate", "tiny.yaml", "--policy", "ladderr"], in: folder)
            #expect(option.error.split(separator: "\n").count == 1)
        }
    }

    @Test("a scenario without events of the user is warned of")
    func idle() throws {
        try Experiments.within { folder in
            let words = "warning: there are no events under user, so no app is ever opened; add some, such as "
            let idle = Experiments.tiny.components(separatedBy: "user:")[0]
            try Data(idle.utf8).write(to: folder.appending(path: "idle.yaml"))
            let checked = try Program.run(["validate", "idle.yaml"], in: folder)
            #expect(checked.status == 0 && checked.error == "idle.yaml: \(words){ at: 0s, launch: a }\n")
            let run = try Program.run(["run", "idle.yaml", "--out", "r"], in: folder)
            #expect(run.status == 0 && run.error.contains("plimsoll: \(words)"), "\(run.error)")
            let busy = try Program.run(["validate", "tiny.yaml"], in: folder)
            #expect(!busy.error.contains("no events"))
        }
    }

    @Test("a misspelt command gets a suggestion")
    func commands() throws {
        try Experiments.within { folder in
            let cases: [([String], String, String)] = [
                (["comapre", "x"], "'comapre'; did you mean 'compare'?", "plimsoll"),
                (["lsit"], "'lsit'; did you mean 'list'?", "plimsoll"),
                (["import", "jetsam-evnt", "x"], "'jetsam-evnt'; did you mean 'jetsam-event'?", "plimsoll import"),
                (["zzz"], "'zzz'; valid commands: init, run, compare", "plimsoll"),
            ]
            for (arguments, words, command) in cases {
                let result = try Program.run(arguments, in: folder)
                let lines = result.error.split(separator: "\n")
                #expect(result.status == 64 && lines.count == 2, "\(result.error)")
                #expect(lines[0].hasPrefix("Error: there is no command \(words)"), "\(lines)")
                #expect(lines[1] == "  See '\(command) --help' for more information.")
            }
            // Options have suggestions of their own, and what is no command stays what it was.
            try expect(["run", "tiny.yaml", "--polcy", "lru"], 64, "Did you mean '--policy'?", in: folder)
            try expect(["sweep", "none.yaml", "--dry-run"], 66, "there is no such file", in: folder)
            try expect(["verdict", "/x"], 64, "plimsoll: verdict reads its question from standard input", in: folder)
            let one = try Program.run(["verdict", "/x"], in: folder)
            #expect(one.error.split(separator: "\n").count == 1)
        }
    }

    @Test("one app is one app")
    func plural() throws {
        try Experiments.within { folder in
            let one = ["plimsoll: 1", "name: one", "duration: 1s", "device: { ceiling: 64MiB }", "apps: [{ name: a }]"]
            try Data(one.joined(separator: "\n").utf8).write(to: folder.appending(path: "one.yaml"))
            let result = try Program.run(["validate", "one.yaml", "tiny.yaml"], in: folder)
            #expect(result.out == "one.yaml: valid (1 app, 1s, ladder)\ntiny.yaml: valid (3 apps, 12s, lru)\n")
        }
    }

    // MARK: Folders

    @Test("a folder of scenarios that cannot be looked into says why")
    func scenarioFolder() throws {
        try Experiments.within { folder in
            let list = ["list", "scenarios", "--folder"]
            try expect(list + ["nowhere"], 66, "cannot look into nowhere: No such file or directory", in: folder)
            try expect(list + ["tiny.yaml"], 66, "cannot look into tiny.yaml: Not a directory", in: folder)
            #expect(try Program.run(list + ["."], in: folder).out.contains("tiny.yaml"))
        }
    }

    @Test("explain says what a folder is that holds no run")
    func noRun() throws {
        try Experiments.within { folder in
            try FileManager.default.createDirectory(
                at: folder.appending(path: "bare"), withIntermediateDirectories: true)
            let sweep = ["sweep", "tiny.yaml", "--vary", "device.cores=1", "--out", "sweep"]
            let compare = ["compare", "tiny.yaml", "--policy", "lru", "--seeds", "1", "--out", "compare"]
            for experiment in [sweep, compare] { #expect(try Program.run(experiment, in: folder).status == 0) }
            for (path, words) in [
                ("nowhere", "cannot look into nowhere: No such file or directory; expected the folder of a run"),
                ("tiny.yaml", "cannot look into tiny.yaml: Not a directory; expected the folder of a run"),
                ("bare", "bare holds no run; expected what `plimsoll run` wrote"),
                ("sweep", "sweep holds the tables of many runs"), ("compare", "compare holds the tables of many runs"),
            ] {
                try expect(["explain", path], 66, "plimsoll: " + words, in: folder)
            }
        }
    }

    @Test("explain that is interrupted ends in order, by its status", arguments: [SIGINT, SIGTERM])
    func interrupted(signal: Int32) throws {
        try Experiments.within { folder in
            // A run that takes hours to repeat, and ends no process.
            let run = folder.appending(path: "r")
            try FileManager.default.createDirectory(at: run, withIntermediateDirectories: true)
            let long = Experiments.tiny.replacingOccurrences(of: "12s", with: "99d")
                .replacingOccurrences(of: "policy: lru", with: "policy: none")
            try Data(long.utf8).write(to: run.appending(path: "scenario.yaml"))
            try Data(#"{ "ending": "completed" }"#.utf8).write(to: run.appending(path: "manifest.json"))
            let result = try Program.run(["explain", "r"], in: folder) { process in
                try Program.wait { try catches(signal, process.processIdentifier) }
                kill(process.processIdentifier, signal)
            }
            #expect(result.status == 128 + signal && result.out.isEmpty, "\(result.status) \(result.error)")
        }
    }

    /// Whether the process handles the signal, according to Linux.
    private func catches(_ signal: Int32, _ process: Int32) throws -> Bool {
        let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("SigCgt:") } ?? ""
        let mask = UInt64(line.dropFirst(7).trimmingCharacters(in: .whitespaces), radix: 16) ?? 0
        return mask >> UInt64(signal - 1) & 1 == 1
    }
}
