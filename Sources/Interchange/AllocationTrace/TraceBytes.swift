import Foundation
import Scenario
import SystemZlib

/// The bytes of a trace's text: from a plain file, from a `.gz` file, or from a `.zip` archive that holds one file. The
/// first bytes of the file decide, not its name.
///
/// It unpacks piece by piece, in constant memory, and writes nothing to disk. Names in an archive are never used as
/// paths.
final class TraceBytes {
    /// Why the bytes cannot be had, in words.
    struct Fault: Error {
        let message: String
        /// Whether the file itself could not be opened or read.
        var isUnreadable = false

        init(_ message: String, isUnreadable: Bool = false) {
            (self.message, self.isUnreadable) = (message, isUnreadable)
        }
    }

    /// What an archive may unpack to. A trace of plain text shrinks to a tenth or so; a bomb, which is made to fill
    /// memory or time, shrinks to a thousandth.
    struct Limits {
        var most = 4 << 30
        /// How many times its own size, once it has unpacked to more than `unquestioned`.
        var ratio = 200
        var unquestioned = 64 << 20
    }

    private let file: FileHandle
    private let limits: Limits
    private var form = Form.plain
    private var stream: UnsafeMutablePointer<z_stream>?
    /// Bytes of the file that were read and are not yet used: `input[next..<end]`.
    private let input: UnsafeMutablePointer<UInt8>
    private var next = 0
    private var end = 0
    /// How many bytes of the file may still be read.
    private var left = Int.max
    private var unpacked = 0
    private var used = 0
    private var isDone = false
    /// What a zip archive says about its file.
    private var entry: ZipEntry?
    private var checksum: UInt = 0

    private enum Form { case plain, gzip, stored, deflated }

    private static let pieceLength = 64 * 1024

    init(path: String, limits: Limits = Limits()) throws(Fault) {
        do {
            file = try InputFile.open(path, as: "an allocation trace")
        } catch {
            throw Fault(error.reason, isUnreadable: true)
        }
        self.limits = limits
        input = .allocate(capacity: TraceBytes.pieceLength)
        _ = try refill()
        if starts(with: [0x1f, 0x8b]) {
            form = .gzip
            // 15 bits of window, and 16 for the gzip form with its checksum.
            try begin(bits: 15 + 16)
        } else if starts(with: Array("PK\u{3}\u{4}".utf8)) || starts(with: Array("PK\u{5}\u{6}".utf8)) {
            try openZip()
        }
    }

    deinit {
        if let stream {
            inflateEnd(stream)
            stream.deallocate()
        }
        input.deallocate()
    }

    private func starts(with bytes: [UInt8]) -> Bool {
        end >= bytes.count && bytes.indices.allSatisfy { input[$0] == bytes[$0] }
    }

    private func openZip() throws(Fault) {
        let found = try ZipEntry(file.fileDescriptor)
        guard lseek(file.fileDescriptor, off_t(found.offset), SEEK_SET) >= 0 else {
            throw Fault("the archive cannot be read")
        }
        (next, end, left) = (0, 0, found.packed)
        (form, entry) = (found.isStored ? .stored : .deflated, found)
        if form == .deflated { try begin(bits: -15) }
    }

    private func begin(bits: Int32) throws(Fault) {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        self.stream = stream
        let size = Int32(MemoryLayout<z_stream>.size)
        guard inflateInit2_(stream, bits, ZLIB_VERSION, size) == Z_OK else { throw Fault("zlib refuses to unpack") }
    }

    /// Reads more of the file; false at its end, or at the end of the part that may be read.
    private func refill() throws(Fault) -> Bool {
        var count = -1
        repeat {
            count = Foundation.read(file.fileDescriptor, input, min(TraceBytes.pieceLength, left))
        } while count < 0 && errno == EINTR
        guard count >= 0 else { throw Fault("the file cannot be read any further") }
        left -= count
        (next, end) = (0, count)
        return count > 0
    }

    // MARK: Reading

    /// Fills the buffer with at least one byte of the text; 0 at its end.
    func read(into buffer: UnsafeMutablePointer<UInt8>, atMost capacity: Int) throws(Fault) -> Int {
        switch form {
        case .plain: return try copy(into: buffer, atMost: capacity)
        case .stored:
            let count = try copy(into: buffer, atMost: capacity)
            try note(buffer, count, used: count)
            if count == 0 { try checkEntry() }
            return count
        case .gzip, .deflated: return try inflate(into: buffer, atMost: capacity)
        }
    }

    private func copy(into buffer: UnsafeMutablePointer<UInt8>, atMost capacity: Int) throws(Fault) -> Int {
        if next == end {
            guard try refill() else { return 0 }
        }
        let count = min(capacity, end - next)
        buffer.update(from: input + next, count: count)
        next += count
        return count
    }

    private func inflate(into buffer: UnsafeMutablePointer<UInt8>, atMost capacity: Int) throws(Fault) -> Int {
        guard let stream, !isDone else { return 0 }
        while true {
            if next == end {
                guard try refill() else { throw Fault("the archive ends too early") }
            }
            stream.pointee.next_in = input + next
            stream.pointee.avail_in = UInt32(end - next)
            stream.pointee.next_out = buffer
            stream.pointee.avail_out = UInt32(capacity)
            let code = SystemZlib.inflate(stream, Z_NO_FLUSH)
            let (taken, made) = (end - next - Int(stream.pointee.avail_in), capacity - Int(stream.pointee.avail_out))
            next += taken
            guard [Z_OK, Z_STREAM_END, Z_BUF_ERROR].contains(code) else {
                throw Fault("the archive is broken" + (stream.pointee.msg.map { ": \(String(cString: $0))" } ?? ""))
            }
            try note(buffer, made, used: taken)
            if code == Z_STREAM_END { try endMember(stream) }
            if made > 0 || isDone { return made }
        }
    }

    /// A `.gz` file may have several members, whose texts follow each other. Zeros may fill up its end.
    private func endMember(_ stream: UnsafeMutablePointer<z_stream>) throws(Fault) {
        guard form == .gzip else {
            isDone = true
            return try checkEntry()
        }
        while true {
            while next < end && input[next] == 0 { next += 1 }
            if next < end { break }
            guard try refill() else {
                isDone = true
                return
            }
        }
        inflateReset(stream)
    }

    private func note(_ buffer: UnsafeMutablePointer<UInt8>, _ count: Int, used bytes: Int) throws(Fault) {
        unpacked += count
        used += bytes
        if entry != nil { checksum = crc32(checksum, buffer, UInt32(count)) }
        if unpacked > limits.most { throw Fault("the archive unpacks to more than \(limits.most) bytes") }
        if unpacked > limits.unquestioned && unpacked / limits.ratio > used {
            throw Fault("the archive unpacks to more than \(limits.ratio) times its size")
        }
        if let entry, unpacked > entry.size { throw Fault("the archive unpacks to more than it says") }
    }

    private func checkEntry() throws(Fault) {
        guard let entry else { return }
        if unpacked != entry.size || checksum != entry.checksum {
            throw Fault("the archive is broken: its checksum or its size differs")
        }
    }
}
