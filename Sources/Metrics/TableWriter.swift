import Quantities

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Where the bytes of a table go.
public protocol ByteSink: AnyObject {
    /// Writes whole rows, or fails.
    func write(_ bytes: [UInt8]) throws(OutputFailure)
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
    public init(creating path: String) throws(OutputFailure) {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw OutputFailure(path: path, code: errno) }
    }

    deinit { close(descriptor) }

    public func write(_ bytes: [UInt8]) throws(OutputFailure) {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                // Safe to escape: the pointer is used within the call only, and `done` is below `count`.
                Glibc.write(descriptor, $0.baseAddress.map { $0 + done }, bytes.count - done)
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
    public func write(_ bytes: [UInt8]) { self.bytes += bytes }
    public var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// Forgets everything, for measurements.
public final class NullSink: ByteSink {
    public init() {}
    public func write(_ bytes: [UInt8]) {}
}

/// Writes one CSV (RFC 4180) as bytes; cells come in the order of the schema's columns.
///
/// The first failure is kept and everything after it is dropped, so that the engine need not handle errors in
/// mid-step: it asks `failure` between steps.
public final class TableWriter {
    public let schema: TableSchema
    public private(set) var failure: OutputFailure?
    public private(set) var rows = 0
    private let sink: any ByteSink
    private var buffer: [UInt8] = []
    private var cells = 0
    private static let capacity = 1 << 16

    public init(_ schema: TableSchema, to sink: any ByteSink) {
        self.schema = schema
        self.sink = sink
        buffer.reserveCapacity(TableWriter.capacity + 4096)
        buffer += Array(schema.columns.map(\.name).joined(separator: ",").utf8)
        buffer.append(UInt8(ascii: "\n"))
        // Whatever happens to the run, the file says what its columns are.
        flush()
    }

    private func separate() {
        if cells > 0 { buffer.append(UInt8(ascii: ",")) }
        cells += 1
    }

    /// A text, quoted when RFC 4180 asks for it.
    ///
    /// A cell that a spreadsheet would run as a formula is defused with a leading apostrophe, whatever an app is
    /// called.
    public func text(_ value: String) {
        separate()
        var needsQuotes = false
        for byte in value.utf8
        where byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\"") || byte == 10 || byte == 13 {
            needsQuotes = true
        }
        if TableWriter.isFormula(value) { return quoted("'" + value) }
        if needsQuotes { quoted(value) } else { buffer.append(contentsOf: value.utf8) }
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
        buffer.append(UInt8(ascii: "\""))
        for byte in value.utf8 {
            if byte == UInt8(ascii: "\"") { buffer.append(byte) }
            buffer.append(byte)
        }
        buffer.append(UInt8(ascii: "\""))
    }

    public func integer(_ value: Int) {
        separate()
        append(value)
    }

    public func bytes(_ value: ByteCount) { integer(value.bytes) }

    public func boolean(_ value: Bool) {
        separate()
        buffer.append(contentsOf: (value ? "true" : "false").utf8)
    }

    /// Seconds with up to six decimals.
    public func seconds(_ value: Instant) {
        separate()
        append(value.microseconds, decimals: 6)
    }

    public func seconds(_ value: TimeSpan) {
        separate()
        append(value.microseconds, decimals: 6)
    }

    /// Milliseconds with up to three decimals.
    public func milliseconds(_ value: TimeSpan) {
        separate()
        append(value.microseconds, decimals: 3)
    }

    /// A number in parts per million, as a decimal.
    public func ratio(_ value: Ratio) {
        separate()
        append(value.partsPerMillion, decimals: 6)
    }

    /// A number with up to six decimals, and with none where it is too large to have any.
    public func number(_ value: Double) {
        precondition(value.isFinite, "\(value) is no cell")
        separate()
        if abs(value) < 1e12 {
            append(Int64((value * 1_000_000).rounded()), decimals: 6)
        } else {
            append(Int(max(-9e18, min(9e18, value)).rounded()))
        }
    }

    public func empty() { separate() }

    public func integer(_ value: Int?) { if let value { integer(value) } else { empty() } }
    public func number(_ value: Double?) { if let value { number(value) } else { empty() } }
    public func text(_ value: String?) { if let value { text(value) } else { empty() } }
    public func seconds(_ value: Instant?) { if let value { seconds(value) } else { empty() } }
    public func milliseconds(_ value: TimeSpan?) { if let value { milliseconds(value) } else { empty() } }

    public func endRow() {
        precondition(
            cells == schema.columns.count,
            "\(schema.file) has \(schema.columns.count) columns, but the row has \(cells) cells")
        cells = 0
        rows += 1
        buffer.append(UInt8(ascii: "\n"))
        if buffer.count >= TableWriter.capacity { flush() }
    }

    /// Gives all whole rows to the sink.
    public func flush() {
        guard failure == nil, !buffer.isEmpty else { return buffer.removeAll(keepingCapacity: true) }
        do {
            try sink.write(buffer)
        } catch {
            failure = error
        }
        buffer.removeAll(keepingCapacity: true)
    }

    private func append(_ value: Int) {
        guard value != 0 else { return buffer.append(UInt8(ascii: "0")) }
        if value < 0 { buffer.append(UInt8(ascii: "-")) }
        var rest = value.magnitude
        let start = buffer.count
        while rest > 0 {
            buffer.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        }
        buffer[start...].reverse()
    }

    private func append(_ value: Int64, decimals: Int) {
        var power = 1
        for _ in 0..<decimals { power *= 10 }
        let magnitude = Int(value.magnitude)
        if value < 0 { buffer.append(UInt8(ascii: "-")) }
        append(magnitude / power)
        var fraction = magnitude % power
        guard fraction != 0 else { return }
        buffer.append(UInt8(ascii: "."))
        while fraction != 0 {
            power /= 10
            buffer.append(UInt8(ascii: "0") + UInt8(fraction / power))
            fraction %= power
        }
    }
}
