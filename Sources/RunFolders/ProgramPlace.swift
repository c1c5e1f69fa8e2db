import Foundation

/// The folders in which the running program and its Python part lie.
package struct ProgramPlace {
    /// The program's own file, without links; nil if the kernel does not say.
    package let file: String?

    /// The place of the running program.
    package static var current: ProgramPlace {
        guard let path = realpath("/proc/self/exe", nil) else { return ProgramPlace(file: nil) }
        defer { free(path) }
        return ProgramPlace(file: String(cString: path))
    }

    /// The folder that contains `bin`: the root of an unpacked package.
    private var prefix: String? {
        guard let file else { return nil }
        let folder = URL(filePath: file).deletingLastPathComponent()
        guard folder.lastPathComponent == "bin" else { return nil }
        return folder.deletingLastPathComponent().standardizedFileURL.path(percentEncoded: false).withoutSlash
    }

    /// The environment that an unpacked archive has for Python.
    private var ownEnvironment: String? { prefix.map { $0 + "/lib/plimsoll/venv" } }

    /// The program of an unpacked archive that makes its environment; nil if there is none.
    package var ownSetup: String? {
        guard let path = prefix.map({ $0 + "/lib/plimsoll/setup-python" }) else { return nil }
        return access(path, X_OK) == 0 ? path : nil
    }

    /// The checkout of the sources, if the program lies in its build folder.
    package var checkout: String? {
        guard let file else { return nil }
        var folder = URL(filePath: file).deletingLastPathComponent()
        while folder.path() != "/" {
            if folder.lastPathComponent == ".build" {
                let root = folder.deletingLastPathComponent().path(percentEncoded: false).withoutSlash
                return access(root + "/Scripts/setup.sh", X_OK) == 0 ? root : nil
            }
            folder = folder.deletingLastPathComponent()
        }
        return nil
    }

    /// Where an interpreter may be, the preferred one first.
    package var pythons: [String] {
        [ownEnvironment, checkout.map { $0 + "/.venv" }].compactMap { $0.map { $0 + "/bin/python" } }
    }

    /// The program of that name on PATH, or of that path; nil if there is none.
    package static func onPath(_ name: String) -> String? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let candidates = name.contains("/") ? [name] : folders.map { "\($0)/\(name)" }
        return candidates.first { candidate in
            var status = stat()
            return stat(candidate, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(candidate, X_OK) == 0
        }
    }
}

extension String {
    fileprivate var withoutSlash: String { count > 1 && hasSuffix("/") ? String(dropLast()) : self }
}
