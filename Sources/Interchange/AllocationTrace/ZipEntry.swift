import Foundation

/// The one file of a zip archive, as the archive's directory describes it.
///
/// Source: PKWARE's APPNOTE.TXT 6.3.10, 4.3.7 (local header), 4.3.12 (central directory) and 4.3.16 (its end). Archives
/// of the form zip64, encrypted ones, and other methods than `stored` and `deflate` are refused.
struct ZipEntry {
    /// Where its bytes begin in the archive.
    let offset: Int
    /// Their number.
    let packed: Int
    /// The number of bytes that they unpack to, and their CRC-32.
    let size: Int
    let checksum: UInt
    let isStored: Bool

    private static let endLength = 22
    private static let longestComment = 65_535
    private static let headLength = 46
    private static let localLength = 30
    /// The longest directory that is read; one file needs far less.
    private static let longestDirectory = 1 << 20

    /// Finds the file. The descriptor's position stays as it is.
    init(_ descriptor: Int32) throws(TraceBytes.Fault) {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw TraceBytes.Fault("a zip archive must be a file; unpack it first")
        }
        let whole = Int(status.st_size)
        let directory = try ZipEntry.directory(descriptor, whole)
        let heads = try ZipEntry.heads(in: directory.bytes)
        guard heads.count == 1, let head = heads.first else {
            throw TraceBytes.Fault("the archive holds \(heads.count) files; expected one, the trace")
        }
        guard head.flags & 1 == 0 else { throw TraceBytes.Fault("the archive is encrypted") }
        guard head.method == 0 || head.method == 8 else {
            throw TraceBytes.Fault("the archive is packed by method \(head.method); expected deflate")
        }
        let local = try ZipEntry.bytes(descriptor, head.local, ZipEntry.localLength)
        guard local.number(0, 4) == 0x0403_4b50 else { throw ZipEntry.broken }
        offset = head.local + ZipEntry.localLength + local.number(26, 2) + local.number(28, 2)
        (packed, size, checksum) = (head.packed, head.size, UInt(head.checksum))
        isStored = head.method == 0
        guard offset <= directory.offset, packed <= directory.offset - offset, !isStored || packed == size else {
            throw ZipEntry.broken
        }
    }

    private static let broken = TraceBytes.Fault("the archive is broken: its directory makes no sense")

    private struct Head {
        let flags, method, checksum, packed, size, local: Int
    }

    private static func directory(
        _ descriptor: Int32, _ whole: Int
    ) throws(TraceBytes.Fault) -> (offset: Int, bytes: [UInt8]) {
        let length = min(whole, endLength + longestComment)
        let tail = try bytes(descriptor, whole - length, length)
        var place = length - endLength
        while place >= 0 {
            let isEnd = tail.number(place, 4) == 0x0605_4b50
            if isEnd && tail.number(place + 20, 2) == length - place - endLength { break }
            place -= 1
        }
        guard place >= 0 else { throw TraceBytes.Fault("the archive ends too early: it has no directory") }
        let (count, size, offset) = (tail.number(place + 10, 2), tail.number(place + 12, 4), tail.number(place + 16, 4))
        guard count < 0xffff, size < 0xffff_ffff, offset < 0xffff_ffff else {
            throw TraceBytes.Fault("the archive has the form zip64, which is not read; unpack it first")
        }
        guard size <= longestDirectory else { throw TraceBytes.Fault("the archive holds too many files") }
        guard offset + size <= whole - length + place else { throw broken }
        return (offset, try bytes(descriptor, offset, size))
    }

    /// The entries that are files. Folders, and the attributes that macOS adds, do not count.
    private static func heads(in directory: [UInt8]) throws(TraceBytes.Fault) -> [Head] {
        var heads: [Head] = []
        var place = 0
        while place < directory.count {
            guard place + headLength <= directory.count, directory.number(place, 4) == 0x0201_4b50 else { throw broken }
            let name = directory.number(place + 28, 2)
            let next = place + headLength + name + directory.number(place + 30, 2) + directory.number(place + 32, 2)
            guard next <= directory.count else { throw broken }
            let text = directory[(place + headLength)..<(place + headLength + name)]
            if text.last != UInt8(ascii: "/") && !text.starts(with: Array("__MACOSX/".utf8)) {
                heads.append(
                    Head(
                        flags: directory.number(place + 8, 2), method: directory.number(place + 10, 2),
                        checksum: directory.number(place + 16, 4), packed: directory.number(place + 20, 4),
                        size: directory.number(place + 24, 4), local: directory.number(place + 42, 4)))
            }
            place = next
        }
        return heads
    }

    private static func bytes(_ descriptor: Int32, _ offset: Int, _ count: Int) throws(TraceBytes.Fault) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let place = off_t(offset + done)
            let read = bytes.withUnsafeMutableBytes { buffer in
                pread(descriptor, buffer.baseAddress?.advanced(by: done), count - done, place)
            }
            if read < 0 && errno == EINTR { continue }
            guard read > 0 else { throw TraceBytes.Fault("the archive ends too early") }
            done += read
        }
        return bytes
    }
}

extension [UInt8] {
    /// A number of two or four bytes, the lowest first.
    fileprivate func number(_ place: Int, _ length: Int) -> Int {
        (0..<length).reduce(0) { $0 | Int(self[place + $1]) << (8 * $1) }
    }
}
