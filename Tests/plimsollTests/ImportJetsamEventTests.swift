import Foundation
import Testing

@Suite("plimsoll import jetsam-event")
struct ImportJetsamEventTests {
    private static let report = """
        {"bug_type":"298","os_version":"iPhone OS 17.2 (21C62)"}
        { "memoryStatus" : { "pageSize" : 16384, "memoryPages" :
            { "active" : 4000, "inactive" : 4000, "free" : 3000, "wired" : 2000 } },
          "processes" : [
            { "name" : "Notes", "rpages" : 900, "priority" : 0, "states" : ["suspended"],
              "reason" : "vm-pageshortage" },
            { "name" : "Maps", "rpages" : 1900, "priority" : 100, "states" : ["frontmost"] } ] }
        """

    @Test("a report becomes a scenario that validates and runs; without --out there are only the figures")
    func imports() throws {
        let folder = try Program.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(Self.report.utf8).write(to: folder.appending(path: "report.ips"))
        let figures = try Program.run(["import", "jetsam-event", "report.ips"], in: folder)
        #expect(figures.status == 0)
        let lines = figures.out.split(separator: "\n")
        #expect(lines.count == 6 && figures.out.contains("\nfront   Maps; 2 apps: Notes, Maps\n"))
        #expect(figures.out.contains("\nended   Notes: the system was short of free memory (vm-pageshortage)\n"))
        #expect(lines.last?.hasPrefix("to ask why  ") == true)
        #expect(lines.last?.hasSuffix("plimsoll import jetsam-event report.ips --replay") == true)
        let json = try Program.run(["import", "jetsam-event", "report.ips", "--format", "json"], in: folder)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.out.utf8)) as? [String: Any])
        #expect(object["app_in_front"] as? String == "Maps" && object["apps"] as? [String] == ["Notes", "Maps"])
        #expect((object["ended"] as? [[String: String]])?.first?["reason"] == "vm-pageshortage")
        let short = try Program.run(["import", "jetsam-event", "report.ips", "--apps-only"], in: folder)
        #expect(short.status == 0 && short.out.split(separator: "\n").count == 6)
        let written = try Program.run(["import", "jetsam-event", "report.ips", "--out", "state.yaml"], in: folder)
        #expect(written.status == 0 && written.out == figures.out)
        #expect(try Program.run(["validate", "state.yaml"], in: folder).status == 0)
        let run = try Program.run(
            ["run", "state.yaml", "--backend", "accounting", "--out", "run", "--set", "expect=[terminations == 0]"],
            in: folder)
        #expect(run.status == 0)
    }

    @Test("broken input ends with 65 and its place, a missing file with 66, a folder that is not there with 73")
    func refusals() throws {
        let folder = try Program.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(Self.report.utf8).write(to: folder.appending(path: "report.ips"))
        try Data(Self.report.utf8.dropLast(9)).write(to: folder.appending(path: "cut.ips"))
        let cut = try Program.run(["import", "jetsam-event", "cut.ips", "--out", "state.yaml"], in: folder)
        #expect(cut.status == 65)
        #expect(cut.error == "cut.ips:7:71: error: the file ends within this string\n")
        #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "state.yaml").path()))
        let missing = try Program.run(["import", "jetsam-event", "none.ips"], in: folder)
        #expect(missing.status == 66)
        #expect(missing.error == "none.ips: error: there is no such file; expected a JetsamEvent report\n")
        let nowhere = try Program.run(["import", "jetsam-event", "report.ips", "--out", "no/s.yaml"], in: folder)
        #expect(nowhere.status == 73)
    }

    @Test(
        "a replay prints victims, others, assumptions and counts, as text or JSON, and ends with 0 whatever the grade")
    func replay() throws {
        let folder = try Program.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(Self.report.utf8).write(to: folder.appending(path: "report.ips"))
        let text = try Program.run(
            ["import", "jetsam-event", "report.ips", "--replay", "--out", "replay.yaml"], in: folder)
        #expect(text.status == 0 && text.error.isEmpty, "\(text.error)")
        #expect(text.out.contains("\n1       Notes    0     vm-pageshortage  1    "))
        #expect(text.out.contains("ended before the last victim, but not in the report: none\n"))
        #expect(
            text.out.hasSuffix(
                "victims 1, ended 1, in the report's order 1, for the report's reason 1 of 1 graded; others before the "
                    + "last victim 0\n"))
        let json = try Program.run(
            ["import", "jetsam-event", "report.ips", "--replay", "--format", "json"], in: folder)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.out.utf8)) as? [String: Any])
        #expect(object["ended"] as? Int == 1 && (object["others_before"] as? [Any])?.isEmpty == true)
        let victims = try #require(object["victims"] as? [[String: Any]])
        #expect(victims.first?["is_same"] as? Bool == true && victims.first?["is_assumed"] as? Bool == false)
        // The scenario is the one that was replayed.
        let run = try Program.run(
            ["run", "replay.yaml", "--backend", "accounting", "--quiet", "--out", "run", "--set", "duration=1min"],
            in: folder)
        #expect(run.status == 0, "\(run.error)")
        let events = try Program.text(folder.appending(path: "run/events.csv"))
        #expect(events.contains(",exit,Notes,"))
    }

    @Test("--replay excludes --apps-only, and --format has two values")
    func usage() throws {
        let folder = try Program.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        for more in [["--replay", "--apps-only"], ["--format", "xml"], ["--replay", "--format", "xml"]] {
            #expect(try Program.run(["import", "jetsam-event", "report.ips"] + more, in: folder).status == 64)
        }
    }
}
