import Foundation
import Reclaim
import Testing

@Suite("policies on the command line", .serialized)
struct PolicyCommandTests {
    private func within(_ body: (URL) throws -> Void) throws {
        let folder = try Program.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    private let short = ["--set", "duration=8s", "--set", "user=[]", "--set", "expect=[]", "--backend", "accounting"]

    @Test("run --policy FILE: the results name the policy, the manifest the file, and scenario.yaml runs as it is")
    func file() throws {
        try within { folder in
            try Data("name: jetsam\nparameters: { critical: 6% }\n".utf8).write(to: folder.appending(path: "own.yaml"))
            let run = try Program.run(
                ["run", Program.scenario("quickstart"), "--policy", "own.yaml", "--out", "r"] + short, in: folder)
            #expect(run.status == 0, "\(run.error)")
            #expect(try Program.text(folder.appending(path: "r/summary.csv")).contains(",own,"))
            let manifest = try Program.text(folder.appending(path: "r/manifest.json"))
            #expect(manifest.contains("\"policy\" : \"own\"") && manifest.contains("\"policy_file\" : \"own.yaml\""))
            try FileManager.default.removeItem(at: folder.appending(path: "own.yaml"))
            let again = try Program.run(["run", "r/scenario.yaml", "--out", "s"], in: folder)
            #expect(again.status == 0, "\(again.error)")
            #expect(
                try Program.text(folder.appending(path: "r/summary.csv"))
                    == Program.text(folder.appending(path: "s/summary.csv")))
        }
    }

    @Test("a broken policy file is status 65 with its place, a missing one 66")
    func broken() throws {
        try within { folder in
            try Data("name: jetsam\nparameters: { critcal: 6% }\n".utf8).write(to: folder.appending(path: "own.yaml"))
            let broken = try Program.run(
                ["run", Program.scenario("quickstart"), "--policy", "own.yaml"] + short, in: folder)
            #expect(broken.status == 65)
            #expect(broken.error.hasPrefix("own.yaml:2:15: error: unknown parameter 'critcal'"), "\(broken.error)")
            let missing = try Program.run(
                ["run", Program.scenario("quickstart"), "--policy", "not/there.yaml"] + short, in: folder)
            #expect(missing.status == 66)
            #expect(missing.error.hasPrefix("not/there.yaml: error: there is no such file"), "\(missing.error)")
            #expect(
                try Program.run(["validate", Program.scenario("quickstart"), "--policy", "own.yaml"], in: folder).status
                    == 65)
        }
    }

    @Test("a policy under its former name is told what to write instead")
    func formerName() throws {
        try within { folder in
            let path = Program.scenario("evening-commute")
            let sentence = "policy 'jetsam-classic' is jetsam with kernel 11215; write policy: { name: jetsam, "
            let result = try Program.run(["validate", path, "--policy", "jetsam-classic"], in: folder)
            #expect(result.status == 0 && result.error.hasPrefix("\(path): warning: \(sentence)"), "\(result.error)")
            let short = ["--backend", "accounting", "--set", "duration=1s", "--set", "user=[]", "--set", "expect=[]"]
            let run = try Program.run(["run", path, "--policy", "jetsam-classic"] + short, in: folder)
            #expect(run.status == 0 && run.error.contains("plimsoll: warning: \(sentence)"), "\(run.error)")
            let other = try Program.run(["validate", path, "--policy", "jetsam"], in: folder)
            #expect(other.status == 0 && other.error.isEmpty, "\(other.error)")
        }
    }

    @Test("validate, run, compare and sweep name apps of a policy file's rules that the scenario does not have")
    func strangers() throws {
        try within { folder in
            let rule = "plimsoll: 1\nname: ladder\nrules:\n  - { name: a, who: \"app == chta\" }\n"
            try Data(rule.utf8).write(to: folder.appending(path: "w.yaml"))
            let path = Program.scenario("evening-commute")
            let result = try Program.run(["validate", path, "--policy", "w.yaml"], in: folder)
            #expect(result.status == 0)
            #expect(
                result.error == "\(path): warning: rule 'a': no app is called 'chta'; did you mean 'chat'?\n",
                "\(result.error)")
            let short = [path, "--policy", "w.yaml", "--set", "duration=1s", "--set", "user=[]", "--set", "expect=[]"]
            let run = try Program.run(["run"] + short + ["--backend", "accounting"], in: folder)
            let sentence = "plimsoll: warning: rule 'a': no app is called 'chta'; did you mean 'chat'?"
            #expect(run.error.contains(sentence), "\(run.error)")
            let quiet = try Program.run(["run"] + short + ["--backend", "accounting", "--quiet"], in: folder)
            #expect(!quiet.error.contains(sentence), "\(quiet.error)")
            for command in [["compare"], ["sweep", "--vary", "device.cores=1,2"]] {
                let many = try Program.run(command + [path, "--policy", "w.yaml", "--dry-run"], in: folder)
                // The warning appears once, whatever the number of runs.
                #expect(many.status == 0 && many.error == result.error, "\(many.error)")
                let quiet = try Program.run(command + [path, "--policy", "w.yaml", "--dry-run", "--quiet"], in: folder)
                #expect(quiet.status == 0 && quiet.error.isEmpty, "\(quiet.error)")
            }
        }
    }

    @Test("list policies --format json tells every parameter of every policy")
    func table() throws {
        try within { folder in
            let result = try Program.run(["list", "policies", "--format", "json"], in: folder)
            let object = try #require(
                try JSONSerialization.jsonObject(with: Data(result.out.utf8)) as? [String: Any])
            let policies = try #require(object["policies"] as? [[String: Any]])
            #expect(policies.map { $0["policy"] as? String } == PolicyCatalogue.all.map { $0.name })
            for (policy, type) in zip(policies, PolicyCatalogue.all) {
                let parameters = try #require(policy["parameters"] as? [[String: Any]])
                #expect(parameters.map { $0["parameter"] as? String } == type.parameterTable.map(\.name))
                for parameter in parameters {
                    for key in ["policy", "type", "default", "scale", "meaning", "source"] {
                        #expect(parameter[key] is String, "\(type.name): \(key)")
                    }
                    let isNumber = parameter["minimum_value"] != nil
                    let isTable = parameter["default"] as? String == "table"
                    #expect((parameter["default_value"] != nil) == (isNumber && !isTable), "\(type.name)")
                    for key in ["unit", "minimum", "maximum", "maximum_value"] {
                        #expect((parameter[key] != nil) == isNumber, "\(type.name): \(key)")
                    }
                    let isChosen = ["flag", "choice"].contains(parameter["type"] as? String)
                    #expect((parameter["choices"] != nil) == isChosen)
                }
            }
            #expect(try Program.run(["list", "apps", "--format", "json"], in: folder).status == 64)
        }
    }

    @Test("list policies --details shows a default as --set takes it, and a range where there is one")
    func listed() throws {
        try within { folder in
            let lines = try Program.run(["list", "policies", "--details"], in: folder).out.split(separator: "\n")
            #expect(lines.contains { $0.firstMatch(of: /^  prefer +\[\]$/) != nil }, "\(lines)")
            #expect(lines.contains { $0.firstMatch(of: /^  warning_grace +1s +\(0s to 1min\)$/) != nil }, "\(lines)")
        }
    }

    @Test("list policies FILE shows what the file declares for its rules, and the commands take it with --set")
    func fileWithParameters() throws {
        try within { folder in
            let text = """
                parameters: { calm: { default: 30s, range: 5s..5min, value: 40s, meaning: rest } }
                rules: [{ name: a, who: idle > $calm }]

                """
            try Data(text.utf8).write(to: folder.appending(path: "mine.yaml"))
            let listed = try Program.run(["list", "policies", "mine.yaml"], in: folder)
            let lines = "  calm                   40s      (5s to 5min)\n      rest [in a.who]\n"
            #expect(listed.status == 0 && listed.out == "mine: ladder with 1 rule\n" + lines, "\(listed.out)")
            let json = try Program.run(["list", "policies", "mine.yaml", "--format", "json"], in: folder).out
            for part in ["\"default\" : \"40s\"", "\"default_value\" : 40", "\"minimum\" : \"5s\""] {
                #expect(json.contains(part), "\(part): \(json)")
            }
            let path = Program.scenario("evening-commute")
            let calm = "policy.parameters.calm"
            let varied = ["sweep", path, "--vary", "\(calm)=9s,50s"]
            for command in [varied, ["sweep", path, "--set", "\(calm)=9s"], ["compare", path]] {
                let found = try Program.run(command + ["--policy", "mine.yaml", "--dry-run"], in: folder)
                #expect(found.status == 0 && found.error.isEmpty, "\(command): \(found.error)")
            }
            for value in ["9min", "9MiB"] {
                let refused = try Program.run(
                    ["validate", path, "--policy", "mine.yaml", "--set", "\(calm)=\(value)"], in: folder)
                #expect(refused.status == 65 && refused.error.contains("the range 5s..5min"), "\(refused.error)")
            }
            #expect(try Program.run(["list", "policies", "none.yaml"], in: folder).status == 66)
            try Data("rules: [{ name: a, who: idle > $calm }]\n".utf8).write(to: folder.appending(path: "mine.yaml"))
            let faulty = try Program.run(["list", "policies", "mine.yaml"], in: folder)
            #expect(faulty.status == 65 && faulty.error.hasPrefix("mine.yaml:1:25: error: "), "\(faulty.error)")
        }
    }

    @Test("schema policy is JSON")
    func schema() throws {
        try within { folder in
            let result = try Program.run(["schema", "policy"], in: folder)
            #expect(result.status == 0)
            #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(result.out.utf8)) }
        }
    }
}
