import Foundation
import Testing

@Suite("plimsoll import app-usage")
struct ImportAppUsageTests {
    private static let trace = """
        timestamp,user,app,event
        100,ann,Chrome,opened
        160,ann,Chrome,closed
        170,bob,Mail,opened
        90160,ann,Chrome,opened

        """

    @Test("a user's events become a scenario that validates and runs; without --out there are only the figures")
    func imports() throws {
        let folder = try Program.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(Self.trace.utf8).write(to: folder.appending(path: "usage.csv"))
        let chosen = ["import", "app-usage", "usage.csv", "--user", "ann", "--longest-idle", "2min"]
        let figures = try Program.run(chosen, in: folder)
        #expect(figures.status == 0)
        #expect(figures.out.contains("duration_s    240\n"))
        let written = try Program.run(chosen + ["--out", "day.yaml"], in: folder)
        #expect(written.status == 0 && written.out == figures.out)
        let again = try Program.run(chosen + ["--out", "day.yaml"], in: folder)
        #expect(again.status == 73)
        #expect(try Program.run(["validate", "day.yaml"], in: folder).status == 0)
        let run = try Program.run(["run", "day.yaml", "--backend", "accounting", "--out", "run"], in: folder)
        #expect(run.status == 0)
    }

    @Test("no user chosen and broken lines end with 65, a missing file with 66, a time without a unit with 64")
    func refusals() throws {
        let folder = try Program.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(Self.trace.utf8).write(to: folder.appending(path: "usage.csv"))
        let several = try Program.run(["import", "app-usage", "usage.csv", "--out", "day.yaml"], in: folder)
        #expect(several.status == 65)
        #expect(several.error == "usage.csv:1:1: error: the trace holds 2 users; choose one with --user: ann, bob\n")
        #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "day.yaml").path()))
        let missing = try Program.run(["import", "app-usage", "none.csv"], in: folder)
        #expect(missing.status == 66)
        #expect(missing.error == "none.csv: error: there is no such file; expected a usage trace\n")
        let unit = try Program.run(["import", "app-usage", "usage.csv", "--longest-idle", "5"], in: folder)
        #expect(unit.status == 64 && unit.error.contains("expected a time with its unit"))
    }
}
