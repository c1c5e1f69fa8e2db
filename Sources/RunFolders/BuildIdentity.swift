import Foundation

/// The program's version; the changelog's newest heading agrees with it.
package let plimsollVersion = "0.1.0"

/// Identifies the build of the program. Two builds of one version may give different results.
package enum BuildIdentity {
    /// The linker's build identifier, which depends on the program's bytes. Without one, the size and time of the
    /// program's file.
    package static let current: String = {
        let path = "/proc/self/exe"
        guard let program = try? Data(contentsOf: URL(filePath: path), options: .alwaysMapped) else { return "unknown" }
        if let found = ELFNotes(program).buildIdentifier { return found }
        var status = stat()
        guard stat(path, &status) == 0 else { return "unknown" }
        return "\(status.st_size)-\(status.st_mtim.tv_sec)"
    }()

    /// The first ten characters, for messages.
    package static func short(_ build: String) -> Substring { build.prefix(10) }
}

/// The notes of a 64-bit little-endian ELF file. Source: the System V ABI, chapters 4 and 5; a build identifier is the
/// note GNU of type 3.
private struct ELFNotes {
    private let file: Data

    init(_ file: Data) { self.file = file }

    var buildIdentifier: String? {
        // 0x7f ELF, class 64, little endian.
        guard file.count >= 64, file.prefix(6).elementsEqual([0x7f, 0x45, 0x4c, 0x46, 2, 1]) else { return nil }
        guard let table = number(at: 32, bytes: 8), let size = number(at: 54, bytes: 2),
            let count = number(at: 56, bytes: 2)
        else { return nil }
        for header in (0..<count).map({ table + $0 * size }) where number(at: header, bytes: 4) == 4 {
            guard let start = number(at: header + 8, bytes: 8), let length = number(at: header + 32, bytes: 8) else {
                continue
            }
            if let found = buildIdentifier(from: start, to: start + length) { return found }
        }
        return nil
    }

    private func buildIdentifier(from start: Int, to end: Int) -> String? {
        func padded(_ size: Int) -> Int { (size + 3) & ~3 }
        var note = start
        while note + 12 <= end, let name = number(at: note, bytes: 4), let size = number(at: note + 4, bytes: 4) {
            let text = note + 12
            let content = text + padded(name)
            if number(at: note + 8, bytes: 4) == 3 && bytes(text, 4)?.elementsEqual("GNU\0".utf8) == true {
                return bytes(content, size)?.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
            }
            note = content + padded(size)
        }
        return nil
    }

    private func bytes(_ start: Int, _ count: Int) -> Data? {
        guard start >= 0, count >= 0, count <= file.count, start <= file.count - count else { return nil }
        return file[file.startIndex + start..<file.startIndex + start + count]
    }

    private func number(at start: Int, bytes count: Int) -> Int? {
        guard let found = bytes(start, count) else { return nil }
        let value = found.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return value < 1 << 40 ? Int(value) : nil
    }
}
