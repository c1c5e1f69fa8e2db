import Foundation
import Testing

@Suite("plimsoll why and import kernel-oom, as a person runs them")
struct WhyCommandTests {
    /// A small report, in which `eater` asks for memory and ends.
    static let log = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden/kern.log")

    private func within(_ body: (URL, String) throws -> Void) throws {
        let report = try String(contentsOf: Self.log, encoding: .utf8)
        try Experiments.within { folder in
            try Data(report.utf8).write(to: folder.appending(path: "kern.log"))
            try body(folder, report)
        }
    }

    @Test("the answer is the same from a file, a pipe, UTF-16, and a journal in JSON")
    func encodings() throws {
        try within { folder, report in
            let plain = try Program.run(["why", "kern.log"], in: folder)
            #expect(plain.status == 0 && plain.out.contains("ended eater (40)"), "\(plain.out)\(plain.error)")
            #expect(plain.out.split(separator: "\n").count <= 15)
            let piped = try Program.run([], in: folder, shell: "cat kern.log | \"$1\" why -")
            let units = report.utf16.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }
            try Data([0xff, 0xfe] + units).write(to: folder.appending(path: "wide.log"))
            let lines = try report.split(separator: "\n").map { line in
                try JSONSerialization.data(withJSONObject: ["MESSAGE": String(line), "_TRANSPORT": "kernel"])
            }
            try Data(lines.joined(separator: Data([0x0a]))).write(to: folder.appending(path: "journal.json"))
            #expect(piped.out == plain.out)
            for file in ["wide.log", "journal.json"] {
                let other = try Program.run(["why", file], in: folder)
                #expect(other.out == plain.out, "\(file): \(other.error)")
            }
        }
    }

    @Test("a process is asked about by name or number, and one that is not there is named in one line")
    func asked() throws {
        try within { folder, _ in
            for app in ["postgres", "20"] {
                let answer = try Program.run(["why", "kern.log", "--app", app], in: folder)
                #expect(answer.status == 0 && answer.out.contains("postgres (20) is number 2 of 2"), "\(answer.out)")
            }
            let missing = try Program.run(["why", "kern.log", "--app", "nginx"], in: folder)
            #expect(missing.status == 65 && missing.out.isEmpty)
            #expect(missing.error.contains("kern.log:1:1: error: there is no 'nginx'"), "\(missing.error)")
            #expect(missing.error.split(separator: "\n").count == 1)
        }
    }

    @Test("a table has a row for every report of every file, and is for reports only")
    func table() throws {
        try within { folder, report in
            let bare = report.split(separator: "\n").filter { !$0.hasPrefix("[") }.joined(separator: "\n")
            try Data((report + bare + "\n").utf8).write(to: folder.appending(path: "two.log"))
            let table = try Program.run(["why", "--table", "kern.log", "two.log"], in: folder)
            #expect(table.status == 0, "\(table.error)")
            let rows = table.out.split(separator: "\n").map { $0.split(separator: "|").map { $0.trimmingPrefix(" ") } }
            #expect(rows.count == 5 && Set(rows.map(\.count)).count == 1, "\(table.out)")
            #expect(rows.dropFirst(2).map { $0[0] } == ["kern.log ", "two.log, 1 ", "two.log, 2 "])
            #expect(rows[2][9] == "the same: eater " && rows[4][9] == "not played: no table ", "\(table.out)")
            for wrong in [["kern.log", "two.log"], ["--table", "kern.log", "--app", "eater"]] {
                #expect(try Program.run(["why"] + wrong, in: folder).status == 64)
            }
            try Data("nothing\n".utf8).write(to: folder.appending(path: "empty.log"))
            let empty = try Program.run(["why", "--table", "kern.log", "empty.log"], in: folder)
            #expect(empty.status == 65 && empty.out.isEmpty && empty.error.contains("empty.log:1:1: error: no OOM"))
        }
    }

    @Test("an import writes a scenario that runs, keeps what is there, and a replay says whose end it was")
    func importing() throws {
        try within { folder, _ in
            let arguments = ["import", "kernel-oom", "kern.log"]
            let made = try Program.run(arguments + ["--out", "state.yaml", "--replay"], in: folder)
            #expect(made.status == 0 && made.out.contains("'eater', as in the report"), "\(made.out)\(made.error)")
            let run = try Program.run(["run", "state.yaml", "--backend", "accounting", "--quiet"], in: folder)
            #expect(run.status == 0, "\(run.error)")
            #expect(try Program.run(arguments + ["--out", "state.yaml"], in: folder).status == 73)
            #expect(try Program.run(["import", "kernel-oom", "none.log"], in: folder).status == 66)
        }
    }
}
