import Quantities

/// A quantity that is written with its unit.
protocol Quantity: Comparable, Sendable, CustomStringConvertible {
    static var expectation: String { get }
    /// Empty for a quantity without units.
    static var units: [Unit] { get }
    /// A regular expression for the JSON Schema, without anchors.
    static var form: String { get }
    /// The range that is allowed unless the key has its own.
    static var ordinary: ClosedRange<Self> { get }
    init(parsing text: String) throws(QuantityFault)
}

/// A size or a rate. Its codec says what a scale model does: `scaled` or `unscaled`.
protocol MemoryQuantity: Quantity {
    static func * (quantity: Self, ratio: Ratio) -> Self
}

/// A quantity that a scale model keeps.
protocol ScaleFree: Quantity {
    /// What random worlds draw from this range, unless the key says it.
    static func drawn(_ range: ClosedRange<Self>) -> Drawn
}

// The upper bounds keep every product in the engine within 63 bits: a rate times a time, a size over a rate.

extension ByteCount: MemoryQuantity {
    static var ordinary: ClosedRange<ByteCount> { .zero ... .gibibytes(4_096) }
    static var form: String { "[0-9]+(\\.[0-9]+)?(\(units.map(\.symbol).joined(separator: "|")))" }
}

extension ByteRate: MemoryQuantity {
    static func * (rate: ByteRate, ratio: Ratio) -> ByteRate {
        ByteRate(bytesPerSecond: (ByteCount(rate.bytesPerSecond) * ratio).bytes)
    }

    static var ordinary: ClosedRange<ByteRate> { .zero...ByteRate(bytesPerSecond: 64 << 30) }
    static var form: String { ByteCount.form + "/s" }
    static var units: [Unit] { ByteCount.units.map { Unit(symbol: $0.symbol + "/s", size: $0.size) } }
}

extension TimeSpan: ScaleFree {
    static func drawn(_ range: ClosedRange<TimeSpan>) -> Drawn {
        .times(range.lowerBound, min(range.upperBound, .seconds(40)))
    }
    static var ordinary: ClosedRange<TimeSpan> { .zero ... .hours(24 * 1_000) }
    static var form: String { "([0-9]+(\\.[0-9]+)?(\(units.map(\.symbol).joined(separator: "|"))))+" }
}

extension Ratio: ScaleFree {
    static func drawn(_ range: ClosedRange<Ratio>) -> Drawn {
        .shares(Int(range.lowerBound.partsPerMillion / 10_000), Int(range.upperBound.partsPerMillion / 10_000))
    }

    static var units: [Unit] { [] }
    static var ordinary: ClosedRange<Ratio> { .zero ... .one }
    static var form: String { "[0-9]+(\\.[0-9]+)?%?" }
}

extension Quantity {
    static var least: Self { ordinary.lowerBound }
    static var most: Self { ordinary.upperBound }

    static var pattern: String { "^\(form)$" }

    /// `; the units are …` for a number with an unknown unit: an example would not show which units are valid.
    static func advice(for text: String) -> String {
        let unit = text.drop { $0.isNumber || $0 == "." }
        guard !units.isEmpty, unit.startIndex > text.startIndex, let first = unit.first, first.isLetter,
            unit.allSatisfy({ $0.isLetter || $0 == "/" }), !units.contains(where: { $0.symbol == unit })
        else { return "" }
        return "; the units are \(units.map(\.symbol).joined(separator: ", "))"
    }

    /// Whether the text has a valid number and unit but is too large to represent.
    static func isTooLarge(_ text: String) -> Bool {
        let symbol = text.drop { $0.isASCII && $0.isNumber || $0 == "." }
        guard symbol.startIndex > text.startIndex, (try? Self(parsing: text)) == nil else { return false }
        let whole = text[..<symbol.startIndex].prefix { $0 != "." }.drop { $0 == "0" }
        return whole.count > 9 && (units.isEmpty ? ["", "%"].contains(symbol) : units.contains { $0.symbol == symbol })
    }
}

extension Codec {
    /// A scalar that is read from its text. `parse` returns nil for invalid text; `advice` may extend the message about
    /// it.
    static func scalar(
        expected: String, quoted: Bool = true, schema: JSON, parse: @escaping @Sendable (String) -> Value?,
        text: @escaping @Sendable (Value) -> String, advice: @escaping @Sendable (String) -> String = { _ in "" },
        refusal: @escaping @Sendable (String) -> String? = { _ in nil }, drawn: Drawn? = nil
    ) -> Codec {
        var codec = Codec(
            expected: expected,
            decode: { tree, _, decoding in
                if let value = tree.text.flatMap(parse) { return value }
                decoding.faultHere(
                    tree.origin,
                    tree.text.flatMap(refusal)
                        ?? "expected \(expected), not \(tree.summary)\(tree.text.map(advice) ?? "")")
                return nil
            },
            encode: { value, _ in quoted ? .string(text(value)) : .plain(text(value)) },
            schema: { standard in
                guard let standard else { return schema }
                return schema.adding(["default": schema.isText ? .string(text(standard)) : .number(text(standard))])
            })
        codec.drawn = drawn
        return codec
    }

    /// The codec with a further condition. `check` returns a sentence that says what is wrong and what is right, or
    /// nil.
    func checked(_ check: @escaping @Sendable (Value) -> String?) -> Codec {
        checkedAsWritten { value, _ in check(value) }
    }

    /// Like `checked`, but `check` also receives the text as written.
    fileprivate func checkedAsWritten(_ check: @escaping @Sendable (Value, String?) -> String?) -> Codec {
        var codec = self
        codec.decode = { tree, existing, decoding in
            guard let value = decode(tree, existing, decoding) else { return nil }
            guard let complaint = check(value, tree.text) else { return value }
            decoding.faultHere(tree.origin, complaint)
            return nil
        }
        return codec
    }
}

extension Codec where Value: ScaleFree {
    /// A time or a ratio with its unit, both ends of the range included.
    static func quantity(from lowest: Value = .least, to highest: Value = .most) -> Codec {
        quantity(within: lowest...highest, drawn: Value.drawn(lowest...highest))
    }
}

extension MemoryQuantity {
    /// The quantity in a scale model, as far as scenarios can write it.
    func scaled(by ratio: Ratio) -> Self { min(self * ratio, .most) }
}

extension Codec where Value: MemoryQuantity {
    /// A size or a rate that a scale model multiplies: what the device has, and what is compared with it. The product
    /// is never below the range of the key.
    static func scaled(from lowest: Value = .least, to highest: Value = .most) -> Codec {
        quantity(within: lowest...highest).scaling { max($0.scaled(by: $1), lowest) }
    }

    /// A size or a rate that stays as it is in a scale model: of what apps request and use, because the device grants
    /// it at its own scale (`Device.scale`), and of files, whose pages are counted at full scale.
    static func unscaled(from lowest: Value = .least, to highest: Value = .most) -> Codec {
        var codec = quantity(within: lowest...highest)
        codec.isUnscaled = true
        return codec
    }
}

extension Codec where Value: Quantity {
    /// A quantity with its unit.
    static func quantity(within range: ClosedRange<Value>, drawn: Drawn? = nil) -> Codec {
        .scalar(
            expected: Value.expectation, quoted: false, schema: schema(of: range),
            parse: { try? Value(parsing: $0) }, text: { $0.description }, advice: { Value.advice(for: $0) },
            refusal: { Value.isTooLarge($0) ? "\($0.shortened()) is too large; at most \(range.upperBound)" : nil },
            drawn: drawn
        ).bounded(range)
    }

    /// A schema cannot compare texts, so it states bounds only for bare numbers, and whether zero is too small.
    private static func schema(of range: ClosedRange<Value>) -> JSON {
        let shares = range as? ClosedRange<Ratio>
        var schema = JSON.object([
            "type": shares == nil ? .string("string") : .strings(["string", "number"]),
            "pattern": .string(Value.pattern),
            "$comment": .string("from \(range.lowerBound) to \(range.upperBound)"),
        ])
        if let shares {
            schema = schema.adding([
                "minimum": .number(decimalText(shares.lowerBound.partsPerMillion, digits: 6)),
                "maximum": .number(decimalText(shares.upperBound.partsPerMillion, digits: 6)),
            ])
        }
        guard range.lowerBound > Value.ordinary.lowerBound else { return schema }
        return schema.adding(["not": .object(["type": .string("string"), "pattern": .string("^[^1-9]*$")])])
    }
}

extension Codec where Value: Comparable & Sendable & CustomStringConvertible {
    fileprivate func bounded(
        _ range: ClosedRange<Value>, text: @escaping @Sendable (Value) -> String = { $0.description }
    ) -> Codec {
        checkedAsWritten { value, written in
            if value < range.lowerBound {
                // A value below the smallest unit rounds to zero; the message then shows the text as written.
                let isLost = !text(value).contains { "1"..."9" ~= $0 } && written?.contains { "1"..."9" ~= $0 } == true
                return
                    (isLost ? written?.shortened() ?? "" : text(value))
                    + " is too small; at least \(text(range.lowerBound))"
            }
            if value > range.upperBound { return "\(text(value)) is too large; at most \(text(range.upperBound))" }
            return nil
        }
    }
}

extension Codec where Value == Ratio {
    /// A plain number that is not a share, such as a standard deviation.
    static func factor(to highest: Int64) -> Codec {
        let text: @Sendable (Ratio) -> String = { decimalText($0.partsPerMillion, digits: 6) }
        return .scalar(
            expected: "a number such as 1.4", quoted: false,
            schema: .number("number", from: "0", to: "\(highest)", pattern: "^[0-9]+(\\.[0-9]+)?$"),
            parse: { $0.last == "%" ? nil : try? Ratio(parsing: $0) }, text: text
        ).bounded(.zero...Ratio(partsPerMillion: highest * 1_000_000), text: text)
    }
}

extension JSON {
    /// A number, possibly in quotes: the program reads a scalar's text, whatever type YAML gives it.
    static func number(_ type: String, from lowest: String, to highest: String, pattern: String) -> JSON {
        .object([
            "type": .strings([type, "string"]), "minimum": .number(lowest), "maximum": .number(highest),
            "pattern": .string(pattern),
        ])
    }

    /// Whether the values that this scalar's schema allows are texts in JSON.
    fileprivate var isText: Bool {
        if case .array(let types)? = self["type"] { return types.first == .string("string") }
        return self["type"] == .string("string") || self["enum"] != nil
    }
}

extension Codec where Value == Int {
    /// A whole number, both ends of the range included.
    static func count(_ range: ClosedRange<Int>) -> Codec {
        .scalar(
            expected: "a whole number", quoted: false,
            schema: .number(
                "integer", from: "\(range.lowerBound)", to: "\(range.upperBound)",
                pattern: range.lowerBound < 0 ? "^-?[0-9]+$" : "^[0-9]+$"),
            parse: { $0.first == "+" ? nil : Int($0) }, text: { "\($0)" },
            drawn: .numbers(range.lowerBound, range.upperBound)
        ).bounded(range)
    }
}

extension Codec where Value == UInt64 {
    static var seed: Codec {
        .scalar(
            expected: "a whole number from 0 to \(UInt64.max)", quoted: false,
            schema: .number("integer", from: "0", to: "\(UInt64.max)", pattern: "^[0-9]+$"),
            parse: { $0.first == "+" ? nil : UInt64($0) }, text: { "\($0)" })
    }
}

extension Codec where Value == Bool {
    static var flag: Codec {
        .scalar(
            expected: "true or false", quoted: false,
            schema: .object(["type": .strings(["boolean", "string"]), "pattern": .string("^(true|false)$")]),
            parse: { $0 == "true" ? true : ($0 == "false" ? false : nil) }, text: { $0 ? "true" : "false" },
            drawn: .flag(50))
    }
}

extension Codec where Value == String {
    /// Any text of at most `length` characters.
    static func text(length: Int) -> Codec {
        .scalar(
            expected: "a text",
            // YAML may take the text for a number or a boolean.
            schema: .object([
                "type": .strings(["string", "number", "boolean"]), "maxLength": .number("\(length)"),
            ]),
            parse: { $0 }, text: { $0 }
        ).checked { $0.count > length ? "\($0.count) characters are too many; at most \(length)" : nil }
    }

    /// A name: a letter, then letters, digits, blanks, dots, underscores and hyphens.
    static var name: Codec {
        .scalar(
            expected: "a name", schema: wordSchema.adding(["pattern": .string("^\(nameForm)$")]), parse: { $0 },
            text: { $0 }
        ).checked { text in
            guard !isName(text) else { return nil }
            let rule = "a name is a letter (A to Z, a to z), then up to 63 letters, digits, blanks or any of '._-'"
            return "\(Tree.plain(text).summary) is not a name; \(rule)"
        }
    }

    /// For names: YAML editors read `true`, `on` and the like as booleans.
    static let wordSchema = JSON.object(["type": .strings(["string", "boolean"])])

    /// A regular expression without anchors.
    static let nameForm = "[A-Za-z][A-Za-z0-9 ._-]{0,63}"

    static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, text.utf8.count <= 64, isLetter(first) else { return false }
        return text.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || " ._-".utf8.contains($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
    }

    /// One of the names in a catalogue. Messages call one of them `kind` and several `kinds`.
    static func name(of kind: String, _ kinds: String, among names: @escaping @Sendable () -> [String]) -> Codec {
        .scalar(
            expected: "the name of \(kind)", quoted: false,
            schema: .object(["type": .string("string"), "enum": .strings(names())]),
            parse: { names().contains($0) ? $0 : nil }, text: { $0 },
            refusal: { text in
                "unknown \(kind) '\(text.shortened())'" + Nearest.advice(for: text, among: names(), kind: kinds)
            }, drawn: .names(names()))
    }
}

extension Codec where Value == String {
    /// One of a few values, which may look like numbers. The program reads a scalar's text, whatever type YAML gives
    /// it, so the schema also accepts numbers.
    ///
    /// - Parameter kind: The singular noun for a value; an `s` forms the plural.
    static func choice(_ kind: String, among values: [String]) -> Codec {
        var codec = name(of: kind, kind + "s") { values }
        @Sendable func json(_ value: String) -> JSON { Int(value) == nil ? .string(value) : .number(value) }
        let texts = values.filter { Int($0) != nil }.map(JSON.string)
        let schema = JSON.object(["enum": .array(values.map(json) + texts)])
        codec.schema = { standard in standard.map { schema.adding(["default": json($0)]) } ?? schema }
        return codec
    }
}

extension Codec where Value: CaseIterable & RawRepresentable & Sendable, Value.RawValue == String {
    /// One of the cases, by its raw value.
    static func choice(_ kind: String, _ kinds: String) -> Codec {
        let names = Value.allCases.map(\.rawValue)
        return Codec<String>.name(of: kind, kinds) { names }.mapped(
            {
                guard let value = Value(rawValue: $0) else { preconditionFailure("\($0) was checked before") }
                return value
            }, { $0.rawValue })
    }
}
