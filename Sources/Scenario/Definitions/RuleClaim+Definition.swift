import Quantities
import Reclaim
import Workload

/// The values that a claim about a measure may compare with: their kind and range.
struct ClaimScope: Hashable {
    let kind: RuleKind
    /// The expected values in short, where a full list would be too long.
    var expected: String?
    /// The greatest share. It catches a percentage that is written without its sign.
    var mostShare = Ratio.one
    var counts = 0...Int.max

    /// For shares that may exceed the whole.
    static let open = Ratio.percent(1_000)
}

/// A quantity that claims compare.
protocol ClaimMeasure: CaseIterable, RawRepresentable where RawValue == String {
    var scope: ClaimScope { get }
}

extension SystemMeasure: ClaimMeasure {
    var scope: ClaimScope {
        switch self {
        case .limitShare, .thrashing: ClaimScope(kind: kind, mostShare: ClaimScope.open)
        case .available, .used, .largest, .fileCache, .purgeable, .compressed, .compressorPool, .compressor,
            .swapFree, .swapUsed, .someAvg10, .someAvg60, .someAvg300, .fullAvg10, .fullAvg60, .fullAvg300, .someStall,
            .fullStall, .processes, .offScreen, .suspended, .kills, .level, .demand:
            ClaimScope(kind: kind)
        }
    }
}

extension ProcessFeature: ClaimMeasure {
    var scope: ClaimScope {
        switch self {
        case .like:
            ClaimScope(
                kind: .choice(Archetype.all.map(\.name)), expected: "an archetype of `plimsoll list apps`")
        case .limitShare, .growth: ClaimScope(kind: kind, mostShare: ClaimScope.open)
        case .oomScore: ClaimScope(kind: kind, counts: -1_000...1_000)
        case .state, .app, .mode, .busy, .answering, .waiting, .likelihood, .footprint, .frees, .dirty, .cache,
            .purgeable, .compressed, .files, .frozen, .swapped,
            .siblingShare, .sizeRank, .idle, .age, .warned, .relaunchCost, .returnCost, .launches, .uses, .useGap,
            .band:
            ClaimScope(kind: kind)
        }
    }
}

extension SystemClaim: RuleClaim {
    static let example = "available < 10% for 5s"
    static let reference = "system_condition"
    static var pattern: String {
        "^ *(\(SystemMeasure.claims))( +for +(\(TimeSpan.form)|\(RuleParameters.form)))? *$"
    }

    init(parsing text: String, _ parameters: RuleParameters) throws(RuleFault) {
        let parts = try ClaimParts<SystemMeasure>(text, kind: "measure", example: SystemClaim.example)
        let words = parts.value.split(separator: " ")
        guard let place = words.firstIndex(of: "for") else {
            let (value, source) = try parts.value(from: parts.value, parameters)
            self.init(parts.measure, parts.comparison, value, for: .zero)
            valueFrom = source
            return
        }
        let written = words[(place + 1)...].joined(separator: " ")
        let (span, ofSpan) = try parameters.read(written, SystemClaim.duration) { .time($0) }
        let (value, source) = try parts.value(from: words[..<place].joined(separator: " "), parameters)
        self.init(parts.measure, parts.comparison, value, for: span)
        (valueFrom, durationFrom) = (source, ofSpan)
    }

    private static func duration(_ text: String) throws(RuleFault) -> TimeSpan {
        guard let span = try? TimeSpan(parsing: text), span <= TimeSpan.ordinary.upperBound else {
            let found = text.isEmpty ? "nothing" : "'\(text.shortened())'\(TimeSpan.advice(for: text))"
            throw RuleFault(message: "expected \(TimeSpan.expectation) after 'for', not \(found)")
        }
        return span
    }
}

extension ProcessClaim: RuleClaim {
    static let example = "state == suspended"
    static let reference = "process_condition"
    static var pattern: String { "^ *(\(ProcessFeature.claims)) *$" }

    init(parsing text: String, _ parameters: RuleParameters) throws(RuleFault) {
        let parts = try ClaimParts<ProcessFeature>(text, kind: "feature", example: ProcessClaim.example)
        let (value, source) = try parts.value(from: parts.value, parameters)
        self.init(parts.measure, parts.comparison, value, from: source)
    }
}

/// A claim's text in its parts: measure, comparison, and the rest.
private struct ClaimParts<Measure: ClaimMeasure> {
    let measure: Measure
    let comparison: RuleComparison
    let value: String

    init(_ text: String, kind: String, example: String) throws(RuleFault) {
        let comparisons = RuleComparison.allCases.map(\.rawValue).joined(separator: ", ")
        let symbols: [Character] = ["=", "!", "<", ">"]
        guard let start = text.firstIndex(where: symbols.contains) else {
            throw RuleFault(
                message:
                    "'\(text.shortened())' compares nothing; expected a claim such as '\(example)', "
                    + "with one of \(comparisons)"
            )
        }
        let operation = text[start...].prefix(while: symbols.contains)
        guard let comparison = RuleComparison(rawValue: String(operation)) else {
            throw RuleFault(message: "unknown comparison '\(operation.shortened())'; expected one of \(comparisons)")
        }
        let name = text[..<start].trimmed
        guard let measure = Measure(rawValue: name) else {
            let names = Measure.allCases.map(\.rawValue)
            throw RuleFault(
                message: "unknown \(kind) '\(name.shortened())'"
                    + Nearest.advice(for: name, among: names, kind: "\(kind)s"))
        }
        self.measure = measure
        self.comparison = comparison
        value = text[operation.endIndex...].trimmed
    }

    /// The value, and the parameter that gives it.
    func value(
        from text: String, _ parameters: RuleParameters
    ) throws(RuleFault) -> (value: RuleValue, source: String?) {
        switch measure.scope.kind {
        case .memory, .share, .time, .count: return try parameters.read(text, value) { $0 }
        case .ladder, .choice, .name:
            guard text.first == "$" else { return (try value(from: text), nil) }
            throw RuleFault(
                message: "\(measure.rawValue): expected \(measure.scope.expectation), not '\(text.shortened())'; "
                    + "a parameter is a number")
        }
    }

    private func value(from text: String) throws(RuleFault) -> RuleValue {
        let (name, scope) = (measure.rawValue, measure.scope)
        let found: RuleValue? =
            switch scope.kind {
            case .memory: share(text, scope).map { .share($0) } ?? bytes(text).map { .bytes($0) }
            case .share: share(text, scope).map { .share($0) }
            case .time: (try? TimeSpan(parsing: text)).map { .time($0) }
            case .count: text.first == "+" ? nil : Int(text).flatMap { scope.counts.contains($0) ? .count($0) : nil }
            case .ladder(let words), .choice(let words): words.contains(text) ? .word(text) : nil
            case .name: Codec<String>.isName(text) ? .word(text) : nil
            }
        guard let found else {
            throw RuleFault(
                message: "\(name): expected \(scope.expectation), not '\(text.shortened())'\(scope.advice(for: text))")
        }
        guard scope.comparisons.contains(comparison) else {
            throw RuleFault(message: "\(name) has no order; it is compared with == or !=")
        }
        return found
    }

    private func share(_ text: String, _ scope: ClaimScope) -> Ratio? {
        guard let ratio = try? Ratio(parsing: text), ratio <= scope.mostShare else { return nil }
        return ratio
    }

    private func bytes(_ text: String) -> ByteCount? {
        guard let bytes = try? ByteCount(parsing: text), bytes <= ByteCount.ordinary.upperBound else { return nil }
        return bytes
    }
}

extension ClaimScope {
    /// Kinds without an order allow only equality and inequality.
    fileprivate var comparisons: [RuleComparison] {
        switch kind {
        case .choice, .name: [.equal, .notEqual]
        case .memory, .share, .time, .count, .ladder: RuleComparison.allCases
        }
    }

    fileprivate var expectation: String {
        if let expected { return expected }
        return switch kind {
        case .memory: "a share such as 5% or a size such as 150MB"
        case .share: "a share up to \(mostShare), such as 60%"
        case .time: TimeSpan.expectation
        case .count where counts.lowerBound < 0: "a whole number from \(counts.lowerBound) to \(counts.upperBound)"
        case .count: "a whole number"
        case .ladder(let words), .choice(let words): "one of \(words.joined(separator: ", "))"
        case .name: "a name"
        }
    }

    /// What a message about this text may add, or an empty text.
    fileprivate func advice(for text: String) -> String {
        switch kind {
        case .memory: ByteCount.advice(for: text)
        case .time: TimeSpan.advice(for: text)
        case .choice(let words), .ladder(let words):
            Nearest.name(to: text, among: words).map { "; did you mean '\($0)'?" } ?? ""
        case .share, .count, .name: ""
        }
    }

    /// A regular expression for the values, without anchors.
    fileprivate var valueForm: String {
        switch kind {
        case .memory, .share, .time, .count: "\(plainForm)|\(RuleParameters.form)"
        case .ladder, .choice, .name: plainForm
        }
    }

    private var plainForm: String {
        switch kind {
        case .memory: "\(shareForm)|\(ByteCount.form)"
        case .share: shareForm
        case .time: TimeSpan.form
        case .count where counts.lowerBound < 0: "-?0*(\(counts.upperBound)|\(below(counts.upperBound)))"
        case .count: "[0-9]+"
        case .ladder(let words), .choice(let words): words.joined(separator: "|")
        case .name: Codec<String>.nameForm
        }
    }

    private var shareForm: String {
        let percent = Int(mostShare.partsPerMillion / 10_000)
        func shares(_ most: Int) -> String { "\(most)(\\.0+)?|\(below(most))(\\.[0-9]+)?" }
        return "0*(\(shares(percent / 100))|(\(shares(percent)))%)"
    }

    /// A regular expression for the whole numbers below a power of ten.
    private func below(_ most: Int) -> String { most == 1 ? "0" : "[0-9]{1,\(String(most).count - 1)}" }
}

extension ClaimMeasure {
    /// A regular expression for claims about any of the measures, grouped by scope.
    fileprivate static var claims: String {
        var scopes: [ClaimScope] = []
        for measure in allCases where !scopes.contains(measure.scope) { scopes.append(measure.scope) }
        return scopes.map { scope in
            let names = allCases.filter { $0.scope == scope }.map(\.rawValue).joined(separator: "|")
            let comparisons = scope.comparisons.map(\.rawValue).joined(separator: "|")
            return "(\(names)) *(\(comparisons)) *(\(scope.valueForm))"
        }.joined(separator: "|")
    }
}
