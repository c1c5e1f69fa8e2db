import Foundation
import Testing

/// Checks what the compiler does not: dependencies between modules, the size of functions and lines, and banned words.
@Suite("tidy")
struct TidyTests {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The modules that each module may import, read from the diagram of the architecture, so that the diagram stays
    /// true.
    static let arrows: [String: Set<String>] = {
        let page = root.appending(path: "Sources/Simulation/Simulation.docc/Architecture.md")
        var arrows: [String: Set<String>] = [:]
        for line in ((try? String(contentsOf: page, encoding: .utf8)) ?? "").split(separator: "\n") {
            let sides = line.components(separatedBy: "->").map { $0.trimmingCharacters(in: .whitespaces) }
            guard sides.count == 2, !sides[0].contains(" "), line.first?.isLetter == true else { continue }
            arrows[sides[0]] = Set(sides[1].components(separatedBy: ", ").filter { !$0.isEmpty })
        }
        return arrows
    }()

    /// External packages and system modules, and the modules that may import them.
    static let foreign: [String: Set<String>] = [
        "Glibc": ["Memory", "Metrics", "Experiments", "Explanation"],
        "HeapModule": ["Simulation"], "DequeModule": ["Simulation"], "BitCollections": ["Simulation"],
        "BasicContainers": ["Memory", "Quantities", "Simulation", "Workload"],
        "Yams": ["Scenario"], "ArgumentParser": ["plimsoll", "soak"],
        "Dispatch": ["Explanation", "Survival"],
        "Synchronization": ["Reclaim", "Explanation", "Survival", "RunFolders", "plimsoll", "soak"],
        "Foundation": ["Scenario", "Interchange", "RunFolders", "Subjects", "plimsoll", "soak", "fuzz"],
    ]

    struct Source {
        let module: String
        let path: String
        let lines: [Substring]
    }

    static let sources: [Source] = ["Sources", "Tests"].flatMap { folder -> [Source] in
        let base = root.appending(path: folder)
        let files = FileManager.default.enumerator(atPath: base.path())?.compactMap { $0 as? String } ?? []
        return files.filter { $0.hasSuffix(".swift") }.sorted().compactMap { file in
            guard let text = try? String(contentsOf: base.appending(path: file), encoding: .utf8) else { return nil }
            let module = folder == "Sources" ? String(file.prefix { $0 != "/" }) : "Tests"
            return Source(
                module: module, path: "\(folder)/\(file)",
                lines: text.split(separator: "\n", omittingEmptySubsequences: false))
        }
    }

    @Test("imports follow the arrows of the architecture, and there is no cycle")
    func arrowsHold() {
        #expect(Self.arrows.count >= 10, "the picture of the architecture was not found")
        for source in Self.sources where source.module != "Tests" {
            for line in source.lines
            where line.hasPrefix("import ") || line.contains(" import ") && !line.contains("//") && line.first != " " {
                let imported = String(line.split(separator: " ").last ?? "")
                if imported == source.module { continue }
                let isOurs = Self.arrows[source.module]?.contains(imported) ?? false
                let isForeign = Self.foreign[imported]?.contains(source.module) ?? false
                #expect(isOurs || isForeign, "\(source.path) imports \(imported)")
            }
        }
        var left = Self.arrows.mapValues { $0.subtracting(["CJemalloc", "SystemLz4", "SystemZlib"]) }
        while let free = left.filter({ $0.value.isEmpty }).keys.sorted().first {
            left[free] = nil
            left = left.mapValues { $0.subtracting([free]) }
        }
        #expect(left.isEmpty, "a cycle through \(left.keys.sorted())")
    }

    @Test("no line is longer than 120 columns")
    func lineLength() {
        for source in Self.sources {
            for (number, line) in source.lines.enumerated() where line.utf8.count > 120 && line.count > 120 {
                Issue.record("\(source.path):\(number + 1) has \(line.count) columns")
            }
        }
    }

    @Test("words that hide a fault, a clock or chance do not occur")
    func bannedWords() {
        let everywhere = ["try!", "as!", "fatalError(", "@unchecked Sendable", "unsafeBitCast("]
        let engine = [
            "Date()", "ContinuousClock", "SuspendingClock", "clock_gettime", "Task {", "Task.detached", "await ",
            "actor ", "shuffled()", ".random(", "randomElement", "SystemRandomNumberGenerator", "Hasher()",
            ".hashValue", "print(",
        ]
        for source in Self.sources where source.module != "Tests" {
            let ofClocks = engine.prefix(2)
            let words =
                everywhere
                + (["plimsoll", "soak", "fuzz"].contains(source.module)
                    ? [] : source.module == "RunFolders" ? engine.filter { !ofClocks.contains($0) } : engine)
            for (number, line) in source.lines.enumerated() {
                for word in Self.words(words, in: line) {
                    Issue.record("\(source.path):\(number + 1) uses \(word)")
                }
            }
        }
        // The search finds the intended words and no others.
        #expect(Self.words(engine, in: "let start = ContinuousClock.now") == ["ContinuousClock"])
        #expect(Self.words(engine, in: "        Task { await answer() }") == ["Task {", "await "])
        #expect(Self.words(engine, in: "if process.holdsTask { leave() }  // await the factor").isEmpty)
    }

    /// The words that occur in a line as words of their own, outside comments and not as the end of a longer word.
    private static func words(_ words: [String], in line: Substring) -> [String] {
        let code = line.split(separator: "//", maxSplits: 1, omittingEmptySubsequences: false)[0]
        return words.filter { word in
            code.ranges(of: word).contains { found in
                guard word.first?.isLetter == true, found.lowerBound > code.startIndex else { return true }
                let before = code[code.index(before: found.lowerBound)]
                return !before.isLetter && !before.isNumber && before != "_"
            }
        }
    }

    @Test("a function fits on a screen: 60 lines")
    func functionLength() {
        for source in Self.sources {
            for function in Self.functions(in: source.lines) where function.length > 60 {
                Issue.record("\(source.path):\(function.line): \(function.length) lines")
            }
        }
    }

    /// The measures of the sources when this test was written; they may get better, and not worse.
    @Test("functions stay as short as they are, comments as many, and the program small")
    func measures() {
        let product = Self.sources.filter { $0.module != "Tests" }
        let lengths = product.flatMap { Self.functions(in: $0.lines).map(\.length) }.sorted()
        func share(_ percent: Int) -> Int { lengths[lengths.count * percent / 100] }
        #expect(share(50) <= 6 && share(90) <= 18 && share(99) <= 36, "\(share(50)), \(share(90)), \(share(99))")
        let lines = product.flatMap(\.lines).map { $0.drop { $0 == " " } }.filter { !$0.isEmpty }
        let comments = lines.count { $0.hasPrefix("//") }
        #expect(comments * 100 >= lines.count * 16, "\(comments) of \(lines.count) lines are comments")
        // A file's last line is empty.
        let program = product.filter { $0.module == "plimsoll" }.reduce(0) { $0 + $1.lines.count - 1 }
        #expect(program <= 5_000, "the program has \(program) lines; what neither parses nor prints has another home")
    }

    @Test("the machines have no default case")
    func noDefaults() {
        for source in Self.sources where ["Lifecycle", "Pressure"].contains(source.module) {
            #expect(
                !source.lines.contains { $0.trimmingCharacters(in: .whitespaces).hasPrefix("default:") },
                "\(source.path)")
        }
    }

    @Test("the page's list of jetsam's behaviours names the tests that there are")
    func behaviours() throws {
        let page = Self.root.appending(path: "Sources/Simulation/Simulation.docc/Policies.md")
        var listed: Set<String> = []
        for line in try String(contentsOf: page, encoding: .utf8).split(separator: "\n") where line.hasPrefix("| A") {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            let numbers = cells[0].matches(of: /[0-9]+/).compactMap { Int($0.output) }
            let rows = cells[0].contains("to") ? Array(numbers[0]...numbers[1]) : numbers
            let suite = cells[2].trimmingCharacters(in: ["`"])
            listed.formUnion(rows.map { "\(suite) A\($0)" })
        }
        var found: Set<String> = []
        for source in Self.sources where source.module == "Tests" {
            let suite = source.path.split(separator: "/").last?.dropLast(6) ?? ""
            for line in source.lines {
                if let title = line.firstMatch(of: #/"(A[0-9]+): /#) { found.insert("\(suite) \(title.1)") }
            }
        }
        #expect(listed == found)
    }

    /// Finds functions by indentation: from a line with `func` or `init` to the closing brace at the same level.
    private static func functions(in lines: [Substring]) -> [(line: Int, length: Int)] {
        var found: [(Int, Int)] = []
        for (start, line) in lines.enumerated() {
            let code = line.trimmingCharacters(in: .whitespaces)
            guard code.contains("func ") || code.hasPrefix("init(") || code.contains(" init("), !code.hasPrefix("//")
            else { continue }
            let indentation = String(line.prefix { $0 == " " })
            if code.hasSuffix("}") && code.contains("{") {
                found.append((start + 1, 1))
                continue
            }
            // A protocol's requirement has no body.
            let head = lines[start...].first { !$0.hasSuffix("(") && !$0.hasPrefix(indentation + "    ") }
            guard let head, head.hasSuffix("{") else { continue }
            guard let end = lines[start...].firstIndex(where: { $0 == indentation + "}" }) else { continue }
            found.append((start + 1, end - start + 1))
        }
        return found
    }
}
