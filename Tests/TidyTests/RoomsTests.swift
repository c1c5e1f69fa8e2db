import Foundation
import Testing

/// The engine stays in rooms: state is counted, type by type.
@Suite("tidy rooms")
struct RoomsTests {
    /// A type and how many properties it stores.
    struct Room {
        let name: String
        let path: String
        var stored = 0
    }

    /// Every struct and class of the sources, as far as lines tell: a property is stored unless its braces open a
    /// getter.
    static let rooms: [Room] = TidyTests.sources.filter { $0.module != "Tests" }.flatMap { source -> [Room] in
        let patterns = Patterns()
        var (rooms, open, depth) = ([Room](), [(room: Room?, depth: Int)](), 0)
        for (index, line) in source.lines.enumerated() {
            let code = line.split(separator: "//", maxSplits: 1, omittingEmptySubsequences: false)[0]
            if let opened = typeDeclared(in: code, patterns) {
                open.append((opened.isStored ? Room(name: opened.name, path: source.path) : nil, depth))
            } else if let last = open.last, depth == last.depth + 1, last.room != nil {
                let next = source.lines.dropFirst(index + 1).first ?? ""
                open[open.count - 1].room?.stored += storedProperties(in: code, next: next, patterns)
            }
            depth += code.count { $0 == "{" } - code.count { $0 == "}" }
            while let last = open.last, depth <= last.depth {
                if let room = open.removeLast().room { rooms.append(room) }
            }
        }
        return rooms
    }

    private static let modifiers =
        #"(?:@\w+(?:\([^)]*\))?\s+)*"#
        + #"(?:(?:public|private|fileprivate|final|indirect|package|unowned|weak|lazy)(?:\(set\))?\s+)*"#

    /// Lines that declare a type, and lines that declare properties. A file has them once, because to read a pattern
    /// takes longer than to match it.
    private struct Patterns {
        let type = try? Regex(#"^\s*"# + modifiers + #"(struct|class|enum|extension|protocol)\s+([A-Za-z0-9_.]+)"#)
        let property = try? Regex(#"^\s*"# + modifiers + #"(?:var|let)\s+(\w+(?:,\s*\w+)*|\()"#)
    }

    private static func typeDeclared(in code: Substring, _ patterns: Patterns) -> (name: String, isStored: Bool)? {
        guard code.contains("{"), let pattern = patterns.type, let match = code.firstMatch(of: pattern),
            let kind = match.output[1].substring, let name = match.output[2].substring
        else { return nil }
        return (String(name), kind == "struct" || kind == "class")
    }

    private static func storedProperties(in code: Substring, next: Substring, _ patterns: Patterns) -> Int {
        guard let pattern = patterns.property, let match = code.firstMatch(of: pattern) else { return 0 }
        if let brace = code.firstIndex(of: "{"), !code[..<brace].contains("=") {
            let rest = code[code.index(after: brace)...].trimmingCharacters(in: .whitespaces)
            let first = rest.isEmpty ? next.trimmingCharacters(in: .whitespaces) : rest
            guard first.hasPrefix("didSet") || first.hasPrefix("willSet") else { return 0 }
        }
        return (match.output[1].substring ?? "").count { $0 == "," } + 1
    }

    @Test("no type stores more than 25 properties, and the engine's core no more than 20")
    func stored() {
        #expect(Self.rooms.count > 300, "the types were not found")
        for room in Self.rooms where room.stored > 25 {
            Issue.record("\(room.path): \(room.name) stores \(room.stored) properties")
        }
        let core = Self.rooms.filter { $0.name == "Simulation" }.map(\.stored)
        #expect(core.count == 1 && core[0] > 10 && core[0] <= 20, "the core stores \(core)")
    }

    @Test("the engine's core is at hand in its own files alone; other flows name the components that they use")
    func access() throws {
        let engine = TidyTests.sources.filter { $0.module == "Simulation" }
        let own = engine.filter { source in source.lines.contains { $0.hasPrefix("extension Simulation") } }
        #expect((1...9).contains(own.count), "\(own.map(\.path))")
        for source in engine where !source.path.hasSuffix("/Simulation.swift") {
            for line in source.lines where !line.hasPrefix("extension ") {
                guard let type = line.firstRange(of: ": Simulation")?.upperBound,
                    line[type...].first?.isLetter != true
                else { continue }
                // A glance is made from the run, and keeps nothing of it.
                #expect(line.hasSuffix("init(_ run: Simulation) {"), "\(source.path): \(line)")
            }
        }
        let steps = try #require(engine.first { $0.path.hasSuffix("/EngineSteps.swift") })
        let body = steps.lines.drop { !$0.hasPrefix("protocol EngineSteps") }.prefix { $0 != "}" }
        let count = body.count { $0.hasPrefix("    func ") }
        #expect((1...12).contains(count), "the engine lends \(count) steps to other flows")
        for flow in ["Parts", "BackgroundServices", "Prewarming", "StartState", "Invariants"] {
            let room = try #require(Self.rooms.first { $0.name == flow })
            #expect(room.stored <= 10, "\(flow) uses \(room.stored) components")
        }
    }
}
