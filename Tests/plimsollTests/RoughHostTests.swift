import Foundation
import Testing

@Suite("what the host, the terminal and the shell may do to the program")
struct RoughHostTests {
    private func within(_ body: (URL) throws -> Void) throws {
        let folder = try Program.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    private func isOneLine(_ error: String) -> Bool {
        error.hasSuffix("\n") && error.split(separator: "\n", omittingEmptySubsequences: false).count == 2
    }

    @Test(
        "what cannot be written on stdout ends with 74 and a line",
        arguments: [
            ["--help"], ["--version"], [], ["help", "run"], ["run", "--help"], ["compare", "--help"],
            ["sweep", "--help"], ["sweep", "run", "--help"], ["explain", "--help"], ["validate", "--help"],
            ["import", "--help"], ["import"], ["list", "--help"], ["list", "policies"], ["list", "apps"],
            ["list", "metrics"], ["schema", "scenario"], ["schema", "policy"], ["schema", "csv"], ["doctor"],
            ["--generate-completion-script", "bash"],
        ])
    func fullDevice(arguments: [String]) throws {
        try within { folder in
            let result = try Program.run(arguments, in: folder, shell: "exec \"$@\" > /dev/full")
            #expect(result.status == 74 && isOneLine(result.error), "\(result.status) \(result.error)")
            #expect(result.error.contains("cannot write to standard output: No space left on device"))
        }
    }

    @Test("help and version go to stdout with status 0, wrong usage to stderr with 64")
    func usage() throws {
        try within { folder in
            let help = try Program.run(["--help"], in: folder)
            #expect(help.status == 0 && help.error.isEmpty && help.out.hasPrefix("OVERVIEW: "))
            let wrong = try Program.run(["run"], in: folder)
            #expect(
                wrong.status == 64 && wrong.out.isEmpty && wrong.error.hasPrefix("Error: Missing expected argument"))
            #expect(wrong.error.contains("\nUsage: ") || wrong.error.contains("\nUSAGE: "))
        }
    }

    @Test(
        "an option that is not right is told on one line, whatever is in it",
        arguments: [
            ["run", "s", "--\u{202E}\u{1B}[2J\nx"], ["list", "\u{202E}\u{1B}\n"], ["run", "s", "--seed", "\u{200B}\n"],
            ["sweep", "s", "--out", "o", "--vary", "a=\u{202E}\n\u{1B},"], ["\u{1B}\u{202E}"],
        ])
    func hidden(arguments: [String]) throws {
        try within { folder in
            let result = try Program.run(arguments, in: folder)
            #expect(result.status == 64)
            let lines = result.error.split(separator: "\n")
            #expect(lines.first?.hasPrefix("Error: ") == true)
            #expect(lines.dropFirst().allSatisfy { !$0.hasPrefix("x") }, "\(result.error)")
            for scalar in ["\u{1B}", "\u{202E}", "\u{200B}"] { #expect(!result.error.contains(scalar)) }
        }
    }

    @Test(
        "and so is a long one",
        arguments: [
            ["run", "LONG"], ["run", "s", "--LONG"], ["list", "LONG"], ["run", "s", "--seed", "LONG"],
            ["sweep", "S", "--out", "o", "--vary", "a=LONG,LONG"], ["sweep", "S", "--out", "o", "--vary", "LONG"],
            ["sweep", "S", "--out", "o", "--vary", "device.ceiling=LONG"], ["run", "S", "--set", "seed=LONG"],
            ["run", "S", "--set", "LONG=1"], ["run", "S", "--set", "seed=1", "--policy", "LONG"],
            ["run", "S", "--out", "LONG"], ["import", "jetsam-event", "LONG"], ["import", "app-usage", "LONG"],
            ["import", "memory-replay", "LONG"], ["compare", "S", "--policy", "lru", "--metric", "LONG"],
            ["compare", "S", "--policy", "lru", "--seeds", "LONG"], ["explain", "LONG"], ["validate", "LONG"],
        ])
    func long(arguments: [String]) throws {
        try within { folder in
            let words = arguments.map {
                $0 == "S"
                    ? Program.scenario("quickstart")
                    : $0.replacing("LONG", with: String(repeating: "x", count: 60_000))
            }
            let result = try Program.run(words, in: folder)
            #expect(result.status != 0)
            for line in result.error.split(separator: "\n") where !line.contains("--") || line.hasPrefix("Error") {
                #expect(line.utf8.count < 2_000, "\(line.prefix(100)) … \(line.utf8.count)")
            }
        }
    }

    @Test("text of a file is escaped where it is shown")
    func hiddenInFiles() throws {
        try within { folder in
            let head = "plimsoll: 1\nname: x\nduration: 1s\ndevice: { ceiling: 64MiB }\napps: [{ name: a }]\n"
            try Data("# a \u{202E}title\n\(head)\u{202E}key: 1\n".utf8).write(to: folder.appending(path: "s.yaml"))
            let result = try Program.run(["validate", "s.yaml"], in: folder)
            #expect(result.status == 65 && result.error.contains("unknown key '\\u{202E}key'"), "\(result.error)")
            let listed = try Program.run(["list", "scenarios", "--folder", "."], in: folder)
            #expect(listed.status == 0 && listed.out.contains("a \\u{202E}title"), "\(listed.out)")
        }
    }

    @Test("a name that is not UTF-8 is refused, and nothing is written under another")
    func invalidNames() throws {
        try within { folder in
            let run = ["run", Program.scenario("quickstart"), "--set", "duration=1s", "--set", "user=[]"]
            let result = try Program.run(
                run + ["--set", "expect=[]", "--quiet", "--out"], in: folder, shell: "exec \"$@\" $'r\\xff'")
            #expect(result.status == 64 && isOneLine(result.error), "\(result.error)")
            #expect(result.error.contains("argument 11, 'r\u{FFFD}', is not UTF-8"), "\(result.error)")
            let made = try FileManager.default.contentsOfDirectory(atPath: folder.path())
            #expect(made.allSatisfy { $0.hasPrefix(".std") }, "\(made)")
        }
    }

    @Test("with too small a stack it says so and ends with 71", arguments: [32, 64, 2_047])
    func smallStack(kibibytes: Int) throws {
        try within { folder in
            let result = try Program.run(["--version"], in: folder, shell: "ulimit -s \(kibibytes); exec \"$@\"")
            #expect(result.status == 71 && isOneLine(result.error), "\(result.status) \(result.error)")
            #expect(result.error.contains("ulimit -s"))
        }
    }

    @Test("with a stack that is just large enough the deepest text does no harm")
    func smallestStack() throws {
        try within { folder in
            for (index, piece) in ["[", "{a: ", "- ", "&a [", "a:\n "].enumerated() {
                try Data(String(repeating: piece, count: 990).utf8).write(to: folder.appending(path: "\(index).yaml"))
            }
            let shell = "ulimit -s 2048; exec \"$@\""
            let names = (0..<5).map { "\($0).yaml" }
            #expect(try Program.run(["validate"] + names, in: folder, shell: shell).status == 65)
            let run = ["run", Program.scenario("quickstart"), "--out", "r", "--quiet"]
            #expect(try Program.run(run, in: folder, shell: shell).status == 0)
        }
    }

    @Test("an option that jemalloc does not take ends the program with 71, where it is to end")
    func allocatorOptions() throws {
        try within { folder in
            for options in ["abort_conf:true,x:1", "x:1,abort_conf:true", "abort_conf:true,narenas:z,x:1"] {
                let shell = "export MALLOC_CONF=\(options); exec \"$@\""
                let result = try Program.run(["--version"], in: folder, shell: shell)
                #expect(result.status == 71 && isOneLine(result.error), "\(result.status) \(result.error)")
                #expect(result.error.contains("MALLOC_CONF: Invalid conf"), "\(result.error)")
            }
            // Valid options keep their effect.
            let shell = "export MALLOC_CONF=abort_conf:true,dirty_decay_ms:500; exec \"$@\""
            let run = ["run", Program.scenario("quickstart"), "--out", "r"]
            let result = try Program.run(run, in: folder, shell: shell)
            #expect(result.status == 0)
            #expect(result.error.contains("\"abort_conf:true,dirty_decay_ms:500\""), "\(result.error)")
            let manifest = try Program.text(folder.appending(path: "r/manifest.json"))
            #expect(manifest.contains("\"dirty_decay_ms\" : \"500\""))
        }
    }

    @Test("a scenario that is too long is refused before it is read", arguments: [9, 65, 4_000])
    func tooLong(mebibytes: Int) throws {
        try within { folder in
            let path = folder.appending(path: "s.yaml").path()
            #expect(
                truncate(FileManager.default.createFile(atPath: path, contents: nil) ? path : "", mebibytes << 20) == 0)
            for arguments in [["s.yaml"], [Program.scenario("quickstart"), "--policy", "./s.yaml"]] {
                // Seconds of CPU: those of the clock would tell how busy the machine is.
                let result = try Program.run(["validate"] + arguments, in: folder, shell: "ulimit -t 10; exec \"$@\"")
                #expect(result.status == 65 && isOneLine(result.error), "\(result.error)")
                #expect(result.error.contains("s.yaml:1:1: error: the file has \(mebibytes << 20) bytes"))
            }
            let piped = try Program.run(["run", "-"], in: folder, shell: "yes | \"$@\"")
            #expect(piped.status == 65 && isOneLine(piped.error), "\(piped.error)")
        }
    }

    @Test("a run that will write much says so before it begins, and validate does, too")
    func estimate() throws {
        try within { folder in
            let lines = [
                "plimsoll: 1", "name: x", "duration: 1000d", "device: { ceiling: 64MiB }", "apps: [{ name: a }]",
                "user: [{ at: 0s, launch: a }]", "",
            ]
            let text = lines.joined(separator: "\n")
            try Data(text.utf8).write(to: folder.appending(path: "s.yaml"))
            let valid = try Program.run(["validate", "s.yaml"], in: folder)
            #expect(valid.status == 0)
            let expected = "with 864,000,001 samples, samples.csv will have about 120.7 GiB"
            #expect(valid.error.hasPrefix("s.yaml: warning: \(expected)"), "\(valid.error)")
            let run = try Program.run(
                ["run", "s.yaml", "--backend", "accounting", "--quiet", "--out", "r"], in: folder
            ) { process in
                try Program.wait { try !Program.text(folder.appending(path: ".stderr")).isEmpty }
                kill(process.processIdentifier, SIGINT)
            }
            #expect(run.error.hasPrefix("plimsoll: warning: \(expected)"), "\(run.error)")
            #expect(try Program.run(["validate", Program.scenario("quickstart")], in: folder).error.isEmpty)
        }
    }
}
