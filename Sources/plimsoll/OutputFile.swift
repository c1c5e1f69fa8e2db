import ArgumentParser
import Foundation
import Metrics

/// A single file that a command was asked to write: it is there whole, or not at all.
enum OutputFile {
    /// Refuses what would be lost by writing: a file that is there, unless `force` says so, and the input always.
    ///
    /// - Parameters:
    ///   - input: The file that the command reads, and what it is.
    ///   - option: What named the path.
    static func check(
        _ path: String, force: Bool, keeping input: (path: String, kind: String), option: String
    ) throws {
        var status = stat()
        // A link to nowhere is there, too.
        guard lstat(path, &status) == 0 else { return }
        guard !RunDirectory.isSame(path, input.path) else {
            throw Failure(
                .cannotCreate, "\(path) is the \(input.kind) itself and would be overwritten; give another \(option)")
        }
        let kind = stat(path, &status) == 0 ? status.st_mode & S_IFMT : S_IFREG
        guard kind != S_IFDIR else { throw Failure(.cannotCreate, "\(path) is a folder; give another \(option)") }
        guard kind == S_IFREG else { throw Failure(.cannotCreate, "\(path) is no plain file; give another \(option)") }
        guard force else {
            throw Failure(.cannotCreate, "\(path) exists already; give another \(option), or --force to overwrite")
        }
    }

    /// Writes a file that is not there yet.
    static func create(_ path: String, _ bytes: [UInt8]) throws {
        do {
            let sink = try FileSink(creating: path)
            do {
                try sink.write(bytes.span)
            } catch {
                unlink(path)
                throw Failure(.cannotWrite, "cannot write \(path): \(String(cString: strerror(error.code)))")
            }
        } catch let failure as OutputFailure {
            throw Failure(.cannotCreate, "cannot create \(path): \(String(cString: strerror(failure.code)))")
        }
    }

    /// Writes a file in the place of what is there, if anything is: under another name first, then moved.
    static func replace(_ path: String, _ bytes: [UInt8]) throws {
        // Of this process: no other's draft, and no file of the user's.
        let draft = "\(path).\(getpid()).part"
        unlink(draft)
        try create(draft, bytes)
        guard rename(draft, path) == 0 else {
            let code = errno
            unlink(draft)
            throw Failure(.cannotWrite, "cannot write \(path): \(String(cString: strerror(code)))")
        }
    }
}

extension ParsableArguments {
    /// A path without a letter would be the root of the file system, or nothing at all.
    func refuseEmpty(_ path: String?, _ option: String) throws {
        if path?.isEmpty == true { throw ValidationError("\(option) is empty; name what to write") }
    }
}
