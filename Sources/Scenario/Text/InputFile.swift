import Foundation

/// Files that are read completely before they are parsed.
public enum InputFile {
    /// A hundred times the longest scenario seen so far; anything longer is no scenario.
    public static let longestScenario = TextLimits.bytes

    /// The command-line name of standard input; `./-` is a file of that name.
    public static let standardInput = "-"

    /// - Parameters:
    ///   - path: A path, or `-` for standard input.
    ///   - kind: The expected kind of file, with an article.
    ///   - mostBytes: A longer file is refused.
    /// - Throws: Why the file cannot be read, or that it is too long. `read` reads at most one byte beyond the limit.
    public static func read(
        _ path: String, as kind: String, atMost mostBytes: Int = longestScenario
    ) throws(ScenarioFault) -> [UInt8] {
        let file: FileHandle
        do throws(Closed) {
            file = try open(path == standardInput ? "/dev/stdin" : path, as: kind)
        } catch {
            throw .unreadable(path: path, reason: error.reason)
        }
        var status = stat()
        if fstat(file.fileDescriptor, &status) == 0, isPlain(status), Int(status.st_size) > mostBytes {
            throw tooLong(path, kind, mostBytes, "has \(status.st_size) bytes")
        }
        // Reads to the end rather than to a known size, because the file may be a pipe.
        guard let data = try? file.read(upToCount: mostBytes + 1) ?? Data() else {
            throw .unreadable(path: path, reason: "the file cannot be read")
        }
        guard data.count <= mostBytes else { throw tooLong(path, kind, mostBytes, "goes on") }
        return Array(data)
    }

    private static func tooLong(_ path: String, _ kind: String, _ mostBytes: Int, _ length: String) -> ScenarioFault {
        .invalid([
            Diagnostic(
                location: .file(path, line: 1, column: 1),
                message: "the file \(length); \(kind) may have at most \(mostBytes) bytes")
        ])
    }

    /// Why a file cannot be opened, in words.
    public struct Closed: Error {
        /// The reason, for a message.
        public let reason: String
    }

    /// Opens a file that is read piece by piece.
    ///
    /// - Parameter kind: The expected kind of file, with an article.
    public static func open(_ path: String, as kind: String) throws(Closed) -> FileHandle {
        let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw closed(errno, kind) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) != 0 || !isDirectory(status) else { throw aDirectory(kind) }
        return file
    }

    /// Why the file cannot be opened, or nil if it seems readable. Does not open it, because a pipe can be opened only
    /// once.
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

    private static func isPlain(_ status: stat) -> Bool { status.st_mode & S_IFMT == S_IFREG }

    private static func isDirectory(_ status: stat) -> Bool { status.st_mode & S_IFMT == S_IFDIR }

    private static func aDirectory(_ kind: String) -> Closed { Closed(reason: "this is a directory; expected \(kind)") }
}
