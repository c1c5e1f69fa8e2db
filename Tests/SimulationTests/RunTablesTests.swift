import Foundation
import Lifecycle
import Metrics
import Pressure
import Quantities
import Reclaim
import Testing

@testable import Simulation

@Suite("the tables of a run")
struct RunTablesTests {
    @Test("names are snake_case and unique, keys and references name columns that exist")
    func schemasAreSound() {
        for table in RunTables.known {
            let names = table.columns.map(\.name)
            #expect(Set(names).count == names.count, "\(table.file) names a column twice")
            for column in table.columns {
                let isSnake = column.name.utf8.allSatisfy {
                    (97...122).contains($0) || (48...57).contains($0) || $0 == 95
                }
                #expect(isSnake, "\(table.file): \(column.name)")
                #expect(!column.meaning.isEmpty, "\(table.file): \(column.name) says nothing")
            }
            for name in table.primaryKey {
                #expect(table.columns.contains { $0.name == name && !$0.isOptional }, "\(table.file): key \(name)")
            }
            for key in table.foreignKeys {
                let other = RunTables.known.first { $0.name == key.table }
                for name in key.columns {
                    #expect(names.contains(name) && other?.columns.contains { $0.name == name } == true)
                }
            }
        }
    }

    @Test("a name that ends with a unit has that unit")
    func units() {
        let suffixes: [(String, ColumnUnit)] = [
            ("_s", .seconds), ("_ms", .milliseconds), ("_bytes", .bytes), ("_ratio", .share),
        ]
        for table in RunTables.known {
            for column in table.columns {
                guard let (_, unit) = suffixes.first(where: { column.name.hasSuffix($0.0) }) else { continue }
                #expect(column.unit == unit, "\(table.file): \(column.name)")
            }
        }
    }

    /// The header of every table. New columns come last, and `datapackage.json` describes them. `PLIMSOLL_RECORD=1`
    /// rewrites the file of headers.
    @Test("the columns are a contract")
    func headers() throws {
        let now = RunTables.known.map { "\($0.name): " + $0.columns.map(\.name).joined(separator: ",") }
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden/headers.txt")
        if ProcessInfo.processInfo.environment["PLIMSOLL_RECORD"] == "1" {
            try Data((now.joined(separator: "\n") + "\n").utf8).write(to: file)
        }
        let recorded = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        #expect(now == recorded.map(String.init))
    }

    @Test("no cause of an event is two things at once")
    func causes() {
        #expect(Set(EventCause.names).count == EventCause.names.count)
    }

    @Test(
        "a stall says why: too little is free, or it is scattered, or meant for others",
        arguments: [(8, 4, 0, StallCause.noRoom), (8, 8, 0, .fragmented), (8, 4, 4, .keptBack), (8, 0, 4, .noRoom)])
    func stalls(wanted: Int, free: Int, keptBack: Int, cause: StallCause) {
        let found = StallCause(
            wanted: ByteCount(wanted), free: ByteCount(free), keptBack: ByteCount(keptBack))
        #expect(found == cause)
    }
}
