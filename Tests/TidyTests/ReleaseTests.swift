import Foundation
import Testing

/// Compares the places that name the version, and checks what a release carries.
@Suite("the release")
struct ReleaseTests {
    private static func text(_ path: String) throws -> String {
        try String(contentsOf: TidyTests.root.appending(path: path), encoding: .utf8)
    }

    /// What stands between the quotes of the only line that begins so.
    private static func quoted(_ beginning: String, in path: String) throws -> String {
        let lines = try text(path).split(separator: "\n").filter { $0.hasPrefix(beginning) }
        try #require(lines.count == 1, "\(path): \(lines)")
        return lines[0].components(separatedBy: "\"")[1]
    }

    @Test("the program, its Python part and the changelog have one version")
    func oneVersion() throws {
        let version = try Self.quoted("package let plimsollVersion = \"", in: "Sources/RunFolders/BuildIdentity.swift")
        #expect(version.wholeMatch(of: /[0-9]+\.[0-9]+\.[0-9]+/) != nil)
        #expect(try Self.quoted("__version__ = \"", in: "Scripts/plimsoll_tools/__init__.py") == version)
        let headings = try Self.text("CHANGELOG.md").split(separator: "\n").filter { $0.hasPrefix("## ") }
        // What is not released yet stands above the newest release, in one section.
        let released = headings.first == "## Unreleased" ? headings.dropFirst() : headings[...]
        let newest = try #require(released.first)
        let heading = try #require(newest.wholeMatch(of: /## (.+) \([0-9]{4}-[0-9]{2}-[0-9]{2}\)/), "\(newest)")
        #expect(heading.1 == version)
    }

    @Test("the licence is whole: the Apache License 2.0 and the Runtime Library Exception")
    func licence() throws {
        let text = try Self.text("LICENSE")
        for part in ["1. Definitions.", "9. Accepting Warranty or Additional Liability.", "Runtime Library Exception"] {
            #expect(text.contains(part))
        }
    }

    /// Paths in the text, such as `Sources/Worlds`; a path ends before a blank or the quote.
    @Test("the files and folders that CONTRIBUTING names exist")
    func paths() throws {
        let path = /`((?:Sources|Scripts|\.ci)[^` ]*)/
        let paths = try Self.text("CONTRIBUTING.md").matches(of: path).map { String($0.1) }
        #expect(paths.count > 10)
        for path in paths {
            #expect(FileManager.default.fileExists(atPath: TidyTests.root.appending(path: path).path()), "\(path)")
        }
    }
}
