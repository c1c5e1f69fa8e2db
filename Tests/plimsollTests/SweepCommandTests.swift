import Foundation
import Quantities
import Testing

@Suite("plimsoll sweep, as a person runs it", .serialized)
struct SweepCommandTests {
    /// 2 policies x 2 ceilings x 3 seeds.
    private let sweep = [
        "sweep", "tiny.yaml", "--policy", "lru", "--policy", "largest-first", "--vary",
        "device.ceiling=96MiB..120MiB/2",
        "--seeds", "1..3",
    ]

    private func path(_ folder: URL) -> String { folder.appending(path: "tiny.yaml").path() }

    private func bytes(_ folder: URL, _ file: String) throws -> Data {
        try Data(contentsOf: folder.appending(path: file))
    }

    private func run(_ arguments: [String], in folder: URL) throws -> Program.Result {
        try Program.run(arguments, in: folder)
    }

    @Test("the last line names the best setting and what it costs; in Markdown below a table; merged parts say it, too")
    func sentence() throws {
        try Experiments.within { folder in
            let sweep = [
                "sweep", "tiny.yaml", "--vary", "device.ceiling=96MiB,256MiB", "--seeds", "1..5", "--metric",
                "terminations", "--metric", "stalls",
            ]
            let text = try Program.run(sweep + ["--out", "a"], in: folder)
            let last = text.out.split(separator: "\n").last ?? ""
            #expect(
                last.hasPrefix("Over 5 seeds of tiny: terminations has its best mean, 0, with device.ceiling=256MiB, "),
                "\(text.out)\(text.error)")
            #expect(last.contains("so this is one case"), "\(last)")
            for part in ["1/2", "2/2"] {
                let arguments = ["--out", "part-\(part.prefix(1))", "--shard", part]
                let said = try Program.run(sweep + arguments, in: folder)
                #expect(said.status == 0 && !said.out.contains("Over 5 seeds"), "\(said.out)")
            }
            let merge = ["sweep", "merge", "part-1", "part-2", "--out", "whole", "--format", "markdown"]
            let merged = try Program.run(
                merge + ["--metric", "terminations", "--metric", "stalls"], in: folder)
            let lines = merged.out.split(separator: "\n")
            #expect(merged.status == 0 && merged.error.contains("10 runs of 2 parts"), "\(merged.error)")
            #expect(lines.filter { $0.hasPrefix("|") }.count == 4 && lines[1].hasPrefix("| setting | verdict | mean |"))
            #expect(lines[4].hasPrefix("| `device.ceiling=256MiB` | one case: no interval | 0 | -"), "\(merged.out)")
            #expect(lines.last?.hasPrefix("> Over 5 seeds of tiny: terminations has its best mean, 0,") == true)
            let refused = try Program.run(sweep.dropLast(4) + ["--metric", "warnings", "--out", "b"], in: folder)
            let reason = "neither higher nor lower is better"
            #expect(refused.status == 64 && refused.error.contains(reason), "\(refused.error)")
        }
    }

    @Test("what the person lost is measured against unbounded, which runs as well and is no setting; parts know it")
    func secondsLost() throws {
        try Experiments.within { folder in
            let words = ["--vary", "device.ceiling=96MiB,256MiB", "--seeds", "1..2", "--metric", "seconds_lost"]
            let whole = try run(["sweep", path(folder)] + words + ["--out", "whole"], in: folder)
            #expect(whole.status == 0 && whole.out.hasPrefix("8 runs in "), "\(whole)")
            #expect(!whole.out.contains("unbounded") && whole.out.contains("of tiny: "), "\(whole.out)")
            let rows = try Experiments.rows(folder.appending(path: "whole/sweep.csv"))
            #expect(rows.count == 8 && rows.allSatisfy { Double($0["seconds_lost"] ?? "") != nil }, "\(rows)")
            #expect(rows.suffix(4).allSatisfy { $0["policy_label"] == "unbounded" && $0["seconds_lost"] == "0" })
            for part in 1...2 {
                let made = try run(
                    ["sweep", path(folder)] + words + ["--shard", "\(part)/2", "--out", "p\(part)"], in: folder)
                #expect(made.status == 0, "\(made.error)")
            }
            let merged = try run(
                ["sweep", "merge", "p2", "p1", "--metric", "seconds_lost", "--out", "merged"], in: folder)
            #expect(merged.status == 0, "\(merged.error)")
            #expect(try bytes(folder, "merged/sweep.csv") == bytes(folder, "whole/sweep.csv"))
            // What is set of the policy is not for unbounded: one that ends apps loses more than one that does not.
            let kinds = ["--vary", "policy=largest-first,none", "--set", "device.ceiling=96MiB"]
            let varied = try run(
                ["sweep", path(folder)] + kinds + ["--seeds", "1", "--metric", "seconds_lost", "--out", "v"],
                in: folder)
            #expect(varied.status == 0, "\(varied.error)")
            let lost = try Experiments.rows(folder.appending(path: "v/sweep.csv"))
            #expect(lost.map { $0["policy"] } == ["largest-first", "none", "unbounded", "unbounded"], "\(lost)")
            #expect(lost.prefix(2).allSatisfy { $0["seconds_lost"] != "0" }, "\(lost.map { $0["seconds_lost"] })")
            // Other prices need no run.
            let dearer = words + ["--end-price", "1min", "--out", "whole", "--resume"]
            #expect(try run(["sweep", path(folder)] + dearer, in: folder).out.hasPrefix("0 runs in "))
            let plain = try run(["sweep", path(folder)] + words.dropLast(2) + ["--out", "plain"], in: folder)
            #expect(plain.status == 0)
            let late = try run(["sweep", "merge", "plain", "--metric", "seconds_lost", "--out", "m2"], in: folder)
            #expect(late.status == 65 && late.error.contains("has no runs under unbounded"), "\(late.error)")
            let alone = try run(
                ["sweep", path(folder)] + words + ["--policy", "unbounded", "--out", "x"], in: folder)
            #expect(alone.status == 64 && alone.error.contains("name a --policy beside unbounded"), "\(alone.error)")
        }
    }

    @Test("a row per case in the order of the plan, the varied setting in its unit")
    func table() throws {
        try Experiments.within { folder in
            let result = try run(sweep + ["--out", "s", "--jobs", "3"], in: folder)
            #expect(result.status == 0, "\(result.error)")
            let rows = try Experiments.rows(folder.appending(path: "s/sweep.csv"))
            #expect(rows.map { $0["case"] } == (1...12).map { "\($0)" })
            #expect(rows[3]["device.ceiling_bytes"] == "\(120 << 20)" && rows[3]["ceiling_bytes"] == "\(120 << 20)")
            #expect(rows.map { $0["seed"] } == (0..<12).map { "\($0 % 3 + 1)" })
            #expect(rows[5]["policy_label"] == "lru" && rows[6]["policy_label"] == "largest-first")
            let own = try run(
                [
                    "run", "tiny.yaml", "--policy", "largest-first", "--seed", "2", "--set", "device.ceiling=120MiB",
                    "--out", "r", "--quiet",
                ], in: folder)
            #expect(own.status == 0, "\(own.error)")
            let summary = try Experiments.rows(folder.appending(path: "r/summary.csv"))[0]
            for (name, value) in summary { #expect(rows[10][name] == value, "\(name)") }
        }
    }

    @Test("three parts, merged in any order, are the unsharded sweep byte for byte")
    func shards() throws {
        try Experiments.within { folder in
            #expect(try run(sweep + ["--out", "whole", "--jobs", "2"], in: folder).status == 0)
            for part in 1...3 {
                let result = try run(
                    sweep + ["--out", "part-\(part)", "--shard", "\(part)/3", "--jobs", "\(part)"], in: folder)
                #expect(result.status == 0 && result.out.contains("4 runs"), "\(result.error)\(result.out)")
            }
            let merged = try run(["sweep", "merge", "part-2", "part-3", "part-1", "--out", "merged"], in: folder)
            #expect(merged.status == 0, "\(merged.error)")
            // What they show stands in the folder, so that no page has to ask for it.
            let package = try JSONSerialization.jsonObject(with: bytes(folder, "merged/datapackage.json"))
            let facts = package as? [String: Any]
            #expect(facts?["description"] as? String == merged.out.split(separator: "\n").last.map(String.init))
            #expect(facts?["decider"] as? String == "terminations_felt")
            for file in ["sweep.csv", "plan.json", "datapackage.json"] {
                #expect(try bytes(folder, "merged/\(file)") == bytes(folder, "whole/\(file)"), "\(file)")
            }
        }
    }

    @Test("a sweep that was killed at 20 random moments and resumed is the same byte for byte")
    func killed() throws {
        try Experiments.within { folder in
            let sweep = [
                "sweep", path(folder), "--vary", "device.ceiling=90MiB..104MiB:1MiB", "--seeds", "1,2",
                "--jobs", "2",
            ]
            #expect(try run(sweep + ["--out", "whole"], in: folder).status == 0)
            var generator = SeededGenerator(seed: 20, stream: "kills")
            var kills = 0
            for attempt in 0..<20 {
                // Between the ends of two runs, some before the first one: however slow the machine is, the moment
                // comes after none, one or two further runs.
                let runs = Experiments.finished("s", in: folder) + generator.number(in: 0...2)
                let moment = UInt32(generator.number(in: 0...60_000))
                let result = try Program.run(sweep + ["--out", "s", "--resume"], in: folder) { process in
                    try Program.wait { !process.isRunning || Experiments.finished("s", in: folder) >= runs }
                    usleep(moment)
                    kill(process.processIdentifier, SIGKILL)
                }
                #expect(try Experiments.isQuiet(folder), "an orphan after attempt \(attempt)")
                if result.status == SIGKILL { kills += 1 }
            }
            let last = try run(sweep + ["--out", "s", "--resume"], in: folder)
            #expect(last.status == 0, "\(last.error)")
            #expect(kills >= 3, "only \(kills) attempts were killed in time")
            // A kill loses no run except possibly the one recorded last.
            let manifest = try Data(contentsOf: folder.appending(path: "s/manifest.json"))
            let facts = try JSONSerialization.jsonObject(with: manifest) as? [String: Any]
            #expect(facts?["runs"] as? Int ?? 0 >= 30 - kills && facts?["attempts"] as? Int ?? 0 > 1, "\(facts ?? [:])")
            #expect(try bytes(folder, "s/sweep.csv") == bytes(folder, "whole/sweep.csv"))
        }
    }

    /// The way in which a folder's manifest says that the sweep ended, and the planned number of runs.
    private func ending(_ folder: URL, _ file: String) throws -> (String?, Int?) {
        let data = try Data(contentsOf: folder.appending(path: file))
        let facts = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        return (facts?["ending"] as? String, facts?["runs_planned"] as? Int)
    }

    @Test("the manifest of a sweep that is killed says that it is incomplete, also before its first run has ended")
    func incomplete() throws {
        try Experiments.within { folder in
            let sweep = ["sweep", path(folder), "--seeds", "1..12", "--out", "s", "--jobs", "1"]
            for runs in [1, 4] {
                let ledger = folder.appending(path: "s/ledger.txt")
                _ = try Program.run(sweep + ["--resume"], in: folder) { process in
                    let manifest = folder.appending(path: "s/manifest.json").path()
                    try Program.wait {
                        let lines = ((try? Program.text(ledger)) ?? "").count { $0 == "\n" }
                        return lines >= runs && FileManager.default.fileExists(atPath: manifest)
                    }
                    kill(process.processIdentifier, SIGKILL)
                }
                #expect(try Experiments.isQuiet(folder))
                #expect(try ending(folder, "s/manifest.json") == ("incomplete", 12))
            }
            let result = try Program.run(sweep + ["--resume"], in: folder) { process in
                usleep(50_000)
                kill(process.processIdentifier, SIGINT)
            }
            if result.status == 130 { #expect(try ending(folder, "s/manifest.json").0 == "interrupted") }
            #expect(try run(sweep + ["--resume"], in: folder).status == 0)
            #expect(try ending(folder, "s/manifest.json") == ("completed", 12))
        }
    }

    @Test("so does that of a comparison; its folder can be used again only while no run in it is finished")
    func incompleteComparison() throws {
        try Experiments.within { folder in
            let arguments = ["compare", path(folder), "--policy", "lru", "--seeds"]
            // The first runs last for minutes.
            let endless = arguments + ["1..5000", "--set", "duration=1000h", "--out", "c"]
            _ = try Program.run(endless, in: folder) { process in
                try Experiments.waitForRun(of: process, naming: folder)
                kill(process.processIdentifier, SIGKILL)
            }
            #expect(try Experiments.isQuiet(folder))
            #expect(try ending(folder, "c/manifest.json") == ("incomplete", 20_000))
            #expect(try run(arguments + ["1..2", "--out", "c"], in: folder).status == 0)
            #expect(try ending(folder, "c/manifest.json") == ("completed", 8))
            #expect(try run(arguments + ["1..2", "--out", "c"], in: folder).status == 73)

            _ = try Experiments.interrupt(
                arguments + ["1..5000", "--out", "d"], by: [SIGKILL], after: 1, into: "d", in: folder)
            #expect(try Experiments.isQuiet(folder))
            #expect(try ending(folder, "d/manifest.json") == ("incomplete", 20_000))
            let before = try bytes(folder, "d/ledger.txt")
            let refused = try run(arguments + ["1..2", "--out", "d"], in: folder)
            #expect(refused.status == 73 && refused.error.contains("--resume continues"), "\(refused.error)")
            #expect(try bytes(folder, "d/ledger.txt") == before)
        }
    }

    @Test("interrupted, it keeps what is finished, and goes on with the rest")
    func interrupted() throws {
        try Experiments.within { folder in
            let ledger = folder.appending(path: "s/ledger.txt")
            // This process may get no time while the command ends its last run.
            var (sweep, result, all) = ([String](), Program.Result(status: 0, out: "", error: ""), 12)
            while result.status == 0, all < 800 {
                try? FileManager.default.removeItem(at: folder.appending(path: "s"))
                all *= 2
                sweep = ["sweep", path(folder), "--seeds", "1..\(all)", "--out", "s", "--jobs", "2"]
                result = try Experiments.interrupt(sweep, by: [SIGINT], after: 3, into: "s", in: folder)
            }
            #expect(result.status == 130, "\(result.error)")
            #expect(try Experiments.isQuiet(folder))
            let finished = try Program.text(ledger).count(where: { $0 == "\n" }) - 1
            let lines = result.error.split(separator: "\n").map(String.init)
            let said = "plimsoll: interrupted; \(finished) of \(all) runs finished, kept in s. Go on with:"
            #expect(lines.first == said && lines.last?.hasSuffix(" --jobs 2 --resume") == true, "\(result.error)")
            #expect(finished >= 3 && finished < all)
            #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "s/sweep.csv").path()))
            let rest = try run(sweep + ["--resume"], in: folder)
            #expect(rest.status == 0 && rest.out.contains("\(all - finished) run"), "\(rest.out)\(rest.error)")
            // The total includes the runs before the interruption, even runs that were in progress then.
            let manifest = try Program.text(folder.appending(path: "s/manifest.json"))
            let facts = try JSONSerialization.jsonObject(with: Data(manifest.utf8)) as? [String: Any]
            #expect((facts?["runs"] as? Int ?? 0) >= all && facts?["attempts"] as? Int == 2, "\(manifest)")
            let again = try run(sweep + ["--resume"], in: folder)
            #expect(again.status == 0 && again.out.contains("0 runs in"), "\(again.out)\(again.error)")
            #expect(try Program.text(folder.appending(path: "s/manifest.json")) == manifest)

            // Another process holds the lock.
            let descriptor = open(ledger.path(), O_RDONLY)
            defer { close(descriptor) }
            #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
            let busy = try run(sweep + ["--resume"], in: folder)
            #expect(busy.status == 73 && busy.error.contains("s is being written by another plimsoll"), "\(busy.error)")
            let merged = try run(["sweep", "merge", "s", "--out", "m"], in: folder)
            #expect(merged.status == 65 && merged.error.contains("s is being written by another"), "\(merged.error)")
        }
    }

    @Test("another plan does not resume a sweep, and the line says what differs")
    func foreign() throws {
        try Experiments.within { folder in
            #expect(try run(sweep + ["--out", "s"], in: folder).status == 0)
            let again = try run(sweep + ["--out", "s"], in: folder)
            #expect(again.status == 73 && again.error.contains("--resume"), "\(again.error)")
            func refused(_ arguments: [String], _ words: String) throws {
                let result = try run(arguments + ["--out", "s", "--resume"], in: folder)
                #expect(result.status == 65 && result.error.contains(words), "\(result.error)")
                #expect(result.error.split(separator: "\n").count == 1)
            }
            try refused(Array(sweep.dropLast()) + ["1..4"], "another list of seeds")
            try refused(sweep + ["--set", "device.cores=3"], "another choice of --set")
            try refused(sweep + ["--policy", "ladder"], "another list of policies")
            try refused(sweep + ["--shard", "1/2"], "not the ledger of part 1/2")
            try Data((Experiments.tiny + "\n# edited\n").utf8).write(to: folder.appending(path: "tiny.yaml"))
            try refused(sweep, "another text of tiny.yaml")
        }
    }

    @Test("a policy file that is edited while a sweep goes on ends it")
    func edited() throws {
        try Experiments.within { folder in
            let policy = folder.appending(path: "mine.yaml")
            try Data("name: lru\n".utf8).write(to: policy)
            let sweep = [
                "sweep", "tiny.yaml", "--policy", "./mine.yaml", "--seeds", "1..500", "--jobs", "1", "--out", "s",
            ]
            let result = try Program.run(sweep, in: folder) { process in
                try Program.wait { !process.isRunning || Experiments.finished("s", in: folder) >= 1 }
                try Data("name: largest-first\n".utf8).write(to: policy)
            }
            #expect(result.status == 65 && result.error.contains("policy file was changed"), "\(result.error)")
        }
    }

    @Test("merge refuses parts that are missing, doubled, unfinished, of another sweep, or none")
    func merges() throws {
        try Experiments.within { folder in
            for part in 1...2 {
                #expect(try run(sweep + ["--out", "p\(part)", "--shard", "\(part)/3"], in: folder).status == 0)
            }
            let other = Array(sweep.dropLast()) + ["1..4", "--shard", "3/3", "--out", "other"]
            #expect(try run(other, in: folder).status == 0)
            let half = sweep + ["--shard", "3/4", "--out", "quarter"]
            #expect(try run(half, in: folder).status == 0)
            #expect(try run(sweep + ["--shard", "3/3", "--out", "torn"], in: folder).status == 0)
            let ledger = folder.appending(path: "torn/ledger.txt")
            try Data(contentsOf: ledger).dropLast(9).write(to: ledger)
            func refused(_ parts: [String], _ status: Int32, _ words: String) throws {
                let result = try run(["sweep", "merge"] + parts + ["--out", "m"], in: folder)
                #expect(result.status == status && result.error.contains(words), "\(parts): \(result.error)")
                #expect(result.error.split(separator: "\n").count == 1)
                #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "m").path()))
            }
            try refused(["p1", "p2"], 65, "missing: part 3/3")
            try refused(["p1", "p2", "p1"], 65, "are both part 1/3")
            try refused(["p1", "p2", "other"], 65, "another list of seeds")
            try refused(["p1", "p2", "quarter"], 65, "part 3/4")
            try refused(["p1", "p2", "torn"], 65, "lacks 1 of its runs")
            try refused(["p1", "p2", "nowhere"], 66, "no part of a sweep")
        }
    }

    @Test("keys and values are checked for every case before the first run")
    func refusals() throws {
        try Experiments.within { folder in
            let cases: [([String], Int32, String)] = [
                (["--vary", "device.celing=96MiB,1GiB"], 65, "--vary device.celing=96MiB: error: unknown key"),
                (["--vary", "device.cores=1,2,many"], 65, "--vary device.cores=many"),
                (["--vary", "device.ceiling=96MiB,96"], 65, "a size with its unit"),
                (["--vary", "device.ceiling=96MiB..1GiB"], 64, "say how many values"),
                (["--vary", "device.cores=1..2", "--vary", "device.cores=3,4"], 64, "comes twice"),
                (["--vary", "policy=lru", "--vary", "policy.name=none"], 64, "replaces --vary policy in"),
                (["--vary", "apps.a.memory.base=1MiB", "--vary", "apps.a.memory={}"], 64, "apps.a.memory.base in"),
                (["--vary", "policy.parameters.x=1", "--vary", "policy=lru"], 64, "or vary the policy first"),
                (["--vary", "device={ cores: 1 }", "--vary", "device.cores=1,2"], 64, "is a part of --vary device;"),
                (["--vary", "policy={ name: lru }", "--vary", "policy.label=a,b"], 64, "is a part of --vary policy;"),
                (["--vary", "apps.0.memory.base=1MiB", "--vary", "apps.a.memory.base=3MiB"], 64, "may set the same"),
                (["--vary", "apps.0.memory.base=1MiB", "--set", "apps.a.memory.base=3MiB"], 64, "may set the same"),
                (["--vary", "device.cores=1..2", "--sample", "lhs"], 64, "lhs:N"),
                (["--sample", "lhs:3"], 64, "--sample needs"),
                (["--shard", "4/3"], 64, "not a part"),
                (["--vary", "device.cores=1,2", "--set", "device.cores=3"], 64, "--set device.cores: --vary"),
                (["--vary", "policy=lru,none", "--set", "policy.parameters.x=3"], 64, "--set policy.parameters.x: "),
            ]
            for (arguments, status, words) in cases {
                let result = try run(["sweep", "tiny.yaml"] + arguments + ["--out", "s"], in: folder)
                #expect(result.status == status && result.error.contains(words), "\(arguments): \(result.error)")
                #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "s").path()))
            }
        }
    }

    @Test("a policy that varies by its name may have labels or parameters that vary, too; neighbours are no parts")
    func beside() throws {
        try Experiments.within { folder in
            let sweep = ["sweep", "tiny.yaml", "--dry-run", "--vary"]
            for more in ["policy=lru,none --vary policy.label=a,b", "device.cores=1,2 --vary device.cores_=1,2"] {
                let result = try run(sweep + more.split(separator: " ").map(String.init), in: folder)
                #expect(result.status != 64, "\(result.error)")
            }
        }
    }

    @Test("a Latin hypercube sweep is the same in every process; a dry run of a part says how many runs it has")
    func samples() throws {
        try Experiments.within { folder in
            let sweep = [
                "sweep", "tiny.yaml", "--vary", "device.ceiling=log:96MiB..192MiB", "--vary", "device.cores=1..4",
                "--sample", "lhs:8",
            ]
            for out in ["a", "b"] { #expect(try run(sweep + ["--out", out], in: folder).status == 0) }
            #expect(try bytes(folder, "a/sweep.csv") == bytes(folder, "b/sweep.csv"))
            let rows = try Experiments.rows(folder.appending(path: "a/sweep.csv"))
            for cores in 1...4 { #expect(rows.count { $0["device.cores"] == "\(cores)" } == 2) }
            let plan = try run(sweep + ["--shard", "2/3", "--dry-run"], in: folder)
            #expect(plan.status == 0 && plan.out.contains("8 runs: ") && plan.out.contains("part 2/3: 3 runs"))
            #expect(plan.error.isEmpty)
            let again = ["sweep", "tiny.yaml", "--vary", "device.cores=1,2", "--sample", "random:40", "--dry-run"]
            let drawn = try run(again, in: folder)
            #expect(drawn.status == 0 && drawn.out.contains("2 runs: "), "\(drawn.out)")
            #expect(drawn.error == "plimsoll: left out 38 of the 40 combinations drawn: repetitions of others\n")
            // Settings besides the varied ones stay in effect.
            let beside = again + ["--set", "device.ceiling=128MiB", "--vary", "policy.parameters.x=1"]
            #expect(try run(beside + ["--set", "policy=lru"], in: folder).status != 64)
        }
    }

    @Test("a sample draws every number of a range where the setting is real, and whole ones where it is not")
    func reals() throws {
        try Experiments.within { folder in
            let words = [
                "sweep", "tiny.yaml", "--vary", "apps.0.memory.objects.log_normal.sigma=0..3", "--vary",
                "device.cores=1..4", "--sample", "lhs:8", "--out", "s",
            ]
            let result = try run(words, in: folder)
            #expect(result.status == 0, "\(result.error)")
            let rows = try Experiments.rows(folder.appending(path: "s/sweep.csv"))
            let sigmas = rows.compactMap { $0["apps.0.memory.objects.log_normal.sigma"].flatMap(Double.init) }
            #expect(sigmas.count == 8 && sigmas.contains { $0 != $0.rounded() }, "\(sigmas)")
            #expect(Set(sigmas.map { Int($0 * 8 / 3) }).count == 8, "one in each eighth: \(sigmas)")
            for cores in 1...4 { #expect(rows.count { $0["device.cores"] == "\(cores)" } == 2) }
        }
    }

    @Test("a run that fails is said with its case; the others go on, and --resume tries it again")
    func failures() throws {
        try Experiments.within { folder in
            // The address space is limited, so the host has no room for a device and refuses the run.
            let sweep = [
                "sweep", "tiny.yaml", "--backend", "jemalloc", "--vary", "device.ceiling=2GiB,96MiB", "--jobs", "1",
                "--out", "s",
            ]
            let result = try Program.run(sweep, in: folder, shell: "ulimit -v 4000000; exec \"$@\"")
            #expect(result.status == 71, "\(result.error)")
            #expect(result.error.contains("case 1 (tiny, device.ceiling=2GiB) ended with 71"), "\(result.error)")
            #expect(result.error.contains("1 of 2 runs failed; --resume runs them again"), "\(result.error)")
            let again = try run(sweep + ["--resume"], in: folder)
            #expect(again.status == 0 && again.out.contains("1 run in"), "\(again.error)\(again.out)")
            #expect(try Experiments.rows(folder.appending(path: "s/sweep.csv")).count == 2)
        }
    }

    /// The usual way of job schedulers: the same command with a part number from outside.
    @Test(
        "sharding under GNU parallel",
        .enabled(if: SweepCommandTests.hasParallel, "GNU parallel is not installed"))
    func parallel() throws {
        try Experiments.within { folder in
            #expect(try run(sweep + ["--out", "whole"], in: folder).status == 0)
            let result = try Program.run(
                sweep + ["--quiet"], in: folder,
                shell: "parallel --will-cite --halt now,fail=1 -j 3 \"$@\" --shard {}/4 --out part-{} ::: 1 2 3 4")
            #expect(result.status == 0, "\(result.error)")
            let parts = (1...4).map { "part-\($0)" }
            #expect(try run(["sweep", "merge"] + parts + ["--out", "merged"], in: folder).status == 0)
            #expect(try bytes(folder, "merged/sweep.csv") == bytes(folder, "whole/sweep.csv"))
        }
    }

    static let hasParallel: Bool = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/parallel") }
    }()
}
