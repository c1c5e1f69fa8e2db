import Glibc
import Metrics

/// Why a ledger cannot be used.
public enum LedgerFault: Error, Hashable, Sendable {
    /// The ledger does not exist or cannot be read.
    case unreadable(path: String, code: Int32)
    /// The file is not a ledger, or it belongs to another plan or part; the sentence says which.
    case foreign(String)
    /// Another process holds the ledger.
    case busy(path: String)
    case output(OutputFailure)
}

/// The append-only list of finished runs. Each run is one line, which is on the disk as soon as the run is booked.
///
/// A line holds the case's index, a checksum of the rest, and the run's row. If the process is killed while it writes
/// a line, the line lacks its end or has a wrong checksum. Such a line does not count, and its case runs again.
/// Memory holds only the position of each row in the file, eight bytes per case.
public final class Ledger {
    /// The ledger's file.
    public let path: String
    private let descriptor: Int32
    private var length: Int
    /// For each case, the offset of its row in the file; -1 until the case is finished.
    private var offsets: [Int]
    /// The number of finished cases.
    public private(set) var finished = 0

    /// The file's name in an experiment's directory.
    public static let file = "ledger.txt"

    /// The first line, which names the plan and the part.
    private static func header(_ plan: Fingerprint, _ shard: Shard) -> String {
        "plimsoll ledger 1, plan \(plan), part \(shard)\n"
    }

    private init(_ path: String, _ descriptor: Int32, cases: Int) {
        (self.path, self.descriptor) = (path, descriptor)
        (length, offsets) = (0, Array(repeating: -1, count: cases))
    }

    /// Creates an empty ledger; the file must not exist.
    public convenience init(
        creating path: String, plan: Fingerprint, shard: Shard, cases: Int
    ) throws(LedgerFault) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw .output(OutputFailure(path: path, code: errno)) }
        self.init(path, descriptor, cases: cases)
        try lock(LOCK_EX)
        try append(Ledger.header(plan, shard))
    }

    /// Opens the ledger of an earlier attempt to continue it; a torn end is cut off.
    public convenience init(
        resuming path: String, plan: Fingerprint, shard: Shard, cases: Int
    ) throws(LedgerFault) {
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unreadable(path: path, code: errno) }
        self.init(path, descriptor, cases: cases)
        try lock(LOCK_EX)
        let bytes = try contents()
        let header = Array(Ledger.header(plan, shard).utf8)
        if bytes.count < header.count && header.starts(with: bytes) {
            // The earlier attempt was killed before the first line was whole.
            try truncate(to: 0)
            try append(Ledger.header(plan, shard))
        } else {
            try truncate(to: try read(bytes, header, shard))  // promise: resumed
        }
    }

    /// Opens a ledger only to read it.
    public convenience init(
        reading path: String, plan: Fingerprint, shard: Shard, cases: Int
    ) throws(LedgerFault) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unreadable(path: path, code: errno) }
        self.init(path, descriptor, cases: cases)
        try lock(LOCK_SH)
        length = try read(try contents(), Array(Ledger.header(plan, shard).utf8), shard)
    }

    /// The part that a ledger belongs to; nil if its first line is incomplete or the file is not a ledger.
    public static func part(at path: String) throws(LedgerFault) -> Shard? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unreadable(path: path, code: errno) }
        let line = try Ledger(path, descriptor, cases: 0).contents().prefix { $0 != 10 }
        let words = String(decoding: line, as: UTF8.self).split(separator: " ")
        guard words.count == 7, words[0] == "plimsoll", words[1] == "ledger" else { return nil }
        return try? Shard(parsing: String(words[6]))
    }

    /// Whether a file holds no finished run: it is missing, or it has at most the first line of a ledger. A ledger that
    /// another process is writing counts as not blank.
    public static func isBlank(at path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return errno == ENOENT }
        do throws(LedgerFault) {
            let ledger = Ledger(path, descriptor, cases: 0)
            try ledger.lock(LOCK_SH)
            let bytes = try ledger.contents()
            let isOurs = bytes.starts(with: "plimsoll ledger ".utf8) || "plimsoll ledger ".utf8.starts(with: bytes)
            return isOurs && bytes.count { $0 == UInt8(ascii: "\n") } <= 1
        } catch {
            return false
        }
    }

    deinit { close(descriptor) }

    private func lock(_ kind: Int32) throws(LedgerFault) {
        guard flock(descriptor, kind | LOCK_NB) == 0 else { throw .busy(path: path) }
    }

    private func contents() throws(LedgerFault) -> [UInt8] {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .unreadable(path: path, code: errno) }
        return try bytes(at: 0, count: Int(status.st_size))
    }

    private func bytes(at offset: Int, count: Int) throws(LedgerFault) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let got = bytes.withUnsafeMutableBytes {
                // Safe: the pointer is used within the call only, and `done` is below `count`.
                pread(descriptor, $0.baseAddress.map { $0 + done }, count - done, offset + done)
            }
            if got < 0 && errno == EINTR { continue }
            guard got > 0 else { throw .unreadable(path: path, code: got < 0 ? errno : EIO) }
            done += got
        }
        return bytes
    }

    private func truncate(to length: Int) throws(LedgerFault) {
        guard ftruncate(descriptor, length) == 0 else { throw .output(OutputFailure(path: path, code: errno)) }
        self.length = length
    }

    /// Reads all whole lines after the header; returns the length of the file up to the last of them.
    private func read(_ bytes: [UInt8], _ header: [UInt8], _ shard: Shard) throws(LedgerFault) -> Int {
        guard bytes.starts(with: header) else {
            throw .foreign("\(path) is not the ledger of part \(shard) of this plan")
        }
        var start = header.count
        while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
            if let (index, row) = Ledger.entry(bytes[start..<end]), offsets.indices.contains(index) {
                try note(index, at: row.startIndex, row, in: bytes)
            }
            start = end + 1
        }
        return start
    }

    private func note(_ index: Int, at offset: Int, _ row: ArraySlice<UInt8>, in bytes: [UInt8]) throws(LedgerFault) {
        if offsets[index] >= 0 {
            guard bytes[offsets[index]...].starts(with: row) else {
                throw .foreign("\(path) has two different rows of case \(index + 1)")
            }
            return
        }
        offsets[index] = offset
        finished += 1
    }

    /// `INDEX CHECKSUM ROW`; nil when the line is damaged.
    private static func entry(_ line: ArraySlice<UInt8>) -> (index: Int, row: ArraySlice<UInt8>)? {
        let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let index = Int(String(decoding: parts[0], as: UTF8.self)),
            String(decoding: parts[1], as: UTF8.self) == checksum(index, parts[2]).description
        else { return nil }
        return (index, parts[2])
    }

    private static func checksum(_ index: Int, _ row: some Sequence<UInt8>) -> Fingerprint {
        var fingerprint: Fingerprint = .init()
        fingerprint.add("\(index) ".utf8)
        fingerprint.add(row)
        return fingerprint
    }
}

extension Ledger {
    /// Whether the case has a row.
    public func isFinished(_ index: Int) -> Bool { offsets[index] >= 0 }

    /// Records a finished run; its row is on the disk when this returns.
    ///
    /// - Parameter row: One line without its line feed.
    public func append(_ index: Int, row: String) throws(LedgerFault) { try append([(index, row)]) }

    /// Records finished runs; their rows are on the disk when this returns.
    ///
    /// - Parameter rows: The cases' indices and rows, each of them one line without its line feed.
    public func append(_ rows: [(Int, String)]) throws(LedgerFault) {
        var (text, places) = ("", [(index: Int, offset: Int)]())
        for (index, row) in rows {
            precondition(!row.utf8.contains(10), "a row is one line")
            precondition(offsets[index] < 0, "case \(index) was booked already")
            text += "\(index) \(Ledger.checksum(index, row.utf8)) "
            places.append((index, length + text.utf8.count))
            text += row + "\n"
        }
        try append(text)
        for (index, offset) in places { offsets[index] = offset }
        finished += rows.count
    }

    private func append(_ line: String) throws(LedgerFault) {
        let bytes = Array(line.utf8)
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                // Safe: the pointer is used within the call only, and `done` is below the count.
                pwrite(descriptor, $0.baseAddress.map { $0 + done }, bytes.count - done, length + done)
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else {
                let code = count < 0 ? errno : ENOSPC
                _ = ftruncate(descriptor, length)
                throw .output(OutputFailure(path: path, code: code))
            }
            done += count
        }
        guard fdatasync(descriptor) == 0 else { throw .output(OutputFailure(path: path, code: errno)) }
        length += bytes.count
    }

    /// Reads the row of a finished case from the file.
    public func row(_ index: Int) throws(LedgerFault) -> String {
        let offset = offsets[index]
        precondition(offset >= 0, "case \(index) is not finished")
        var row: [UInt8] = []
        while true {
            let piece = try bytes(at: offset + row.count, count: min(1024, length - offset - row.count))
            guard let end = piece.firstIndex(of: UInt8(ascii: "\n")) else {
                row += piece
                continue
            }
            return String(decoding: row + piece[..<end], as: UTF8.self)
        }
    }
}
