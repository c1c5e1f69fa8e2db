import Foundation
import Testing

@testable import RunFolders
@testable import plimsoll

@Suite("a run in the place of another")
struct OverwritingTests {
    private static let arguments = [
        "run", Program.scenario("quickstart"), "--out", "r", "--set", "duration=2s", "--set", "user=[]", "--set",
        "expect=[]", "--quiet",
    ]

    private func within(_ body: (URL) throws -> Void) throws {
        let folder = try Program.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    private func put(_ files: [String], in folder: URL) throws {
        for file in files {
            let file = folder.appending(path: file)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data("mine".utf8).write(to: file)
        }
    }

    private func content(_ folder: URL) throws -> Set<String> {
        Set(try FileManager.default.subpathsOfDirectory(atPath: folder.path()))
    }

    @Test("nothing that speaks of the old run is left: no picture, no report, no timeline")
    func nothingOld() throws {
        try within { folder in
            let run = folder.appending(path: "r")
            #expect(try Program.run(Self.arguments + ["--trace", "r/line.json"], in: folder).status == 0)
            #expect(try Program.text(run.appending(path: "manifest.json")).contains("\"trace_file\" : \"line.json\""))
            let drawn = RunDirectory.pictures.flatMap { name in
                RunDirectory.pictureFormats.map { "plots/\(name).\($0)" }
            }
            try put(drawn + ["report.html"], in: run)
            #expect(try Program.run(Self.arguments + ["--force"], in: folder).status == 0)
            #expect(try content(run) == Set(RunDirectory.usualFiles))
        }
    }

    @Test("what somebody else has put there stays, under whatever name and behind links")
    func othersFiles() throws {
        try within { folder in
            let run = folder.appending(path: "r")
            #expect(try Program.run(Self.arguments, in: folder).status == 0)
            let mine = ["notes.txt", "line.json", "plots/mine.png", "plots/memory.pdf", "plots/more/memory.png"]
            try put(mine, in: run)
            try put(["plots/memory.svg"], in: run)
            #expect(try Program.run(Self.arguments + ["--force"], in: folder).status == 0)
            #expect(try content(run) == Set(RunDirectory.usualFiles + mine + ["plots", "plots/more"]))

            try put(["elsewhere/memory.png"], in: folder)
            try FileManager.default.removeItem(at: run.appending(path: "plots"))
            try FileManager.default.createSymbolicLink(
                atPath: run.appending(path: "plots").path(), withDestinationPath: "../elsewhere")
            #expect(try Program.run(Self.arguments + ["--force"], in: folder).status == 0)
            #expect(try Program.text(folder.appending(path: "elsewhere/memory.png")) == "mine")
        }
    }

    @Test("a sweep's folder is no run's, and --force leaves it alone")
    func experiments() throws {
        try within { folder in
            let sweep = [
                "sweep", Program.scenario("quickstart"), "--vary", "device.cores=1..2", "--set", "duration=1s", "--set",
                "user=[]", "--set", "expect=[]", "--backend", "accounting", "--out", "r", "--quiet",
            ]
            let made = try Program.run(sweep, in: folder)
            #expect(made.status == 0, "\(made.error)")
            let manifest = try Program.text(folder.appending(path: "r/manifest.json"))
            let refused = try Program.run(Self.arguments + ["--force"], in: folder)
            #expect(refused.status == 73 && refused.error.contains("no run that could be overwritten"))
            #expect(try Program.text(folder.appending(path: "r/manifest.json")) == manifest)
        }
    }

    @Test("--force overwrites what a run leaves that is killed while it makes its folder, and no table with rows")
    func hardlyBegun() throws {
        try within { folder in
            let run = folder.appending(path: "r")
            try FileManager.default.createDirectory(at: run, withIntermediateDirectories: true)
            for file in ["samples.csv", "apps.csv"] { try Data().write(to: run.appending(path: file)) }
            #expect(try Program.run(Self.arguments, in: folder).status == 73)
            #expect(try Program.run(Self.arguments + ["--force"], in: folder).status == 0)
            #expect(try content(run) == Set(RunDirectory.usualFiles))
            for file in ["datapackage.json", "manifest.json", "summary.csv"] {
                try FileManager.default.removeItem(at: run.appending(path: file))
            }
            let refused = try Program.run(Self.arguments + ["--force"], in: folder)
            #expect(refused.status == 73 && refused.error.contains("no run that could be overwritten"))
            // Nor a scenario that somebody keeps there.
            for file in RunDirectory.usualFiles where file != "scenario.yaml" {
                try? FileManager.default.removeItem(at: run.appending(path: file))
            }
            #expect(try Program.run(Self.arguments + ["--force"], in: folder).status == 73)
        }
    }

    @Test("the pictures are those that the scripts draw")
    func pictures() throws {
        let folder = Program.root.appending(path: "Scripts/plimsoll_tools/plotting")
        let pictures = try Program.text(folder.appending(path: "pictures.py"))
        let names = RunDirectory.pictures.map { "\"\($0)\"" }
        #expect(pictures.contains("NAMES = (\(names.joined(separator: ", ")))\n"))
        let script = try Program.text(folder.appending(path: "__main__.py"))
        #expect(script.contains("default=\"\(RunDirectory.pictureFormats.joined(separator: ","))\""))
    }
}

extension RunDirectory {
    /// The files of a run without a compressor, a freezer, or a process that has a memory limit.
    static let usualFiles = files.filter { !["pages.csv", "limits.csv", "freezer.csv"].contains($0) }
}
