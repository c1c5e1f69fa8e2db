import Foundation
import Quantities
import Reclaim
import Scenario
import Testing
import Workload

@Suite("the lists")
struct ListCommandTests {
    private func list(_ arguments: String..., in folder: URL) throws -> [String] {
        let result = try Program.run(["list"] + arguments, in: folder)
        #expect(result.status == 0 && result.error.isEmpty, "\(arguments): \(result.error)")
        return result.out.split(separator: "\n").map(String.init)
    }

    @Test("policies are named first, one to a line, and details come on request")
    func policies() throws {
        try Experiments.within { folder in
            let lines = try list("policies", in: folder)
            #expect(lines.count == PolicyCatalogue.all.count + 1)
            for (line, type) in zip(lines, PolicyCatalogue.all) {
                #expect(line.hasPrefix(type.name + " ") && line.hasSuffix(" " + type.summary))
            }
            let one = try list("policies", "jetsam", in: folder)
            #expect(one[0].hasPrefix("jetsam: ") && one.count == 1 + 2 * Jetsam.parameterTable.count)
            let all = try list("policies", "--details", in: folder)
            #expect(all.filter { !$0.hasPrefix(" ") }.count == PolicyCatalogue.all.count)
            #expect(all.contains(one[1]))
            let table = try list("policies", "lru", "--format", "json", in: folder)
            #expect(table.count { $0.contains("\"summary\"") } == 1)
        }
    }

    @Test("a name that is none gets a suggestion, in one line")
    func suggestions() throws {
        try Experiments.within { folder in
            let cases = [
                (["policies", "ladderr"], "there is no 'ladderr' among the policies; did you mean 'ladder'?"),
                (["policies", "lru", "--details", "--format", "json"], ""),
                (["apps", "brwoser"], "there is no 'brwoser' among the apps; did you mean 'browser'?"),
                (["devices", "iphone-31"], "there is no 'iphone-31' among the devices; did you mean 'iphone-11'?"),
                (["devices", "pixel-6", "--format", "json"], ""),
                (["apps", "zzz"], "there is no 'zzz' among the apps; valid apps: plain, messaging, mail"),
            ]
            for (arguments, words) in cases {
                let result = try Program.run(["list"] + arguments, in: folder)
                #expect(result.status == (words.isEmpty ? 0 : 64), "\(arguments)")
                #expect(words.isEmpty || result.error.hasPrefix("plimsoll: " + words), "\(result.error)")
            }
            for arguments in [
                ["metrics", "a"], ["metrics", "--details"], ["policies", "--footprint", "300MiB"],
                ["apps", "mail", "--footprint", "300MiB"], ["apps", "--footprint", "300"],
            ] { #expect(try Program.run(["list"] + arguments, in: folder).status == 64, "\(arguments)") }
        }
    }

    @Test("devices: each figure with its confidence and source, the whole of one with its keys, and all of it as JSON")
    func devices() throws {
        try Experiments.within { folder in
            let all = try list("devices", in: folder)
            for preset in DevicePreset.all { #expect(all.contains("\(preset.name): \(preset.models); \(preset.os)")) }
            let figures = all.indices.filter { all[$0].hasPrefix("  ") && !all[$0].hasPrefix("   ") }
            #expect(figures.count == DevicePreset.all.reduce(0) { $0 + $1.facts.count(where: \.isKey) })
            let words = Confidence.allCases.map { "      \($0.rawValue) [" }
            for line in figures { #expect(words.contains { all[line + 1].hasPrefix($0) }, "\(all[line])") }
            let one = try list("devices", "iphone-13", in: folder)
            #expect(one.contains { $0.hasPrefix("  limit of a keyboard extension") && $0.hasSuffix("77MiB") })
            #expect(one.contains { $0.hasPrefix("  warning before the app limit") && $0.hasSuffix("at 95% of it") })
            #expect(one.contains("device:") && one.contains("  app_limit: 2098MiB"))
            #expect(!one.contains { $0.contains("iphone-14") })
            let json = try list("devices", "--format", "json", in: folder).joined(separator: "\n")
            let table = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
            let devices = try #require(table["devices"] as? [[String: Any]])
            #expect(devices.compactMap { $0["device"] as? String } == DevicePreset.all.map(\.name))
        }
    }

    /// The most memory that apps held in a run of the declared app alone, in bytes.
    private func peak(of app: String, in folder: URL) throws -> Double {
        let scenario = """
            plimsoll: 1
            name: alone
            duration: 10min
            device: { ceiling: 8GiB, reserved: 1MiB }
            policy: none
            backend: accounting
            apps: [\(app)]
            user: [{ at: 0s, launch: mine }]
            """
        try Data(scenario.utf8).write(to: folder.appending(path: "alone.yaml"))
        let run = ["run", "alone.yaml", "--summary-only", "--quiet", "--force", "--out", "alone"]
        #expect(try Program.run(run, in: folder).status == 0)
        let row = try #require(try Experiments.rows(folder.appending(path: "alone/summary.csv")).first)
        return try #require(Double(row["peak_resident_bytes"] ?? "")) - 1_048_576
    }

    @Test("an archetype's peak is that of a run in which it is in front for ten minutes")
    func peaks() throws {
        try Experiments.within { folder in
            let lines = try list("apps", in: folder)
            let header = try #require(lines.first)
            let column = try #require(header.range(of: "peak")).lowerBound
            for (line, archetype) in zip(lines.dropFirst(), Archetype.all) {
                #expect(line.hasPrefix(archetype.name + " ") && line.hasSuffix(" " + archetype.summary))
                guard ["plain", "camera", "browser"].contains(archetype.name) else { continue }
                let shown = try #require(Double(line[column...].prefix { $0 != " " }))
                let seen = try peak(of: "{ name: mine, like: \(archetype.name) }", in: folder) / 1_048_576
                // The streams of random numbers bear the app's name, which differs.
                #expect(abs(shown - seen) < 0.01 * seen, "\(archetype.name): \(shown), \(seen)")
                let parts = archetype.profile.memory.base + archetype.profile.memory.scene
                #expect(shown > Double(parts.bytes) / 1_048_576)
            }
        }
    }

    @Test("the declaration of an app of one's own holds what it says", arguments: ["", "80MiB", "1GiB"])
    func own(footprint: String) throws {
        try Experiments.within { folder in
            let option = footprint.isEmpty ? [] : ["--footprint", footprint]
            let said = try #require(
                try Program.run(["list", "apps"] + option, in: folder).out.split(separator: "\n").last)
            let size = footprint.isEmpty ? "300MiB" : footprint
            let lead = "An app of yours that peaks at \(size): "
            #expect(said.hasPrefix(lead), "\(said)")
            let wanted = Double(try ByteCount(parsing: size).bytes) / 1_048_576
            let seen = try peak(of: String(said.dropFirst(lead.count)), in: folder) / 1_048_576
            #expect(abs(seen - wanted) < 0.02 * wanted, "\(said): \(seen)")
        }
    }

    @Test("an archetype's settings are those that a scenario takes")
    func settings() throws {
        try Experiments.within { folder in
            let lines = try list("apps", "widget", in: folder)
            #expect(lines.first == "  - name: widget")
            let scenario = ["plimsoll: 1", "name: w", "duration: 5s", "device: { ceiling: 64MiB }", "apps:"] + lines
            let user = ["user: [{ at: 1s, background_launch: widget }]"]
            try Data((scenario + user).joined(separator: "\n").utf8).write(to: folder.appending(path: "w.yaml"))
            let result = try Program.run(["validate", "w.yaml"], in: folder)
            #expect(result.status == 0 || result.error.contains("user.0"), "\(result.error)")
            let all = try list("apps", "--details", in: folder).filter { $0.hasPrefix("  - name: ") }
            #expect(all.count == Archetype.all.count)
        }
    }
}
