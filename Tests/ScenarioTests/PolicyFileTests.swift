import Foundation
import Plan
import Quantities
import Reclaim
import Scenario
import Simulation
import Testing

/// `Scenarios/Invalid/policies` holds one file per diagnostic of policy files, as `Scenarios/Invalid` does for
/// scenarios.
@Suite("invalid policy files")
struct InvalidPolicyFileTests {
    static let folder = InvalidScenarioTests.folder.appending(path: "policies")

    static let files: [String] = {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: folder.path())) ?? []
        return all.filter { $0.hasSuffix(".yaml") }.sorted()
    }()

    private static let mark = "# expect: "

    @Test("there is a file for every kind of diagnostic")
    func enough() {
        #expect(Self.files.count >= 12)
    }

    @Test("each gives exactly the diagnostics that it names, with the policy file's own name", arguments: files)
    func expectations(file: String) throws {
        let url = Self.folder.appending(path: file)
        let lines = try String(contentsOf: url, encoding: .utf8).components(separatedBy: "\n")
        let head = lines.prefix { $0.hasPrefix(Self.mark) }
        let expected = head.map { String($0.dropFirst(Self.mark.count)) }
        let actual = Self.diagnostics(url.path())
        if ProcessInfo.processInfo.environment["PLIMSOLL_RECORD"] == "1" {
            return try Self.record(lines.dropFirst(head.count).joined(separator: "\n"), in: url)
        }
        #expect(!expected.isEmpty, "\(file) names no diagnostic")
        #expect(actual == expected)
    }

    private static func diagnostics(_ path: String) -> [String] {
        guard case .failure(.invalid(let faults)) = Samples.load(Samples.commute, Overrides(policy: path)) else {
            return []
        }
        return faults.map { fault in
            guard case .file(path, let line, let column) = fault.location else { return fault.description }
            return "\(line):\(column): \(fault.message)"
        }
    }

    /// The expectations shift the lines below them, so the file is checked with the final number of expectations.
    private static func record(_ body: String, in url: URL) throws {
        try Data(body.utf8).write(to: url)
        let blank = diagnostics(url.path()).map { _ in mark + "\n" }.joined()
        try Data((blank + body).utf8).write(to: url)
        let recorded = diagnostics(url.path()).map { mark + $0 + "\n" }.joined()
        try Data((recorded + body).utf8).write(to: url)
    }
}

@Suite("policy files")
struct PolicyFileTests {
    /// Writes the text to a file of this name and loads the commute with it.
    private func load(_ text: String, as name: String, _ sets: [String] = []) throws -> RunPlan {
        let folder = FileManager.default.temporaryDirectory.appending(path: "plimsoll-policy-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: name)
        try Data(text.utf8).write(to: file)
        return try Samples.load(Samples.commute, Overrides(sets: sets, policy: file.path())).get()
    }

    @Test("a file holds what the scenario's policy holds, with a head or without one")
    func contents() throws {
        let expected = try Samples.load(
            Samples.commute, Overrides(sets: ["policy={name: jetsam, parameters: {critical: 6%}}"])
        ).get().policy
        for text in [
            "name: jetsam\nparameters: { critical: 6% }\n",
            "plimsoll: 1\ndescription: \"A later line.\"\nname: jetsam\nparameters:\n  critical: 6%\n",
        ] {
            var policy = try load(text, as: "later.yaml").policy
            #expect(policy.title == "later")
            policy.label = nil
            #expect(policy == expected)
        }
    }

    @Test("results call a policy from a file by its label, else by the file's name")
    func labels() throws {
        #expect(try load("name: lru\n", as: "mine.yml").policy.title == "mine")
        #expect(try load("name: lru\nlabel: other\n", as: "mine.yml").policy.title == "other")
        #expect(try load("name: lru\n", as: "9.yaml").policy.title == "lru")
    }

    @Test("the effective scenario holds the policy in full: it runs as it is")
    func effective() throws {
        let plan = try load("name: earlyoom\nparameters: { terminate: 16% }\n", as: "early.yaml")
        let yaml = EffectiveScenario.yaml(of: plan)
        #expect(yaml.contains("early") && yaml.contains("terminate: 16%"))
        #expect(try Samples.load(yaml).get() == plan)
    }

    @Test("--set is laid over the file's parameters")
    func sets() throws {
        let plan = try load(
            "name: jetsam\nparameters: { critical: 6% }\n", as: "a.yaml", ["policy.parameters.idle=11%"])
        let values = plan.policy.parameters
        #expect(values.first { $0.name == "critical" }?.value == .ratio(.percent(6)))
        #expect(values.first { $0.name == "idle" }?.value == .ratio(.percent(11)))
    }

    @Test("a registered name wins over a file; a slash or a YAML ending makes a file")
    func kinds() {
        for name in PolicyCatalogue.all.map({ $0.name }) { #expect(!PolicyFile.isFile(name)) }
        for file in ["mine.yaml", "mine.yml", "policies/mine", "./lru"] { #expect(PolicyFile.isFile(file)) }
        #expect(!PolicyFile.isFile("lur"))
        #expect(
            Samples.faults(Samples.commute, Overrides(policy: "nowhere/mine.yaml")) == [
                "there is no such file; expected a policy file"
            ])
        #expect(
            Samples.faults(Samples.commute, Overrides(policy: "./")) == ["this is a directory; expected a policy file"])
    }
}
