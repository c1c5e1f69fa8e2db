import Foundation
import Testing

@testable import RunFolders

/// A case on real memory has a process of its own; cases whose memory is computed share one that stays.
@Suite("workers on this machine")
struct CaseWorkersTests {
    /// Says its process and how many questions it has had; ends at the question `die`.
    private static let program = #"""
        #!/bin/sh
        n=0
        answer() {
            echo '@0.5'
            printf '{"status":0,"output":"%s","errors":"","cpu_seconds":1.5,"peak_kibibytes":7}\n' "$1"
        }
        [ "$1" = serve ] || { echo "$1 $$"; exit 3; }
        while read -r question; do
            n=$((n + 1))
            case $question in *die*) kill -9 $$ ;; *nonsense*) echo nonsense ;; *) answer "$1 $$ $n" ;; esac
            case $question in *last*) exit ;; esac
        done
        """#

    private static func computed(_ index: Int, _ word: String = "x") -> CaseRequest {
        CaseRequest(index: index, arguments: ["--backend", "accounting", "--", word])
    }

    private static func wait(_ workers: inout LocalWorkers) -> [CaseEnding] {
        var ended: [CaseEnding] = []
        while !workers.isIdle { ended += workers.collect() }
        return ended.sorted { $0.index < $1.index }
    }

    private func workers(jobs: Int) throws -> (LocalWorkers, URL) {
        let folder = try Program.temporaryFolder()
        let path = folder.appending(path: "fake")
        try Data(Self.program.utf8).write(to: path)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path.path())
        return (LocalWorkers(jobs: jobs, tellsShares: true, program: path.path()), folder)
    }

    @Test("computed cases come to one process, one after the other, and its end is that of its case alone")
    func stays() throws {
        var (workers, folder) = try workers(jobs: 1)
        defer { try? FileManager.default.removeItem(at: folder) }
        var ended: [CaseEnding] = []
        for (index, word) in ["x", "x", "die", "x", "nonsense", "x"].enumerated() {
            #expect(workers.hasRoom)
            try workers.start(Self.computed(index, word))
            #expect(!workers.hasRoom)
            ended += Self.wait(&workers)
        }
        #expect(ended.map(\.status) == [0, 0, 137, 0, 70, 0])
        let words = ended.map { $0.output.split(separator: " ").map(String.init) }
        #expect(words.map(\.first) == ["serve", "serve", nil, "serve", nil, "serve"])
        #expect(words[0][1] == words[1][1] && words[0][2] == "1" && words[1][2] == "2")
        #expect(words[3][1] != words[0][1] && words[3][2] == "1" && words[5][2] == "1")
        #expect(ended[0].cpuSeconds == 1.5 && ended[0].peakKibibytes == 7)
    }

    @Test("a process that ends while it waits is not missed", .timeLimit(.minutes(1)))
    func waits() throws {
        signal(SIGPIPE, SIG_IGN)
        var (workers, folder) = try workers(jobs: 1)
        defer { try? FileManager.default.removeItem(at: folder) }
        try workers.start(Self.computed(0, "last"))
        let first = try #require(Self.wait(&workers).first?.output.split(separator: " "))
        // Its end is complete when only its parent, this process, keeps it from being forgotten.
        let state = "/proc/\(first[1])/stat"
        while try !String(contentsOfFile: state, encoding: .utf8).contains(") Z ") { usleep(1_000) }
        try workers.start(Self.computed(1))
        let second = try #require(Self.wait(&workers).first)
        #expect(second.status == 0 && second.output.hasSuffix(" 1") && !second.output.contains(" \(first[1]) "))
    }

    @Test("a case on real memory has a process of its own, whatever stays beside it")
    func alone() throws {
        var (workers, folder) = try workers(jobs: 3)
        defer { try? FileManager.default.removeItem(at: folder) }
        try workers.start(Self.computed(0))
        try workers.start(CaseRequest(index: 1, arguments: ["--backend", "jemalloc", "--", "x"]))
        // A scenario of that name is no option.
        try workers.start(CaseRequest(index: 2, arguments: ["--", "--backend", "accounting"]))
        #expect(!workers.hasRoom)
        let ended = Self.wait(&workers)
        #expect(ended.map(\.status) == [0, 3, 3])
        #expect(ended.map { $0.output.prefix { $0 != " " } } == ["serve", "case", "case"])
        workers.close(abandoning: false)
        #expect(workers.isIdle)
    }
}
