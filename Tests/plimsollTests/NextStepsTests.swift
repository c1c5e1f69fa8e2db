import Foundation
import Testing

@Suite("the closing lines of a run")
struct NextStepsTests {
    /// The rows after "written to" of a run of the tiny scenario, each without its margin, and a comparison without its
    /// seeds: how many there are depends on how busy this machine is. A shell finds the program.
    private func closing(_ arguments: [String], in folder: URL) throws -> [String] {
        let call = "PATH=\"${1%/*}:$PATH\"; shift; plimsoll \"$@\""
        let result = try Program.run(["run", "tiny.yaml", "--out", "r"] + arguments, in: folder, shell: call)
        #expect(result.status == 0, "\(result.error)")
        let lines = result.out.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        return lines.drop { !$0.hasPrefix("written to") }.dropFirst().map { line in
            let whole = line.replacing(#/ --seeds (1\.\.20|1\.\.5|1)$/#, with: "")
            #expect((whole == line) == !line.hasPrefix("to compare"), "\(line)")
            return whole
        }
    }

    private let compare = "to compare    plimsoll compare r/scenario.yaml --policy lru --policy jetsam"

    @Test("they say what to open and what to ask next, as commands that can be copied")
    func commands() throws {
        try Experiments.within { folder in
            let lines = try closing([], in: folder)
            #expect(
                lines == ["to see it     plimsoll report r", "to ask why    plimsoll explain r --app a", compare])
            for line in lines.dropFirst() {
                let command = line.dropFirst(14).split(separator: " ").dropFirst().map(String.init)
                let more = command[0] == "compare" ? ["--seeds", "1", "--quiet"] : []
                let result = try Program.run(command + more, in: folder)
                #expect(result.status == 0, "\(line): \(result.error)")
            }
        }
    }

    @Test("they offer nothing that the run cannot answer")
    func withoutAnswer() throws {
        try Experiments.within { folder in
            for option in ["--report-follows", "--summary-only"] {
                let lines = try closing([option, "--force"], in: folder)
                #expect(lines.first?.hasPrefix("to ask why") == true, "\(option)")
            }
            #expect(try closing(["--dry-run", "--force"], in: folder) == ["to see it     plimsoll report r", compare])
            // No value of --policy stands for a policy with parameters of its own.
            let own = ["--set", "policy={name: lru, parameters: {only_when_critical: false}}", "--force"]
            let ownLines = try closing(own, in: folder)
            #expect(!ownLines.isEmpty && ownLines.allSatisfy { !$0.hasPrefix("to compare") })
            // A run on real memory is compared without it, which takes less time.
            let real = try closing(["--backend", "jemalloc", "--force"], in: folder)
            #expect(real.last == compare + " --backend accounting")
            let wide = ["--set", "device.ceiling=1GiB", "--force"]
            #expect(try closing(wide, in: folder) == ["to see it     plimsoll report r", compare])
        }
    }

    @Test("a folder with a blank in its name is one word")
    func blank() throws {
        try Experiments.within { folder in
            let result = try Program.run(["run", "tiny.yaml", "--out", "my run"], in: folder)
            #expect(result.out.contains("plimsoll report 'my run'\n"))
        }
    }
}
