import Foundation
import Scenario
import Workload

/// Reads a trace from a plain text file, a piece at a time: a trace of any length costs the same memory.
public final class TraceFileReader {
    private let path: String
    private let lastLine: Int
    private var file: FileHandle
    private var buffer: [UInt8] = []
    private var position = 0
    /// How many lines were read.
    public private(set) var line = 0

    private static let pieceLength = 256 * 1024
    private static let longestLine = 1_024

    /// - Parameter lastLine: The file is taken to end after this line.
    public init(path: String, lastLine: Int? = nil) throws(TraceFault) {
        self.path = path
        self.lastLine = lastLine ?? .max
        file = try TraceFileReader.open(path)
    }

    private static func open(_ path: String) throws(TraceFault) -> FileHandle {
        do {
            return try InputFile.open(path, as: "an allocation trace")
        } catch {
            throw TraceFault(line: 0, message: error.reason)
        }
    }

    public func rewind() throws(TraceFault) {
        file = try TraceFileReader.open(path)
        buffer = []
        position = 0
        line = 0
    }

    public func next() throws(TraceFault) -> TraceOperation? {
        guard line < lastLine, let range = try nextLine() else { return nil }
        let bytes = buffer
        return try TraceOperation.parse(bytes.span.extracting(range), line: line)
    }

    /// The range of the next line in the buffer, without its end.
    private func nextLine() throws(TraceFault) -> Range<Int>? {
        var searched = position
        while true {
            if let end = newline(from: searched) {
                return try take(position..<end, next: end + 1)
            }
            searched = buffer.count - position
            guard try refill() else { break }
        }
        // The last line may lack its end.
        return position < buffer.count ? try take(position..<buffer.count, next: buffer.count) : nil
    }

    private func newline(from start: Int) -> Int? {
        buffer.withUnsafeBufferPointer { bytes in
            // Safe to escape: the pointer is used within the closure only, and `start` is at most `count`.
            guard let base = bytes.baseAddress, start < bytes.count,
                let found = memchr(base + start, 0x0a, bytes.count - start)
            else { return nil }
            return UnsafeRawPointer(found) - UnsafeRawPointer(base)
        }
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

    /// Moves what is left to the front and reads on; false at the end of the file.
    private func refill() throws(TraceFault) -> Bool {
        buffer.removeFirst(position)
        position = 0
        guard buffer.count <= TraceFileReader.longestLine else {
            line += 1
            throw tooLong
        }
        do {
            guard let piece = try file.read(upToCount: TraceFileReader.pieceLength), !piece.isEmpty else {
                return false
            }
            buffer.append(contentsOf: piece)
            return true
        } catch {
            throw TraceFault(line: line, message: "the file cannot be read any further")
        }
    }
}
