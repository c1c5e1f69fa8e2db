import Experiments
import Foundation
import Quantities
import Testing

@Suite("the ledger of finished runs")
struct LedgerTests {
    private let plan = Fingerprint(of: "a plan")

    private func within(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "plimsoll-ledger-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder.appending(path: "ledger.txt").path())
    }

    private func row(_ index: Int) -> String { "row \(index)," + String(repeating: "é", count: index * 90) }

    private func resume(_ path: String, cases: Int = 20) throws -> Ledger {
        try Ledger(resuming: path, plan: plan, shard: .whole, cases: cases)
    }

    @Test("what was booked is there after a restart")
    func restart() throws {
        try within { path in
            do {
                let ledger = try Ledger(creating: path, plan: plan, shard: .whole, cases: 20)
                for index in [7, 3, 19, 0] { try ledger.append(index, row: row(index)) }
            }
            let ledger = try resume(path)
            #expect(ledger.finished == 4)
            for index in 0..<20 { #expect(ledger.isFinished(index) == [7, 3, 19, 0].contains(index)) }
            for index in [7, 3, 19, 0] { #expect(try ledger.row(index) == row(index)) }
        }
    }

    @Test("rows that are booked together are those that are booked one by one")
    func batch() throws {
        try within { path in
            do {
                let ledger = try Ledger(creating: path, plan: plan, shard: .whole, cases: 20)
                try ledger.append([7, 3].map { ($0, row($0)) })
                try ledger.append([])
                try ledger.append(5, row: row(5))
            }
            let together = try Data(contentsOf: URL(filePath: path))
            try FileManager.default.removeItem(atPath: path)
            do {
                let ledger = try Ledger(creating: path, plan: plan, shard: .whole, cases: 20)
                for index in [7, 3, 5] { try ledger.append(index, row: row(index)) }
            }
            #expect(try Data(contentsOf: URL(filePath: path)) == together)
            let ledger = try resume(path)
            #expect(ledger.finished == 3)
            #expect(try ledger.row(3) == row(3))
        }
    }

    @Test("a ledger that ends anywhere gives the whole lines before that, and goes on")
    func torn() throws {
        try within { path in
            do {
                let ledger = try Ledger(creating: path, plan: plan, shard: .whole, cases: 20)
                for index in 0..<5 { try ledger.append(index, row: row(index)) }
            }
            let whole = try Data(contentsOf: URL(filePath: path))
            var generator = SeededGenerator(seed: 11, stream: "torn")
            for length in [0, 1, whole.count - 1] + (0..<60).map({ _ in generator.number(in: 0...whole.count) }) {
                try whole.prefix(length).write(to: URL(filePath: path))
                do {
                    let ledger = try resume(path)
                    let expected = max(0, whole.prefix(length).count { $0 == 10 } - 1)
                    #expect(ledger.finished == expected, "cut at \(length)")
                    for index in 0..<5 where !ledger.isFinished(index) { try ledger.append(index, row: row(index)) }
                }
                #expect(try Data(contentsOf: URL(filePath: path)) == whole, "cut at \(length)")
            }
        }
    }

    @Test("a line whose bytes were changed counts as not written")
    func damaged() throws {
        try within { path in
            do {
                let ledger = try Ledger(creating: path, plan: plan, shard: .whole, cases: 20)
                for index in 1..<4 { try ledger.append(index, row: row(index)) }
            }
            var bytes = try Data(contentsOf: URL(filePath: path))
            let place = try #require(bytes.firstRange(of: Data("row 2".utf8)))
            bytes[place.lowerBound] = UInt8(ascii: "R")
            try bytes.write(to: URL(filePath: path))
            let ledger = try resume(path)
            #expect((1..<4).map(ledger.isFinished) == [true, false, true])
        }
    }

    @Test("the ledger of another plan or another part is refused, and so is one that is in use")
    func foreign() throws {
        try within { path in
            let ledger = try Ledger(creating: path, plan: plan, shard: .whole, cases: 20)
            #expect(throws: LedgerFault.self) { try resume(path) }
            withExtendedLifetime(ledger) {}
        }
        try within { path in
            do { _ = try Ledger(creating: path, plan: plan, shard: .whole, cases: 20) }
            #expect(throws: LedgerFault.self) {
                try Ledger(resuming: path, plan: Fingerprint(of: "other"), shard: .whole, cases: 20)
            }
            #expect(throws: LedgerFault.self) {
                try Ledger(resuming: path, plan: plan, shard: try Shard(parsing: "1/2"), cases: 20)
            }
            #expect(throws: LedgerFault.self) { try Ledger(creating: path, plan: plan, shard: .whole, cases: 20) }
        }
    }

    @Test("a ledger is blank while no run in it is whole; one that is in use, and what is no ledger, is not")
    func blank() throws {
        try within { path in
            #expect(Ledger.isBlank(at: path))
            do {
                let ledger = try Ledger(creating: path, plan: plan, shard: .whole, cases: 20)
                #expect(!Ledger.isBlank(at: path))
                withExtendedLifetime(ledger) {}
            }
            #expect(Ledger.isBlank(at: path))
            do { try resume(path).append(3, row: row(3)) }
            #expect(!Ledger.isBlank(at: path))
            let whole = try Data(contentsOf: URL(filePath: path))
            for length in 0..<whole.count {
                try whole.prefix(length).write(to: URL(filePath: path))
                #expect(Ledger.isBlank(at: path), "cut at \(length)")
            }
            try Data("mine".utf8).write(to: URL(filePath: path))
            #expect(!Ledger.isBlank(at: path))
        }
    }
}
