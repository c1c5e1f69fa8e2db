import Quantities

/// One parameter of a policy, declared once: its name, range, meaning and source, and the field it sets. The field's
/// initial value is the default, and its type is the parameter's.
///
/// A scenario gives an optional field a value or the word `table`, which takes the figure from the reproduced system's
/// table.
public struct Parameter<Policy: ReclaimPolicy>: Sendable {
    /// A key path to the field that the parameter sets.
    public typealias Field<Value> = any WritableKeyPath<Policy, Value> & Sendable

    /// What lists, the schema, codecs and the tuner need to know.
    public private(set) var description: PolicyParameter
    /// Sets the field; false if the value is of another kind than the field.
    private let set: @Sendable (inout Policy, ParameterValue) -> Bool
    /// What `table` means on a device, given the policy's other parameters.
    private let standing: (@Sendable (Policy, DeviceSize) -> ParameterValue)?

    /// A share, a size, a time or a count within a range.
    ///
    /// - Parameters:
    ///   - field: The field that the parameter sets.
    ///   - name: The name in scenarios, in snake_case.
    ///   - lowest: The smallest value the parameter may have; `highest` is the largest.
    ///   - isScaled: See `PolicyParameter.isScaled`.
    ///   - meaning: What the value does, for lists and the schema.
    ///   - source: Where the default comes from.
    public init<Value: ParameterQuantity>(
        _ field: Field<Value>, _ name: String, from lowest: Value, to highest: Value,
        scale: PolicyParameter.Scale = .ranged, isScaled: Bool = true, meaning: String, source: String
    ) {
        description = PolicyParameter(
            name: name, standard: Policy()[keyPath: field].parameterValue, lowest: lowest.parameterValue,
            highest: highest.parameterValue, scale: scale, isScaled: isScaled, meaning: meaning, source: source)
        set = { policy, value in Value(value).map { policy[keyPath: field] = $0 } != nil }
        standing = nil
    }

    /// A share, a size, a time or a count that the reproduced system takes from a table. If the scenario gives no
    /// value, the table decides.
    ///
    /// - Parameter table: The table's value for a device, given the policy's other parameters. Nil: the table has no
    ///   single value.
    public init<Value: ParameterQuantity>(
        _ field: Field<Value?>, _ name: String, table: (@Sendable (Policy, DeviceSize) -> Value)? = nil,
        from lowest: Value, to highest: Value, isScaled: Bool = true, meaning: String, source: String
    ) {
        description = PolicyParameter(
            name: name, standard: .table, lowest: lowest.parameterValue, highest: highest.parameterValue,
            isScaled: isScaled, meaning: meaning, source: source)
        set = { policy, value in
            policy[keyPath: field] = Value(value)
            return value == .table || policy[keyPath: field] != nil
        }
        guard let table else {
            standing = nil
            return
        }
        standing = { policy, device in table(policy, device).parameterValue }
    }

    /// A flag.
    public init(_ field: Field<Bool>, _ name: String, meaning: String, source: String) {
        description = PolicyParameter(
            name: name, standard: .flag(Policy()[keyPath: field]), lowest: .flag(false), highest: .flag(true),
            meaning: meaning, source: source)
        set = { policy, value in
            guard case .flag(let flag) = value else { return false }
            policy[keyPath: field] = flag
            return true
        }
        standing = nil
    }

    /// One of a few unordered values, such as the release of a system: the cases of the field's type. If the scenario
    /// gives none, the device decides.
    ///
    /// - Parameter table: The value that applies on a device, given the policy's other parameters.
    public init<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
        _ field: Field<Choice?>, _ name: String, table: @escaping @Sendable (Policy, DeviceSize) -> Choice,
        meaning: String, source: String
    ) {
        let choices = Choice.allCases.map(\.rawValue)
        // A choice has no range. Its kind is that of either end.
        let end = ParameterValue.choice(choices.first ?? "")
        description = PolicyParameter(
            name: name, standard: .table, lowest: end, highest: end, choices: choices, isScaled: false,
            meaning: meaning, source: source)
        set = { policy, value in
            if value == .table {
                policy[keyPath: field] = nil
                return true
            }
            guard case .choice(let name) = value, let choice = Choice(rawValue: name) else { return false }
            policy[keyPath: field] = choice
            return true
        }
        standing = { policy, device in .choice(table(policy, device).rawValue) }
    }

    /// A list of apps by name.
    public init(_ field: Field<[String]>, _ name: String, meaning: String, source: String) {
        let standard = ParameterValue.names(Policy()[keyPath: field])
        description = PolicyParameter(
            name: name, standard: standard, lowest: standard, highest: standard, meaning: meaning, source: source)
        set = { policy, value in
            guard case .names(let names) = value else { return false }
            policy[keyPath: field] = names
            return true
        }
        standing = nil
    }

    /// The same parameter, which has an effect only on devices with this part.
    public func about(_ part: DevicePart) -> Parameter {
        var parameter = self
        parameter.description.part = part
        return parameter
    }

    fileprivate func apply(_ value: ParameterValue, to policy: inout Policy) {
        precondition(set(&policy, value), "\(Policy.name).\(description.name) cannot be \(value)")
    }

    fileprivate func present(_ value: ParameterValue, in policy: Policy, on device: DeviceSize) -> ParameterValue {
        value == .table ? standing?(policy, device) ?? value : value
    }
}

extension ReclaimPolicy {
    /// The policy's parameters as lists, the schema, codecs and the tuner read them.
    public static var parameterTable: [PolicyParameter] { parameters.map(\.description) }

    /// The policy with the given values, and with defaults for the rest. A value of the wrong kind is a programming
    /// error.
    public init(_ given: [PolicySettings.Assignment]) {
        self.init()
        for parameter in Self.parameters {
            let last = given.last { $0.name == parameter.description.name }
            if let last { parameter.apply(last.value, to: &self) }
        }
    }

    /// The values that apply on a device, in the order of the policy's parameters. A value that is not given is the
    /// default, or comes from the reproduced system's table if the default is `table`.
    public static func present(_ given: [PolicySettings.Assignment], on device: DeviceSize) -> [ParameterValue] {
        let policy = Self(given)
        return parameters.map { parameter in
            let last = given.last { $0.name == parameter.description.name }
            return parameter.present(last?.value ?? parameter.description.standard, in: policy, on: device)
        }
    }
}

/// A type that a parameter with a range may have.
public protocol ParameterQuantity: Comparable, Sendable {
    /// The quantity in a value; nil if the value is of another kind.
    init?(_ value: ParameterValue)
    /// The quantity as a parameter's value.
    var parameterValue: ParameterValue { get }
}

extension Ratio: ParameterQuantity {
    /// The share in a value; nil if it is of another kind.
    public init?(_ value: ParameterValue) {
        guard case .ratio(let ratio) = value else { return nil }
        self = ratio
    }

    /// The share as a parameter's value.
    public var parameterValue: ParameterValue { .ratio(self) }
}

extension ByteCount: ParameterQuantity {
    /// The size in a value; nil if it is of another kind.
    public init?(_ value: ParameterValue) {
        guard case .bytes(let bytes) = value else { return nil }
        self = bytes
    }

    /// The size as a parameter's value.
    public var parameterValue: ParameterValue { .bytes(self) }
}

extension TimeSpan: ParameterQuantity {
    /// The time in a value; nil if it is of another kind.
    public init?(_ value: ParameterValue) {
        guard case .time(let time) = value else { return nil }
        self = time
    }

    /// The time as a parameter's value.
    public var parameterValue: ParameterValue { .time(self) }
}

extension Int: ParameterQuantity {
    /// The count in a value; nil if it is of another kind.
    public init?(_ value: ParameterValue) {
        guard case .count(let count) = value else { return nil }
        self = count
    }

    /// The count as a parameter's value.
    public var parameterValue: ParameterValue { .count(self) }
}

/// The value of one policy parameter, typed.
public enum ParameterValue: Hashable, Sendable {
    case ratio(Ratio)
    case bytes(ByteCount)
    case time(TimeSpan)
    case count(Int)
    /// A plain number that may have decimals and may be negative, in millionths.
    case decimal(Ratio)
    case flag(Bool)
    /// One of the parameter's `choices`.
    case choice(String)
    /// Apps by name; a parameter of this kind has no range.
    case names([String])
    /// The figure from the reproduced system's own table.
    case table
}

extension ParameterValue: CustomStringConvertible {
    /// The text that scenarios and `--set` take.
    public var description: String {
        switch self {
        case .ratio(let value): "\(value)"
        case .bytes(let value): "\(value)"
        case .time(let value): "\(value)"
        case .count(let value): "\(value)"
        case .decimal(let value): decimalText(value.partsPerMillion, digits: 6)
        case .flag(let value): "\(value)"
        case .choice(let value): value
        case .names(let names): "[\(names.joined(separator: ", "))]"
        case .table: "table"
        }
    }
}

extension ParameterValue {
    /// The value as a whole number: parts per million, bytes, microseconds, a count or millionths. Nil: it has none.
    public var number: Int64? {
        switch self {
        case .ratio(let value): value.partsPerMillion
        case .bytes(let value): Int64(value.bytes)
        case .time(let value): value.microseconds
        case .count(let value): Int64(value)
        case .decimal(let value): value.partsPerMillion
        case .flag, .choice, .names, .table: nil
        }
    }
}

/// The properties of a parameter that help, the JSON Schema, the decoder and the tuner read.
public struct PolicyParameter: Hashable, Sendable {
    /// The name in scenarios, in snake_case.
    public let name: String
    /// The default; `table` where the system's own table decides.
    public let standard: ParameterValue
    /// The lower end of the range, itself allowed. A choice and a list of names have no range; here a list has the
    /// default, and a choice its first value.
    public let lowest: ParameterValue
    /// The upper end of the range, itself allowed; as `lowest` where there is no range.
    public let highest: ParameterValue
    /// The values of a choice, in the order in which they are listed; empty for every other kind.
    public var choices: [String] = []
    /// How a search spaces the values.
    public var scale = Scale.ranged
    /// Whether `--scale` multiplies the parameter. True for a size on this device, false for a size that describes
    /// the device that a scale model represents.
    public var isScaled = true
    /// The part of a device without which the parameter has no effect; nil: it always has one.
    public var part: DevicePart?
    /// What the value does, for lists and the schema.
    public let meaning: String
    /// Where the default comes from; for a parameter of rules, where the rules use it.
    public let source: String

    /// A parameter with a range, of rules.
    ///
    /// - Parameters:
    ///   - standard: The default.
    ///   - range: The ends of the range, both allowed, and of the default's kind.
    public init(
        name: String, standard: ParameterValue, range: (lowest: ParameterValue, highest: ParameterValue),
        meaning: String, source: String
    ) {
        (self.name, self.standard, self.meaning, self.source) = (name, standard, meaning, source)
        (lowest, highest) = range
    }

    init(
        name: String, standard: ParameterValue, lowest: ParameterValue, highest: ParameterValue,
        choices: [String] = [], scale: Scale = .ranged, isScaled: Bool = true, meaning: String, source: String
    ) {
        (self.name, self.standard, self.meaning, self.source) = (name, standard, meaning, source)
        (self.lowest, self.highest, self.choices) = (lowest, highest, choices)
        (self.scale, self.isScaled) = (scale, isScaled)
    }

    /// Whether the parameter has a range; choices and names have none.
    public var hasRange: Bool {
        switch lowest {
        case .choice, .names, .table: false
        case .ratio, .bytes, .time, .count, .decimal, .flag: true
        }
    }

    /// Whether `table` is one of its values.
    public var mayBeTable: Bool { standard == .table }

    /// The range as whole numbers (`ParameterValue.number`), with zero for `table`; nil: it has none.
    public var numbers: ClosedRange<Int64>? {
        guard let low = lowest.number, let high = highest.number else { return nil }
        return (mayBeTable ? 0 : low)...high
    }

    /// The value with this number. The parameter must have numbers; zero is `table` where `table` is allowed.
    public func value(_ number: Int64) -> ParameterValue {
        switch lowest {
        case _ where mayBeTable && number == 0: .table
        case .ratio: .ratio(Ratio(partsPerMillion: number))
        case .bytes: .bytes(ByteCount(Int(number)))
        case .time: .time(TimeSpan(microseconds: number))
        case .count: .count(Int(number))
        case .decimal: .decimal(Ratio(partsPerMillion: number))
        case .flag, .choice, .names, .table: preconditionFailure("parameter \(name) is no number")
        }
    }

    /// How a search spaces the values of a parameter.
    public enum Scale: String, Sendable {
        /// Evenly, or by powers of ten if the range spans several of them.
        case ranged
        /// Evenly, for weights and shares that have no small values of interest.
        case even
    }
}
