import Lifecycle
import Quantities
import Testing

@testable import Metrics

@Suite("the CSV contract")
struct TableTests {
    @Test("the unit is declared, whatever the name says, and says which numbers may occur")
    func units() {
        let share = Column("psi_some_avg10", .number, unit: .share, "")
        #expect(share.bounds.lowest == 0 && share.bounds.highest == 1)
        let time = Column("time_s", .number, unit: .seconds, "")
        #expect(time.bounds.lowest == 0 && time.bounds.highest == nil)
        #expect(Column("rounds_s", .integer, "").unit == nil)
        #expect(ColumnUnit.allCases.map(\.rawValue) == ["s", "ms", "byte", "byte/s", "1"])
    }

    @Test("a number that may be negative has no bounds, and a text has none")
    func noBounds() {
        #expect(Column("score", .integer, "", signed: true).bounds.lowest == nil)
        #expect(Column("app", .string, "").bounds.lowest == nil)
    }

    @Test(
        "no cell begins as a spreadsheet's formula does, whatever an app is called",
        arguments: ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "＋1", "－1", "＠a"])
    func formulasAreDefused(name: String) {
        let sink = MemorySink()
        let writer = TableWriter(TableSchema("t", "", [Column("app", .string, "")]), to: sink)
        writer.text(name)
        writer.endRow()
        writer.flush()
        let reader = TableReader(sink.bytes, columns: ["app"])
        #expect(reader.rows == [["'" + name]])
    }

    @Test("a name that is no formula stays as it is", arguments: ["maps", "a=b", "1-1", "'x", "Übersetzer"])
    func namesStay(name: String) {
        let sink = MemorySink()
        let writer = TableWriter(TableSchema("t", "", [Column("app", .string, "")]), to: sink)
        writer.text(name)
        writer.endRow()
        writer.flush()
        #expect(sink.text == "app\n\(name)\n")
    }
}

/// A row with one cell of every kind.
private struct SampleRow {
    let at: Instant
    let name: String
    let kind: LaunchKind?
    let size: ByteCount
    let took: TimeSpan?
    let share: Ratio
    let score: Int64?
    let isDone: Bool

    static let table = RowTable<SampleRow>(
        "t", "rows", key: ["time_s"],
        [
            .seconds("time_s", "when") { $0.at },
            .text("name", "what") { $0.name },
            .optionalChoice("kind", "which") { $0.kind },
            .bytes("size_bytes", "how much") { $0.size },
            .optionalMilliseconds("took_ms", "how long") { $0.took },
            .share("part", "of all") { $0.share },
            .amount("score", "how good") { $0.score },
            .flag("done", "whether") { $0.isDone },
        ])
}

@Suite("rows of a type")
struct RowTableTests {
    private static let rows = [
        SampleRow(
            at: Instant(microseconds: 1_500_000), name: "a, b", kind: .warm, size: .kibibytes(4),
            took: .milliseconds(20), share: .percent(25), score: -3, isDone: true),
        SampleRow(at: .zero, name: "", kind: nil, size: .zero, took: nil, share: .zero, score: nil, isDone: false),
    ]

    @Test("a row is written as its columns are declared, and an absence is an empty cell")
    func written() {
        let sink = MemorySink()
        let writer = TableWriter(SampleRow.table.schema, to: sink)
        for row in Self.rows { SampleRow.table.write(row, to: writer) }
        writer.flush()
        #expect(
            sink.text == "time_s,name,kind,size_bytes,took_ms,part,score,done\n"
                + "1.5,\"a, b\",warm,4096,20,0.25,-3,true\n0,,,0,,0,,false\n")
    }

    @Test("type, unit, choices and absence follow from how a column is declared")
    func schema() throws {
        let columns = SampleRow.table.schema.columns
        #expect(columns.map(\.type) == [.number, .string, .string, .integer, .number, .number, .integer, .boolean])
        #expect(columns.map(\.unit) == [.seconds, nil, nil, .bytes, .milliseconds, .share, nil, nil])
        #expect(columns.map(\.isOptional) == [false, false, true, false, true, false, true, false])
        #expect(columns[2].choices == ["cold", "warm", "hot"])
        #expect(columns.map(\.isSigned) == [false, false, false, false, false, false, true, false])
    }

    @Test("a row that was written by other means is held against its columns")
    func checked() {
        let writer = TableWriter(SampleRow.table.schema, to: MemorySink())
        for row in Self.rows {
            let start = writer.position
            SampleRow.table.write(row, to: writer)
            writer.check(row, of: SampleRow.table, from: start)
        }
        #expect(writer.rows == 2)
    }

    @Test("a cell in another column's place stops the run")
    func mixedUp() async {
        await #expect(processExitsWith: .failure) {
            let columns = [RowColumn<Int>.integer("a", "") { $0 }, .integer("b", "") { $0 + 1 }]
            let table = RowTable("t", "", columns)
            let writer = TableWriter(table.schema, to: MemorySink())
            let start = writer.position
            writer.integer(2)
            writer.integer(1)
            writer.endRow()
            writer.check(1, of: table, from: start)
        }
    }
}

@Suite("rows that are written again")
struct RepeatedRowTests {
    private static let schema = TableSchema(
        "t", "", [Column("time_s", .number, ""), Column("app", .string, ""), Column("objects", .integer, "")])

    private struct Reading {
        var at: Instant
        var app: String
        var size: ByteCount
        var share: Ratio
        var isFull: Bool

        func shows(_ other: Reading) -> Bool {
            size == other.size && share == other.share && isFull == other.isFull
        }

        private static let (app, size) = (
            RowColumn<Reading>.text("app", "") { $0.app }, RowColumn<Reading>.bytes("size_bytes", "") { $0.size }
        )
        private static let at = RowColumn<Reading>.seconds("time_s", "") { $0.at }
        static let headed = RowTable<Reading>("t", "", stamp: at, head: [app], [size])
        static let tailed = RowTable<Reading>(
            "t", "", [at, size],
            tail: [.share("share", "") { $0.share }, .flag("full", "") { $0.isFull }])
    }

    @Test(
        "rows of which a part is copied, or all but the time, are those written anew",
        arguments: 1...30 as ClosedRange<UInt64>)
    func groups(seed: UInt64) {
        var random = SeededGenerator(seed: seed, stream: "rows")
        let (kept, anew) = (MemorySink(), MemorySink())
        let table = seed % 3 == 0 ? Reading.headed : Reading.tailed
        let (writer, plain) = (TableWriter(table.schema, to: kept), TableWriter(table.schema, to: anew))
        let memo = RowMemo()
        var last: Reading?
        for round in 0..<500 {
            var row = last ?? Reading(at: .zero, app: "maps", size: .zero, share: .zero, isFull: false)
            row.at = Instant(microseconds: Int64(round) * 100_000)
            if random.chance(.percent(10)) { row.app = "app \(random.number(in: 0...3))" }
            if random.chance(.percent(50)) { row.size = ByteCount(random.number(in: 0...1 << 40)) }
            if random.chance(.percent(20)) { row.share = .percent(Int64(random.number(in: 0...100))) }
            if random.chance(.percent(5)) { row.isFull.toggle() }
            table.write(row, to: plain)
            switch seed % 3 {
            case 0:
                writer.seconds(row.at)
                if row.app == last?.app {
                    writer.repeatHead(of: memo)
                } else {
                    table.writeHead(row, to: writer, memo)
                }
                let number: InlineArray<1, Int> = [row.size.bytes]
                writer.integers(number.span)
                writer.endRow(keeping: memo)
            case 1:
                if let last, row.shows(last) {
                    writer.repeatRow(memo, at: row.at)
                } else {
                    table.write(row, to: writer, keeping: memo)
                }
            default:
                let tailIsSame = row.share == last?.share && row.isFull == last?.isFull
                table.write(row, to: writer, memo, tailIsSame: tailIsSame)
            }
            last = row
        }
        writer.flush()
        plain.flush()
        #expect(kept.text == anew.text, "seed \(seed)")
    }

    @Test("a kept row is written again with another instant, as it would be written anew")
    func repeated() {
        let (kept, anew) = (MemorySink(), MemorySink())
        let (writer, plain) = (TableWriter(Self.schema, to: kept), TableWriter(Self.schema, to: anew))
        let memos = ["maps", "a, \"b\"", "=1", ""].map { ($0, RowMemo()) }
        for round in 0..<5_000 {
            let now = Instant(microseconds: Int64(round) * 33_333)
            for (app, memo) in memos {
                for table in [writer, plain] where table === plain || round == 0 {
                    table.seconds(now)
                    table.text(app)
                    table.integer(app.count)
                    if table === writer { table.endRow(keeping: memo) } else { table.endRow() }
                }
                if round > 0 { writer.repeatRow(memo, at: now) }
            }
        }
        writer.flush()
        plain.flush()
        #expect(kept.text == anew.text && writer.rows == 20_000)
        #expect(kept.bytes.count > 1 << 18)
    }

    @Test("numbers of every length are written as they are")
    func numbers() {
        let sink = MemorySink()
        let columns = ["a", "b", "c"].map { Column($0, .integer, "") }
        let writer = TableWriter(TableSchema("t", "", columns), to: sink)
        var expected = [Int.min, Int.max, 0]
        var power = 1
        for _ in 0..<18 {
            expected += [power, power - 1, -power]
            power *= 10
        }
        for number in expected {
            for cell in [number, number, -1 - number] { writer.integer(cell) }
            writer.endRow()
        }
        writer.flush()
        #expect(sink.text == "a,b,c\n" + expected.map { "\($0),\($0),\(-1 - $0)\n" }.joined())
    }

    @Test("decimals are written without zeros at their end, whatever the sign and the length")
    func decimals() {
        let sink = MemorySink()
        let columns = [Column("a_s", .number, "", signed: true), Column("b_ms", .number, "", signed: true)]
        let writer = TableWriter(TableSchema("t", "", columns), to: sink)
        let cells: [(Int64, String, String)] = [
            (0, "0", "0"), (1, "0.000001", "0.001"), (-1, "-0.000001", "-0.001"), (10, "0.00001", "0.01"),
            (999_999, "0.999999", "999.999"), (1_000_000, "1", "1000"), (-1_500_000, "-1.5", "-1500"),
            (12_345_678_900_100, "12345678.9001", "12345678900.1"), (99_999_999_000_000, "99999999", "99999999000"),
            (Int64.max, "9223372036854.775807", "9223372036854775.807"),
            (Int64.min, "-9223372036854.775808", "-9223372036854775.808"),
        ]
        for (microseconds, _, _) in cells {
            writer.seconds(TimeSpan(microseconds: microseconds))
            writer.milliseconds(TimeSpan(microseconds: microseconds))
            writer.endRow()
        }
        writer.flush()
        #expect(sink.text == "a_s,b_ms\n" + cells.map { "\($0.1),\($0.2)\n" }.joined())
    }

    @Test("the tail of a kept row is written again after other cells, however long they are")
    func tails() {
        let (kept, anew) = (MemorySink(), MemorySink())
        let (writer, plain) = (TableWriter(Self.schema, to: kept), TableWriter(Self.schema, to: anew))
        let memo = RowMemo()
        let numbers = [7, 7, 123_456, 123_456, 123_456, 0]
        for (round, number) in numbers.enumerated() {
            let (now, name) = (Instant(microseconds: Int64(round) * 33_333), String(repeating: "a", count: round * 3))
            for table in [writer, plain] {
                table.seconds(now)
                table.text(name)
                if table === writer && round > 0 && numbers[round - 1] == number {
                    table.repeatTail(of: memo)
                } else {
                    if table === writer { table.beginTail(of: memo) }
                    table.integer(number)
                }
                if table === writer { table.endRow(keeping: memo) } else { table.endRow() }
            }
            // The repeated tail belongs to the kept row, not to the row written last.
            writer.repeatRow(memo, at: now)
            plain.seconds(now)
            plain.text(name)
            plain.integer(number)
            plain.endRow()
        }
        writer.flush()
        plain.flush()
        #expect(kept.text == anew.text)
        #expect(writer.rows == 2 * numbers.count)
    }

    @Test("the head of a kept row is written again before other cells")
    func heads() {
        let (kept, anew) = (MemorySink(), MemorySink())
        let (writer, plain) = (TableWriter(Self.schema, to: kept), TableWriter(Self.schema, to: anew))
        let memo = RowMemo()
        let names = ["maps", "maps", "a, \"b\"", "a, \"b\"", "a, \"b\"", "", "", "x"]
        for (round, name) in names.enumerated() {
            let now = Instant(microseconds: Int64(round) * 33_333)
            for table in [writer, plain] {
                table.seconds(now)
                if table === writer && round > 0 && names[round - 1] == name {
                    table.repeatHead(of: memo)
                } else {
                    table.text(name)
                    if table === writer { table.endHead(of: memo) }
                }
                table.integer(round * 1_000)
                if table === writer { table.endRow(keeping: memo) } else { table.endRow() }
            }
            writer.repeatRow(memo, at: now)
            plain.seconds(now)
            plain.text(name)
            plain.integer(round * 1_000)
            plain.endRow()
        }
        writer.flush()
        plain.flush()
        #expect(kept.text == anew.text && !kept.text.isEmpty)
    }

    @Test("a row that is longer than the buffer is written whole")
    func long() {
        let sink = MemorySink()
        let writer = TableWriter(TableSchema("t", "", [Column("a", .string, "")]), to: sink)
        let text = String(repeating: "x", count: 300_000)
        writer.text(text)
        writer.endRow()
        writer.flush()
        #expect(sink.text == "a\n\(text)\n")
    }

    @Test("for nobody, rows are counted and nothing is encoded")
    func nobody() {
        let writer = TableWriter(Self.schema, to: NullSink())
        writer.seconds(Instant.zero)
        writer.text("a")
        writer.integer(1)
        let memo = RowMemo()
        writer.endRow(keeping: memo)
        writer.repeatRow(memo, at: Instant(microseconds: 1))
        writer.seconds(Instant.zero)
        writer.text("a")
        writer.endHead(of: memo)
        writer.integer(1)
        writer.endRow(keeping: memo)
        writer.seconds(Instant.zero)
        writer.repeatHead(of: memo)
        writer.beginTail(of: memo)
        writer.integer(2)
        writer.endRow(keeping: memo)
        writer.seconds(Instant.zero)
        writer.repeatHead(of: memo)
        writer.repeatTail(of: memo)
        writer.endRow()
        #expect(writer.rows == 5)
    }
}

@Suite("reading a CSV back")
struct TableReaderTests {
    private func read(_ text: String, _ columns: [String]) -> TableReader {
        TableReader(Array(text.utf8), columns: columns)
    }

    @Test("cells come in the order that was asked for, quotes undone, absent columns empty")
    func order() {
        let table = read("a,b,c\n1,\"x, \"\"y\"\"\nz\",3\n,,\n", ["c", "b", "none"])
        #expect(table.columns == ["a", "b", "c"])
        #expect(table.rows == [["3", "x, \"y\"\nz", ""], ["", "", ""]])
        #expect(!table.isCutOff)
    }

    @Test("a half-written last record is left out", arguments: ["a,b\n1,2\n3", "a,b\n1,2\n3,", "a,b\n1,2\n\"3,4\n"])
    func cutOff(text: String) {
        let table = read(text, ["a", "b"])
        #expect(table.rows == [["1", "2"]])
        #expect(table.isCutOff)
    }

    @Test("an empty file has no columns and no rows")
    func empty() {
        #expect(read("", ["a"]).rows.isEmpty && read("", ["a"]).columns.isEmpty && !read("", ["a"]).isCutOff)
        #expect(read("a,b\r\n1,2\r\n", ["b"]).rows == [["2"]])
    }
}
