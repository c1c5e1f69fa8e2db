import Foundation
import Testing

@testable import plimsoll

@Suite("plimsoll run --jetsam-events")
struct JetsamEventsTests {
    private static let run = [
        "run", Program.scenario("quickstart"), "--set", "expect=[]", "--backend", "accounting", "--quiet", "--out", "r",
    ]
    private static let quiet = run + ["--set", "duration=2s", "--set", "user=[]"]
    private static let wanted = ["--jetsam-events"]

    private func within(_ body: (URL) throws -> Void) throws {
        let folder = try Program.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    private func reports(_ folder: URL, _ run: String = "r") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: "\(run)/jetsam-events").path())
            .sorted()
    }

    private func put(_ text: String, _ file: URL) throws {
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    private func isOneLine(_ text: String) -> Bool { text.hasSuffix("\n") && text.count { $0 == "\n" } == 1 }

    @Test("the reports lie in the run's folder, the same to the byte on both backends, and can be imported")
    func written() throws {
        try within { folder in
            #expect(try Program.run(Self.run + Self.wanted, in: folder).status == 0)
            let other = Self.run.map { ["accounting": "jemalloc", "r": "s"][$0] ?? $0 }
            #expect(try Program.run(other + Self.wanted, in: folder).status == 0)
            let names = try reports(folder)
            #expect(!names.isEmpty)
            #expect(try reports(folder, "s") == names)
            for name in names {
                #expect(name.contains(/^JetsamEvent-2001-01-01-0000[0-5][0-9]\.[0-9]{3}\.ips$/), "\(name)")
                let file = folder.appending(path: "r/jetsam-events/\(name)")
                let text = try Program.text(file)
                #expect(try text == Program.text(folder.appending(path: "s/jetsam-events/\(name)")))
                #expect(text.contains("\"kernel\" : \"plimsoll: scenario quickstart, policy ladder, seed 1\""))
                let imported = try Program.run(["import", "jetsam-event", "r/jetsam-events/\(name)"], in: folder)
                #expect(imported.status == 0 && imported.out.contains("ended "))
            }
            let manifest = try Program.text(folder.appending(path: "r/manifest.json"))
            #expect(manifest.contains("\"jetsam_events\" : \(names.count)"))
        }
    }

    @Test("unasked there is no folder; where nobody is ended it is empty, and tables are not needed")
    func without() throws {
        try within { folder in
            #expect(try Program.run(Self.run, in: folder).status == 0)
            #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "r/jetsam-events").path()))
            let manifest = try Program.text(folder.appending(path: "r/manifest.json"))
            #expect(!manifest.contains("jetsam_events"))
            #expect(try Program.run(Self.quiet + Self.wanted + ["--force"], in: folder).status == 0)
            #expect(try reports(folder).isEmpty)
            #expect(try Program.text(folder.appending(path: "r/manifest.json")).contains("\"jetsam_events\" : 0"))
            let short = Self.run + Self.wanted + ["--force", "--summary-only"]
            #expect(try Program.run(short, in: folder).status == 0)
            #expect(try reports(folder).isEmpty == false)
        }
    }

    @Test("--force takes away the reports of the run that was there, asked for or not, and nobody else's files")
    func overwriting() throws {
        try within { folder in
            let events = folder.appending(path: "r/jetsam-events")
            #expect(try Program.run(Self.run + Self.wanted, in: folder).status == 0)
            #expect(try Program.run(Self.quiet + ["--force"], in: folder).status == 0)
            #expect(!FileManager.default.fileExists(atPath: events.path()))

            #expect(try Program.run(Self.run + Self.wanted + ["--force"], in: folder).status == 0)
            let names = try reports(folder)
            try put("mine", events.appending(path: "notes.txt"))
            #expect(try Program.run(Self.quiet + ["--force"], in: folder).status == 0)
            #expect(try reports(folder) == ["notes.txt"])

            // A device's report with such a name is not taken for our own, and its refusal leaves the existing run
            // intact.
            try put("{\"bug_type\":\"298\"}", events.appending(path: names[0]))
            let before = try Program.text(folder.appending(path: "r/manifest.json"))
            let refused = try Program.run(Self.run + Self.wanted + ["--force"], in: folder)
            #expect(refused.status == 73 && isOneLine(refused.error))
            #expect(refused.error.contains("r/jetsam-events/\(names[0]) is not a report of a run"))
            #expect(try Program.text(folder.appending(path: "r/manifest.json")) == before)
            #expect(try Program.run(Self.run + ["--force"], in: folder).status == 0)
            #expect(try reports(folder) == [names[0], "notes.txt"])
        }
    }

    @Test("a file or a link of the folder's name is refused, and what it leads to stays")
    func noFolder() throws {
        try within { folder in
            #expect(try Program.run(Self.run + Self.wanted, in: folder).status == 0)
            let (events, other) = (folder.appending(path: "r/jetsam-events"), folder.appending(path: "other"))
            try FileManager.default.moveItem(at: events, to: other)
            let kept = try FileManager.default.contentsOfDirectory(atPath: other.path())
            try FileManager.default.createSymbolicLink(atPath: events.path(), withDestinationPath: "../other")
            for _ in 0..<2 {
                let refused = try Program.run(Self.run + Self.wanted + ["--force"], in: folder)
                #expect(refused.status == 73 && isOneLine(refused.error))
                #expect(refused.error.contains("r/jetsam-events is not a folder of reports; give another --out"))
                #expect(try Program.run(Self.quiet + ["--force"], in: folder).status == 0)
                #expect(try FileManager.default.contentsOfDirectory(atPath: other.path()) == kept)
                try FileManager.default.removeItem(at: events)
                try put("mine", events)
            }
        }
    }

    @Test("an interrupted run leaves whole reports; one whose folder vanishes ends with 74")
    func endings() throws {
        try within { folder in
            // The first kill of this long run comes soon.
            let long = [
                "run", Program.scenario("evening-commute"), "--set", "expect=[]", "--set", "duration=400d", "--backend",
                "accounting", "--quiet", "--jetsam-events", "--out",
            ]
            func afterFirstReport(_ run: String, _ then: (URL) throws -> Void) throws {
                let events = folder.appending(path: "\(run)/jetsam-events")
                try Program.wait {
                    let found = try? FileManager.default.contentsOfDirectory(atPath: events.path())
                    return found?.isEmpty == false
                }
                try then(events)
            }
            let interrupted = try Program.run(long + ["a"], in: folder) { process in
                try afterFirstReport("a") { _ in kill(process.processIdentifier, SIGTERM) }
            }
            #expect(interrupted.status == 143)
            let names = try reports(folder, "a")
            #expect(!names.isEmpty && names.allSatisfy { $0.hasSuffix(".ips") })
            for name in names {
                #expect(try Program.text(folder.appending(path: "a/jetsam-events/\(name)")).hasSuffix("\n  ]\n}\n"))
            }
            let manifest = try Program.text(folder.appending(path: "a/manifest.json"))
            #expect(manifest.contains("\"jetsam_events\" : \(names.count)"))

            let failed = try Program.run(long + ["b"], in: folder) { _ in
                try afterFirstReport("b") { try FileManager.default.moveItem(at: $0, to: folder.appending(path: "x")) }
            }
            // The first line warns of the size of the tables.
            let said = failed.error.split(separator: "\n")
            #expect(failed.status == 74 && said.count == 2 && said[0].contains("warning:"), "\(failed.error)")
            #expect(failed.error.contains("cannot write b/jetsam-events/JetsamEvent-2001-01-01-"))
            #expect(failed.error.contains("No such file or directory"))
        }
    }
}
