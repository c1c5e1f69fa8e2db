import Foundation
import Scenario

/// Files that are read whole, for they are small.
enum ImportFile {
    /// A hundred times the longest report or usage trace that was seen; more is something else.
    private static let mostBytes = 256 << 20

    static func read(_ path: String, as kind: String) throws(ScenarioFault) -> [UInt8] {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
            throw .unreadable(path: path, reason: "there is no such file; expected \(kind)")
        }
        guard !isDirectory.boolValue else {
            throw .unreadable(path: path, reason: "this is a directory; expected \(kind)")
        }
        guard let file = FileHandle(forReadingAtPath: path),
            let data = try? file.read(upToCount: mostBytes + 1) ?? Data()
        else { throw .unreadable(path: path, reason: "the file cannot be read") }
        guard data.count <= mostBytes else {
            throw .unreadable(path: path, reason: "this is longer than \(kind) can be, \(mostBytes) bytes")
        }
        return Array(data)
    }
}
