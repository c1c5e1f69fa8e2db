import Foundation

/// A folder that this process writes into, and the folders that were made for it.
///
/// As long as this lives nobody else of plimsoll takes the folder. The lock is the folder's own (flock(2)): it leaves
/// no file behind, and it ends with the process, however that ends. A file system without such locks gives none.
final class FolderHold {
    let path: String
    private let descriptor: Int32
    /// Of this call, the outermost first.
    private let made: [String]

    /// Makes the folder and those above it, as far as they are missing, and takes it.
    init(making path: String) throws {
        var made: [String] = []
        do {
            try FolderHold.make(path, noting: &made)
            (self.path, self.made) = (path, made)
            descriptor = try FolderHold.take(path)
        } catch {
            FolderHold.remove(made)
            throw error
        }
    }

    /// Makes `FOLDER/NAME`, or the first `FOLDER/NAME-2`, -3, … that is free, and takes it. Whoever asks at the same
    /// time gets another.
    init(makingFree name: String, in folder: String) throws {
        var made: [String] = []
        do {
            try FolderHold.make(folder, noting: &made)
            var number = 1
            while true {
                let path = "\(folder)/\(name)" + (number == 1 ? "" : "-\(number)")
                number += 1
                guard mkdir(path, 0o755) == 0 else {
                    let code = errno
                    if code == EEXIST { continue }
                    throw Failure(.cannotCreate, "cannot create \(path): \(String(cString: strerror(code)))")
                }
                // Somebody who was told this name may have been faster; then it is theirs.
                guard let taken = try? FolderHold.take(path) else { continue }
                (self.path, descriptor, self.made) = (path, taken, made + [path])
                return
            }
        } catch {
            FolderHold.remove(made)
            throw error
        }
    }

    deinit { close(descriptor) }

    /// Whether somebody writes into the folder at this moment.
    static func isHeld(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    /// Takes away again the folders that were made, as far as nothing is in them.
    func withdraw() { FolderHold.remove(made) }

    private static func remove(_ folders: [String]) {
        for folder in folders.reversed() { rmdir(folder) }
    }

    private static func make(_ path: String, noting made: inout [String]) throws {
        var built = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            built += built.isEmpty || built == "/" ? String(part) : "/" + part
            if mkdir(built, 0o755) == 0 {
                made.append(built)
                continue
            }
            let code = errno
            var isFolder: ObjCBool = false
            if code == EEXIST, FileManager.default.fileExists(atPath: built, isDirectory: &isFolder), isFolder.boolValue
            {
                continue
            }
            throw Failure(.cannotCreate, "cannot create \(path): \(built): \(String(cString: strerror(code)))")
        }
    }

    /// The descriptor that holds the lock.
    private static func take(_ path: String) throws -> Int32 {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw Failure(.cannotCreate, "cannot look into \(path): \(String(cString: strerror(errno)))")
        }
        let isBusy = flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
        var (here, there) = (stat(), stat())
        let isGone = fstat(descriptor, &here) != 0 || stat(path, &there) != 0 || here.st_ino != there.st_ino
        guard !isBusy, !isGone else {
            close(descriptor)
            throw Failure(.cannotCreate, "\(path) is being written by another plimsoll; give another --out")
        }
        return descriptor
    }
}
