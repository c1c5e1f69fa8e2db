import Foundation
import Testing

@Suite("plimsoll compare, as a person runs it", .serialized)
struct CompareCommandTests {
    private let usual = ["--seeds", "1..5", "--out", "c"]

    @Test("two identical policies give differences of exactly zero, and the table says so")
    func identical() throws {
        try Experiments.within { folder in
            let policy = "name: lru\nlabel: twin\n"
            try Data(policy.utf8).write(to: folder.appending(path: "twin.yaml"))
            let result = try Program.run(
                ["compare", "tiny.yaml", "--policy", "lru", "--policy", "lru", "--policy", "./twin.yaml"] + usual,
                in: folder)
            #expect(result.status == 0, "\(result.error)")
            #expect(result.out.contains("identical: every pair is equal"))
            let last = result.out.split(separator: "\n").suffix(2)
            let sentences = ["lru-2", "twin"].map {
                "Over 5 seeds of tiny, \($0) and lru are identical on all 10 metrics: every pair of runs is equal."
            }
            #expect(last.map(String.init) == sentences, "\(last)")
            let rows = try Experiments.rows(folder.appending(path: "c/comparison.csv"))
            let twins = rows.filter { ["lru-2", "twin"].contains($0["policy"]) }
            #expect(twins.count == 20)
            for row in twins {
                let cells = ["difference", "difference_low", "difference_high"].map { row[$0] }
                // A metric that no seed changes has no interval.
                let isZero = cells == ["0", "0", "0"] || cells == ["0", "", ""]
                #expect(isZero && row["verdict"] == "identical", "\(row)")
                #expect(row["pairs_same"] == "5" && row["pairs"] == "5")
            }
        }
    }

    @Test("a user who is written down is one case under every seed: no interval, and nobody is called better")
    func oneCase() throws {
        try Experiments.within { folder in
            let result = try Program.run(
                ["compare", "tiny.yaml", "--policy", "lru", "--policy", "none", "--metric", "terminations"]
                    + ["--metric", "launches_cold"] + usual, in: folder)
            #expect(result.status == 0, "\(result.error)")
            #expect(result.out.contains("Identical under every seed: more seeds show nothing new"), "\(result.out)")
            #expect(result.out.contains("identical under every seed: no interval"), "\(result.out)")
            let last = String(result.out.split(separator: "\n").last ?? "")
            let said =
                "Over 5 seeds of tiny, these runs allow no general conclusion about none and lru; the user acts "
                + "alike under every seed, so this is one case, in which none has "
            #expect(last.hasPrefix(said), "\(last)")
            let rows = try Experiments.rows(folder.appending(path: "c/comparison.csv"))
            let none = try #require(rows.first { $0["policy"] == "none" && $0["metric"] == "terminations" })
            #expect(none["verdict"] == "same_under_every_seed" && none["difference"] != "0", "\(none)")
            #expect(none["difference_low"] == "" && none["difference_high"] == "", "\(none)")
        }
    }

    @Test("--format markdown prints a table with the sentence, and the line about the runs goes to stderr")
    func markdown() throws {
        try Experiments.within { folder in
            let result = try Program.run(
                ["compare", "tiny.yaml", "--policy", "lru", "--policy", "none", "--format", "markdown"] + usual,
                in: folder)
            #expect(result.status == 0 && result.error.contains("written to c"), "\(result.error)")
            let lines = result.out.split(separator: "\n").map(String.init)
            #expect(lines[0] == "**`tiny`**, 5 seeds, differences from `lru` with 95 % intervals (BCa bootstrap)")
            let table = lines.filter { $0.hasPrefix("|") }
            // Ten metrics, each with two policies and two yardsticks beside them; a head and a rule.
            #expect(table.count == 2 + 10 * 4, "\(table.count)")
            #expect(table.allSatisfy { $0.split(separator: "|").count == 7 }, "\(table)")
            #expect(table[2].hasPrefix("| `launch_latency_p50_ms`, lower is better | `lru` | baseline | "))
            let sentence = lines.last ?? ""
            #expect(
                sentence.hasPrefix("> Over 5 seeds of tiny, lru is better than none on stall\\_time\\_s by "),
                "\(sentence)")
            #expect(sentence.contains("; the user acts alike under every seed, so this is one case, in which none "))
            let alone = try Program.run(
                ["compare", "tiny.yaml", "--policy", "lru", "--seeds", "1", "--out", "d"], in: folder)
            let said =
                "Over 1 seed of tiny, lru ran with the yardsticks only; name a second --policy to compare with it.\n"
            #expect(alone.out.hasSuffix(said), "\(alone.out)")
        }
    }

    @Test("what has an option of its own is not changed behind its back")
    func oneOption() throws {
        try Experiments.within { folder in
            let compare = ["compare", "tiny.yaml", "--policy", "lru", "--dry-run", "--set"]
            let sweep = ["sweep", "tiny.yaml", "--dry-run", "--vary"]
            for (arguments, key) in [
                (compare + ["policy=none"], "policy"), (compare + ["policy.name=none"], "policy.name"),
                (compare + ["seed=3"], "seed"), (sweep + ["seed=1,2"], "seed"),
                (sweep + ["policy.name=lru,none", "--policy", "ladder"], "policy.name"),
                (sweep + ["seed=0..9223372036854775807", "--sample", "random:3"], "2^53"),
            ] {
                let result = try Program.run(arguments, in: folder)
                #expect(result.status == 64 && result.error.contains(key), "\(arguments): \(result)")
            }
            // Without --policy, `policy` is a setting like any other, and its column does not hide the summary's.
            let result = try Program.run(
                ["sweep", "tiny.yaml", "--vary", "policy=lru,none", "--out", "s", "--quiet"], in: folder)
            #expect(result.status == 0, "\(result.error)")
            let rows = try Experiments.rows(folder.appending(path: "s/sweep.csv"))
            #expect(rows.map { $0["set.policy"] } == ["lru", "none"])
            #expect(rows.map { $0["policy"] } == ["lru", "none"])
        }
    }

    @Test("policies that are called alike are told apart, also from those whose own name ends in a number")
    func labels() throws {
        try Experiments.within { folder in
            for name in ["a", "a-2", "b"] {
                let text = "name: lru\nlabel: \(name == "b" ? "a" : name)\n"
                try Data(text.utf8).write(to: folder.appending(path: "\(name).yaml"))
            }
            let result = try Program.run(
                ["compare", "tiny.yaml", "--policy", "./a.yaml", "--policy", "./b.yaml", "--policy", "./a-2.yaml"]
                    + usual, in: folder)
            #expect(result.status == 0, "\(result.error)")
            let rows = try Experiments.rows(folder.appending(path: "c/comparison.csv"))
            let labels = rows.filter { $0["metric"] == "terminations" }.compactMap { $0["policy"] }
            #expect(labels.prefix(3) == ["a", "a-2", "a-2-2"] && Set(labels).count == labels.count, "\(labels)")
        }
    }

    @Test("the yardsticks are always beside, once; all policies see the same seeds")
    func yardsticks() throws {
        try Experiments.within { folder in
            let result = try Program.run(
                ["compare", "tiny.yaml", "--policy", "foresight", "--policy", "ladder"] + usual, in: folder)
            #expect(result.status == 0, "\(result.error)")
            let runs = try Experiments.rows(folder.appending(path: "c/runs.csv"))
            let policies = ["foresight", "ladder", "none", "unbounded"]
            #expect(runs.count == 20)
            for policy in policies {
                #expect(
                    runs.filter { $0["policy_label"] == policy }.map { $0["seed"] } == ["1", "2", "3", "4", "5"])
            }
            let rows = try Experiments.rows(folder.appending(path: "c/comparison.csv"))
            #expect(rows.filter { $0["metric"] == "terminations" }.map { $0["policy"] } == policies)
            #expect(rows.prefix(4).map { $0["role"] } == ["baseline", "candidate", "yardstick", "yardstick"])
            #expect(rows.allSatisfy { $0["policy"] != "foresight" || $0["regret_foresight"] == "0" })
        }
    }

    @Test("the same comparison gives the same bytes, whatever the number of jobs")
    func repeats() throws {
        try Experiments.within { folder in
            let arguments = ["compare", "tiny.yaml", "--policy", "ladder", "--seeds", "3,1,2,9,8", "--quiet"]
            #expect(try Program.run(arguments + ["--out", "a", "--jobs", "1"], in: folder).status == 0)
            #expect(try Program.run(arguments + ["--out", "b", "--jobs", "5"], in: folder).status == 0)
            for file in ["comparison.csv", "runs.csv", "plan.json", "datapackage.json"] {
                let bytes = try ["a", "b"].map { try Data(contentsOf: folder.appending(path: "\($0)/\(file)")) }
                #expect(bytes[0] == bytes[1], "\(file)")
            }
        }
    }

    @Test("several scenarios are compared each and together, paired by scenario and seed")
    func pooled() throws {
        try Experiments.within { folder in
            let other = Experiments.tiny.replacing("name: tiny", with: "name: roomy").replacing("96MiB", with: "128MiB")
            try Data(other.utf8).write(to: folder.appending(path: "roomy.yaml"))
            let result = try Program.run(
                [
                    "compare", "tiny.yaml", "roomy.yaml", "--policy", "lru", "--policy", "largest-first", "--metric",
                    "terminations",
                ] + usual, in: folder)
            #expect(result.status == 0, "\(result.error)")
            let rows = try Experiments.rows(folder.appending(path: "c/comparison.csv"))
            #expect(Set(rows.map { $0["scenario"] }) == ["tiny", "roomy", ""])
            let means = ["tiny", "roomy", ""].map { name in
                rows.first { $0["scenario"] == name && $0["policy"] == "largest-first" }.flatMap {
                    Double($0["mean"] ?? "")
                }
            }
            let numbers = means.compactMap(\.self)
            try #require(numbers.count == 3)
            #expect(abs((numbers[0] + numbers[1]) / 2 - numbers[2]) < 1e-5)
            #expect(rows.last?["scope"] == "pooled" && rows.last?["pairs"] == "10")
        }
    }

    @Test("what is wrong is said in one line before anything runs, and nothing is written")
    func refusals() throws {
        try Experiments.within { folder in
            let cases: [([String], Int32, String)] = [
                (["tiny.yaml"], 64, "name at least one --policy"),
                (["tiny.yaml", "--policy", "lru", "--seeds", "5..1"], 64, "upside down"),
                (["tiny.yaml", "--policy", "lru", "--metric", "terminatons"], 64, "did you mean 'terminations'?"),
                (["tiny.yaml", "--policy", "lru", "--metric", "policy"], 64, "metric 'policy' is a text"),
                (["tiny.yaml", "--policy", "lru", "--metric", "seed"], 64, "the same for all policies"),
                (["tiny.yaml", "tiny.yaml", "--policy", "lru"], 64, "is named twice"),
                (["tiny.yaml", "--policy", "lruu"], 65, "did you mean 'lru'"),
                (["tiny.yaml", "--policy", "lru", "--set", "device.celing=1GiB"], 65, "did you mean 'ceiling'"),
                (["missing.yaml", "--policy", "lru"], 66, "no such file"),
                (["tiny.yaml", "--policy", "mine.yaml"], 66, "no such file"),
            ]
            for (arguments, status, words) in cases {
                let result = try Program.run(["compare"] + arguments + ["--out", "c"], in: folder)
                #expect(result.status == status, "\(arguments): \(result.error)")
                #expect(result.error.contains(words), "\(arguments): \(result.error)")
                #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "c").path()))
            }
            try FileManager.default.createDirectory(
                at: folder.appending(path: "c/mine"), withIntermediateDirectories: true)
            let result = try Program.run(["compare", "tiny.yaml", "--policy", "lru", "--out", "c"], in: folder)
            #expect(result.status == 73 && result.error.contains("exists already"))
        }
    }

    @Test("when some runs fail, the others are kept; the one without end says why it needs so much")
    func someFail() throws {
        try Experiments.within { folder in
            // A limit on address space simulates a host without room for the device of `unbounded`.
            let arguments = [
                "compare", "tiny.yaml", "--policy", "lru", "--backend", "jemalloc", "--set", "device.ceiling=1GiB",
                "--seeds", "1..2", "--out", "c",
            ]
            let result = try Program.run(arguments, in: folder, shell: "ulimit -v \(12 << 20); exec \"$@\"")
            #expect(result.status == 71, "\(result.error)")
            #expect(result.error.contains("up to 16 times the ceiling of 1.0 GiB"), "\(result.error)")
            #expect(result.error.contains("2 of 8 runs failed; the others are in c/runs.csv"), "\(result.error)")
            let runs = try Experiments.rows(folder.appending(path: "c/runs.csv"))
            #expect(runs.map { $0["case"] } == ["1", "2", "3", "4", "5", "6"])
            #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "c/comparison.csv").path()))
        }
    }

    @Test("a dry run says how many runs there are, and runs none")
    func dryRun() throws {
        try Experiments.within { folder in
            let result = try Program.run(
                ["compare", "tiny.yaml", "--policy", "lru", "--dry-run", "--out", "c"], in: folder)
            #expect(result.status == 0 && result.out.contains("80 runs: 1 scenario x 4 policies"), "\(result.out)")
            #expect(result.out.contains("case 2: tiny, policy lru, seed 2"))
            #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "c").path()))
        }
    }

    @Test(
        "interrupted, it ends its runs, writes nothing, and says so by its status",
        arguments: [SIGINT, SIGTERM, SIGHUP])
    func interrupted(signal: Int32) throws {
        try Experiments.within { folder in
            let path = folder.appending(path: "tiny.yaml").path()
            let arguments = ["compare", path, "--policy", "lru", "--seeds", "1..5000", "--out", "c"]
            let result = try Program.run(arguments, in: folder) { process in
                for _ in 0..<500
                where try Experiments.processes(naming: folder, except: process.processIdentifier).isEmpty {
                    usleep(10_000)
                }
                kill(process.processIdentifier, signal)
            }
            #expect(result.status == 128 + signal, "\(result.error)")
            #expect(try Experiments.isQuiet(folder))
            #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "c").path()))
        }
    }
}
