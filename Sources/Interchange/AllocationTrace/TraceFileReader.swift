import Foundation
import Scenario
import Workload

/// Reads a trace piece by piece, in constant memory for a trace of any length: from a text file, or from one that is
/// packed as `.gz` or `.zip`.
public final class TraceFileReader {
    private let path: String
    private let lastLine: Int
    private var source: TraceBytes
    /// The bytes read so far, followed by a newline that is not part of the file. The buffer is allocated by hand,
    /// because an array would be retained for every line.
    private let buffer: UnsafeMutablePointer<UInt8>
    /// The position of the first byte that is not yet consumed.
    private var position = 0
    private var end = 0
    /// The start of the line that was read last.
    private var lineStart = 0
    /// The number of lines read so far.
    public private(set) var line = 0

    private static let pieceLength = 256 * 1024
    private static let longestLine = 1_024

    /// - Parameter lastLine: Treats the file as ending after this line.
    public init(path: String, lastLine: Int? = nil) throws(TraceFault) {
        self.path = path
        self.lastLine = lastLine ?? .max
        source = try TraceFileReader.open(path)
        // Allocated last, so a failure to open the file leaks nothing.
        buffer = .allocate(capacity: TraceFileReader.pieceLength + TraceFileReader.longestLine + 1)
        buffer[0] = TraceFileReader.newline
    }

    deinit { buffer.deallocate() }

    private static func open(_ path: String) throws(TraceFault) -> TraceBytes {
        do throws(TraceBytes.Fault) {
            return try TraceBytes(path: path)
        } catch {
            throw TraceFault(line: error.isUnreadable ? 0 : 1, message: error.message)
        }
    }

    /// Returns to the first line by opening the file again.
    public func rewind() throws(TraceFault) {
        source = try TraceFileReader.open(path)
        (position, end, lineStart, line) = (0, 0, 0, 0)
        buffer[0] = TraceFileReader.newline
    }

    /// The next operation, or nil at the end of the trace.
    public func next() throws(TraceFault) -> TraceOperation? {
        guard line < lastLine else { return nil }
        let rest = UnsafeBufferPointer(start: buffer + position, count: end - position + 1)
        if let (operation, length) = TraceOperation.quick(rest.span) {
            line += 1
            lineStart = position
            position += length
            return operation
        }
        guard let range = try nextLine() else { return nil }
        lineStart = range.lowerBound
        let text = UnsafeBufferPointer(start: buffer + range.lowerBound, count: range.count)
        return try TraceOperation.parse(text.span, line: line)
    }

    /// Notes the operation that was read last. A fault names its line and column.
    @inline(__always)
    func note(_ operation: TraceOperation, in surveyor: inout TraceSurveyor) throws(TraceFault) -> TraceStep {
        do throws(TraceFault) {
            return try surveyor.note(operation)
        } catch {
            throw located(error)
        }
    }

    private func located(_ fault: TraceFault) -> TraceFault {
        guard let word = fault.word, fault.line == line else { return fault }
        let text = UnsafeBufferPointer(start: buffer + lineStart, count: position - lineStart)
        var located = fault
        (located.column, located.word) = (TraceOperation.column(ofWord: word, in: text.span), nil)
        return located
    }

    /// The range of the next line in the buffer, without its newline, or nil at the end.
    private func nextLine() throws(TraceFault) -> Range<Int>? {
        var searched = position
        while true {
            if let newline = newline(from: searched) { return try take(position..<newline, next: newline + 1) }
            searched = end - position
            guard try refill() else { break }
        }
        // The last line may lack a newline.
        return position < end ? try take(position..<end, next: end) : nil
    }

    private func newline(from start: Int) -> Int? {
        guard let found = memchr(buffer + start, Int32(TraceFileReader.newline), end - start) else { return nil }
        return UnsafeRawPointer(found) - UnsafeRawPointer(buffer)
    }

    private func take(_ range: Range<Int>, next: Int) throws(TraceFault) -> Range<Int> {
        line += 1
        position = next
        guard range.count <= TraceFileReader.longestLine else { throw tooLong }
        if let last = range.last, buffer[last] == 0x0d { return range.lowerBound..<last }
        return range
    }

    private var tooLong: TraceFault {
        TraceFault(line: line, message: "a line is longer than \(TraceFileReader.longestLine) bytes")
    }

    /// Moves the remaining bytes to the front and reads more; false at the end of the file.
    private func refill() throws(TraceFault) -> Bool {
        end -= position
        memmove(buffer, buffer + position, end)
        position = 0
        guard end <= TraceFileReader.longestLine else {
            line += 1
            throw tooLong
        }
        let count: Int
        do throws(TraceBytes.Fault) {
            count = try source.read(into: buffer + end, atMost: TraceFileReader.pieceLength)
        } catch {
            throw TraceFault(line: max(1, line), message: error.message)
        }
        end += count
        buffer[end] = TraceFileReader.newline
        return count > 0
    }

    private static let newline = UInt8(ascii: "\n")
}
