import Foundation
import Pressure
import Quantities
import Testing
import Workload

@testable import Scenario

/// The documentation page lists every key with its description from the definitions. `PLIMSOLL_RECORD=1` rewrites the
/// tables; the text around them is written by hand.
@Suite("the page about the scenario file")
struct ScenarioPageTests {
    private static let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Sources/plimsoll/plimsoll.docc/ScenarioFile.md")

    private static let presets = "presets"
    /// The section for keys without a section of their own.
    private static let top = "top"

    @Test("its tables hold every key, as the definitions describe it")
    func tables() throws {
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        let fresh = Self.rewritten(text)
        if ProcessInfo.processInfo.environment["PLIMSOLL_RECORD"] == "1" {
            return try fresh.write(to: Self.page, atomically: true, encoding: .utf8)
        }
        let (lines, expected) = (text.components(separatedBy: "\n"), fresh.components(separatedBy: "\n"))
        for (line, right) in zip(lines, expected) where line != right {
            Issue.record("the page says\n\(line)\nin place of\n\(right)")
            return
        }
        #expect(lines.count == expected.count)
    }

    @Test("every section with a table has keys, and the events' section has the actions")
    func sections() throws {
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        let sections = Self.sections(of: text)
        for section in sections where section != Self.presets {
            #expect(ScenarioKey.all.contains { $0.section(among: sections) == section }, "\(section)")
        }
        for action in ActionKind.all { #expect(text.contains("\n| `\(action.key)` |"), "\(action.key)") }
    }

    // MARK: The page

    /// The paths in a heading such as "### `apps.memory` and `processes.memory`: …", whose keys share a table.
    private static func sections(ofHeading line: String) -> [String] {
        if line == "## The keys at the top" { return [top] }
        if line == "### Presets" { return [presets] }
        return line.components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
    }

    private static func sections(of text: String) -> [String] {
        text.components(separatedBy: "\n").filter { $0.hasPrefix("##") }.flatMap { sections(ofHeading: $0) }
    }

    /// The page with correct tables: the first one below each heading that names keys.
    private static func rewritten(_ text: String) -> String {
        let sections = sections(of: text)
        var lines: [String] = []
        var awaited: [String] = []
        var isInTable = false
        for line in text.components(separatedBy: "\n") {
            if line.hasPrefix("#") { awaited = Self.sections(ofHeading: line) }
            let isRow = line.hasPrefix("|")
            if isRow, let first = awaited.first {
                lines += first == presets ? presetTable : table(of: awaited, sections)
                (awaited, isInTable) = ([], true)
            }
            if !isRow { isInTable = false }
            if !isInTable { lines.append(line) }
        }
        return lines.joined(separator: "\n")
    }

    /// The keys of the first section, and those of the others that differ from them, by their whole paths.
    private static func table(of shared: [String], _ sections: [String]) -> [String] {
        func depth(_ section: String) -> Int { section == top ? 0 : section.split(separator: ".").count }
        let tables = shared.map { section in
            ScenarioKey.all.filter { $0.section(among: sections) == section }
                .map { (name: $0.path.dropFirst(depth(section)).joined(separator: "."), key: $0) }
        }
        let own = tables.dropFirst().joined().filter { other in
            !tables[0].contains { $0.name == other.name && $0.key.says(theSameAs: other.key) }
        }
        let rows = tables[0] + own.map { (name: $0.key.path.joined(separator: "."), key: $0.key) }
        // A list of events has no keys that may be left out.
        let hasStandards = rows.contains { !$0.key.standard.isEmpty }
        func row(_ name: String, _ value: String, _ standard: String, _ help: String) -> String {
            "| \(name) | \(value) |" + (hasStandards ? "\(standard.isEmpty ? "" : " \(standard)") |" : "")
                + " \(help) |"
        }
        return [row("key", "value", "left out", "says"), hasStandards ? "|---|---|---|---|" : "|---|---|---|"]
            + rows.map { name, key in row("`\(name)`", key.value, key.standard, key.help) }
    }

    /// A row per setting, a column per preset.
    private static var presetTable: [String] {
        let presets = MonitorSettings.presets.map { preset in
            ScenarioKey.leaves(of: MonitorSettings.definition.encode(preset, Encoding(appNames: [])))
        }
        let names = MonitorSettings.presets.map { " `\($0.preset)` |" }.joined()
        let rows = presets[0].indices.filter { presets[0][$0].key != "preset" }.map { row in
            "| `\(presets[0][row].key)` |" + presets.map { " \($0[row].text) |" }.joined()
        }
        return ["| key |" + names, "|---|" + presets.map { _ in "---|" }.joined()] + rows
    }
}

/// A key of the format, in the words of the page.
struct ScenarioKey {
    /// `bursts[]` stands for an element of a list.
    let path: [String]
    let value: String
    let standard: String
    let help: String

    static let all = keys(of: ScenarioSchema.schema, at: [])

    /// Choices from a catalogue are not listed, so the page stays the same when the catalogue grows.
    private static let catalogues = [
        "policy": "a name of `plimsoll list policies`, or a mapping",
        "apps[].like": "a name of `plimsoll list apps`",
        "device.like": "a name of `plimsoll list devices`, or `none`",
    ]

    /// The section with the longest path that contains the key.
    func section(among sections: [String]) -> String {
        let plain = path.map { $0.replacing("[]", with: "") }
        for length in stride(from: plain.count - 1, to: 0, by: -1) {
            let section = plain.prefix(length).joined(separator: ".")
            if sections.contains(section) { return section }
        }
        return "top"
    }

    /// Defaults are not compared: those of a process follow from its kind.
    func says(theSameAs other: ScenarioKey) -> Bool { value == other.value && help == other.help }

    private static func keys(of record: JSON, at path: [String]) -> [ScenarioKey] {
        let required = texts(record["required"])
        return members(record["properties"]).flatMap { member in
            let here = path + [member.key]
            let help = string(member.value["description"]) ?? ""
            let key = ScenarioKey(
                path: here, value: catalogues[here.joined(separator: ".")] ?? words(member.value),
                standard: required.contains(member.key) ? "(required)" : standard(member.value, at: here),
                help: help.replacing("|", with: "\\|"))
            // Policies have pages of their own.
            return [key] + (here == ["policy"] ? [] : below(member.value, at: here))
        }
    }

    /// The keys of the records within a value.
    private static func below(_ schema: JSON, at path: [String]) -> [ScenarioKey] {
        if let items = schema["items"] { return below(items, at: path.dropLast() + ["\(path[path.count - 1])[]"]) }
        let forms = elements(schema["anyOf"]) + elements(schema["oneOf"]).map { $0.removing("required") }
        return keys(of: schema, at: path) + forms.flatMap { below($0, at: path) }
    }

    // MARK: What it takes

    private static func words(_ schema: JSON) -> String {
        let forms = elements(schema["anyOf"])
        if let constant = schema["const"] { return "`\(plain(constant))`" }
        if schema["enum"] != nil {
            var names: [String] = []
            for name in elements(schema["enum"]).filter({ $0 != .null }).map(plain) where !names.contains(name) {
                names.append(name)
            }
            return names.map { "`\($0)`" }.joined(separator: ", ")
        }
        let isShorthand: (JSON) -> Bool = { $0["properties"] == nil && $0["const"] == nil }
        if forms.contains(where: { $0["properties"] != nil }), let short = forms.first(where: isShorthand) {
            return "\(words(short)), or a mapping"
        }
        let word = forms.lazy.compactMap { $0["const"].map(plain) }.first ?? "none"
        if let form = forms.first(where: { $0["const"] != .string(word) }) { return "\(words(form)), or `\(word)`" }
        let variants = elements(schema["oneOf"]).flatMap { members($0["properties"]).map { "`\($0.key)`" } }
        if !variants.isEmpty { return "a mapping with one of \(variants.joined(separator: ", "))" }
        if let items = schema["items"] {
            if items["properties"] != nil { return "a list" }
            let many = ["an app's name": "names of apps", "a claim": "claims"]
            return "a list of \(many[words(items)] ?? words(items))"
        }
        if schema["properties"] != nil { return "a mapping" }
        return scalar(schema)
    }

    private static func scalar(_ schema: JSON) -> String {
        let kinds: [(String, String)] = [
            (ByteCount.pattern, "a size"), (ByteRate.pattern, "a rate"), (TimeSpan.pattern, "a time"),
            (Ratio.pattern, "a share"), ("(\(Ratio.pattern))|(\(ByteCount.pattern))", "a share or a size"),
            ("^[0-9]+/s$", "operations per second: `20000/s`"), ("^\(Codec<String>.nameForm)$", "a name"),
        ]
        let pattern = string(schema["pattern"])
        if let pattern, let kind = kinds.first(where: { $0.0 == pattern }) {
            return kind.1 + bounds(string(schema["$comment"]))
        }
        switch string(schema["type"]) ?? texts(schema["type"]).first {
        case "boolean": return "`true`, `false`"
        case "integer": return "a whole number" + range(schema)
        case "number": return "a number" + range(schema)
        case _ where pattern != nil: return "a claim"
        default: return schema["maxLength"] == nil ? "an app's name" : "a text"
        }
    }

    private static func range(_ schema: JSON) -> String {
        guard let lowest = schema["minimum"], let highest = schema["maximum"] else { return "" }
        return " from \(plain(lowest)) to \(plain(highest))"
    }

    /// `from 1MiB to 32GiB`, without the bounds that every key of the kind has.
    private static func bounds(_ text: String?) -> String {
        let parts = (text ?? "").components(separatedBy: " ")
        guard parts.count == 4 else { return "" }
        let usual = [
            "\(ByteCount.ordinary.upperBound)", "\(TimeSpan.ordinary.upperBound)", "\(ByteRate.ordinary.upperBound)",
            "\(Ratio.ordinary.upperBound)",
        ]
        let from = parts[1].first == "0" && !parts[1].contains(".") ? "" : " from \(parts[1])"
        return from + (usual.contains(parts[3]) ? "" : " to \(parts[3])")
    }

    // MARK: What holds where it is left out

    /// An app's defaults come from the archetype `plain`, and from the record where the archetype has none.
    private static let ofApps =
        standards("apps[].", AppProfile.definition, Archetype.plain.profile)
        + standards("apps[].observers[].", NotificationObserver.definition)
        + standards("apps[].memory.bursts[].", BurstProfile.definition)
        + standards("apps[].memory.trace.", TraceProfile.definition)

    private static func standards<Root>(
        _ prefix: String, _ definition: Definition<Root>, _ root: Root? = nil
    ) -> [(key: String, text: String)] {
        leaves(of: definition.encode(root ?? definition.base, Encoding(appNames: []))).map {
            (prefix + $0.key, $0.text)
        }
    }

    private static func standard(_ schema: JSON, at path: [String]) -> String {
        if path.first == "apps[]" {
            let key = path.joined(separator: ".")
            return ofApps.first { $0.key == key }?.text ?? ""
        }
        let form = elements(schema["anyOf"]).first
        guard let standard = schema["default"] ?? form?["default"], plain(standard) != "" else { return "" }
        return "`\(plain(standard))`"
    }

    /// The scalars of a tree with their paths.
    static func leaves(of tree: Tree) -> [(key: String, text: String)] {
        guard let entries = tree.entries else {
            return [("", tree.text.map { "`\($0)`" } ?? (tree.elements?.isEmpty == true ? "none" : ""))]
        }
        return entries.flatMap { entry in
            leaves(of: entry.value).map { key, text in (key.isEmpty ? entry.key : "\(entry.key).\(key)", text) }
        }
    }

    // MARK: JSON

    private static func members(_ json: JSON?) -> [JSON.Member] {
        if case .object(let members)? = json { members } else { [] }
    }

    private static func elements(_ json: JSON?) -> [JSON] {
        if case .array(let elements)? = json { elements } else { [] }
    }

    private static func string(_ json: JSON?) -> String? {
        if case .string(let text)? = json { text } else { nil }
    }

    private static func texts(_ json: JSON?) -> [String] { elements(json).compactMap(string) }

    private static func plain(_ json: JSON) -> String { string(json) ?? json.compact }
}
