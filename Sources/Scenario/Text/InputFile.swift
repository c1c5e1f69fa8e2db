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
        var isDirectory: ObjCBool = false
        let place = path == standardInput ? "/dev/stdin" : path
        guard FileManager.default.fileExists(atPath: place, isDirectory: &isDirectory) else {
            throw .unreadable(path: path, reason: "there is no such file; expected \(kind)")
        }
        guard !isDirectory.boolValue else {
            throw .unreadable(path: path, reason: "this is a directory; expected \(kind)")
        }
        // Read to the end rather than to a known size, for it may come through a pipe.
        guard let file = FileHandle(forReadingAtPath: place),
            let data = try? file.read(upToCount: mostBytes + 1) ?? Data()
        else { throw .unreadable(path: path, reason: "the file cannot be read") }
        guard data.count <= mostBytes else {
            throw .unreadable(path: path, reason: "this is longer than \(kind) can be, \(mostBytes) bytes")
        }
        return Array(data)
    }
}
