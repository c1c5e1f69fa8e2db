import Quantities
import Reclaim

/// Claims of one kind, as text.
protocol RuleClaim: Hashable, Sendable, CustomStringConvertible {
    /// An example that fits after "such as".
    static var example: String { get }
    /// A regular expression for the JSON Schema.
    static var pattern: String { get }
    /// Where the JSON Schema describes a condition of such claims.
    static var reference: String { get }
    /// - Parameter parameters: What the text may refer to.
    init(parsing text: String, _ parameters: RuleParameters) throws(RuleFault)
    /// The text, with the parameters to which it refers.
    var written: String { get }
}

extension RuleClaim {
    /// A claim that refers to no parameter.
    init(parsing text: String) throws(RuleFault) { try self.init(parsing: text, RuleParameters()) }
}

/// Why a text is not a claim.
struct RuleFault: Error {
    let message: String
    /// Whether what is wrong has been reported where it stands: the text refers to it.
    var isReported = false
}

extension Decoding {
    /// Reports why the text is no claim, order or reference, unless that is known already.
    func report(_ fault: RuleFault, _ origin: Origin) {
        fault.isReported ? markFaulty() : faultHere(origin, fault.message)
    }
}

extension Codec {
    /// A claim, a list of conditions that must all hold, or one of `all`, `any` and `not`.
    fileprivate static func condition<Claim: RuleClaim>(of type: Claim.Type) -> Codec
    where Value == RuleCondition<Claim> {
        Codec(
            expected: "a claim such as '\(Claim.example)', or a mapping with one of the keys all, any, not",
            decode: { tree, _, decoding in
                // The effective scenario writes "always" as an empty list.
                tree.elements?.isEmpty == true ? .all([]) : ConditionShape<Claim>.decode(tree, decoding)
            },
            encode: { condition, _ in ConditionShape<Claim>.encode(condition) },
            schema: { _ in
                let always = JSON.object(["type": .string("array"), "maxItems": .number("0")])
                return .object(["anyOf": .array([ConditionShape<Claim>.here, always])])
            })
    }
}

extension Codec where Value == RuleCondition<SystemClaim> {
    static var condition: Codec { condition(of: SystemClaim.self) }

    /// A condition that may not be "always".
    var claimingSomething: Codec {
        let codec = checked { $0 == .all([]) ? "expected \(ConditionShape<SystemClaim>.some), not 0" : nil }
        return Codec(
            expected: expected, decode: codec.decode, encode: encode, schema: { _ in ConditionShape<SystemClaim>.here })
    }
}

extension Codec where Value == RuleCondition<ProcessClaim> {
    static var condition: Codec { condition(of: ProcessClaim.self) }
}

/// How a condition is read, written and described.
enum ConditionShape<Claim: RuleClaim> {
    private static var keys: [String] { ["all", "any", "not"] }

    private static var expected: String { Codec<RuleCondition<Claim>>.condition(of: Claim.self).expected }

    static var some: String { "a list of conditions with at least 1" }

    static func decode(_ tree: Tree, _ decoding: Decoding) -> RuleCondition<Claim>? {
        if let elements = tree.elements { return parts(elements, of: tree, decoding).map { .all($0) } }
        if let text = tree.text {
            do throws(RuleFault) {
                return .claim(try Claim(parsing: text, decoding.ruleParameters))
            } catch {
                decoding.report(error, tree.origin)
                return nil
            }
        }
        guard let entries = tree.entries else {
            decoding.faultHere(tree.origin, "expected \(expected), not \(tree.summary)")
            return nil
        }
        decoding.refuseUnknownKeys(in: entries, valid: keys)
        guard let entry = entries.first, entries.count == 1, keys.contains(entry.key) else {
            if entries.allSatisfy({ keys.contains($0.key) }) {
                decoding.faultHere(tree.origin, "expected \(expected), not \(entries.count) of them")
            }
            return nil
        }
        return decoding.within(entry.key) {
            if entry.key == "not" { return decode(entry.value, decoding).map { .not($0) } }
            guard let elements = entry.value.elements else {
                decoding.faultHere(entry.value.origin, "expected a list of conditions, not \(entry.value.summary)")
                return nil
            }
            let parts = parts(elements, of: entry.value, decoding)
            return parts.map { entry.key == "all" ? .all($0) : .any($0) }
        }
    }

    /// Decodes the parts of a condition, or returns nil after reporting a fault. An empty list is a fault: `all` would
    /// always hold and `any` never, which is hardly intended.
    private static func parts(
        _ elements: [Tree], of list: Tree, _ decoding: Decoding
    ) -> [RuleCondition<Claim>]? {
        guard !elements.isEmpty else {
            decoding.faultHere(list.origin, "expected \(some), not 0")
            return nil
        }
        return elements.enumerated().compactMap { index, element in
            decoding.within("\(index)") { decode(element, decoding) }
        }
    }

    static func encode(_ condition: RuleCondition<Claim>) -> Tree {
        switch condition {
        // Writes as few levels as possible, so that any condition that was read can be written and read again.
        case .all(let parts): .list(parts.map(encode))
        case .any(let parts): .record([("any", .list(parts.map(encode)))])
        case .not(let part): .record([("not", encode(part))])
        case .claim(let claim): .string(claim.written)
        }
    }

    static var here: JSON { .object(["$ref": .string("#/$defs/\(Claim.reference)")]) }

    /// The schema definition that conditions refer to.
    static var definition: JSON.Member {
        let list = JSON.object(["type": .string("array"), "items": here, "minItems": .number("1")])
        let claim = JSON.object(["type": .string("string"), "pattern": .string(Claim.pattern)])
        let forms = [("all", list), ("any", list), ("not", here)].map { key, value in
            JSON.object([
                "type": .string("object"), "properties": .object([JSON.Member(key: key, value: value)]),
                "required": .strings([key]), "additionalProperties": .bool(false),
            ])
        }
        return JSON.Member(key: Claim.reference, value: .object(["anyOf": .array([claim, list] + forms)]))
    }
}
