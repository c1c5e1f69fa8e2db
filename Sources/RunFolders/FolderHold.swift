import Foundation

/// A folder that this process writes into, and the parent folders made for it.
///
/// While this object lives, no other plimsoll process can take the folder. The lock is on the folder itself
/// (flock(2)): it leaves no file behind, and the kernel releases it when the process ends. On a file system without
/// such locks nothing is locked.
final class FolderHold {
    let path: String
    private let descriptor: Int32
    /// The folders that this call made, the outermost first.
    private let made: [String]

    /// Makes the folder and its missing parents, and takes it.
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

    /// Makes `FOLDER/NAME`, or the first free one of `FOLDER/NAME-2`, -3, …, and takes it. Processes that do this at
    /// the same time get different folders.
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
                // Another process may have been given this name as its --out and have taken the folder first.
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

    /// Whether a plimsoll process is writing into the folder.
    static func isHeld(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    /// Removes those of the folders made by this call that are empty.
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

    /// Locks the folder; returns the descriptor that holds the lock.
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
