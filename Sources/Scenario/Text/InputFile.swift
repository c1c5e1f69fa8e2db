import Foundation

/// Files that are read whole before anything is made of them.
public enum InputFile {
    /// A thousand times the longest scenario that was ever seen; what goes on beyond it is none.
    public static let longestScenario = 64 << 20

    /// What stands for standard input on a command line; `./-` is a file of that name.
    public static let standardInput = "-"

    /// - Parameters:
    ///   - path: `-` is standard input.
    ///   - kind: What the file should be, with its article.
    ///   - mostBytes: A longer file is something else.
    /// - Throws: Why the file cannot be read.
    public static func read(
        _ path: String, as kind: String, atMost mostBytes: Int = longestScenario
    ) throws(ScenarioFault) -> [UInt8] {
        let data: Data?
        do {
            // Read to the end rather than to a known size, for it may come through a pipe.
            let file = try open(path == standardInput ? "/dev/stdin" : path, as: kind)
            data = try? file.read(upToCount: mostBytes + 1) ?? Data()
        } catch {
            throw .unreadable(path: path, reason: error.reason)
        }
        guard let data else { throw .unreadable(path: path, reason: "the file cannot be read") }
        guard data.count <= mostBytes else {
            throw .unreadable(path: path, reason: "this is longer than \(kind) can be, \(mostBytes) bytes")
        }
        return Array(data)
    }

    /// Why a file cannot be opened, in words.
    public struct Closed: Error {
        public let reason: String
    }

    /// The same file to be read piece by piece.
    ///
    /// - Parameter kind: What the file should be, with its article.
    public static func open(_ path: String, as kind: String) throws(Closed) -> FileHandle {
        let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw closed(errno, kind) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) != 0 || !isDirectory(status) else { throw aDirectory(kind) }
        return file
    }

    /// Why the file cannot be opened; nil: nothing speaks against it. It is not opened, for a pipe is opened only once.
    static func closed(_ path: String, as kind: String) -> Closed? {
        var status = stat()
        guard stat(path, &status) == 0, access(path, R_OK) == 0 else { return closed(errno, kind) }
        return isDirectory(status) ? aDirectory(kind) : nil
    }

    private static func closed(_ code: Int32, _ kind: String) -> Closed {
        let isMissing = code == ENOENT || code == ENOTDIR
        return Closed(
            reason: isMissing
                ? "there is no such file; expected \(kind)"
                : "the file cannot be read: \(String(cString: strerror(code)))")
    }

    private static func isDirectory(_ status: stat) -> Bool { status.st_mode & S_IFMT == S_IFDIR }

    private static func aDirectory(_ kind: String) -> Closed { Closed(reason: "this is a directory; expected \(kind)") }
}
