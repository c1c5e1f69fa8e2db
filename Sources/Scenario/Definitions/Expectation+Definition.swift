import Metrics
import Plan
import Quantities

extension Codec where Value == Expectation {
    /// A claim about a column of `summary.csv`, `launch_latency_p95_ms <= 1500`, or about an app's column of
    /// `app_summary.csv`: `editor.terminations == 0`. The value is a plain number in the metric's unit, or carries a
    /// unit of its own: `<= 1.5s`, `>= 50%`. `editor survives` says `editor.survived == 1`.
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
                    var claim = try Expectation(parsing: text, apps: decoding.appNames)
                    claim.line = tree.origin.line
                    return claim
                } catch {
                    decoding.faultHere(tree.origin, error.message)
                    return nil
                }
            },
            encode: { claim, _ in .string(claim.text) },
            schema: { _ in
                .object([
                    "type": .string("string"),
                    "pattern": .string("^ *(\(metric) *(==|!=|<=|>=|<|>) *[0-9].*|\(app) +survives *)$"),
                ])
            })
    }

    fileprivate static var comparable: [String] {
        SummaryMetrics.all.filter { $0.type != .string }.map(\.name)
    }

    /// Regular expressions for the JSON Schema: an app's name, and the left side of a comparison.
    private static let app = Codec<String>.nameForm
    private static var metric: String {
        let ofApps = AppMetrics.comparable.map(\.name).joined(separator: "|")
        return "(\(comparable.joined(separator: "|"))|\(app)\\.(\(ofApps)))"
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

extension AppMetrics {
    /// Why a claim cannot use this name, or nil if it can.
    fileprivate static func complaint(about name: String) -> String? {
        guard let metric = named(name) else {
            let advice = Nearest.advice(for: name, among: comparable.map(\.name), kind: "metrics of an app")
            return "unknown metric of an app '\(name.shortened())'" + advice
        }
        return metric.column.type == .string ? "metric '\(name)' is a text; only numbers can be compared" : nil
    }
}

/// Why a text is not a claim.
private struct ClaimFault: Error {
    let message: String
}

extension Expectation {
    /// Parses a claim and keeps its whole text in `text`.
    ///
    /// - Parameter apps: The names of the scenario's apps.
    fileprivate init(parsing text: String, apps: [String]) throws(ClaimFault) {
        if let name = Expectation.survivor(in: text) {
            try Expectation.check(app: name, among: apps)
            self.init(app: name, metric: "survived", comparison: .equal, text: String(text), value: 1)
            return
        }
        let comparisons = Comparison.allCases.map(\.rawValue).joined(separator: ", ")
        let symbols: [Character] = ["=", "!", "<", ">"]
        guard let start = text.firstIndex(where: symbols.contains) else {
            throw ClaimFault(message: "'\(String(text).shortened())' compares nothing; expected one of \(comparisons)")
        }
        let operation = text[start...].prefix(while: symbols.contains)
        guard let comparison = Comparison(rawValue: String(operation)) else {
            throw ClaimFault(message: "unknown comparison '\(operation.shortened())'; expected one of \(comparisons)")
        }
        let (app, name) = Expectation.subject(text[..<start].trimmed)
        if let app { try Expectation.check(app: app, among: apps) }
        let complaint = app == nil ? SummaryMetrics.complaint(about: name) : AppMetrics.complaint(about: name)
        if let complaint { throw ClaimFault(message: complaint) }
        let written = text[operation.endIndex...].trimmed
        guard let value = Expectation.value(written, of: name) else {
            throw ClaimFault(
                message:
                    "expected a number from 0 on, such as 3 or 1.5, in the unit of '\(name)', "
                    + "not '\(written.shortened())'"
            )
        }
        self.init(app: app, metric: name, comparison: comparison, text: String(text), value: value)
    }

    /// The app in `NAME survives`; nil for another claim.
    private static func survivor(in text: String) -> String? {
        let words = text[...].trimmed
        guard words.hasSuffix(" survives") else { return nil }
        return words.dropLast("survives".count).trimmed
    }

    /// Splits `NAME.metric` at its last dot, for the names of apps may have dots, and those of metrics have none.
    private static func subject(_ text: String) -> (app: String?, metric: String) {
        guard let dot = text.lastIndex(of: ".") else { return (nil, text) }
        return (text[..<dot].trimmed, text[text.index(after: dot)...].trimmed)
    }

    private static func check(app name: String, among apps: [String]) throws(ClaimFault) {
        guard !apps.contains(name) else { return }
        let advice = Nearest.advice(for: name, among: apps, kind: "apps")
        throw ClaimFault(message: "unknown app '\(name.shortened())'" + advice)
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
