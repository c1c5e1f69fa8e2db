import Foundation
import Testing

@Suite("plimsoll init")
struct InitCommandTests {
    private func within(_ body: (URL) throws -> Void) throws {
        let folder = try Program.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    /// The files in the folder, except those of the test itself.
    private func files(in folder: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path()).filter { !$0.hasPrefix(".std") }.sorted()
    }

    @Test("without a terminal it takes the defaults, and the command that it prints runs what it wrote")
    func defaults() throws {
        try within { folder in
            let made = try Program.run(["init", "my-phone"], in: folder)
            #expect(made.status == 0 && made.error.isEmpty, "\(made.error)")
            let lines = made.out.split(separator: "\n")
            #expect(lines.first == "my-phone.yaml: 13 apps, 1h, jetsam", "\(made.out)")
            let last = try #require(lines.last)
            #expect(last.hasPrefix("  to run it ") && last.hasSuffix(" run my-phone.yaml"), "\(last)")
            let valid = try Program.run(["validate", "my-phone.yaml"], in: folder)
            #expect(valid.status == 0 && valid.error.isEmpty, "\(valid.error)")
            let run = ["run", "my-phone.yaml", "--set", "duration=11min", "--set", "user.1.to=11min", "--summary-only"]
            let ran = try Program.run(run + ["--quiet", "--out", "run"], in: folder)
            #expect(ran.status == 0, "\(ran.error)")
            #expect(try files(in: folder) == ["my-phone.yaml", "run"])
        }
    }

    @Test("options answer, and the file has the answers; a name may end with .yaml")
    func options() throws {
        try within { folder in
            let words = ["--device", "pixel-6", "--apps", "mail,browser", "--day", "everyday", "--duration", "12h"]
            let more = ["--policy", "lru", "--expect", "mail survives"]
            let made = try Program.run(["init", "small.yaml"] + words + more, in: folder)
            #expect(made.status == 0 && made.out.hasPrefix("small.yaml: 2 apps, 12h, lru\n"), "\(made.error)")
            let text = try Program.text(folder.appending(path: "small.yaml"))
            for line in ["name: small", "like: pixel-6", "policy: lru", "model: everyday", "[mail survives]"] {
                #expect(text.contains(line), "\(line)")
            }
        }
    }

    @Test("an app of the user's own is in the file, claimed to survive, and the file is valid")
    func ownApp() throws {
        try within { folder in
            let words = ["--app", "mine", "--like", "photo-editor", "--footprint", "300MiB"]
            let made = try Program.run(["init", "my-app", "--device", "iphone-13"] + words, in: folder)
            #expect(made.status == 0 && made.out.hasPrefix("my-app.yaml: 14 apps, "), "\(made.error)")
            let text = try Program.text(folder.appending(path: "my-app.yaml"))
            #expect(text.contains("[mine survives]") && text.contains("photo-editor, 300MiB at most"), "\(text)")
            let valid = try Program.run(["validate", "my-app.yaml"], in: folder)
            #expect(valid.status == 0 && valid.error.isEmpty, "\(valid.error)")
            let alone = try Program.run(["init", "b", "--footprint", "300MiB"], in: folder)
            #expect(alone.status == 64 && alone.error.contains("name it with --app"), "\(alone.error)")
            let bare = try Program.run(["init", "b", "--app", "mine", "--footprint", "300"], in: folder)
            #expect(bare.status == 64 && bare.error.contains("expected a size"), "\(bare.error)")
        }
    }

    @Test("a wrong name or answer is one line and status 64, and no file is made")
    func refusals() throws {
        try within { folder in
            let words = [
                ["3a"], ["a/b"], ["../a"], [""], ["a", "--device", "iphone-31"], ["a", "--apps", "0"],
                ["a", "--day", "gamin"], ["a", "--duration", "5"], ["a", "--policy", "ladde"], ["a", "--expect", "x"],
            ]
            for words in words {
                let result = try Program.run(["init"] + words, in: folder)
                #expect(result.status == 64 && result.out.isEmpty, "\(words): \(result.status)")
                let lines = result.error.split(separator: "\n")
                #expect(lines.count == 1 && lines[0].hasPrefix("plimsoll: "), "\(words): \(result.error)")
            }
            #expect(try files(in: folder).isEmpty)
        }
    }

    @Test("an existing file stays as it is: status 73")
    func existing() throws {
        try within { folder in
            let file = folder.appending(path: "mine.yaml")
            try Data("mine\n".utf8).write(to: file)
            try FileManager.default.createSymbolicLink(
                atPath: folder.appending(path: "link.yaml").path(), withDestinationPath: "nowhere.yaml")
            for name in ["mine", "mine.yaml", "link"] {
                let result = try Program.run(["init", name], in: folder)
                #expect(result.status == 73 && result.error.split(separator: "\n").count == 1, "\(result.error)")
            }
            #expect(try Program.text(file) == "mine\n" && files(in: folder) == ["link.yaml", "mine.yaml"])
        }
    }
}
