import Metrics
import Quantities

/// The short form of a comparison: a table with a row per policy and a column per metric.
///
/// A cell is the policy's mean. The difference from the baseline stands beside it only if it is shown: its interval
/// excludes zero. Of several scenarios, the table covers all together.
package struct ComparisonTable {
    private let comparison: Comparison
    private let section: Comparison.Section
    private let columns: [Column]

    /// The most metrics side by side in a text; more would not fit into a hundred columns.
    private static let mostAbreast = 4

    /// - Parameter metrics: The metrics of the table. Those that the comparison lacks are left out.
    package init(_ comparison: Comparison, metrics: [String] = MetricSense.short) {
        guard let section = comparison.sections.last else { preconditionFailure("a comparison without scenarios") }
        (self.comparison, self.section) = (comparison, section)
        columns = section.blocks.filter { metrics.contains($0.metric) }.map(Column.init)
    }

    private var policies: [Comparison.Row] { section.blocks.first?.rows ?? [] }

    // MARK: Text

    /// The table and what its cells mean, for stdout.
    package func text(_ paint: TextLook.Paint = { text, _ in text }) -> String {
        let starts = stride(from: 0, to: columns.count, by: ComparisonTable.mostAbreast)
        let tables = starts.flatMap { start in
            lines(columns[start..<min(columns.count, start + ComparisonTable.mostAbreast)], paint) + [""]
        }
        return (tables + notes).joined(separator: "\n")
    }

    private func lines(_ columns: ArraySlice<Column>, _ paint: TextLook.Paint) -> [String] {
        let width = (["policy"] + policies.map(\.policy)).map(\.terminalColumns).max() ?? 0
        func line(_ first: String, _ cells: [String]) -> String {
            let text = ([first.padded(to: width)] + cells).joined(separator: "  ")
            return "  " + text.reversed().drop { $0 == " " }.reversed()
        }
        let heads = [line("", columns.map(\.head.above)), line("policy", columns.map(\.head.below))]
        let rows = policies.enumerated().map { index, row in
            let isYardstick = row.role == .yardstick
            let text = line(row.policy, columns.map { $0.text(index, isYardstick ? { text, _ in text } : paint) })
            return isYardstick ? paint(text, .quiet) : text
        }
        return heads.filter { !$0.allSatisfy { $0 == " " } }.map { paint($0, .strong) } + rows
    }

    // MARK: Markdown

    /// The table, what its cells mean, and the sentences before them, for a pull request.
    package var markdown: String {
        let rows = policies.enumerated().map { index, row in
            [Markdown.code(row.policy) + (row.role == .yardstick ? " (yardstick)" : "")]
                + columns.map { Markdown.escaped($0.cells[index].text) }
        }
        let head = ["policy"] + columns.map { Markdown.code($0.metric) }
        let parts = [Markdown.table(head, texts: 1, rows), notes.map(Markdown.escaped).joined(separator: "\n")]
        return (comparison.conclusions.map(Markdown.quotation) + parts).joined(separator: "\n\n")
    }

    // MARK: Notes

    private var notes: [String] {
        let scenarios = comparison.sections.count - 1
        let scope = scenarios > 0 ? " of each of \(scenarios) scenarios" : ""
        let percent = Conclusion.figure(comparison.bootstrap.confidence * 100)
        let more = scenarios > 0 ? "each scenario and every metric" : "every metric"
        let seeds = comparison.plan.seeds.count.counted("seed")
        return [
            "Means over \(seeds)\(scope); in brackets the difference from \(policies.first?.policy ?? ""),",
            "if its \(percent) % interval excludes zero. --all prints \(more), with intervals and regret.",
        ] + losses + yardsticks
    }

    /// What the latencies leave out.
    private var losses: [String] {
        let lost = section.blocks.first { $0.metric == MetricSense.lostLaunches }?.rows ?? []
        let isOfLatencies = columns.contains { MetricSense.isOfLaunchesThatCame($0.metric) }
        guard isOfLatencies, lost.contains(where: { ($0.result.mean ?? 0) > 0 }) else { return [] }
        let counts = lost.map { "\($0.policy) \(Figure.text($0.result.mean ?? 0))" }
        let isAnySpoilt = columns.contains { $0.cells.contains { $0.isSpoilt } }
        let spoilt = "* not comparable: the policy that seems faster lost more launches."
        return ["Lost launches, which have no latency: \(counts.joined(separator: ", "))."]
            + (isAnySpoilt ? [spoilt] : [])
    }

    private var yardsticks: [String] {
        let meanings = [
            ("none", "none never acts"), ("foresight", "foresight knows the future"),
            ("unbounded", "unbounded has unlimited memory"),
        ]
        let there = policies.filter { $0.role == .yardstick }.map(\.policy)
        let known = meanings.filter { there.contains($0.0) }.map(\.1)
        return known.isEmpty ? [] : ["Yardsticks: \(known.joined(separator: ", "))."]
    }
}

/// A mean, and how it differs from the baseline's.
private struct Cell {
    let mean: String
    /// `(-0.45 better)`; empty if no difference is shown.
    let shown: String
    private let look: TextLook?
    /// Whether lost launches keep the latency from being compared.
    let isSpoilt: Bool

    /// - Parameter digits: The digits after the point of all means in the column.
    init(_ result: PairedComparison, digits: Int) {
        isSpoilt = result.verdict == .notComparable
        mean = (result.mean.map { Figure.text($0, digits: digits) } ?? "none") + (isSpoilt ? "*" : "")
        look = result.verdict == .better ? .good : result.verdict == .worse ? .bad : nil
        let difference = result.difference ?? 0
        let size = (difference > 0 ? "+" : "") + Figure.text(difference)
        let isShown = [.better, .worse, .higher, .lower].contains(result.verdict)
        shown = isShown ? "(\(size) \(result.verdict.rawValue))" : ""
    }

    var text: String { shown.isEmpty ? mean : "\(mean) \(shown)" }

    func painted(_ paint: TextLook.Paint) -> String { look.map { paint(shown, $0) } ?? shown }
}

/// Numbers with about three significant digits; none of those before the point is left out.
private enum Figure {
    private static let powers = [1.0, 10, 100, 1_000, 10_000]

    /// Without trailing zeros.
    static func text(_ value: Double) -> String { rounded(value, digits: most(value)) }

    /// With exactly so many digits after the point.
    static func text(_ value: Double, digits: Int) -> String {
        let text = rounded(value, digits: digits)
        let has = self.digits(of: text)
        guard has < digits else { return text }
        return text + (has == 0 ? "." : "") + String(repeating: "0", count: digits - has)
    }

    /// The digits after the point that the value needs.
    static func digits(_ value: Double) -> Int { digits(of: text(value)) }

    private static func digits(of text: String) -> Int {
        text.firstIndex(of: ".").map { text.distance(from: $0, to: text.endIndex) - 1 } ?? 0
    }

    private static func most(_ value: Double) -> Int {
        let magnitude = abs(value)
        return magnitude >= 100 ? 0 : magnitude >= 10 ? 1 : magnitude >= 1 ? 2 : magnitude >= 0.01 ? 3 : 4
    }

    private static func rounded(_ value: Double, digits: Int) -> String {
        abs(value) < 1e12 ? decimalText(Int64((value * powers[digits]).rounded()), digits: digits) : "\(value)"
    }
}

/// A metric of all policies, laid out.
private struct Column {
    let metric: String
    let cells: [Cell]
    /// The metric's name, in two lines if it is wider than the cells.
    let head: (above: String, below: String)
    /// The widths of the means and of the column.
    private let widths: (means: Int, all: Int)

    init(_ block: Comparison.Block) {
        metric = block.metric
        let digits = block.rows.compactMap(\.result.mean).map { Figure.digits($0) }.max() ?? 0
        cells = block.rows.map { Cell($0.result, digits: digits) }
        let means = cells.map(\.mean.count).max() ?? 0
        let shown = cells.map { $0.shown.isEmpty ? 0 : $0.shown.count + 1 }.max() ?? 0
        let parts = Column.lines(of: block.metric, room: means + shown)
        let all = max(parts.above.count, parts.below.count, means + shown)
        widths = (means, all)
        head = (parts.above.padded(to: all), parts.below.padded(to: all))
    }

    /// A policy's cell as wide as the column. The means stand below each other.
    func text(_ row: Int, _ paint: TextLook.Paint) -> String {
        let cell = cells[row]
        let mean = cell.mean.padded(to: widths.means, before: true)
        guard !cell.shown.isEmpty else { return mean.padded(to: widths.all) }
        let blanks = String(repeating: " ", count: widths.all - widths.means - 1 - cell.shown.count)
        return "\(mean) \(cell.painted(paint))\(blanks)"
    }

    /// The name in the last line, or cut after the underscore that makes it the narrowest.
    private static func lines(of name: String, room: Int) -> (above: String, below: String) {
        guard name.count > room else { return ("", name) }
        let cuts = name.indices.filter { name[$0] == "_" }.map { name.index(after: $0) }
        let lines = cuts.map { (above: String(name[..<$0]), below: String(name[$0...])) }
        return lines.min { max($0.above.count, $0.below.count) < max($1.above.count, $1.below.count) } ?? ("", name)
    }
}
