import Glibc
import Quantities

/// The destination of a table's bytes.
public protocol ByteSink: AnyObject {
    /// Writes whole rows, or fails.
    func write(_ bytes: Span<UInt8>) throws(OutputFailure)
}

/// The host refused output.
public struct OutputFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file that could not be written.
    public let path: String
    /// The system's `errno`.
    public let code: Int32

    /// A failure to write `path`.
    public init(path: String, code: Int32) {
        self.path = path
        self.code = code
    }

    /// One line with the path and the system's reason.
    public var description: String { "cannot write \(path): \(String(cString: strerror(code)))" }
}

/// A file that holds only whole rows at every moment: after a partial write, it is cut back to the last whole row.
public final class FileSink: ByteSink {
    private let path: String
    private let descriptor: Int32
    private var length: Int = 0

    /// Creates the file; it must not exist.
    ///
    /// - Parameter target: The path that failures name instead, if the file is a draft of that one.
    public init(creating path: String, for target: String? = nil) throws(OutputFailure) {
        self.path = target ?? path
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw OutputFailure(path: self.path, code: errno) }
    }

    deinit { close(descriptor) }

    /// Appends the bytes, or leaves the file as it was and throws.
    public func write(_ bytes: Span<UInt8>) throws(OutputFailure) {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                // Safe to escape: the pointer is used within the call only, and `done` is below `count`.
                Glibc.write(descriptor, $0.baseAddress.map { $0 + done }, $0.count - done)
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else {
                let code = count < 0 ? errno : ENOSPC
                _ = ftruncate(descriptor, length)
                throw OutputFailure(path: path, code: code)
            }
            done += count
        }
        length += bytes.count
    }
}

/// Keeps the bytes in memory, for tests.
public final class MemorySink: ByteSink {
    /// Everything written so far.
    public private(set) var bytes: [UInt8] = []
    /// An empty sink.
    public init() {}
    /// Appends the bytes.
    public func write(_ bytes: Span<UInt8>) { bytes.withUnsafeBufferPointer { self.bytes += $0 } }
    /// Everything written so far, as UTF-8.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// Discards everything. A table with this sink is not even encoded.
public final class NullSink: ByteSink {
    /// A sink without state.
    public init() {}
    /// Does nothing.
    public func write(_ bytes: Span<UInt8>) {}
}

/// Keeps the cells of a row, except the first, for the next row. Writing unchanged cells again costs only one copy.
public final class RowMemo {
    fileprivate private(set) var bytes: UnsafeMutablePointer<UInt8>?
    fileprivate private(set) var count = 0
    private var capacity = 0
    /// The part of `bytes` that is the head: leading cells that can be repeated while later ones change.
    fileprivate var head = (cells: 0, bytes: 0)
    /// The part that is the tail: its number of cells, and the number of bytes before them.
    fileprivate var tail = (cells: 0, offset: 0)

    /// A memo without a row.
    public init() {}

    deinit { bytes?.deallocate() }

    fileprivate func keep(_ source: UnsafePointer<UInt8>, _ length: Int) {
        if length > capacity {
            bytes?.deallocate()
            capacity = length + 16
            bytes = .allocate(capacity: capacity)
        }
        bytes?.update(from: source, count: length)
        count = length
    }
}

/// Writes one CSV (RFC 4180) as bytes; cells come in the order of the schema's columns.
///
/// The writer keeps the first failure and ignores all rows after it. So the engine need not handle errors within a
public final class TableWriter {
    /// The table that is written.
    public let schema: TableSchema
    /// The first failure of the sink; nil while all went well.
    public private(set) var failure: OutputFailure?
    /// The number of rows ended so far, skipped ones included.
    public private(set) var rows = 0
    private let sink: (any ByteSink)?
    private let columns: Int
    /// Bytes not yet given to the sink. Raw memory, because an array would be checked at every byte.
    private var buffer: UnsafeMutablePointer<UInt8>
    private var capacity = TableWriter.piece + 4096
    private var count = 0
    private var cells = 0
    /// Where the row's second cell begins, its comma included.
    private var tail = 0
    /// The last instant as text: the rows of one sample share it.
    private let instantText: UnsafeMutablePointer<UInt8>
    private var instantCount = 0
    private var instant = Instant.never
    /// The buffer goes to the sink once it holds this many bytes.
    private static let piece = 1 << 18
    /// Room for the longest number (a sign, 19 digits, a point) and the bytes written past it: digits come in eights.
    private static let longestNumber = 32

    /// Writes the header row, at once.
    public init(_ schema: TableSchema, to sink: any ByteSink) {
        self.schema = schema
        self.sink = sink is NullSink ? nil : sink
        columns = schema.columns.count
        buffer = .allocate(capacity: capacity)
        instantText = .allocate(capacity: TableWriter.longestNumber)
        guard self.sink != nil else { return }
        append(schema.columns.map(\.name).joined(separator: ","))
        append(UInt8(ascii: "\n"))
        // The file names its columns even if the run fails.
        flush()
    }

    deinit {
        buffer.deallocate()
        instantText.deallocate()
    }

    // MARK: Rows

    /// Whether the rows are written anywhere. If not, callers use `skipRow` in place of a row that takes work.
    public var isRead: Bool { sink != nil }

    /// Counts a row without writing it.
    public func skipRow() { rows += 1 }

    /// Ends the row; it must have one cell per column.
    public func endRow() {
        precondition(cells == columns, "\(schema.file) has \(columns) columns, but the row has \(cells) cells")
        cells = 0
        rows += 1
        guard sink != nil else { return }
        append(UInt8(ascii: "\n"))
        if count >= TableWriter.piece { flush() }
    }

    /// Ends the row and keeps it for `repeatRow`.
    public func endRow(keeping memo: RowMemo) {
        let start = tail
        if sink != nil { memo.keep(buffer + start, count - start) }
        endRow()
    }

    /// Writes a kept row again, with another instant in its first cell.
    public func repeatRow(_ memo: RowMemo, at now: Instant) {
        rows += 1
        guard sink != nil, let bytes = memo.bytes else { return }
        reserve(TableWriter.longestNumber + memo.count + 1)
        putText(of: now)
        (buffer + count).update(from: bytes, count: memo.count)
        count += memo.count
        append(UInt8(ascii: "\n"))
        if count >= TableWriter.piece { flush() }
    }

    /// Ends the head of the current row: its cells so far, except the first. All rows that begin with `repeatHead`
    /// have the same values there.
    public func endHead(of memo: RowMemo) {
        memo.head = (cells - 1, sink == nil ? 0 : count - tail)
        if sink != nil { memo.keep(buffer + tail, count - tail) }
    }

    /// Writes the kept row's head again, after the first cell.
    public func repeatHead(of memo: RowMemo) {
        precondition(cells == 1, "a head is to be repeated after \(cells) cells")
        cells += memo.head.cells
        guard sink != nil, let bytes = memo.bytes else { return }
        reserve(memo.head.bytes)
        tail = count
        (buffer + count).update(from: bytes, count: memo.head.bytes)
        count += memo.head.bytes
    }

    /// Begins the tail of the current row: the cells from here on. All rows that end with `repeatTail` have the same
    /// values there.
    public func beginTail(of memo: RowMemo) {
        memo.tail = (columns - cells, sink == nil ? 0 : count - tail)
    }

    /// Writes the tail of the last kept row again. Also keep the row that this ends, with `endRow(keeping:)`: from
    /// now on the memo expects the tail at its position in that row.
    public func repeatTail(of memo: RowMemo) {
        precondition(cells + memo.tail.cells == columns, "a tail is to be repeated after \(cells) cells")
        cells += memo.tail.cells
        guard sink != nil, let bytes = memo.bytes else { return }
        let (offset, length) = (memo.tail.offset, memo.count - memo.tail.offset)
        memo.tail.offset = count - tail
        reserve(length)
        (buffer + count).update(from: bytes + offset, count: length)
        count += length
    }

    // MARK: Checks

    /// Where the next row begins in the buffer, for `check`.
    public var position: Int { count }

    /// Only for `check`: writes a row as its table declares it.
    private var declared: TableWriter?

    /// Traps unless the last row equals `row` written column by column. Use it after a row that was written from
    /// parts of earlier rows or from runs of numbers.
    ///
    /// - Parameter position: The value of `position` before the row was written.
    public func check<Row>(_ row: Row, of table: RowTable<Row>, from position: Int) {
        guard sink != nil, failure == nil else { return }
        let writer = declared ?? TableWriter(schema, to: MemorySink())
        declared = writer
        writer.count = 0
        table.write(row, to: writer)
        // Bytes that the sink has received in the meantime are still in the buffer.
        let written = UnsafeBufferPointer(start: buffer + position, count: min(writer.count, capacity - position))
        precondition(
            written.elementsEqual(UnsafeBufferPointer(start: writer.buffer, count: writer.count)),
            "\(schema.file) has a row that is not what its columns say: "
                + String(decoding: written, as: UTF8.self))
    }

    /// Gives all buffered rows to the sink.
    public func flush() {
        defer { count = 0 }
        guard let sink, failure == nil, count > 0 else { return }
        do {
            try sink.write(UnsafeBufferPointer(start: buffer, count: count).span)
        } catch {
            failure = error
        }
    }

    // MARK: Cells

    /// Begins a cell and reserves room for a number; false when nothing is written.
    @inline(__always)
    private func begin() -> Bool {
        cells += 1
        guard sink != nil else { return false }
        reserve(1 + TableWriter.longestNumber)
        if cells > 1 {
            if cells == 2 { tail = count }
            put(UInt8(ascii: ","))
        }
        return true
    }

    /// A text, quoted where RFC 4180 requires it.
    ///
    /// A text that a spreadsheet would run as a formula, such as an app's name, gets a leading apostrophe.
    public func text(_ value: String) {
        guard begin() else { return }
        var needsQuotes = false
        for byte in value.utf8
        where byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\"") || byte == 10 || byte == 13 {
            needsQuotes = true
        }
        if TableWriter.isFormula(value) { return quoted("'" + value) }
        if needsQuotes { quoted(value) } else { append(value) }
    }

    /// Whether a spreadsheet might run the text: it begins like a formula, in plain or full-width characters, or with
    /// white space that the spreadsheet skips.
    static func isFormula(_ value: String) -> Bool {
        guard let first = value.unicodeScalars.first else { return false }
        return switch first {
        case "=", "+", "-", "@", "\t", "\r", "\n", "\u{FF1D}", "\u{FF0B}", "\u{FF0D}", "\u{FF20}": true
        default: false
        }
    }

    private func quoted(_ value: String) {
        append(UInt8(ascii: "\""))
        for byte in value.utf8 {
            if byte == UInt8(ascii: "\"") { append(byte) }
            append(byte)
        }
        append(UInt8(ascii: "\""))
    }

    /// A whole number.
    public func integer(_ value: Int) {
        guard begin() else { return }
        write { $0.put(value) }
    }

    /// Writes one cell per number. The row's first cell must be written before.
    public func integers(_ values: borrowing Span<Int>) {
        precondition(cells > 0, "\(schema.file) is to begin with a run of numbers")
        if cells == 1 { tail = count }
        cells += values.count
        guard sink != nil else { return }
        reserve(values.count * (1 + TableWriter.longestNumber))
        var pen = BytePen(buffer + count)
        for index in values.indices {
            pen.put(UInt8(ascii: ","))
            pen.put(values[index])
        }
        count = pen.place - buffer
    }

    /// A number of bytes.
    public func bytes(_ value: ByteCount) { integer(value.bytes) }

    /// `true` or `false`.
    public func boolean(_ value: Bool) {
        guard begin() else { return }
        append(value ? "true" : "false")
    }

    /// Seconds with up to six decimals.
    public func seconds(_ value: Instant) {
        guard begin() else { return }
        putText(of: value)
    }

    /// Seconds with up to six decimals.
    public func seconds(_ value: TimeSpan) { decimal(value.microseconds, digits: 6) }

    /// Milliseconds with up to three decimals.
    public func milliseconds(_ value: TimeSpan) { decimal(value.microseconds, digits: 3) }

    /// A ratio as a decimal with up to six decimals.
    public func ratio(_ value: Ratio) { decimal(value.partsPerMillion, digits: 6) }

    /// A finite number with up to six decimals; from 10^12 on without decimals.
    public func number(_ value: Double) {
        precondition(value.isFinite, "\(value) is no cell")
        if abs(value) < 1e12 {
            decimal(Int64((value * 1_000_000).rounded()), digits: 6)
        } else {
            integer(Int(max(-9e18, min(9e18, value)).rounded()))
        }
    }

    /// An empty cell: the value is absent.
    public func empty() { _ = begin() }

    /// A whole number, or an empty cell.
    public func integer(_ value: Int?) { if let value { integer(value) } else { empty() } }
    /// A finite number, or an empty cell.
    public func number(_ value: Double?) { if let value { number(value) } else { empty() } }
    /// A text, or an empty cell.
    public func text(_ value: String?) { if let value { text(value) } else { empty() } }
    /// Seconds, or an empty cell.
    public func seconds(_ value: Instant?) { if let value { seconds(value) } else { empty() } }
    /// Seconds, or an empty cell.
    public func seconds(_ value: TimeSpan?) { if let value { seconds(value) } else { empty() } }
    /// Milliseconds, or an empty cell.
    public func milliseconds(_ value: TimeSpan?) { if let value { milliseconds(value) } else { empty() } }

    @inline(__always)
    private func decimal(_ value: Int64, digits: Int) {
        guard begin() else { return }
        write { $0.put(value, decimals: digits) }
    }
}

// MARK: - Bytes

extension TableWriter {
    /// Makes room for `length` more bytes. A row goes to the sink whole, so a long row needs a longer buffer.
    @inline(__always)
    private func reserve(_ length: Int) {
        if count + length > capacity { lengthen(by: length) }
    }

    @inline(never)
    private func lengthen(by length: Int) {
        capacity = max(capacity * 2, count + length)
        let longer = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        longer.update(from: buffer, count: count)
        buffer.deallocate()
        buffer = longer
    }

    private func append(_ byte: UInt8) {
        reserve(1)
        put(byte)
    }

    private func append(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            guard let start = bytes.baseAddress else { return }
            reserve(bytes.count)
            (buffer + count).update(from: start, count: bytes.count)
            count += bytes.count
        }
    }

    /// Writes into reserved room.
    @inline(__always)
    private func write(_ body: (inout BytePen) -> Void) {
        var pen = BytePen(buffer + count)
        body(&pen)
        count = pen.place - buffer
    }

    private func put(_ byte: UInt8) { write { $0.put(byte) } }

    private func putText(of now: Instant) {
        if now == instant {
            (buffer + count).update(from: instantText, count: instantCount)
            count += instantCount
            return
        }
        let start = count
        write { $0.put(now.microseconds, decimals: 6) }
        instant = now
        instantCount = count - start
        instantText.update(from: buffer + start, count: instantCount)
    }
}

/// Writes bytes and the digits of numbers into reserved room.
private struct BytePen {
    /// Where the next byte goes.
    private(set) var place: UnsafeMutablePointer<UInt8>

    init(_ place: UnsafeMutablePointer<UInt8>) { self.place = place }

    @inline(__always)
    mutating func put(_ byte: UInt8) {
        place.pointee = byte
        place += 1
    }

    @inline(__always)
    mutating func put(_ value: Int) {
        if value < 0 { put(UInt8(ascii: "-")) }
        put(leading: UInt64(value.magnitude))
    }

    /// `value` divided by 10^`decimals` (8 at most), without trailing zeros.
    @inline(__always)
    mutating func put(_ value: Int64, decimals: Int) {
        // Many cells are zero, and a division takes its time.
        guard value != 0 else { return put(UInt8(ascii: "0")) }
        let power = BytePen.powersOfTen[decimals]
        let (whole, rest) = value.magnitude.quotientAndRemainder(dividingBy: power)
        if value < 0 { put(UInt8(ascii: "-")) }
        put(leading: whole)
        guard rest != 0 else { return }
        put(UInt8(ascii: "."))
        let digits = BytePen.digits(of: rest &* BytePen.powersOfTen[8 - decimals])
        store(digits, 8 - digits.leadingZeroBitCount / 8)
    }

    /// A number without leading zeros.
    @inline(__always)
    private mutating func put(leading number: UInt64) {
        guard number >= 100_000_000 else { return putShort(number) }
        let (rest, last) = number.quotientAndRemainder(dividingBy: 100_000_000)
        if rest < 100_000_000 { putShort(rest) } else { putLongest(rest) }
        store(BytePen.digits(of: last), 8)
    }

    /// A number of nine to twelve digits.
    @inline(never)
    private mutating func putLongest(_ number: UInt64) {
        let (rest, last) = number.quotientAndRemainder(dividingBy: 100_000_000)
        putShort(rest)
        store(BytePen.digits(of: last), 8)
    }

    /// A number below 10^8.
    @inline(__always)
    private mutating func putShort(_ number: UInt64) {
        let digits = BytePen.digits(of: number)
        let zeros = min(7, digits.trailingZeroBitCount / 8)
        store(digits >> UInt64(8 * zeros), 8 - zeros)
    }

    /// Writes eight bytes and keeps the first `length`.
    @inline(__always)
    private mutating func store(_ digits: UInt64, _ length: Int) {
        let text = digits | 0x3030_3030_3030_3030
        UnsafeMutableRawPointer(place).storeBytes(of: text.littleEndian, as: UInt64.self)
        place += length
    }

    /// The eight decimal digits of a number below 10^8, one byte each, the first in the lowest byte. The number is
    /// split into halves of four digits, these into pairs, and the pairs into digits. Each step divides all parts at
    /// once, by multiplications that are exact for numbers this small.
    @inline(__always)
    private static func digits(of number: UInt64) -> UInt64 {
        let (high, low) = number.quotientAndRemainder(dividingBy: 10_000)
        let halves = high | low << 32
        let hundreds = ((halves &* 10_486) >> 20) & 0x0000_007f_0000_007f
        let quarters = hundreds | (halves &- 100 &* hundreds) << 16
        let tens = ((quarters &* 103) >> 10) & 0x000f_000f_000f_000f
        return tens | (quarters &- 10 &* tens) << 8
    }

    private static let powersOfTen: InlineArray<9, UInt64> = [
        1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000,
    ]
}
