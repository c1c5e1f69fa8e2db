import Quantities
import Testing

@testable import Metrics

@Suite("the CSV contract")
struct TableTests {
    @Test("names are snake_case and unique, keys and references name columns that exist")
    func schemasAreSound() {
        for table in RunTables.all {
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
                let other = RunTables.all.first { $0.name == key.table }
                for name in key.columns {
                    #expect(names.contains(name) && other?.columns.contains { $0.name == name } == true)
                }
            }
        }
    }

    @Test(
        "the unit is the last word of the name, and says which numbers may occur",
        arguments: [
            ("time_s", "s", Int?.none), ("ceiling_bytes", "byte", nil), ("hot_launch_ratio", "1", 1),
            ("psi_some_avg10", "1", 1),
        ])
    func units(name: String, unit: String, highest: Int?) {
        let column = Column(name, .number, "")
        #expect(column.unit == unit)
        #expect(column.bounds.lowest == 0 && column.bounds.highest == highest)
    }

    @Test("a number that may be negative has no bounds, and a text has neither bounds nor unit")
    func noBounds() {
        #expect(Column("score", .integer, "", signed: true).bounds.lowest == nil)
        #expect(Column("scene_s", .string, "").unit == nil && Column("app", .string, "").bounds.lowest == nil)
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

@Suite("rows that are written again")
struct RepeatedRowTests {
    private static let schema = TableSchema(
        "t", "", [Column("time_s", .number, ""), Column("app", .string, ""), Column("objects", .integer, "")])

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

    @Test("numbers of every length are written as they are, one by one and in a run")
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
            writer.integer(number)
            let pair: InlineArray<2, Int> = [number, -1 - number]
            writer.integers(pair.span)
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
            // The tail is that of the row that was kept, not of the one that was written last.
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
