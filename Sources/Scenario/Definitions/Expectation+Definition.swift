import Metrics
import Quantities
import Simulation

extension Codec where Value == Expectation {
    /// A claim about a column of `summary.csv`: `launch_latency_p95_ms <= 1500`. The value is a plain number in the
    /// metric's unit, or carries a unit of its own: `<= 1.5s`, `>= 50%`.
    static var expectation: Codec {
        let expected = "a claim such as 'launch_latency_p95_ms <= 1500'"
        return Codec(
            expected: expected,
            decode: { tree, _, decoding in
                guard let text = tree.text else {
                    decoding.faultHere(tree.origin, "expected \(expected), not \(tree.summary)")
                    return nil
                }
                do throws(ClaimFault) {
                    return try Expectation(parsing: text)
                } catch {
                    decoding.faultHere(tree.origin, error.message)
                    return nil
                }
            },
            encode: { claim, _ in .string(claim.text) },
            schema: { _ in
                .object([
                    "type": .string("string"),
                    "pattern": .string(
                        "^ *(\(comparable.joined(separator: "|"))) *(==|!=|<=|>=|<|>) *[0-9].*$"),
                ])
            })
    }

    fileprivate static var comparable: [String] {
        SummaryMetrics.all.filter { $0.type != .string }.map(\.name)
    }
}

extension SummaryMetrics {
    /// Why a claim cannot use this name, or nil if it can.
    public static func complaint(about name: String) -> String? {
        guard let metric = named(name) else {
            let names = Codec<Expectation>.comparable
            return "unknown metric '\(name.shortened())'" + Nearest.advice(for: name, among: names, kind: "metrics")
        }
        return metric.type == .string ? "metric '\(name)' is a text; only numbers can be compared" : nil
    }
}

/// Why a text is not a claim.
private struct ClaimFault: Error {
    let message: String
}

extension Expectation {
    /// Parses a claim and keeps its whole text in `text`.
    fileprivate init(parsing text: String) throws(ClaimFault) {
        let comparisons = Comparison.allCases.map(\.rawValue).joined(separator: ", ")
        let symbols: [Character] = ["=", "!", "<", ">"]
        guard let start = text.firstIndex(where: symbols.contains) else {
            throw ClaimFault(message: "'\(String(text).shortened())' compares nothing; expected one of \(comparisons)")
        }
        let operation = text[start...].prefix(while: symbols.contains)
        guard let comparison = Comparison(rawValue: String(operation)) else {
            throw ClaimFault(message: "unknown comparison '\(operation.shortened())'; expected one of \(comparisons)")
        }
        let name = text[..<start].trimmed
        if let complaint = SummaryMetrics.complaint(about: name) { throw ClaimFault(message: complaint) }
        let written = text[operation.endIndex...].trimmed
        guard let value = Expectation.value(written, of: name) else {
            throw ClaimFault(
                message:
                    "expected a number from 0 on, such as 3 or 1.5, in the unit of '\(name)', "
                    + "not '\(written.shortened())'"
            )
        }
        self.init(metric: name, comparison: comparison, text: String(text), value: value)
    }

    /// The value in the unit with which the metric's name ends.
    private static func value(_ text: String, of metric: String) -> Double? {
        if metric.hasSuffix("_bytes"), let size = try? ByteCount(parsing: text) { return Double(size.bytes) }
        if let time = try? TimeSpan(parsing: text) {
            if metric.hasSuffix("_ms") { return Double(time.microseconds) / 1_000 }
            if metric.hasSuffix("_s") { return Double(time.microseconds) / 1_000_000 }
        }
        if metric.hasSuffix("_ratio"), let ratio = try? Ratio(parsing: text) {
            return Double(ratio.partsPerMillion) / 1_000_000
        }
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2e }), text.first != "." else { return nil }
        return Double(text)
    }
}
