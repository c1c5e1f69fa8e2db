import Foundation
import Subjects
import Testing

/// Replays the corpora of the fuzzers: small seeds, and whatever a fuzzer once found.
@Suite("the readers of input, over the corpora of the fuzzers")
struct CorpusTests {
    private static let corpora = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Corpora")

    private static func files(of subject: Subject) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(
            at: corpora.appending(path: subject.name), includingPropertiesForKeys: nil
        ).sorted { $0.path() < $1.path() }
    }

    @Test("no claim of a reader breaks", arguments: Subject.all.map(\.name))
    func corpus(name: String) throws {
        let subject = try #require(Subject(named: name))
        let files = try Self.files(of: subject)
        try #require(files.count >= 3, "\(name) has hardly a corpus")
        var (accepted, refused) = (0, 0)
        for file in files {
            let bytes = Array(try Data(contentsOf: file))
            do {
                if try subject.read(bytes) { accepted += 1 } else { refused += 1 }
            } catch {
                Issue.record("\(name)/\(file.lastPathComponent): \(error)")
            }
        }
        // Otherwise the seeds show the fuzzer only one half of the reader.
        #expect(accepted > 0 && refused > 0, "\(name): \(accepted) accepted, \(refused) refused")
    }

    @Test("each folder of the corpora belongs to a reader, and each file is small")
    func folders() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.corpora.path())
        #expect(Set(names) == Set(Subject.all.map(\.name)))
        for subject in Subject.all {
            for file in try Self.files(of: subject) {
                let size = try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
                #expect(size <= subject.longest, "\(file.lastPathComponent) has \(size) bytes")
            }
        }
    }

    @Test("the canary's fault is there to be found, and no other reader has it")
    func canary() throws {
        let canary = try #require(Subject(named: "canary"))
        #expect(throws: Finding.self) { try canary.read(Array("loaded".utf8)) }
        #expect(try !canary.read(Array("loader".utf8)))
        #expect(!Subject.all.contains { $0.name == "canary" })
    }

    @Test("cut and changed seeds break no claim either", arguments: ["scenario", "policy", "usage", "folder", "trace"])
    func damaged(name: String) throws {
        let subject = try #require(Subject(named: name))
        for file in try Self.files(of: subject) {
            let bytes = Array(try Data(contentsOf: file))
            for part in 1...8 {
                var damaged = Array(bytes.prefix(bytes.count * part / 8))
                if let last = damaged.indices.last { damaged[last / 2] ^= UInt8(1 << (part % 8)) }
                do {
                    _ = try subject.read(damaged)
                } catch {
                    Issue.record("\(name)/\(file.lastPathComponent), part \(part) of 8: \(error)")
                }
            }
        }
    }
}
