import Foundation
import Quantities
import Testing

@testable import RunFolders
@testable import plimsoll

@Suite("what is written, and what is not")
struct OutputTests {
    private static let short = [
        "--set", "duration=2s", "--set", "user=[]", "--set", "expect=[]", "--backend", "accounting", "--quiet",
    ]
    private static let run = ["run", Program.scenario("quickstart")] + short

    private func within(_ body: (URL) throws -> Void) throws {
        let folder = try Program.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    /// The files in the folder, except those of the test itself.
    private func content(_ folder: URL) throws -> Set<String> {
        Set(try FileManager.default.subpathsOfDirectory(atPath: folder.path()).filter { !$0.hasPrefix(".std") })
    }

    /// Whether the error is one complete line without the library's own error numbers.
    private func isOneLine(_ error: String) -> Bool {
        error.split(separator: "\n").count == 1 && !error.contains("NSCocoa")
    }

    // MARK: import

    private static let trace = "1: malloc 0x1 100\n1: free 0x1\n"

    @Test("an import overwrites a file only with --force, and its own input never")
    func importForce() throws {
        try within { folder in
            let (trace, scenario) = (folder.appending(path: "t.txt"), folder.appending(path: "s.yaml"))
            try Data(Self.trace.utf8).write(to: trace)
            try Data("mine".utf8).write(to: scenario)
            let arguments = ["import", "memory-replay", "t.txt", "--out"]
            let refused = try Program.run(arguments + ["s.yaml"], in: folder)
            #expect(refused.status == 73 && isOneLine(refused.error) && refused.error.contains("--force"))
            #expect(try Program.text(scenario) == "mine")
            try FileManager.default.createSymbolicLink(
                at: folder.appending(path: "link"), withDestinationURL: trace)
            for itself in ["t.txt", "./t.txt", "link"] {
                let own = try Program.run(arguments + [itself, "--force"], in: folder)
                #expect(own.status == 73 && own.error.contains("the trace itself"))
            }
            #expect(try Program.text(trace) == Self.trace)
            #expect(try Program.run(arguments + ["s.yaml", "--force"], in: folder).status == 0)
            #expect(try Program.text(scenario).contains("plimsoll: 1"))
            #expect(try content(folder) == ["t.txt", "s.yaml", "link"])
        }
    }

    @Test("an import that cannot write says why, in the system's words")
    func importFails() throws {
        try within { folder in
            try Data(Self.trace.utf8).write(to: folder.appending(path: "t.txt"))
            let missing = try Program.run(["import", "memory-replay", "t.txt", "--out", "no/s.yaml"], in: folder)
            #expect(missing.status == 73 && isOneLine(missing.error))
            #expect(missing.error.contains("No such file or directory"))
            let full = try Program.run(
                ["import", "memory-replay", "t.txt", "--out", "s.yaml"], in: folder, shell: "ulimit -f 0; exec \"$@\"")
            #expect(full.status == 74 && full.error.contains("File too large") || full.error.isEmpty, "\(full.error)")
            #expect(try content(folder) == ["t.txt"])
        }
    }

    @Test("a trace with a line break and quotes in its name gives a scenario that runs")
    func importName() throws {
        try within { folder in
            let name = "tr\nname: \"\\x\t\".txt"
            try Data(Self.trace.utf8).write(to: folder.appending(path: name))
            #expect(try Program.run(["import", "memory-replay", name, "--out", "s.yaml"], in: folder).status == 0)
            let played = try Program.run(["run", "s.yaml", "--out", "r", "--quiet"], in: folder)
            #expect(played.status == 0, "\(played.error)")
        }
    }

    // MARK: Paths

    @Test(
        "an empty path is wrong usage, not the root of the file system",
        arguments: [
            ["run", "S", "--out", ""], ["run", "S", "--trace", ""], ["compare", "S", "--policy", "lru", "--out", ""],
            ["sweep", "S", "--out", ""], ["sweep", "merge", "a", "--out", ""],
            ["import", "memory-replay", "t", "--out", ""], ["import", "jetsam-event", "t", "--out", ""],
        ])
    func emptyPath(arguments: [String]) throws {
        try within { folder in
            let words = arguments.map { $0 == "S" ? Program.scenario("quickstart") : $0 }
            let result = try Program.run(words, in: folder)
            #expect(result.status == 64)
            #expect(result.error.hasPrefix("Error: \(arguments.contains("--trace") ? "--trace" : "--out") is empty"))
            #expect(try content(folder).isEmpty)
        }
    }

    @Test("--trace with --force takes the place of an earlier timeline and of nothing else")
    func traceForce() throws {
        try within { folder in
            let (mine, scenario) = (folder.appending(path: "mine.txt"), folder.appending(path: "s.yaml"))
            try Data("mine".utf8).write(to: mine)
            try FileManager.default.copyItem(atPath: Program.scenario("quickstart"), toPath: scenario.path())
            let text = try Program.text(scenario)
            let arguments = ["run", "s.yaml"] + Self.short + ["--force", "--out", "r", "--trace"]
            for (file, words) in [("mine.txt", "is not a timeline"), ("s.yaml", "is the scenario itself")] {
                let refused = try Program.run(arguments + [file], in: folder)
                #expect(refused.status == 73 && isOneLine(refused.error) && refused.error.contains(words))
            }
            #expect(try content(folder) == ["mine.txt", "s.yaml"])
            #expect(try Program.text(mine) == "mine" && Program.text(scenario) == text)
            for _ in 0..<2 { #expect(try Program.run(arguments + ["line.json"], in: folder).status == 0) }
            #expect(
                try content(folder).subtracting(["mine.txt", "s.yaml", "line.json"]).allSatisfy { $0.hasPrefix("r") })
            // A refused timeline leaves the existing run intact.
            let before = try content(folder)
            #expect(try Program.run(arguments + ["mine.txt"], in: folder).status == 73)
            #expect(try content(folder) == before)
        }
    }

    // MARK: Two at once

    @Test("two runs at once write into two folders, and never into one")
    func together() throws {
        try within { folder in
            let long = [
                "run", Program.scenario("evening-commute"), "--set", "expect=[]", "--backend", "accounting", "--live",
                "--speed", "real", "--out", folder.appending(path: "r").path(),
            ]
            let first = try Program.run(long, in: folder) { process in
                let samples = folder.appending(path: "r/manifest.json")
                let tables = folder.appending(path: "r/datapackage.json")
                try Program.wait { FileManager.default.fileExists(atPath: tables.path()) }
                try within { other in
                    let second = try Program.run(long + ["--force"], in: other)
                    #expect(second.status == 73 && isOneLine(second.error))
                    #expect(second.error.contains("is being written by another"))
                }
                #expect(FileManager.default.fileExists(atPath: tables.path()))
                #expect(!FileManager.default.fileExists(atPath: samples.path()))
                kill(process.processIdentifier, SIGTERM)
            }
            #expect(first.status == 143)
            // Besides, limits.csv, because feed has a limit, and the folder.
            #expect(try content(folder).count == RunDirectory.usualFiles.count + 2)
            #expect(try Program.run(long.dropLast(5) + ["--quiet", "--out", "r", "--force"], in: folder).status == 0)
        }
    }

    @Test("whoever runs without --out at the same time gets a folder of its own")
    func freeNames() throws {
        try within { folder in
            let many = "for i in 1 2 3 4 5 6; do \"$@\" & p=\"$p $!\"; done; for i in $p; do wait $i || exit 1; done"
            let result = try Program.run(Self.run, in: folder, shell: many)
            #expect(result.status == 0, "\(result.error)")
            let runs = try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: "runs").path())
            #expect(runs.sorted() == ["quickstart"] + (2...6).map { "quickstart-\($0)" })
            for run in runs {
                let manifest = folder.appending(path: "runs/\(run)/manifest.json")
                #expect(FileManager.default.fileExists(atPath: manifest.path()))
            }
        }
    }

    @Test("a folder whose files cannot all be made is not left behind", arguments: 4...12)
    func descriptors(most: Int) throws {
        try within { folder in
            let limited = "ulimit -n \(most); exec \"$@\""
            for out in ["a/b/c", "r"] {
                let result = try Program.run(Self.run + ["--out", out, "--force"], in: folder, shell: limited)
                if result.status == 0 { continue }
                #expect([71, 73, 74].contains(result.status), "\(result.error)")
                #expect(isOneLine(result.error))
                #expect(try content(folder).allSatisfy { $0.hasPrefix("a") && out == "r" })
                #expect(try Program.run(Self.run + ["--out", out, "--force"], in: folder).status == 0)
            }
        }
    }

    // MARK: Signals

    @Test("under nohup a run goes on without its terminal")
    func nohup() throws {
        try within { folder in
            let result = try Program.run(
                Self.run.dropLast() + ["--out", "r", "--live", "--speed", "real"], in: folder,
                shell: "trap '' HUP; exec \"$@\""
            ) { process in
                let tables = folder.appending(path: "r/datapackage.json").path()
                try Program.wait { FileManager.default.fileExists(atPath: tables) }
                kill(process.processIdentifier, SIGHUP)
            }
            #expect(result.status == 0)
            #expect(try Program.text(folder.appending(path: "r/manifest.json")).contains("\"completed\""))
        }
    }

    // MARK: Words

    @Test(
        "a message is one line that can be read, whatever stands in the names",
        arguments: [
            (
                ["run", "no\nway\u{1B}.yaml"],
                "no\\nway\\u{1B}.yaml: error: there is no such file; expected a scenario file\n"
            ),
            (["run", "S", "--set", "apps.shop={}"], "unknown app 'shop'; valid apps: chat, weather, mail, music\n"),
            (["run", "S", "--set", "device.ceiling=1TiB"], "'1TiB'; the units are GiB, MiB, KiB, GB, MB, KB, B\n"),
            (["run", "S", "--set", "duration=5m"], "not '5m'; the units are d, h, min, s, ms, us\n"),
            (["run", "S", "--out", "/dev/null/a\nb"], "plimsoll: cannot create /dev/null/a\\nb: /dev/null: "),
        ])
    func words(arguments: [String], expected: String) throws {
        try within { folder in
            let words = arguments.map { $0 == "S" ? Program.scenario("quickstart") : $0 }
            let result = try Program.run(words, in: folder)
            #expect(result.error.contains(expected), "\(result.error)")
            // The lines of the file below a message are indented.
            let messages = result.error.split(separator: "\n").filter { !$0.hasPrefix(" ") }
            #expect(!messages.isEmpty && messages.allSatisfy { $0.contains(": ") })
        }
    }

    @Test("a timeline goes to a file, never to one that is called '-'")
    func timelineToStandardOutput() throws {
        try within { folder in
            let result = try Program.run(["run", Program.scenario("quickstart"), "--trace", "-"], in: folder)
            #expect(result.status == 64)
            #expect(result.error.hasPrefix("Error: --trace writes to a file,"), "\(result.error)")
            #expect(try content(folder).isEmpty)
        }
    }

    @Test("the times at the levels add up to the whole, rounded as they are")
    func levels() {
        let times = [35.45, 22.9, 1.65].map { TimeSpan(microseconds: Int64($0 * 1_000_000)) }
        #expect(RunReport.levels(times) == "normal 0:35, warning 0:23, critical 0:02")
        #expect(
            RunReport.levels([.milliseconds(400), .milliseconds(200), .zero])
                == "normal 0:00, warning 0:01, critical 0:00")
        #expect(RunReport.levels([.minutes(30), .zero, .zero]) == "normal 30:00, warning 0:00, critical 0:00")
    }

    @Test("the time of waiting is said in units that a person reads")
    func waiting() {
        #expect(RunReport.short(TimeSpan(microseconds: 415_717)) == "415.7 ms")
        #expect(RunReport.short(TimeSpan(microseconds: 17_650_000)) == "17.6 s")
        #expect(RunReport.short(TimeSpan(microseconds: 3)) == "less than 0.1 ms")
    }
}
