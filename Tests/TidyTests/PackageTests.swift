import Foundation
import Testing

/// What `Package.swift` says depends on where the package lies.
@Suite("the package")
struct PackageTests {
    @Test(
        "only a package that was checked out for another one does without the flag",
        arguments: [("scratch/checkouts/plimsoll", false), ("checkouts/work/plimsoll", true), ("checkouts", true)])
    func flags(path: String, isFast: Bool) throws {
        let root = FileManager.default.temporaryDirectory.appending(path: "plimsoll-package-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: root) }
        let folder = root.appending(path: path)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            at: TidyTests.root.appending(path: "Package.swift"), to: folder.appending(path: "Package.swift"))
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["swift", "package", "--package-path", folder.path(), "dump-package"]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0 && text.contains("ExistentialAny"))
        #expect(text.contains("enforce-exclusivity") == isFast)
    }
}
