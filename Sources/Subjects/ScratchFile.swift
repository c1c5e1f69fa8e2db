import Foundation

/// Bytes as a file without a name, which is gone with the value.
final class ScratchFile {
    private let descriptor: Int32
    /// The path under which this process opens it.
    let path: String

    init(_ bytes: [UInt8]) {
        // In memory, where the host has such a folder.
        let memory = "/dev/shm"
        let folder = access(memory, W_OK) == 0 ? memory : FileManager.default.temporaryDirectory.path()
        var name = Array("\(folder)/plimsoll-XXXXXX".utf8CString)
        descriptor = mkstemp(&name)
        precondition(descriptor >= 0, "no file for an input: \(errno)")
        unlink(name)
        path = "/proc/self/fd/\(descriptor)"
        var done = 0
        while done < bytes.count {
            let written = bytes[done...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            precondition(written > 0, "a file takes no bytes: \(errno)")
            done += written
        }
    }

    deinit { close(descriptor) }
}

/// A folder that only this value has; it is gone with the value.
final class ScratchFolder {
    let path: String

    /// - Parameter files: The contents by name.
    init(_ files: [(name: String, bytes: [UInt8])]) {
        path = FileManager.default.temporaryDirectory.appending(path: "plimsoll-subject-\(UUID().uuidString)").path()
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            for (name, bytes) in files { try Data(bytes).write(to: URL(filePath: "\(path)/\(name)")) }
        } catch {
            preconditionFailure("no folder for an input: \(error)")
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
