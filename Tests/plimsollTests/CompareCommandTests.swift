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
            let first = result.out.split(separator: "\n").prefix(2)
            let sentences = ["lru-2", "twin"].map {
                "Over 5 seeds of tiny, \($0) and lru are identical on all 11 metrics: every pair of runs is equal."
            }
            #expect(first.map(String.init) == sentences, "\(first)")
            let told = result.out.split(separator: "\n").filter { $0.hasPrefix("  lru-2 ") || $0.hasPrefix("  twin ") }
            #expect(told.count == 2 && told.allSatisfy { !$0.contains("(") }, "\(result.out)")
            let all = try Program.run(
                ["compare", "tiny.yaml", "--policy", "lru", "--policy", "lru", "--policy", "./twin.yaml", "--all"]
                    + usual + ["--resume"], in: folder)
            #expect(all.out.contains("identical: every pair is equal"), "\(all)")
            #expect(all.out.split(separator: "\n").suffix(2).map(String.init) == sentences, "\(all.out)")
            let rows = try Experiments.rows(folder.appending(path: "c/comparison.csv"))
            let twins = rows.filter { ["lru-2", "twin"].contains($0["policy"]) }
            #expect(twins.count == 22)
            for row in twins {
                let cells = ["difference", "difference_low", "difference_high"].map { row[$0] }
                // A metric that no seed changes has no interval.
                let isZero = cells == ["0", "0", "0"] || cells == ["0", "", ""]
                #expect(isZero && row["verdict"] == "identical", "\(row)")
                #expect(row["pairs_same"] == "5" && row["pairs"] == "5")
            }
        }
    }

    @Test(
        "what the person lost is nothing under unbounded; ends and lost launches have prices, which need no run"
    )
    func secondsLost() throws {
        try Experiments.within { folder in
            func lost(_ more: [String]) throws -> [String: [Double]] {
                let result = try Program.run(
                    ["compare", "tiny.yaml", "--policy", "lru", "--set", "limits.protect_foreground=false"]
                        + ["--metric", "seconds_lost", "--resume"] + usual + more, in: folder)
                #expect(result.status == 0, "\(result.error)")
                let rows = try Experiments.rows(folder.appending(path: "c/runs.csv"))
                return Dictionary(grouping: rows) { $0["policy"] ?? "" }.mapValues { rows in
                    rows.compactMap { $0["seconds_lost"].flatMap(Double.init) }
                }
            }
            let (priced, free) = (try lost([]), try lost(["--end-price", "0s", "--lost-launch-price", "0s"]))
            #expect(priced["unbounded"] == [0, 0, 0, 0, 0] && free["unbounded"] == [0, 0, 0, 0, 0])
            let rows = try Experiments.rows(folder.appending(path: "c/runs.csv"))
            for policy in ["lru", "none", "foresight"] {
                let own = rows.filter { $0["policy"] == policy }
                let prices = own.map { row in
                    10 * (Double(row["terminations_foreground"] ?? "") ?? .nan)
                        + 5 * (Double(row["launches_unfinished"] ?? "") ?? .nan)
                }
                let gaps = zip(priced[policy] ?? [], free[policy] ?? []).map { $0 - $1 }
                #expect(gaps.count == 5 && zip(gaps, prices).allSatisfy { abs($0 - $1) < 1e-6 }, "\(gaps) \(prices)")
            }
            // Nobody is ended, two launches never come.
            #expect(priced["none"]?.allSatisfy { $0 >= 10 } == true, "\(priced)")
        }
    }

    @Test("yardsticks run once per scenario, seed and build; the tables have the same bytes, whatever was kept")
    func keptYardsticks() throws {
        try Experiments.within { folder in
            /// How many runs the command made.
            func runs(_ name: String, _ more: [String] = [], cache: String = "kept") throws -> Int? {
                let result = try Program.run(
                    ["compare", "tiny.yaml", "--policy", "lru", "--policy", "jetsam", "--seeds", "1..2", "--out", name]
                        + more, in: folder, cache: cache)
                #expect(result.status == 0, "\(result.error)")
                let words = result.out.split(whereSeparator: \.isWhitespace).map(String.init)
                return words.indices.dropFirst().first { words[$0] == "runs" && words[$0 + 1] == "in" }
                    .flatMap { Int(words[$0 - 1]) }
            }
            func tables(_ name: String) throws -> [Data] {
                try ["comparison.csv", "runs.csv"].map { try Data(contentsOf: folder.appending(path: "\(name)/\($0)")) }
            }
            #expect(try runs("a") == 10)
            #expect(try runs("b") == 4)
            #expect(try tables("a") == tables("b"))
            // Another setting, another seed or another text is another run.
            #expect(try runs("c", ["--set", "device.ceiling=97MiB"]) == 10)
            #expect(try runs("d", ["--backend", "accounting", "--seeds", "2"]) == 5)
            let kept = folder.appending(path: "kept")
            let files = try FileManager.default.contentsOfDirectory(at: kept, includingPropertiesForKeys: nil)
            #expect(files.count == 1 && files[0].lastPathComponent.hasPrefix("yardsticks-"))
            // A changed figure and a torn end do not count.
            let lines = try String(contentsOf: files[0], encoding: .utf8).split(separator: "\n").map(String.init)
            #expect(lines.count == 6 + 6 + 3)
            let damaged = ["not a line", lines[0] + "0"] + lines[1...4] + [String(lines[5].dropLast(3))]
            try Data(damaged.joined(separator: "\n").utf8).write(to: files[0])
            #expect(try runs("e") == 6)
            #expect(try tables("a") == tables("e"))
            #expect(try runs("f") == 4, "what was damaged is kept anew")
            // Without a folder that can be written nothing is kept, and nothing is said.
            #expect(try runs("g", cache: "tiny.yaml") == 10)
            #expect(try runs("h", cache: "") == 10)
        }
    }

    @Test("a user who is written down is one case under every seed: no interval, and nobody is called better")
    func oneCase() throws {
        try Experiments.within { folder in
            let result = try Program.run(
                ["compare", "tiny.yaml", "--policy", "lru", "--policy", "none", "--metric", "terminations"]
                    + ["--metric", "launches_cold", "--all"] + usual, in: folder)
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

    @Test("it prints the sentence, one table with the metrics that were asked for, and the line about the runs")
    func short() throws {
        try Experiments.within { folder in
            func lines(_ more: String...) throws -> [String] {
                let result = try Program.run(
                    ["compare", "tiny.yaml", "--policy", "lru", "--policy", "none", "--resume"] + more + usual,
                    in: folder)
                #expect(result.status == 0, "\(result.error)")
                return result.out.split(separator: "\n").map(String.init)
            }
            let plain = try lines()
            #expect(plain[0].hasPrefix("Over 5 seeds of tiny, "), "\(plain)")
            let heads = plain[1...2].joined(separator: " ")
            for metric in ["seconds_lost", "hot_launch_", "terminations", "felt"] {
                #expect(heads.contains(metric), "\(heads)")
            }
            let policies = plain[3...6].map { $0.split(separator: " ")[0] }
            #expect(policies == ["lru", "none", "foresight", "unbounded"], "\(plain)")
            #expect(plain[7].hasPrefix("Means over 5 seeds; ") && plain.last?.hasPrefix("20 runs in ") == true)
            // Not a terminal, so without colours.
            #expect(!plain.joined().contains("\u{1B}"))
            let chosen = try lines("--metric", "warnings", "--metric", "stalls")
            #expect(chosen[1].hasPrefix("  policy     warnings  ") && chosen[1].hasSuffix("  stalls"), "\(chosen)")
            #expect(!chosen.joined().contains("terminations"), "\(chosen)")
            let pulled = try lines("--format", "markdown")
            #expect(pulled[0].hasPrefix("> Over 5 seeds of tiny, "), "\(pulled)")
            #expect(pulled.count { $0.hasPrefix("|") } == 2 + 4, "\(pulled)")
        }
    }

    @Test("--all --format markdown prints all tables with the sentence, and the line about the runs goes to stderr")
    func markdown() throws {
        try Experiments.within { folder in
            let result = try Program.run(
                ["compare", "tiny.yaml", "--policy", "lru", "--policy", "none", "--format", "markdown", "--all"]
                    + usual, in: folder)
            #expect(result.status == 0 && result.error.contains("written to c"), "\(result.error)")
            let lines = result.out.split(separator: "\n").map(String.init)
            #expect(lines[0] == "**`tiny`**, 5 seeds, differences from `lru` with 95 % intervals (BCa bootstrap)")
            let table = lines.filter { $0.hasPrefix("|") }
            // Eleven metrics, each with two policies and two yardsticks beside them; a head and a rule.
            #expect(table.count == 2 + 11 * 4, "\(table.count)")
            #expect(table.allSatisfy { $0.split(separator: "|").count == 7 }, "\(table)")
            #expect(table[2].hasPrefix("| `seconds_lost`, lower is better | `lru` | baseline | "))
            let sentence = lines.last ?? ""
            #expect(
                sentence.hasPrefix("> Over 5 seeds of tiny, lru is better than none on seconds\\_lost by "),
                "\(sentence)")
            #expect(sentence.contains("; the user acts alike under every seed, so this is one case, in which none "))
            let alone = try Program.run(
                ["compare", "tiny.yaml", "--policy", "lru", "--seeds", "1", "--out", "d"], in: folder)
            let said =
                "Over 1 seed of tiny, lru ran with the yardsticks only; name a second --policy to compare with it.\n"
            #expect(alone.out.hasPrefix(said), "\(alone.out)")
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

    private let tables = ["comparison.csv", "runs.csv", "plan.json", "datapackage.json"]

    private func assertSame(_ a: String, _ b: String, in folder: URL) throws {
        for file in tables {
            let bytes = try [a, b].map { try Data(contentsOf: folder.appending(path: "\($0)/\(file)")) }
            #expect(bytes[0] == bytes[1], "\(file)")
        }
    }

    @Test(
        "interrupted, it ends its runs, says how many it keeps, and prints a command that goes on to the same bytes",
        arguments: [(SIGINT, 2), (SIGTERM, 4), (SIGHUP, 9)])
    func interrupted(signal: Int32, runs: Int) throws {
        try Experiments.within { folder in
            // The quote and the blank must survive the shell.
            let name = "it's tiny.yaml"
            try FileManager.default.moveItem(
                at: folder.appending(path: "tiny.yaml"), to: folder.appending(path: name))
            let path = folder.appending(path: name).path(percentEncoded: false)
            // This process may get no time while the command ends its last run.
            var (arguments, result, seeds) = ([String](), Program.Result(status: 0, out: "", error: ""), 5)
            while result.status == 0, seeds < 2000 {
                try? FileManager.default.removeItem(at: folder.appending(path: "runs"))
                seeds *= 2
                arguments = ["compare", path, "--policy", "lru", "--seeds", "1..\(seeds)", "--jobs", "2"]
                result = try Experiments.interrupt(
                    arguments, by: [signal], after: runs, into: "runs/compare", in: folder)
            }
            let all = 4 * seeds
            #expect(result.status == 128 + signal && result.out.isEmpty, "\(result)")
            #expect(try Experiments.isQuiet(folder))
            let kept = Experiments.finished("runs/compare", in: folder)
            let lines = result.error.split(separator: "\n").map(String.init)
            try #require(lines.count == 2 && kept >= runs && kept < all, "\(kept): \(result.error)")
            #expect(
                lines[0] == "plimsoll: interrupted; \(kept) of \(all) runs finished, kept in runs/compare. "
                    + "Go on with:")
            #expect(lines[1].hasSuffix(" --out runs/compare --resume"), "\(lines[1])")
            // As a shell takes it.
            let rest = try Program.run([], in: folder, shell: lines[1])
            #expect(rest.status == 0 && rest.out.contains("\n\(all - kept) runs in "), "\(rest)")
            #expect(rest.error == "\(kept) runs finished before, \(all - kept) to do\n", "\(rest.error)")
            let whole = try Program.run(arguments + ["--out", "whole"], in: folder)
            #expect(whole.status == 0, "\(whole.error)")
            try assertSame("runs/compare", "whole", in: folder)
            // But for the line about the runs, it prints the same.
            let said = [rest, whole].map { $0.out.split(separator: "\n").filter { !$0.contains("at a time") } }
            #expect(said[0] == said[1])
        }
    }

    @Test("interrupted before a run is finished, it keeps nothing, and says how to begin again")
    func interruptedAtOnce() throws {
        try Experiments.within { folder in
            // The first run lasts for minutes.
            let path = folder.appending(path: "tiny.yaml").path()
            let arguments = ["compare", path, "--policy", "lru", "--set", "duration=1000h", "--jobs", "1"]
            let result = try Program.run(arguments, in: folder) { process in
                try Experiments.waitForRun(of: process, naming: folder)
                kill(process.processIdentifier, SIGINT)
            }
            #expect(result.status == 130, "\(result.error)")
            let lines = result.error.split(separator: "\n").map(String.init)
            #expect(
                lines.first
                    == "plimsoll: interrupted before a run was finished; nothing is kept. Begin again with:",
                "\(result.error)")
            #expect(lines.last?.hasSuffix("compare \(path) --policy lru --set duration=1000h --jobs 1") == true)
            #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "runs").path()))
            #expect(try Experiments.isQuiet(folder))
        }
    }

    @Test("a second Ctrl-C ends it at once, leaves no process behind, and spoils nothing that is kept")
    func interruptedTwice() throws {
        try Experiments.within { folder in
            let path = folder.appending(path: "tiny.yaml").path()
            let arguments = ["compare", path, "--policy", "lru", "--seeds", "1..10", "--jobs", "2", "--out", "c"]
            let result = try Experiments.interrupt(arguments, by: [SIGINT, SIGINT], after: 2, into: "c", in: folder)
            // A machine that is busy may let it end before.
            #expect(result.status == 130 || result.status == 0, "\(result)")
            #expect(try Experiments.isQuiet(folder))
            let kept = Experiments.finished("c", in: folder)
            #expect(kept >= 2)
            let rest = try Program.run(arguments + ["--resume"], in: folder)
            #expect(rest.status == 0 && rest.error.contains("\(kept) runs finished before"), "\(rest)")
            #expect(try Program.run(arguments + ["--out", "whole"], in: folder).status == 0)
            try assertSame("c", "whole", in: folder)
        }
    }

    @Test("killed at any moment, it goes on to the same bytes; --resume also begins, and may choose other metrics")
    func killed() throws {
        try Experiments.within { folder in
            let path = folder.appending(path: "tiny.yaml").path()
            let arguments = [
                "compare", path, "--policy", "lru", "--policy", "ladder", "--seeds", "1..5", "--jobs", "2",
            ]
            let out = ["--out", "c", "--resume"]
            for runs in [0, 1, 6, 15] {
                _ = try Experiments.interrupt(arguments + out, by: [SIGKILL], after: runs, into: "c", in: folder)
                #expect(try Experiments.isQuiet(folder))
            }
            let kept = Experiments.finished("c", in: folder)
            let rest = try Program.run(arguments + out, in: folder)
            #expect(rest.status == 0 && rest.out.contains("\n\(25 - kept) run"), "\(rest)")
            #expect(try Program.run(arguments + ["--out", "whole"], in: folder).status == 0)
            try assertSame("c", "whole", in: folder)
            let other = ["--metric", "stalls"]
            let again = try Program.run(arguments + out + other, in: folder)
            #expect(again.status == 0 && again.out.contains("\n0 runs in "), "\(again)")
            #expect(try Program.run(arguments + other + ["--out", "stalls"], in: folder).status == 0)
            try assertSame("c", "stalls", in: folder)
        }
    }

    @Test("--resume refuses another comparison, a sweep, and a folder that it cannot know")
    func foreign() throws {
        try Experiments.within { folder in
            let arguments = ["compare", "tiny.yaml", "--policy", "lru", "--seeds", "1..2", "--out", "c"]
            #expect(try Program.run(arguments, in: folder).status == 0)
            func refused(_ arguments: [String], _ status: Int32, _ words: String) throws {
                let result = try Program.run(arguments, in: folder)
                #expect(result.status == status && result.error.contains(words), "\(arguments): \(result.error)")
            }
            try refused(arguments, 73, "c exists already; --resume continues a comparison in it")
            try refused(Array(arguments.dropLast(2)) + ["--resume"], 64, "--resume: name the folder")
            try refused(arguments + ["--resume", "--seeds", "1..3"], 65, "another list of seeds")
            try refused(arguments + ["--resume", "--policy", "ladder"], 65, "another list of policies")
            try refused(["sweep", "tiny.yaml", "--out", "c", "--resume"], 65, "c holds a comparison, not a sweep")
            #expect(try Program.run(["sweep", "tiny.yaml", "--out", "s"], in: folder).status == 0)
            try refused(
                ["compare", "tiny.yaml", "--policy", "lru", "--out", "s", "--resume"], 65,
                "s holds a sweep, not a comparison")
        }
    }

    @Test("on a terminal it shows the runs and the time that is left, elsewhere nothing")
    func progress() throws {
        try Experiments.within { folder in
            // script(1) gives the command a terminal.
            let command =
                ["compare", "tiny.yaml", "--policy", "lru", "--seeds", "1..10", "--jobs", "1", "--out"]
            let shell = "TERM=xterm script --quiet --return --command \"$(printf '%q ' \"$@\")\" typescript"
            let seen = try Program.run(command + ["c"], in: folder, shell: shell)
            #expect(seen.status == 0, "\(seen)")
            let drawn = seen.out.split(separator: "\r").map(String.init)
            #expect(
                drawn.contains { $0.contains(" of 40 runs, about ") && $0.contains(" s left") }, "\(drawn.prefix(9))")
            // The first run has ended, and there is an estimate.
            #expect(
                drawn.allSatisfy { !$0.contains(" of 40 runs") || $0.contains("] 0 of") || $0.contains(" left") },
                "\(drawn.prefix(9))")
            let quiet = try Program.run(command + ["d", "--quiet"], in: folder, shell: shell)
            #expect(quiet.status == 0 && !quiet.out.contains("40 runs"), "\(quiet)")
            #expect(try Program.run(command + ["e"], in: folder).error.isEmpty)
        }
    }
}
