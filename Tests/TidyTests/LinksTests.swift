import Foundation
import Testing

/// Follows the links and pictures of the pages, as a web view of the repository does and as DocC does.
///
/// A web view follows paths of files, DocC `doc:` links. In Markdown the first definition of a link holds. So a page of
/// a catalogue defines its links twice: at the top, inside a directive that DocC skips and a web view does not know,
/// and at the end.
@Suite("links of the pages")
struct LinksTests {
    /// The pages at the root and in the catalogues, as paths from the root.
    private static let pages: [String] = {
        let files = FileManager.default.enumerator(atPath: TidyTests.root.appending(path: "Sources").path())
        let catalogues = (files?.compactMap { $0 as? String } ?? []).filter { $0.contains(".docc/") }
        return ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
            + catalogues.filter { $0.hasSuffix(".md") }.sorted().map { "Sources/" + $0 }
    }()

    @Test("every link and picture of a page leads to a file and a heading, on a web view and in DocC")
    func links() throws {
        #expect(Self.pages.count > 30)
        for path in Self.pages {
            for fault in Self.faults(of: try Self.text(path), at: path) { Issue.record("\(path): \(fault)") }
        }
        #expect(Self.links(in: try Self.text("README.md")).count > 20)
    }

    @Test("a link or picture that leads nowhere, or only one reader follows, is found")
    func faults() {
        let page = """
            # A page

            <!-- A web view takes the links from these lines, DocC from the last ones.
            @Comment {
            -->
            [Tuning]: Tuning.md#from-here
            [Unused]: Performance.md
            <!--
            } -->

            See [tuning][Tuning], [more][Missing], <doc:Clusters>, [a page](Devices.md), ![a picture](Resources/a.png).
            `[code](is-no-link.md)`

            [Tuning]: doc:Tuning
            """
        #expect(
            Self.faults(of: page, at: "Sources/plimsoll/plimsoll.docc/Page.md") == [
                "Resources/a.png: no such file", "Resources/a.png: DocC finds pictures beside the page only",
                "Devices.md: DocC follows links only that the page defines at its end",
                "Tuning.md#from-here: no such heading", "<doc: a web view cannot follow it",
                "the links used are [\"Missing\", \"Tuning\"], those at the top are [\"Tuning\", \"Unused\"]",
                "its last lines must be [\"[Tuning]: doc:Tuning\", \"[Unused]: doc:Performance\"]",
            ])
    }

    // MARK: A page

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: TidyTests.root.appending(path: path), encoding: .utf8)
    }

    private static func faults(of text: String, at path: String) -> [String] {
        let folder = String(path.prefix(upTo: path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex))
        let isInCatalogue = folder.hasSuffix(".docc/")
        let definitions = definitions(in: text)
        let top = definitions.filter { !isForDocC($0.target) }
        let inText = links(in: text).filter { !$0.contains("://") }
        var faults: [String] = []
        for target in inText + top.map(\.target) {
            if let fault = fault(ofTarget: target, at: path, folder) { faults.append("\(target): \(fault)") }
            guard isInCatalogue, inText.contains(target) else { continue }
            if target.hasSuffix(".png") {
                if target.contains("/") { faults.append("\(target): DocC finds pictures beside the page only") }
            } else {
                faults.append("\(target): DocC follows links only that the page defines at its end")
            }
        }
        if prose(of: text).contains("<doc:") { faults.append("<doc: a web view cannot follow it") }
        let used = Set(prose(of: text).matches(of: /\]\[([A-Za-z]+)\]/).map { String($0.1) }).sorted()
        let defined = top.map(\.label).sorted()
        if used != defined { faults.append("the links used are \(used), those at the top are \(defined)") }
        let last = top.map { "[\($0.label)]: " + inDocC($0.target, folder) }
        let ends = text.split(separator: "\n").suffix(last.count).map(String.init) == last
        if !ends || definitions.count != 2 * top.count { faults.append("its last lines must be \(last)") }
        return faults
    }

    /// The page without blocks and pieces of code.
    private static func prose(of text: String) -> String {
        let outside = text.components(separatedBy: "\n```").enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
        return outside.joined(separator: "\n").replacing(/`[^`\n]+`/, with: "")
    }

    /// The targets of links and pictures within the text, pictures first.
    private static func links(in text: String) -> [String] {
        let targets = prose(of: text).matches(of: /\]\(([^)\s]+)\)/).map { String($0.1) }
        return targets.filter { $0.hasSuffix(".png") } + targets.filter { !$0.hasSuffix(".png") }
    }

    private static func definitions(in text: String) -> [(label: String, target: String)] {
        text.split(separator: "\n").compactMap { line in
            line.wholeMatch(of: /\[([A-Za-z]+)\]: (\S+)/).map { (String($0.1), String($0.2)) }
        }
    }

    private static func isForDocC(_ target: String) -> Bool {
        target.hasPrefix("doc:") || target.hasPrefix("/documentation/")
    }

    // MARK: A target

    private static func parts(of target: String) -> (file: String, anchor: String?) {
        let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        return (parts[0], parts.count > 1 ? parts[1] : nil)
    }

    private static func headings(of path: String) -> [String] {
        ((try? text(path)) ?? "").split(separator: "\n").filter { $0.hasPrefix("#") }.map { line in
            line.drop { $0 == "#" }.trimmingCharacters(in: .whitespaces).replacing("`", with: "")
        }
    }

    private static func fault(ofTarget target: String, at path: String, _ folder: String) -> String? {
        let (file, anchor) = parts(of: target)
        let there = file.isEmpty ? path : folder + file
        guard FileManager.default.fileExists(atPath: TidyTests.root.appending(path: there).path()) else {
            return "no such file"
        }
        guard let anchor, !headings(of: there).contains(where: { onTheWeb($0) == anchor }) else { return nil }
        return "no such heading"
    }

    /// A heading's anchor on a web view.
    private static func onTheWeb(_ heading: String) -> String {
        String(heading.lowercased().filter { $0.isLetter || $0.isNumber || " -_".contains($0) })
            .replacing(" ", with: "-")
    }

    /// What DocC needs in place of a path: the page's name; for a page of another catalogue, its place on the site.
    private static func inDocC(_ target: String, _ folder: String) -> String {
        let (file, anchor) = parts(of: target)
        let heading = anchor.flatMap { anchor in headings(of: folder + file).first { onTheWeb($0) == anchor } }
        let words = heading?.split { $0.isWhitespace || $0 == "-" }.map { $0.filter { !$0.isPunctuation } }
        let fragment = words.map { "#" + $0.joined(separator: "-") } ?? ""
        let names = file.dropLast(".md".count).split(separator: "/")
        let page = names.last.map(String.init) ?? ""
        guard names.count > 1 else { return "doc:\(page)\(fragment)" }
        return "/documentation/\(names[names.count - 3])/\(page)".lowercased() + fragment
    }
}
