import Glibc
import Quantities

/// One `--vary key=VALUES`: a setting and the values that it takes.
public struct Variation: Hashable, Sendable {
    /// The setting's key as in `--set`: dotted, apps by name.
    public let key: String
    /// The text after the equals sign, as written.
    public let text: String
    let domain: Domain

    enum Domain: Hashable, Sendable {
        /// `a,b,c`, or a range with its step or its count.
        case list([SettingValue])
        /// A range from which samples are drawn.
        case range(Range)
    }

    struct Range: Hashable, Sendable {
        let kind: SettingKind
        let low: Int64
        let high: Int64
        let isLogarithmic: Bool
        /// Values are rounded to whole multiples of this amount so that they read well. If both ends are whole KiB, for
        /// example, it is a KiB.
        let grain: Int64
    }

    /// Up to 2^53 a floating-point number represents every whole number.
    private static let highest: Int64 = 1 << 53

    /// The most values of a list; a longer list is surely a mistake.
    public static let mostValues = 100_000

    /// - Parameter text: `key=a,b,c`, `key=1..10`, `key=256MiB..1GiB:128MiB` (step), `key=256MiB..1GiB/4` (count) or
    ///   `key=log:1MiB..1GiB/4`. Without step and count a range of whole numbers has a step of one, and any range can
    ///   be sampled.
    public init(parsing text: String) throws(ExperimentFault) {
        guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
            throw ExperimentFault("--vary \(text): expected key=VALUES, such as device.ceiling=512MiB,1GiB")
        }
        key = String(text[..<equals])
        self.text = String(text[text.index(after: equals)...])
        do {
            domain = try Variation.domain(of: self.text)
        } catch {
            throw ExperimentFault("--vary \(text): \(error)")
        }
    }

    private static func domain(of text: String) throws(ExperimentFault) -> Domain {
        let parts = split(text)
        guard parts.count == 1 else {
            guard !parts.contains("") else { throw ExperimentFault("a value is empty") }
            return .list(try distinct(alike(parts.map { SettingValue($0) })))
        }
        guard !text.isEmpty else { throw ExperimentFault("expected values, such as 1,2,5 or 1..10") }
        if let range = try range(text) { return range }
        return .list([SettingValue(text)])
    }

    /// Splits the text at the commas that are outside brackets, braces and quotes.
    private static func split(_ text: String) -> [String] {
        var parts = [""]
        var depth = 0
        var quote: Character?
        for character in text {
            if let open = quote {
                if character == open { quote = nil }
            } else if character == "\"" || character == "'" {
                quote = character
            } else if "[{(".contains(character) {
                depth += 1
            } else if "]})".contains(character) {
                depth -= 1
            } else if character == ",", depth == 0 {
                parts.append("")
                continue
            }
            parts[parts.count - 1].append(character)
        }
        return parts
    }

    /// Gives all values one kind for their column: whole numbers beside decimals become decimals, any other mixture
    /// text.
    private static func alike(_ values: [SettingValue]) -> [SettingValue] {
        let kinds = Set(values.map(\.kind))
        guard kinds == [.whole, .decimal] else { return values }
        return values.map { $0.promoted(to: .decimal) ?? $0 }
    }

    private static func distinct(_ values: [SettingValue]) throws(ExperimentFault) -> [SettingValue] {
        var known: Set<String> = []
        for value in values where !known.insert(value.kind == .text ? value.text : value.cell).inserted {
            throw ExperimentFault("the value \(value.text) comes twice")
        }
        return values
    }
}

extension Variation {
    /// Refuses two variations that set the same key, or a key and a part of it. Their columns would show values that no
    /// run had.
    ///
    /// - Parameter earlier: The variation that is set before this one. It may name a policy whose parameters this one
    ///   sets.
    /// - Throws: When one key equals or contains the other, or may do so by a list element's number and name.
    public func refuseOverlap(with earlier: Variation) throws(ExperimentFault) {
        let (own, other) = (SettingKey(key), SettingKey(earlier.key))
        if key == earlier.key { throw ExperimentFault("--vary \(key) comes twice") }
        if own.covers(other) {
            let advice = own == .policy && other != own ? ", or vary the policy first" : ""
            throw ExperimentFault(
                "--vary \(key) replaces --vary \(earlier.key) in every run; leave one of them out" + advice)
        }
        if other.covers(own) {
            guard other != .policy || earlier.hasMapping else { return }
            throw ExperimentFault("--vary \(key) is a part of --vary \(earlier.key); vary its parts one by one")
        }
        if own.mayCover(other) || other.mayCover(own) {
            throw ExperimentFault("--vary \(key) and --vary \(earlier.key) \(SettingKey.numberAndName)")
        }
    }

    private var hasMapping: Bool {
        guard case .list(let values) = domain else { return false }
        return values.contains { $0.text.hasPrefix("{") }
    }
}

extension Variation {
    /// Reads `LOW..HIGH`, with an optional `log:` before it and a step or count after it; nil for another text.
    private static func range(_ text: String) throws(ExperimentFault) -> Domain? {
        let isLogarithmic = text.hasPrefix("log:")
        var body = isLogarithmic ? String(text.dropFirst(4)) : text
        guard let dots = body.firstRange(of: "..") else {
            guard !isLogarithmic else { throw ExperimentFault("log: needs a range, such as log:1MiB..1GiB/4") }
            return nil
        }
        let count = takeCount(from: &body)
        var step: SettingValue?
        if count == nil, let colon = body.lastIndex(of: ":"), colon > dots.upperBound {
            step = SettingValue(String(body[body.index(after: colon)...]))
            body = String(body[..<colon])
        }
        let ends = (SettingValue(String(body[..<dots.lowerBound])), SettingValue(String(body[dots.upperBound...])))
        // A path may contain two dots, too. So only a text between two quantities is a range; the scenario's decoder
        // checks any other.
        guard ends.0.kind != .text, ends.1.kind != .text else { return nil }
        let kind = ends.0.kind == .whole ? ends.1.kind : ends.0.kind
        guard let low = ends.0.promoted(to: kind), let high = ends.1.promoted(to: kind) else {
            throw ExperimentFault("\(ends.0.text) and \(ends.1.text) are not of one kind")
        }
        guard low.amount < high.amount else { throw ExperimentFault("the range \(body) is empty or upside down") }
        guard !isLogarithmic || low.amount > 0 else { throw ExperimentFault("a log: range begins above zero") }
        guard high.amount <= Variation.highest else {
            throw ExperimentFault("the range \(body) ends above 2^53, beyond which not every number can be drawn")
        }
        let range = Range(kind: kind, low: low.amount, high: high.amount, isLogarithmic: isLogarithmic)
        if let count { return .list(try range.values(count: count)) }
        guard let step else { return .range(range) }
        guard !isLogarithmic else { throw ExperimentFault("a log: range has a count (/5), not a step") }
        guard let by = step.promoted(to: kind), by.amount > 0 else {
            throw ExperimentFault("the step \(step.text) does not fit the range \(body)")
        }
        return .list(try range.values(step: by.amount))
    }

    /// Removes and returns the count, the digits after the last slash; `2MiB/s` has none.
    private static func takeCount(from body: inout String) -> Int? {
        guard let slash = body.lastIndex(of: "/") else { return nil }
        let digits = body[body.index(after: slash)...]
        guard digits.isDigits else { return nil }
        body = String(body[..<slash])
        return Int(digits) ?? .max
    }

    /// The values of a grid.
    ///
    /// - Throws: When a range other than one of whole numbers has neither step nor count.
    public func gridValues() throws(ExperimentFault) -> [SettingValue] {
        switch domain {
        case .list(let values): return values
        case .range(let range):
            guard range.kind == .whole, !range.isLogarithmic else {
                throw ExperimentFault(
                    "--vary \(key)=\(text): say how many values (\(text)/5)"
                        + (range.isLogarithmic ? "" : " or the step between them") + ", or draw them with --sample")
            }
            do {
                return try range.values(step: 1)
            } catch {
                throw ExperimentFault("--vary \(key)=\(text): \(error)")
            }
        }
    }

    /// The setting with a value between two whole numbers, if this is a range of whole numbers without step and count:
    /// whether a scenario takes it says whether the setting is real.
    public var trialOfReal: String? {
        guard case .range(let range) = domain, range.kind == .whole else { return nil }
        return "\(key)=\(range.low).5"
    }

    /// A range of whole numbers as one of all numbers between its ends, to a millionth; another variation as it is.
    public var ofReals: Variation {
        guard case .range(let range) = domain, range.kind == .whole else { return self }
        let ends = [range.low, range.high].compactMap { SettingValue(.whole, $0).promoted(to: .decimal)?.amount }
        guard ends.count == 2, ends[1] <= Variation.highest else { return self }
        let reals = Range(kind: .decimal, low: ends[0], high: ends[1], isLogarithmic: range.isLogarithmic)
        return Variation(key: key, text: text, domain: .range(reals))
    }

    private init(key: String, text: String, domain: Domain) {
        (self.key, self.text, self.domain) = (key, text, domain)
    }

    /// The value at a share of the range from 0 to 1: 0 gives the lowest, just below 1 the highest.
    public func value(at share: Double) -> SettingValue {
        let share = min(max(share, 0), 1.nextDown)
        switch domain {
        case .list(let values): return values[min(values.count - 1, Int(share * Double(values.count)))]
        case .range(let range): return range.value(drawnAt: share)
        }
    }
}

extension Variation.Range {
    init(kind: SettingKind, low: Int64, high: Int64, isLogarithmic: Bool) {
        (self.kind, self.low, self.high, self.isLogarithmic) = (kind, low, high, isLogarithmic)
        let wanted: Int64 =
            switch kind {
            case .bytes, .rate: 1024
            case .time: 1000
            case .ratio: 100
            case .whole, .decimal, .text: 1
            }
        grain = low % wanted == 0 && high % wanted == 0 ? wanted : 1
    }

    func values(count: Int) throws(ExperimentFault) -> [SettingValue] {
        guard count >= 2, count <= Variation.mostValues else {
            throw ExperimentFault("a range has 2 to \(Variation.mostValues) values, not \(count)")
        }
        let amounts = (0..<count).map { amount(at: Double($0) / Double(count - 1)) }
        for (a, b) in zip(amounts, amounts.dropFirst()) where a == b {
            throw ExperimentFault("\(count) values are too many for this range: some would be the same")
        }
        return amounts.map { SettingValue(kind, $0) }
    }

    func values(step: Int64) throws(ExperimentFault) -> [SettingValue] {
        guard (high - low) / step < Int64(Variation.mostValues) else {
            throw ExperimentFault("the range has more than \(Variation.mostValues) values; give a larger step")
        }
        return stride(from: low, through: high, by: Int(step)).map { SettingValue(kind, $0) }
    }

    /// The amount at a share of the range, both ends included, rounded to the grain.
    private func amount(at share: Double) -> Int64 {
        let (a, b) = (Double(low), Double(high))
        let exact = isLogarithmic ? a * pow(b / a, share) : a + (b - a) * share
        let rounded = Int64((exact / Double(grain)).rounded()) * grain
        return min(max(rounded, low), high)
    }

    /// The value for a random share: each whole number is equally likely, the ends included.
    func value(drawnAt share: Double) -> SettingValue {
        guard kind == .whole, !isLogarithmic else { return SettingValue(kind, amount(at: share)) }
        return SettingValue(kind, min(high, low + Int64(share * Double(high - low + 1))))
    }
}
