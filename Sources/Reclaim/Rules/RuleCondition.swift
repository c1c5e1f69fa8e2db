import Quantities

/// A condition of a rule: claims combined with all, any and not. Without claims `all` holds and `any` does not.
public indirect enum RuleCondition<Claim: Hashable & Sendable>: Hashable, Sendable {
    /// Holds if all parts hold.
    case all([RuleCondition])
    /// Holds if at least one part holds.
    case any([RuleCondition])
    case not(RuleCondition)
    case claim(Claim)

    /// Whether the condition holds, given `judge`'s answer for each claim. Every claim is judged; `judge` gets the
    /// claim's number in the order of the text.
    public func holds(_ judge: (Int, Claim) -> Bool) -> Bool {
        mayBe(true) { number, claim, outcome in judge(number, claim) == outcome }
    }

    /// Whether the condition may become `outcome`. `judge` says for each claim whether the claim may become its third
    /// argument.
    func mayBe(_ outcome: Bool, _ judge: (Int, Claim, Bool) -> Bool) -> Bool {
        var next = 0
        return mayBe(outcome, from: &next, judge)
    }

    private func mayBe(_ outcome: Bool, from next: inout Int, _ judge: (Int, Claim, Bool) -> Bool) -> Bool {
        switch self {
        case .all(let parts):
            return RuleCondition.mayBe(outcome, parts, needsEvery: outcome, from: &next, judge)
        case .any(let parts):
            return RuleCondition.mayBe(outcome, parts, needsEvery: !outcome, from: &next, judge)
        case .not(let part): return part.mayBe(!outcome, from: &next, judge)
        case .claim(let claim):
            defer { next += 1 }
            return judge(next, claim, outcome)
        }
    }

    private static func mayBe(
        _ outcome: Bool, _ parts: [RuleCondition], needsEvery: Bool, from next: inout Int,
        _ judge: (Int, Claim, Bool) -> Bool
    ) -> Bool {
        var result = needsEvery
        for part in parts {
            let mayBe = part.mayBe(outcome, from: &next, judge)
            result = needsEvery ? mayBe && result : mayBe || result
        }
        return result
    }

    /// All claims, in the order of the text.
    public var claims: [Claim] {
        switch self {
        case .all(let parts), .any(let parts): parts.flatMap(\.claims)
        case .not(let part): part.claims
        case .claim(let claim): [claim]
        }
    }

    /// The same condition with other claims.
    public func map(_ change: (Claim) -> Claim) -> RuleCondition {
        switch self {
        case .all(let parts): .all(parts.map { $0.map(change) })
        case .any(let parts): .any(parts.map { $0.map(change) })
        case .not(let part): .not(part.map(change))
        case .claim(let claim): .claim(change(claim))
        }
    }
}

extension RuleCondition: CustomStringConvertible where Claim: CustomStringConvertible {
    /// For people: `(a and b) or not c`.
    public var description: String {
        switch self {
        case .all(let parts): joined(parts, "and", nothing: "always")
        case .any(let parts): joined(parts, "or", nothing: "never")
        case .not(let part): "not \(part.isSimple ? "\(part)" : "(\(part))")"
        case .claim(let claim): "\(claim)"
        }
    }

    private func joined(_ parts: [RuleCondition], _ word: String, nothing: String) -> String {
        guard !parts.isEmpty else { return nothing }
        if parts.count == 1 { return "\(parts[0])" }
        return parts.map { $0.isSimple ? "\($0)" : "(\($0))" }.joined(separator: " \(word) ")
    }

    private var isSimple: Bool {
        switch self {
        case .claim, .not: true
        case .all(let parts), .any(let parts): parts.count == 1 && parts[0].isSimple
        }
    }
}

/// How two values are compared; the raw values are the signs in scenarios.
public enum RuleComparison: String, CaseIterable, Sendable {
    case below = "<"
    case atMost = "<="
    case above = ">"
    case atLeast = ">="
    case equal = "=="
    case notEqual = "!="

    func holds(_ a: Int64, _ b: Int64) -> Bool {
        switch self {
        case .below: a < b
        case .atMost: a <= b
        case .above: a > b
        case .atLeast: a >= b
        case .equal: a == b
        case .notEqual: a != b
        }
    }
}

/// What a claim compares with.
public enum RuleValue: Hashable, Sendable, CustomStringConvertible {
    /// A share of the measure's whole.
    case share(Ratio)
    case bytes(ByteCount)
    case time(TimeSpan)
    case count(Int)
    case word(String)

    /// The value as scenarios write it.
    public var description: String {
        switch self {
        case .share(let value): "\(value)"
        case .bytes(let value): "\(value)"
        case .time(let value): "\(value)"
        case .count(let value): "\(value)"
        case .word(let value): value
        }
    }
}

/// What kind of value a measure or a feature is compared with.
public enum RuleKind: Hashable, Sendable {
    /// A size, or a share of the measure's whole.
    case memory
    case share
    case time
    case count
    /// One of these, from the least to the greatest.
    case ladder([String])
    /// One of these; they have no order.
    case choice([String])
    /// Any name.
    case name
}

/// A measure that is compared, as a whole number in its unit.
struct RuleReading {
    var value: Int64
    /// What a share refers to.
    var whole: ByteCount = .zero

    init(_ value: Int64, whole: ByteCount = .zero) {
        self.value = value
        self.whole = whole
    }

    init(_ value: ByteCount, of whole: ByteCount) { self.init(Int64(value.bytes), whole: whole) }
    init(_ value: Ratio) { self.init(value.partsPerMillion) }
    init(_ value: TimeSpan) { self.init(value.microseconds) }

    /// A claim's value, in this reading's unit.
    func threshold(_ value: RuleValue, _ kind: RuleKind) -> Int64 {
        switch (value, kind) {
        case (.share(let ratio), .memory): Int64((whole * ratio).bytes)
        case (.share(let ratio), _): ratio.partsPerMillion
        case (.bytes(let bytes), _): Int64(bytes.bytes)
        case (.time(let span), _): span.microseconds
        case (.count(let count), _): Int64(count)
        case (.word(let word), .ladder(let words)), (.word(let word), .choice(let words)):
            Int64(words.firstIndex(of: word) ?? -1)
        case (.word, _): -1
        }
    }
}
