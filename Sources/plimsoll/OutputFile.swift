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

    /// Writes a file in the place of what is there, if anything is.
    static func replace(_ path: String, _ bytes: [UInt8]) throws {
        let draft: FileDraft
        do {
            // A name of this process: no other's draft, and no file of the user's.
            draft = try FileDraft(of: path, named: "\(path).\(getpid()).part")
        } catch {
            throw Failure(.cannotCreate, "cannot create \(path): \(String(cString: strerror(error.code)))")
        }
        do {
            try draft.sink.write(bytes.span)
            try draft.settle()
        } catch {
            throw Failure(cannotWrite: error)
        }
    }
}

/// A file under another name until it is whole: then it takes the place of what is there, if anything is. One that is
/// given up leaves nothing.
struct FileDraft: ~Copyable {
    let sink: FileSink
    private let path: String
    private let draft: String

    /// - Parameters:
    ///   - path: Where the file is to be; failures speak of it.
    ///   - draft: The other name; without it, one for a folder of our own. What an attempt that was killed has left
    ///     there is written anew.
    init(of path: String, named draft: String? = nil) throws(OutputFailure) {
        self.path = path
        self.draft = draft ?? "\(path).part"
        unlink(self.draft)
        sink = try FileSink(creating: self.draft, for: path)
    }

    consuming func settle() throws(OutputFailure) {
        guard rename(draft, path) == 0 else { throw OutputFailure(path: path, code: errno) }
    }

    /// Of what was settled there is nothing left under this name.
    deinit { unlink(draft) }
}

extension Failure {
    init(cannotWrite failure: OutputFailure) { self.init(.cannotWrite, "\(failure)") }
}
