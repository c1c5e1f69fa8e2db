import Quantities
import Testing

@testable import Memory

@Suite("tables of objects")
struct ObjectTableTests {
    /// A table, and a simple model of its contents.
    private final class Twins {
        var table = ObjectTable()
        var entries: [Int] = []
        var first = 0
        var made = 0

        func append(_ count: Int) {
            for _ in 0..<count {
                made += 1
                table.append(ObjectTable.Entry(unit: made, size: made % 100 + 1))
                entries.append(made)
            }
        }

        /// Removes objects and returns false if the table removed others than the model.
        func remove(_ count: Int, oldest: Bool) -> Bool {
            for _ in 0..<count {
                let entry = oldest ? table.removeOldest() : table.removeNewest()
                let wanted = oldest ? entries[first] : entries.removeLast()
                if oldest { first += 1 }
                guard entry.unit == wanted, entry.size == wanted % 100 + 1 else { return false }
            }
            return true
        }

        var agree: Bool {
            table.count == entries.count - first
                && (0..<table.count).allSatisfy { table[$0].unit == entries[first + $0] }
        }
    }

    @Test("a long table keeps its objects when it grows, goes round and shrinks", arguments: 1...3)
    func long(seed: UInt64) {
        var generator = SeededGenerator(seed: seed, stream: "table")
        let twins = Twins()
        for _ in 0..<40 {
            twins.append(generator.number(in: 1...100_000))
            let most = twins.table.count
            #expect(twins.remove(generator.number(in: 0...most / 2), oldest: true))
            #expect(twins.remove(generator.number(in: 0...most / 4), oldest: false))
            #expect(twins.agree)
        }
        #expect(twins.remove(twins.table.count, oldest: seed % 2 == 0) && twins.table.isEmpty)
    }

    @Test("a table that stands at the edge of a piece of memory keeps its objects")
    func edges() {
        let twins = Twins()
        for length in [ObjectRing.piece, 2 * ObjectRing.piece, 3 * ObjectRing.piece] {
            twins.append(length - twins.table.count)
            for _ in 0..<50 {
                #expect(twins.remove(1, oldest: false))
                twins.append(2)
                #expect(twins.remove(1, oldest: true))
            }
            #expect(twins.agree)
        }
    }
}
