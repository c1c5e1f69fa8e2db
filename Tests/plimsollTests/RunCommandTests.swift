import Foundation
import Metrics
import Testing

@Suite("plimsoll run, as a person runs it", .serialized)
struct RunCommandTests {
    private func within(_ body: (URL) throws -> Void) throws {
        let folder = try Program.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    @Test("a run leaves every file of the contract, its CSV headers are the contract's, and the manifest is last")
    func files() throws {
        try within { folder in
            let result = try Program.run(
                ["run", Program.scenario("quickstart"), "--out", "r", "--verify"], in: folder)
            #expect(result.status == 0, "\(result.error)")
            #expect(result.out.contains("quickstart"))
            for table in RunTables.all {
                let csv = try Program.text(folder.appending(path: "r/\(table.file)"))
                #expect(csv.hasPrefix(table.columns.map(\.name).joined(separator: ",") + "\n"), "\(table.file)")
            }
            let manifest = try Program.text(folder.appending(path: "r/manifest.json"))
            #expect(manifest.contains("\"ending\" : \"completed\""))
            let left = try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: "r").path())
            #expect(!left.contains { $0.hasSuffix(".part") })
        }
    }

    @Test("a start that does not fit is refused in one line that names its entry, and is no internal fault")
    func startDoesNotFit() throws {
        let scenario = """
            plimsoll: 1
            name: full
            duration: 2s
            device: { ceiling: 16MiB, reserved: 11760KiB, compressor: {}, swap: { zram: false } }
            apps: [{ name: a, memory: { base: 92KiB, scene: 24KiB } }]
            start: [{ process: a, footprint: 12MiB, compressed: 12MiB }]
            user: []
            """
        try within { folder in
            try Data(scenario.utf8).write(to: folder.appending(path: "full.yaml"))
            for (out, options) in [("a", []), ("b", ["--verify"])] as [(String, [String])] {
                let result = try Program.run(["run", "full.yaml", "--quiet", "--out", out] + options, in: folder)
                #expect(result.status == 65)
                let lines = result.error.split(separator: "\n")
                #expect(lines.count == 1, "\(result.error)")
                #expect(result.error.hasPrefix("plimsoll: start.0: the start of 'a' does not fit: "), "\(result.error)")
                #expect(!FileManager.default.fileExists(atPath: folder.appending(path: out).path()), "nothing is left")
            }
        }
    }

    @Test("a run that compares with jemalloc after every event gives the same tables")
    func everyEvent() throws {
        try within { folder in
            let scenario = Program.scenario("quickstart")
            let plain = try Program.run(["run", scenario, "--out", "a", "--quiet"], in: folder)
            let result = try Program.run(["run", scenario, "--out", "b", "--quiet", "--verify-events"], in: folder)
            #expect([plain.status, result.status] == [0, 0], "\(plain.error)\(result.error)")
            for table in RunTables.all {
                let files = try ["a", "b"].map { try Program.text(folder.appending(path: "\($0)/\(table.file)")) }
                #expect(files[0] == files[1], "\(table.file)")
            }
        }
    }

    @Test(
        "the effective scenario of a run, run again, gives the same bytes; another seed gives others",
        arguments: [nil, "user=[{ every: 4s, launch: chat }, { at: 8s, launch: shop }, { every: 2s, switch: mail }]"])
    func repeats(user: String?) throws {
        let options = user.map { ["--set", $0, "--set", "expect=[]"] } ?? []
        try within { folder in
            let first = try Program.run(["run", Program.scenario("quickstart"), "--out", "a"] + options, in: folder)
            let second = try Program.run(["run", "a/scenario.yaml", "--out", "b"], in: folder)
            let third = try Program.run(["run", "a/scenario.yaml", "--out", "c", "--seed", "9"], in: folder)
            #expect([first.status, second.status] == [0, 0], "\(first.error)\(second.error)")
            #expect(third.status == 0 || third.status == 99, "\(third.error)")
            for table in RunTables.all {
                let bytes = try ["a", "b", "c"].map {
                    try Data(contentsOf: folder.appending(path: "\($0)/\(table.file)"))
                }
                #expect(bytes[0] == bytes[1], "\(table.file)")
                if table.name == "apps" { #expect(bytes[0] != bytes[2]) }
            }
        }
    }

    @Test("a scaled run says what does not scale, on the screen and in its manifest; another run does not")
    func scaled() throws {
        try within { folder in
            let scenario = Program.scenario("quickstart")
            let scaled = try Program.run(
                ["run", scenario, "--out", "a", "--scale", "0.5", "--set", "expect=[]"], in: folder)
            #expect(scaled.status == 0, "\(scaled.error)")
            let said = scaled.error.split(separator: "\n").filter { $0.contains("scaled by 50%") }
            let brief = "plimsoll: warning: scaled by 50%: times and counts do not scale; "
            #expect(said.count == 1 && said.first?.hasPrefix(brief) == true, "\(scaled.error)")
            let manifest = try Program.text(folder.appending(path: "a/manifest.json"))
            #expect(manifest.contains("scaled by 50%: times, counts, pages and jemalloc's bookkeeping"))
            #expect(scaled.out.hasPrefix("quickstart, at 50%: policy ladder, seed 1, "), "\(scaled.out)")
            #expect(try Program.text(folder.appending(path: "a/scenario.yaml")).contains("ceiling: 256MiB"))
            let whole = try Program.run(["run", scenario, "--out", "b"], in: folder)
            #expect(!whole.error.contains("scaled by"))
        }
    }

    @Test("--summary-only writes the same two summaries and no other table")
    func summaryOnly() throws {
        try within { folder in
            let scenario = Program.scenario("quickstart")
            #expect(try Program.run(["run", scenario, "--out", "a"], in: folder).status == 0)
            #expect(try Program.run(["run", scenario, "--out", "b", "--summary-only"], in: folder).status == 0)
            for table in ["summary.csv", "app_summary.csv", "exits.csv"] {
                let both = try ["a", "b"].map { try Program.text(folder.appending(path: "\($0)/\(table)")) }
                #expect(both[0] == both[1], "\(table)")
            }
            let left = try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: "b").path())
            #expect(left.filter { $0.hasSuffix(".csv") }.sorted() == ["app_summary.csv", "exits.csv", "summary.csv"])
            #expect(!(try Program.text(folder.appending(path: "b/datapackage.json")).contains("\"apps.csv\"")))
        }
    }

    @Test("a scenario may come through a pipe")
    func pipe() throws {
        try within { folder in
            let scenario = Program.scenario("quickstart")
            for (input, out) in [("/dev/stdin", "a"), ("-", "b")] {
                let result = try Program.run(
                    ["run", input, "--out", out, "--quiet"], in: folder, shell: #"cat '\#(scenario)' | "$@""#)
                #expect(result.status == 0, "\(result.error)")
                #expect(try Program.text(folder.appending(path: "\(out)/scenario.yaml")).contains("quickstart"))
            }
            // The first of several runs would use up standard input.
            let sweep = try Program.run(
                ["sweep", "-", "--out", "s"], in: folder, shell: #"cat '\#(scenario)' | "$@""#)
            #expect(sweep.status == 66 && sweep.error.contains("it must be a file on a disk"), "\(sweep.error)")
        }
    }

    @Test("the kernel's peak agrees with the books, as far as the manifest explains")
    func kernelPeak() throws {
        struct Manifest: Decodable {
            struct Memory: Decodable {
                let peakResidentBytes, regionTouchedBytes, unexplainedBytes: Int
            }
            let memory: Memory
        }
        try within { folder in
            _ = try Program.run(["run", Program.scenario("quickstart"), "--out", "r"], in: folder)
            let data = try Data(contentsOf: folder.appending(path: "r/manifest.json"))
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            let memory = try decoder.decode(Manifest.self, from: data).memory
            #expect(memory.peakResidentBytes <= 512 << 20)
            #expect(memory.regionTouchedBytes >= memory.peakResidentBytes)
            // Allows for two hundredths of the ceiling and for code that is paged in meanwhile.
            #expect(abs(memory.unexplainedBytes) < (512 << 20) / 50 + (16 << 20), "\(memory)")
        }
    }

    @Test("an expectation that does not hold is said, with what was observed, and the status is 99")
    func expectation() throws {
        try within { folder in
            let result = try Program.run(
                ["run", Program.scenario("quickstart"), "--out", "r", "--set", "expect=[warnings == 123456]"],
                in: folder)
            #expect(result.status == 99)
            #expect(result.error.contains("expectation failed: warnings == 123456 (observed "))
        }
    }

    @Test("an existing folder is never overwritten unless --force says so, and then only the run's own files")
    func force() throws {
        try within { folder in
            let arguments = [
                "run", Program.scenario("quickstart"), "--out", "r", "--set", "duration=2s", "--set", "user=[]",
                "--set", "expect=[]",
            ]
            #expect(try Program.run(arguments, in: folder).status == 0)
            try Data("mine".utf8).write(to: folder.appending(path: "r/notes.txt"))
            let before = try Data(contentsOf: folder.appending(path: "r/samples.csv"))
            let refused = try Program.run(arguments + ["--set", "seed=2"], in: folder)
            #expect(refused.status == 73)
            #expect(refused.error.split(separator: "\n").count == 1 && refused.error.contains("--force"))
            #expect(try Data(contentsOf: folder.appending(path: "r/samples.csv")) == before)
            #expect(try Program.run(arguments + ["--force"], in: folder).status == 0)
            #expect(try Program.text(folder.appending(path: "r/notes.txt")) == "mine")
        }
    }

    @Test("without --out each run gets a folder of its own")
    func defaultFolder() throws {
        try within { folder in
            let arguments = [
                "run", Program.scenario("quickstart"), "--set", "duration=1s", "--set", "user=[]", "--set", "expect=[]",
                "--quiet",
            ]
            for _ in 0..<2 { #expect(try Program.run(arguments, in: folder).status == 0) }
            let runs = try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: "runs").path())
            #expect(runs.sorted() == ["quickstart", "quickstart-2"])
        }
    }

    @Test(
        "Ctrl-C, SIGTERM and a closed terminal leave valid CSV and a manifest that says so",
        arguments: [SIGINT, SIGTERM, SIGHUP])
    func interruption(signal: Int32) throws {
        try within { folder in
            let samples = folder.appending(path: "r/samples.csv")
            // It does not end before the signal, however late that comes.
            let long = [
                "run", Program.scenario("evening-commute"), "--out", "r", "--set", "expect=[]", "--set",
                "duration=400d",
            ]
            let result = try Program.run(
                long, in: folder
            ) { process in
                // Samples are written in blocks; once the first one exists, the run is in progress.
                try Program.wait { (try? Data(contentsOf: samples))?.isEmpty == false }
                kill(process.processIdentifier, signal)
            }
            #expect(result.status == 128 + signal, "\(result.error)")
            #expect(Program.isValidPrefix(try Program.text(samples)))
            #expect(Program.isValidPrefix(try Program.text(folder.appending(path: "r/apps.csv"))))
            #expect(
                try Program.text(folder.appending(path: "r/manifest.json")).contains("\"ending\" : \"interrupted\""))
            #expect(try Program.text(folder.appending(path: "r/summary.csv")).split(separator: "\n").count == 2)
        }
    }

    @Test("output that cannot be created is one line and status 73", arguments: ["/dev/null/r", "/proc/plimsoll-run"])
    func cannotCreate(out: String) throws {
        try within { folder in
            let result = try Program.run(["run", Program.scenario("quickstart"), "--out", out], in: folder)
            #expect(result.status == 73)
            #expect(result.error.split(separator: "\n").count == 1, "\(result.error)")
        }
    }

    @Test("output that cannot be written any more is one line and status 74, and what is there is whole rows")
    func cannotWrite() throws {
        try within { folder in
            // A limit on the size of files simulates a full disk.
            let result = try Program.run(
                ["run", Program.scenario("quickstart"), "--out", "r"], in: folder, shell: "ulimit -f 100; exec \"$@\"")
            #expect(result.status == 74)
            let lines = result.error.split(separator: "\n").filter { !$0.contains("warning:") }
            #expect(lines.count == 1 && lines[0].contains("r/"), "\(result.error)")
            #expect(Program.isValidPrefix(try Program.text(folder.appending(path: "r/apps.csv"))))
        }
    }

    @Test("--format json prints one object with every metric")
    func json() throws {
        try within { folder in
            let result = try Program.run(
                ["run", Program.scenario("quickstart"), "--out", "r", "--format", "json"], in: folder)
            let object = try JSONSerialization.jsonObject(with: Data(result.out.utf8)) as? [String: Any]
            let summary = try #require(object?["summary"] as? [String: Any])
            #expect(Set(summary.keys) == Set(SummaryMetrics.all.map(\.name)))
        }
    }

    @Test("a claim about an app is judged by its row of app_summary.csv, on both backends alike")
    func appClaims() throws {
        try within { folder in
            let claims = ["browser survives", "browser.processes == 1", "game.terminations == 7", "notes survives"]
            let apps = "apps=[{ name: browser }, { name: game, memory: { base: 60MiB } }, { name: notes }]"
            for backend in ["jemalloc", "accounting"] {
                let options = [
                    apps, "expect=[\(claims.joined(separator: ", "))]", "limits.protected=[]",
                    "user=[{ at: 0s, launch: browser }, { at: 20s, launch: game }]",
                ]
                let result = try Program.run(
                    ["run", Program.scenario("quickstart"), "--out", backend, "--backend", backend]
                        + options.flatMap { ["--set", $0] }, in: folder)
                #expect(result.status == 99, "\(result.error)")
                #expect(result.out.contains("2 of 4 held"), "\(result.out)")
                #expect(result.error.contains("expectation failed: game.terminations == 7 (observed 0)"))
                #expect(result.error.contains("expectation failed: notes survives (this run has no such value)"))
                let marks = result.out.split(separator: "\n").filter { $0.contains("✓") || $0.contains("✗") }
                #expect(
                    marks.map { $0.trimmingCharacters(in: .whitespaces) } == [
                        "✓ browser survives", "✓ browser.processes == 1", "✗ game.terminations == 7 (observed 0)",
                        "✗ notes survives (this run has no such value)",
                    ], "a claim of an option has no line")
            }
            let tables = try ["jemalloc", "accounting"].map {
                try Program.text(folder.appending(path: "\($0)/app_summary.csv"))
            }
            #expect(tables[0] == tables[1] && tables[0].split(separator: "\n").count == 4)
            let package = try Program.text(folder.appending(path: "jemalloc/datapackage.json"))
            #expect(package.contains("\"app_summary.csv\"") && package.contains("others_ended_felt"))
        }
    }

    @Test("--format json says what an expectation observed as the summary does: a number, or null")
    func observed() throws {
        try within { folder in
            let claims = ["launches_cold >= 0", "hot_launch_ratio >= 0", "launch_latency_p95_ms >= 0"]
            for sets in [[], ["user=[]"]] {
                let options = (sets + ["expect=[\(claims.joined(separator: ", "))]"]).flatMap { ["--set", $0] }
                let result = try Program.run(
                    ["run", Program.scenario("quickstart"), "--out", "r", "--force", "--format", "json"] + options,
                    in: folder)
                let object = try JSONSerialization.jsonObject(with: Data(result.out.utf8)) as? [String: Any]
                let summary = try #require(object?["summary"] as? [String: Any])
                let found = try #require(object?["expectations"] as? [[String: Any]])
                #expect(found.count == claims.count)
                for claim in found {
                    let name = try #require((claim["expectation"] as? String)?.split(separator: " ").first)
                    #expect(claim["observed"] as? NSObject == summary[String(name)] as? NSObject, "\(claim)")
                    #expect(claim["observed"] is String == false)
                }
            }
        }
    }
}

@Suite("plimsoll's other commands", .serialized)
struct OtherCommandTests {
    private func run(_ arguments: String...) throws -> Program.Result {
        let folder = try Program.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        return try Program.run(arguments, in: folder)
    }

    @Test("wrong usage is status 64, a missing scenario 66, an invalid one 65")
    func statuses() throws {
        #expect(try run("run").status == 64)
        #expect(try run("fly").status == 64)
        let scenario = Program.scenario("quickstart")
        #expect(try run("run", scenario, "--seed", "x").status == 64)
        #expect(try run("run", "nowhere.yaml").status == 66)
        #expect(try run("validate", "nowhere.yaml", scenario).status == 66)
        let unknown = try run("run", scenario, "--set", "device.ceilng=1GiB")
        #expect(unknown.status == 65)
        #expect(unknown.error.contains("did you mean 'ceiling'?"))
        #expect(try run("run", scenario, "--policy", "lur").error.contains("'lru'"))
    }

    @Test("validate says file, line and column of each fault, and status 65")
    func validate() throws {
        let file = Program.root.appending(path: "Scenarios/Invalid").path()
        let names = try FileManager.default.contentsOfDirectory(atPath: file).filter { $0.hasSuffix(".yaml") }.sorted()
        for name in names.prefix(5) {
            let result = try run("validate", "\(file)/\(name)")
            #expect(result.status == 65, "\(name)")
            #expect(result.error.contains("\(name):"), "\(result.error)")
        }
    }

    @Test("the lists name what the catalogues hold")
    func lists() throws {
        #expect(try run("list", "policies").out.contains("ladder"))
        #expect(try run("list", "apps").out.contains("navigation"))
        #expect(try run("list", "metrics").out.contains("launch_latency_p95_ms"))
        #expect(try run("list", "metrics").out.contains("seconds_lost"))
        let metrics = Data(try run("list", "metrics", "--format", "json").out.utf8)
        let said = try #require(try JSONSerialization.jsonObject(with: metrics) as? [String: [[String: Any]]])
        let names = said["metrics"]?.compactMap { $0["name"] as? String }
        #expect(names == RunTables.summary.columns.map(\.name) + ["seconds_lost"])
        let folder = Program.root.appending(path: "Scenarios").path()
        #expect(try run("list", "scenarios", "--folder", folder).out.contains("evening-commute.yaml"))
    }

    @Test("doctor tries the allocator for real, and the schemas are JSON")
    func others() throws {
        let doctor = try run("doctor")
        #expect(doctor.status == 0 && doctor.out.contains("accounting equals jemalloc's statistics"))
        #expect(doctor.out.contains("This host can run scenarios that need no more than"))
        for kind in ["scenario", "csv"] {
            let schema = try run("schema", kind)
            #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(schema.out.utf8)) }
        }
        #expect(try run("--version").out == "0.1.0\n")
        #expect(try run("--help").out.contains("EXAMPLES"))
    }

    @Test("every command that scales says the same of it: the device is scaled, not every size")
    func scaleHelp() throws {
        for help in [try run("run", "--help"), try run("compare", "--help"), try run("sweep", "run", "--help")] {
            let words = help.out.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
            #expect(words.contains("--scale <scale> A scale model of the run: the device"), "\(help.out)")
            #expect(!words.contains("Every size"), "\(help.out)")
        }
    }

    @Test("nothing is coloured and no progress is drawn where there is no terminal")
    func plain() throws {
        let result = try run("run", Program.scenario("quickstart"), "--out", "r")
        #expect(!result.out.contains("\u{1B}") && !result.error.contains("\u{1B}"))
    }
}
