import Glibc
import Quantities

/// Where the bytes of a table go.
public protocol ByteSink: AnyObject {
    /// Writes whole rows, or fails.
    func write(_ bytes: Span<UInt8>) throws(OutputFailure)
}

/// Output that the host refuses: the path and the system's reason.
public struct OutputFailure: Error, Hashable, Sendable, CustomStringConvertible {
    public let path: String
    public let code: Int32

    public init(path: String, code: Int32) {
        self.path = path
        self.code = code
    }

    public var description: String { "cannot write \(path): \(String(cString: strerror(code)))" }
}

/// A file that at every moment holds whole rows: what the disk takes only in part is cut off again.
public final class FileSink: ByteSink {
    private let path: String
    private let descriptor: Int32
    private var length: Int = 0

    /// Creates the file; it must not exist.
    ///
    /// - Parameter target: What failures name in its place, where the file is a draft of that one.
    public init(creating path: String, for target: String? = nil) throws(OutputFailure) {
        self.path = target ?? path
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw OutputFailure(path: self.path, code: errno) }
    }

    deinit { close(descriptor) }

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
    public private(set) var bytes: [UInt8] = []
    public init() {}
    public func write(_ bytes: Span<UInt8>) { bytes.withUnsafeBufferPointer { self.bytes += $0 } }
    public var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// Forgets everything: a table that goes here is not even encoded.
public final class NullSink: ByteSink {
    public init() {}
    public func write(_ bytes: Span<UInt8>) {}
}

/// What follows the first cell of a row, to be written again: a row that is as it was costs a copy.
public final class RowMemo {
    fileprivate private(set) var bytes: UnsafeMutablePointer<UInt8>?
    fileprivate private(set) var count = 0
    private var capacity = 0
    /// How much of it is the head, cells that may be written again when others are not.
    fileprivate var head = (cells: 0, bytes: 0)
    /// The same at its end: how many cells, and how many bytes stand before them.
    fileprivate var tail = (cells: 0, offset: 0)

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
/// The first failure is kept and everything after it is dropped, so that the engine need not handle errors in
/// mid-step: it asks `failure` between steps. For a `NullSink` rows are counted and nothing is encoded.
public final class TableWriter {
    public let schema: TableSchema
    public private(set) var failure: OutputFailure?
    public private(set) var rows = 0
    private let sink: (any ByteSink)?
    private let columns: Int
    /// What is not yet given to the sink. Raw memory, because an array would be checked at every byte.
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
    /// So much is given to the sink at once.
    private static let piece = 1 << 18
    /// The longest number, a sign, 19 digits and a point, and what is written beyond its end: digits come in eights.
    private static let longestNumber = 32

    public init(_ schema: TableSchema, to sink: any ByteSink) {
        self.schema = schema
        self.sink = sink is NullSink ? nil : sink
        columns = schema.columns.count
        buffer = .allocate(capacity: capacity)
        instantText = .allocate(capacity: TableWriter.longestNumber)
        guard self.sink != nil else { return }
        append(schema.columns.map(\.name).joined(separator: ","))
        append(UInt8(ascii: "\n"))
        // Whatever happens to the run, the file says what its columns are.
        flush()
    }

    deinit {
        buffer.deallocate()
        instantText.deallocate()
    }

    // MARK: Rows

    /// Whether anybody reads the rows. Where a row takes work, it is left out with `skipRow` if nobody does.
    public var isRead: Bool { sink != nil }

    /// Counts a row that nobody reads.
    public func skipRow() { rows += 1 }

    public func endRow() {
        precondition(cells == columns, "\(schema.file) has \(columns) columns, but the row has \(cells) cells")
        cells = 0
        rows += 1
        guard sink != nil else { return }
        append(UInt8(ascii: "\n"))
        if count >= TableWriter.piece { flush() }
    }

    /// Ends the row and keeps it, for `repeatRow`.
    public func endRow(keeping memo: RowMemo) {
        let start = tail
        if sink != nil { memo.keep(buffer + start, count - start) }
        endRow()
    }

    /// Writes a row that was kept once more, with another instant in its first cell.
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

    /// The cells so far, but for the first one, are the head of the row that is being written. Their values stay what
    /// they are in all rows that begin with `repeatHead`.
    public func endHead(of memo: RowMemo) {
        memo.head = (cells - 1, sink == nil ? 0 : count - tail)
        if sink != nil { memo.keep(buffer + tail, count - tail) }
    }

    /// Writes the head of the row that was kept once more, after the first cell.
    public func repeatHead(of memo: RowMemo) {
        precondition(cells == 1, "a head is to be repeated after \(cells) cells")
        cells += memo.head.cells
        guard sink != nil, let bytes = memo.bytes else { return }
        reserve(memo.head.bytes)
        tail = count
        (buffer + count).update(from: bytes, count: memo.head.bytes)
        count += memo.head.bytes
    }

    /// The cells from here on are the tail of the row that is being written. Their values stay what they are in all
    /// rows that end with `repeatTail`.
    public func beginTail(of memo: RowMemo) {
        memo.tail = (columns - cells, sink == nil ? 0 : count - tail)
    }

    /// Writes the tail of the row that was kept last once more. The row that it ends must be kept with
    /// `endRow(keeping:)`, too: from here on the memo counts on the tail's place in it.
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

    /// Where the next row begins, for `check`.
    public var position: Int { count }

    /// For checks alone: it writes every row as its table declares it.
    private var declared: TableWriter?

    /// Claims that the row that was written last, by parts of rows before it or by runs of numbers, is what the table's
    /// columns make of `row`.
    ///
    /// - Parameter position: What `position` was before the row was written.
    public func check<Row>(_ row: Row, of table: RowTable<Row>, from position: Int) {
        guard sink != nil, failure == nil else { return }
        let writer = declared ?? TableWriter(schema, to: MemorySink())
        declared = writer
        writer.count = 0
        table.write(row, to: writer)
        // What was given to the sink meanwhile still lies there.
        let written = UnsafeBufferPointer(start: buffer + position, count: min(writer.count, capacity - position))
        precondition(
            written.elementsEqual(UnsafeBufferPointer(start: writer.buffer, count: writer.count)),
            "\(schema.file) has a row that is not what its columns say: "
                + String(decoding: written, as: UTF8.self))
    }

    /// Gives all whole rows to the sink.
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

    /// Begins a cell, with room for a number in it; false when nothing is to be written.
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

    /// A text, quoted when RFC 4180 asks for it.
    ///
    /// A cell that a spreadsheet would run as a formula is defused with a leading apostrophe, whatever an app is
    /// called.
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

    /// Whether a spreadsheet might run it: it begins like a formula, in plain or in full-width letters, or with a blank
    /// that is skipped.
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

    public func integer(_ value: Int) {
        guard begin() else { return }
        write { $0.put(value) }
    }

    /// A cell for each number; the row's first cell is another.
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

    public func bytes(_ value: ByteCount) { integer(value.bytes) }

    public func boolean(_ value: Bool) {
        guard begin() else { return }
        append(value ? "true" : "false")
    }

    /// Seconds with up to six decimals.
    public func seconds(_ value: Instant) {
        guard begin() else { return }
        putText(of: value)
    }

    public func seconds(_ value: TimeSpan) { decimal(value.microseconds, digits: 6) }

    /// Milliseconds with up to three decimals.
    public func milliseconds(_ value: TimeSpan) { decimal(value.microseconds, digits: 3) }

    /// A number in parts per million, as a decimal.
    public func ratio(_ value: Ratio) { decimal(value.partsPerMillion, digits: 6) }

    /// A number with up to six decimals, and with none where it is too large to have any.
    public func number(_ value: Double) {
        precondition(value.isFinite, "\(value) is no cell")
        if abs(value) < 1e12 {
            decimal(Int64((value * 1_000_000).rounded()), digits: 6)
        } else {
            integer(Int(max(-9e18, min(9e18, value)).rounded()))
        }
    }

    public func empty() { _ = begin() }

    public func integer(_ value: Int?) { if let value { integer(value) } else { empty() } }
    public func number(_ value: Double?) { if let value { number(value) } else { empty() } }
    public func text(_ value: String?) { if let value { text(value) } else { empty() } }
    public func seconds(_ value: Instant?) { if let value { seconds(value) } else { empty() } }
    public func milliseconds(_ value: TimeSpan?) { if let value { milliseconds(value) } else { empty() } }

    @inline(__always)
    private func decimal(_ value: Int64, digits: Int) {
        guard begin() else { return }
        write { $0.put(value, decimals: digits) }
    }
}

// MARK: - Bytes

extension TableWriter {
    /// Makes room for so many bytes more. A row is never given to the sink in parts: a long one needs a longer buffer.
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

    /// Writes where room was reserved.
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

/// Writes one byte after the other, and numbers as their digits, where there is room.
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

    /// A number of units of which there are 10^`decimals` in one, `decimals` being 8 at most; no zeros at the end.
    @inline(__always)
    mutating func put(_ value: Int64, decimals: Int) {
        let power = BytePen.powersOfTen[decimals]
        let (whole, rest) = value.magnitude.quotientAndRemainder(dividingBy: power)
        if value < 0 { put(UInt8(ascii: "-")) }
        put(leading: whole)
        guard rest != 0 else { return }
        put(UInt8(ascii: "."))
        let digits = BytePen.digits(of: rest &* BytePen.powersOfTen[8 - decimals])
        store(digits, 8 - digits.leadingZeroBitCount / 8)
    }

    /// A number without zeros before it.
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

    /// Eight bytes are written, and so many of them count.
    @inline(__always)
    private mutating func store(_ digits: UInt64, _ length: Int) {
        let text = digits | 0x3030_3030_3030_3030
        UnsafeMutableRawPointer(place).storeBytes(of: text.littleEndian, as: UInt64.self)
        place += length
    }

    /// The eight decimal digits of a number below 10^8, a byte each, the first in the lowest: halves, quarters and
    /// digits are each divided at once, by multiplications that are exact for numbers so small.
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
