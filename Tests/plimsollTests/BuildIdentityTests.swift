import Foundation
import Testing

@Suite("results of several builds, and runs that lose their owner", .serialized)
struct BuildIdentityTests {
    private static let other = "0123456789abcdef0123456789abcdef01234567"

    private func manifest(_ folder: URL, _ path: String) throws -> [String: Any] {
        let data = try Data(contentsOf: folder.appending(path: path))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    /// Replaces text in a file; the text must occur.
    private func edit(_ folder: URL, _ path: String, _ old: String, _ new: String) throws {
        let file = folder.appending(path: path)
        let text = try Program.text(file)
        #expect(text.contains(old), "\(path) holds no \(old)")
        try Data(text.replacingOccurrences(of: old, with: new).utf8).write(to: file)
    }

    @Test("every manifest names the build: its identifier, the same in every run")
    func manifests() throws {
        try Experiments.within { folder in
            for name in ["a", "b"] {
                #expect(try Program.run(["run", "tiny.yaml", "--quiet", "--out", name], in: folder).status == 0)
            }
            let build = try #require(try manifest(folder, "a/manifest.json")["build_id"] as? String)
            #expect(build.count >= 10 && build != "unknown")
            #expect(try Program.run(["build-id"], in: folder).out == build + "\n")
            #expect(try manifest(folder, "b/manifest.json")["build_id"] as? String == build)
            #expect(try Program.run(["sweep", "tiny.yaml", "--out", "s"], in: folder).status == 0)
            #expect(try manifest(folder, "s/manifest.json")["builds"] as? [String] == [build])
        }
    }

    /// Truncates a ledger and removes the folder's table, as if the sweep had been interrupted.
    private func interrupt(_ folder: URL, keeping runs: Int) throws {
        let file = folder.appending(path: "s/ledger.txt")
        let lines = try Program.text(file).split(separator: "\n").prefix(1 + runs)
        try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: file)
        try? FileManager.default.removeItem(at: folder.appending(path: "s/sweep.csv"))
    }

    @Test("builds are those that made runs, and a sweep of several says so as long as its table may be written")
    func resumed() throws {
        try Experiments.within { folder in
            let sweep = ["sweep", "tiny.yaml", "--seeds", "1..3", "--out", "s"]
            #expect(try Program.run(sweep, in: folder).error == "")
            let builds = folder.appending(path: "s/builds.txt")
            let own = try Program.text(builds)
            let name = own.prefix(10)
            func resume() throws -> [Substring] {
                let result = try Program.run(sweep + ["--resume"], in: folder)
                #expect(result.status == 0, "\(result.error)")
                return result.error.split(separator: "\n").filter { $0.contains("build") }
            }
            #expect(try resume() == [])
            // All runs come from another build. This build makes none and is not listed.
            try Data((Self.other + "\n").utf8).write(to: builds)
            #expect(try resume() == [])
            #expect(try Program.text(builds) == Self.other + "\n")
            #expect(try manifest(folder, "s/manifest.json")["builds"] as? [String] == [Self.other])
            // One of three runs comes from another build.
            try interrupt(folder, keeping: 1)
            let mixed =
                "plimsoll: warning: the runs in s are made by 2 builds of plimsoll 0.1.0 "
                + "(0123456789, this one \(name)); if results differ between them, sweep.csv mixes them"
            #expect(try resume().map(String.init) == [mixed])
            #expect(try Program.text(builds) == Self.other + "\n" + own)
            #expect(try (manifest(folder, "s/manifest.json")["builds"] as? [String])?.count == 2)
            // The warning appears once each time, both when the table is rewritten and when runs remain.
            #expect(try resume().map(String.init) == [mixed])
            try interrupt(folder, keeping: 2)
            #expect(try resume().map(String.init) == [mixed])
        }
    }

    @Test("runs without a word on who made them are those of an unknown build; without runs there is no build")
    func unknownBuild() throws {
        try Experiments.within { folder in
            let sweep = ["sweep", "tiny.yaml", "--seeds", "1..3", "--out", "s"]
            #expect(try Program.run(sweep, in: folder).status == 0)
            let builds = folder.appending(path: "s/builds.txt")
            let own = try Program.text(builds)
            try FileManager.default.removeItem(at: builds)
            let table = try Program.run(sweep + ["--resume"], in: folder)
            #expect(table.error.contains("made by builds of plimsoll 0.1.0 (unknown);"), "\(table.error)")
            try interrupt(folder, keeping: 1)
            let told = try Program.run(sweep + ["--resume"], in: folder)
            #expect(told.error.contains("by 2 builds of plimsoll 0.1.0 (unknown, this one \(own.prefix(10)))"))
            #expect(try Program.text(builds) == "unknown\n" + own)
            // A build that was killed before it recorded a run.
            try interrupt(folder, keeping: 0)
            try Data((Self.other + "\n").utf8).write(to: builds)
            let first = try Program.run(sweep + ["--resume"], in: folder)
            #expect(first.status == 0 && !first.error.contains("build"), "\(first.error)")
            #expect(try Program.text(builds) == own)
        }
    }

    @Test("parts of two builds are merged, and the line names both")
    func merged() throws {
        try Experiments.within { folder in
            for part in 1...2 {
                let sweep = ["sweep", "tiny.yaml", "--seeds", "1..4", "--shard", "\(part)/2", "--out", "p\(part)"]
                #expect(try Program.run(sweep, in: folder).status == 0)
            }
            let alike = try Program.run(["sweep", "merge", "p1", "p2", "--out", "alike"], in: folder)
            #expect(alike.status == 0 && alike.error == "", "\(alike.error)")
            try Data((Self.other + "\n").utf8).write(to: folder.appending(path: "p2/builds.txt"))
            let mixed = try Program.run(["sweep", "merge", "p1", "p2", "--out", "mixed"], in: folder)
            #expect(mixed.status == 0 && mixed.error.contains("made by 2 builds"), "\(mixed.error)")
            #expect(mixed.error.contains(", 0123456789)") && mixed.error.split(separator: "\n").count == 1)
            #expect(
                try Data(contentsOf: folder.appending(path: "mixed/sweep.csv"))
                    == Data(contentsOf: folder.appending(path: "alike/sweep.csv")))
            // No record says that all parts come from one build.
            for part in ["p1", "p2"] {
                try FileManager.default.removeItem(at: folder.appending(path: "\(part)/builds.txt"))
            }
            let silent = try Program.run(["sweep", "merge", "p1", "p2", "--out", "silent"], in: folder)
            #expect(silent.status == 0 && silent.error.contains("(unknown)"), "\(silent.error)")
        }
    }

    @Test("explain says when the run was made by another build, or is not repeated as it is on record")
    func explained() throws {
        try Experiments.within { folder in
            let run = [
                "run", Program.scenario("quickstart"), "--backend", "accounting", "--policy", "lru", "--seed", "3",
                "--quiet", "--set", "expect=[]", "--out", "r",
            ]
            #expect(try Program.run(run, in: folder).status == 0)
            let plain = try Program.run(["explain", "r"], in: folder)
            #expect(plain.status == 0 && plain.error == "" && plain.out.contains("was ended"), "\(plain.error)")
            let build = try #require(try manifest(folder, "r/manifest.json")["build_id"] as? String)
            try edit(folder, "r/manifest.json", build, Self.other)
            let other = try Program.run(["explain", "r"], in: folder)
            #expect(other.out == plain.out && other.error.split(separator: "\n").count == 1, "\(other.error)")
            #expect(other.error.contains("another build of plimsoll"), "\(other.error)")
            #expect(other.error.contains("its decisions were the same"), "\(other.error)")
            // The recorded decisions chose a process; change them so that they chose none.
            try edit(folder, "r/decisions.csv", ",true,", ",false,")
            let changed = try Program.run(["explain", "r"], in: folder)
            #expect(changed.status == 0 && changed.out == plain.out, "\(changed.error)")
            #expect(changed.error.contains("is not repeated as it is on record: decision "), "\(changed.error)")
            #expect(changed.error.split(separator: "\n").count == 1, "\(changed.error)")
            try edit(folder, "r/manifest.json", Self.other, build)
            #expect(try Program.run(["explain", "r"], in: folder).error.contains("files were changed"))
        }
    }

    @Test("explain says that nothing was compared, and notes decisions that are missing or are too many")
    func compared() throws {
        try Experiments.within { folder in
            let run = [
                "run", Program.scenario("quickstart"), "--backend", "accounting", "--policy", "lru", "--seed", "3",
                "--quiet", "--set", "expect=[]", "--out",
            ]
            #expect(try Program.run(run + ["short", "--summary-only"], in: folder).status == 0)
            let alone = try Program.run(["explain", "short"], in: folder).error
            #expect(alone.contains("there is no short/decisions.csv to compare with; what follows"), "\(alone)")
            let build = try #require(try manifest(folder, "short/manifest.json")["build_id"] as? String)
            try edit(folder, "short/manifest.json", build, Self.other)
            let short = try Program.run(["explain", "short"], in: folder).error
            #expect(short.contains("); there is no short/decisions.csv to compare with"), "\(short)")
            #expect(!short.contains("the same"), "\(short)")

            #expect(try Program.run(run + ["r"], in: folder).status == 0)
            let table = folder.appending(path: "r/decisions.csv")
            let decisions = try Program.text(table)
            func explain(_ rows: String, _ arguments: [String]) throws -> String {
                try Data(rows.utf8).write(to: table)
                return try Program.run(["explain", "r"] + arguments, in: folder).error
            }
            #expect(try explain(decisions, ["--at", "1s"]) == "")
            let row = try #require(decisions.split(separator: "\n").last { $0.contains(",pressure,") })
            let columns = decisions.prefix { $0 != "\n" }.split(separator: ",")
            let column = try #require(columns.firstIndex(of: "decision"))
            var cells = row.split(separator: ",", omittingEmptySubsequences: false)
            let number = try #require(Int(cells[column]))
            cells[column] = "\(number + 7)"
            let more = decisions + cells.joined(separator: ",") + "\n"
            let missing = try explain(more, ["--at", "1s"])
            #expect(missing.contains("in r/decisions.csv it is \(number + 7). Its files were changed"), "\(missing)")
            // A partial repetition cannot tell whether the missing ones would have come.
            #expect(try explain(more, ["--most", "1"]) == "")
            let fewer = String(decisions.prefix { $0 != "\n" }) + "\n"
            #expect(try explain(fewer, ["--at", "1s"]).contains("is not the one in r/decisions.csv"))
            #expect(try explain("time_s,what\n", ["--at", "1s"]).contains("has other columns and was not compared"))
        }
    }

    @Test("explain reads a folder without the columns of facts, and refuses a newer format in one line")
    func formats() throws {
        try Experiments.within { folder in
            let run = [
                "run", Program.scenario("quickstart"), "--backend", "accounting", "--quiet", "--out", "r",
            ]
            #expect(try Program.run(run, in: folder).status == 0)
            let whole = try Program.run(["explain", "r", "--most", "1"], in: folder)
            for (table, columns) in [("events", 8), ("decisions", 2)] {
                let file = folder.appending(path: "r/\(table).csv")
                // The added columns contain no commas.
                let lines = try Program.text(file).split(separator: "\n").map { line in
                    line.split(separator: ",", omittingEmptySubsequences: false).dropLast(columns)
                        .joined(separator: ",")
                }
                try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: file)
            }
            let older = try Program.run(["explain", "r", "--most", "1"], in: folder)
            #expect(older.status == 0 && older.out == whole.out && older.error == whole.error)
            #expect(!older.out.isEmpty)
            try edit(folder, "r/manifest.json", "\"format_version\" : 1", "\"format_version\" : 2")
            let newer = try Program.run(["explain", "r"], in: folder)
            #expect(newer.status == 66 && newer.out.isEmpty)
            #expect(newer.error.contains("r has format 2, but this plimsoll reads formats up to 1"))
            #expect(newer.error.split(separator: "\n").count == 1, "\(newer.error)")
        }
    }

    @Test("a run with a lifeline ends when its standard input does, in order")
    func lifeline() throws {
        try Experiments.within { folder in
            // It does not end before its standard input, however fast the machine is.
            let run = [
                "run", Program.scenario("evening-commute"), "--set", "expect=[]", "--set", "duration=400d", "--quiet",
                "--out",
            ]
            let result = try Program.run(run + ["r", "--lifeline"], in: folder, shell: "sleep 1 | exec \"$@\"")
            #expect(result.status == 143, "\(result.error)")
            #expect(try manifest(folder, "r/manifest.json")["ending"] as? String == "interrupted")
        }
    }

    @Test("without one it runs to its end, whatever its standard input does")
    func noLifeline() throws {
        try Experiments.within { folder in
            let result = try Program.run(
                ["run", "tiny.yaml", "--quiet", "--out", "r"], in: folder, shell: "true | \"$@\"")
            #expect(result.status == 0, "\(result.error)")
            #expect(try manifest(folder, "r/manifest.json")["ending"] as? String == "completed")
        }
    }
}
