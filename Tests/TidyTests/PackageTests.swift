import Foundation
import Testing

/// Checks `Package.swift` as SwiftPM interprets it.
@Suite("the package")
struct PackageTests {
    private static func within(_ body: (URL) throws -> Void) throws {
        let root = FileManager.default.temporaryDirectory.appending(path: "plimsoll-package-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: root) }
        try body(root)
    }

    private static func run(_ words: [String], in folder: URL) throws -> (status: Int32, text: String) {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = words
        process.currentDirectoryURL = folder
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }

    private static func write(_ text: String, _ path: String, in folder: URL) throws {
        let file = folder.appending(path: path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    @Test(
        "is built with the flag wherever it lies, fetched from a repository or a registry as well",
        arguments: ["plimsoll", "checkouts/plimsoll", "registry/downloads/apps/plimsoll/1.0.0"])
    func flags(path: String) throws {
        try Self.within { root in
            let manifest = try String(contentsOf: TidyTests.root.appending(path: "Package.swift"), encoding: .utf8)
            try Self.write(manifest, "\(path)/Package.swift", in: root)
            let (status, text) = try Self.run(["swift", "package", "dump-package"], in: root.appending(path: path))
            #expect(status == 0 && text.contains("enforce-exclusivity"), "\(text)")
        }
    }

    /// Builds a library with only the flag, as a tagged version in a repository, and a package that depends on it.
    private static func buildDependent(toolsVersion: String, in root: URL) throws -> (status: Int32, text: String) {
        try write(
            """
            // swift-tools-version: \(toolsVersion)
            import PackageDescription
            let package = Package(
                name: "fast", products: [.library(name: "Fast", targets: ["Fast"])],
                targets: [.target(name: "Fast", swiftSettings: [.unsafeFlags(["-enforce-exclusivity=unchecked"])])])
            """, "fast/Package.swift", in: root)
        try write("public let fast = 1\n", "fast/Sources/Fast/Fast.swift", in: root)
        let git = ["git", "-c", "user.name=Test", "-c", "user.email=test@example.org"]
        for words in [["init", "-q"], ["add", "."], ["commit", "-q", "-m", "First"], ["tag", "1.0.0"]] {
            let (status, text) = try run(git + words, in: root.appending(path: "fast"))
            try #require(status == 0, "\(text)")
        }
        try write(
            """
            // swift-tools-version: 6.2
            import PackageDescription
            let package = Package(
                name: "user",
                dependencies: [.package(url: "file://\(root.appending(path: "fast").path())", exact: "1.0.0")],
                targets: [.target(name: "User", dependencies: [.product(name: "Fast", package: "fast")])])
            """, "user/Package.swift", in: root)
        try write("import Fast\nlet user = fast\n", "user/Sources/User/User.swift", in: root)
        return try run(
            ["swift", "build", "--disable-dependency-cache", "--target", "User"], in: root.appending(path: "user"))
    }

    @Test("others may depend on a version of it, flag and all, for it asks for SwiftPM 6.2 or newer")
    func dependents() throws {
        let manifest = try String(contentsOf: TidyTests.root.appending(path: "Package.swift"), encoding: .utf8)
        let first = try #require(manifest.split(separator: "\n").first)
        try #require(first.hasPrefix("// swift-tools-version: "))
        try Self.within { root in
            let version = String(first.dropFirst("// swift-tools-version: ".count))
            let (status, text) = try Self.buildDependent(toolsVersion: version, in: root)
            #expect(status == 0, "\(text)")
        }
        try Self.within { root in
            let (status, text) = try Self.buildDependent(toolsVersion: "6.1", in: root)
            #expect(status != 0 && text.contains("unsafe build flags"), "SwiftPM no longer tells them apart: \(text)")
        }
    }
}
