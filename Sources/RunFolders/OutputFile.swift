import Foundation
import Metrics

/// A single file that a command writes: whole, or not at all.
package enum OutputFile {
    /// Refuses to overwrite the input, and any other existing file unless `force` allows it.
    ///
    /// - Parameters:
    ///   - input: The file that the command reads, and its kind in words.
    ///   - option: The option that named the path.
    package static func check(
        _ path: String, force: Bool, keeping input: (path: String, kind: String), option: String
    ) throws {
        var status = stat()
        // A dangling link counts as existing: lstat does not follow it.
        guard lstat(path, &status) == 0 else { return }
        guard !RunDirectory.isSame(path, input.path) else {
            throw Failure(
                .cannotCreate, "\(path) is the \(input.kind) itself and would be overwritten; give another \(option)")
        }
        let kind = stat(path, &status) == 0 ? status.st_mode & S_IFMT : S_IFREG
        guard kind != S_IFDIR else { throw Failure(.cannotCreate, "\(path) is a folder; give another \(option)") }
        guard kind == S_IFREG else {
            throw Failure(.cannotCreate, "\(path) is not a plain file; give another \(option)")
        }
        guard force else {  // promise: file-kept
            throw Failure(.cannotCreate, "\(path) exists already; give another \(option), or --force to overwrite")
        }
    }

    /// Writes a file that does not exist yet.
    package static func create(_ path: String, _ bytes: [UInt8]) throws {
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

    /// Writes a file, in place of an existing one if there is one.
    package static func replace(_ path: String, _ bytes: [UInt8]) throws {
        let draft: FileDraft
        do {
            // The process number keeps this draft apart from other processes' drafts and from the user's files.
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

/// A file that has another name until it is complete, and then replaces the existing one. An abandoned draft is
/// removed.
struct FileDraft: ~Copyable {
    let sink: FileSink
    private let path: String
    private let draft: String

    /// - Parameters:
    ///   - path: The final path; failures name it.
    ///   - draft: The name until then; by default `path` with `.part`, for a folder that only plimsoll writes. The
    ///     draft of an attempt that was killed is overwritten.
    init(of path: String, named draft: String? = nil) throws(OutputFailure) {
        self.path = path
        self.draft = draft ?? "\(path).part"
        unlink(self.draft)
        sink = try FileSink(creating: self.draft, for: path)
    }

    /// Gives the file its final name.
    consuming func settle() throws(OutputFailure) {
        guard rename(draft, path) == 0 else { throw OutputFailure(path: path, code: errno) }
    }

    /// After `settle` no file has this name, and unlink does nothing.
    deinit { unlink(draft) }
}
