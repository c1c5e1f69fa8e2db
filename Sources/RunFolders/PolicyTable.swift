import Foundation
import Quantities
import Reclaim

/// Every policy with its parameters, for other programs: the output of `plimsoll list policies --format json`.
package struct PolicyTable: Encodable {
    var formatVersion = 1
    var policies: [Policy]

    struct Policy: Encodable {
        let policy: String
        let summary: String
        let parameters: [Parameter]
    }

    /// One parameter. `default`, `minimum` and `maximum` have the form that scenarios and `--set` take; the fields
    /// ending in `_value` give the same as numbers in `unit`. The default `table` has no number.
    package struct Parameter: Encodable {
        let policy: String
        let parameter: String
        /// `ratio`, `bytes`, `time`, `count`, `number`, `flag`, `choice` or `names`.
        let type: String
        /// `share` (1 is all of it), `bytes`, `s` or `1`. A parameter without a unit lacks this key, as it lacks the
        /// numbers.
        let unit: String?
        let `default`: String
        let defaultValue: Double?
        let minimum: String?
        let minimumValue: Double?
        let maximum: String?
        let maximumValue: Double?
        /// How a search spaces the values: `even`, in equal steps, or `ranged`, in steps that suit the range.
        let scale: String
        /// The valid values, where there are only a few.
        let choices: [String]?
        /// Whether `table` is a valid value: the number then comes from a table of the reproduced system.
        let mayBeTable: Bool
        let meaning: String
        let source: String

        /// - Parameter standard: The default if it is not that of the table.
        package init(_ parameter: PolicyParameter, of policy: String, _ standard: ParameterValue? = nil) {
            let standard = standard ?? parameter.standard
            self.policy = policy
            self.parameter = parameter.name
            type = parameter.lowest.type
            unit = parameter.lowest.unit
            `default` = "\(standard)"
            defaultValue = standard.measure
            let isNumber = parameter.lowest.number != nil
            minimum = isNumber ? "\(parameter.lowest)" : nil
            minimumValue = parameter.lowest.measure
            maximum = isNumber ? "\(parameter.highest)" : nil
            maximumValue = parameter.highest.measure
            scale = parameter.scale.rawValue
            choices =
                switch parameter.lowest {
                case .flag: ["false", "true"]
                case .choice: parameter.choices
                case .ratio, .bytes, .time, .count, .decimal, .names, .table: nil
                }
            mayBeTable = parameter.mayBeTable
            meaning = parameter.meaning
            source = parameter.source
        }
    }

    /// Two lines for people: the parameter's value and its other valid values, and what it does.
    package static func text(of parameter: PolicyParameter, _ value: ParameterValue) -> String {
        let meaning = parameter.meaning.isEmpty ? "" : parameter.meaning + " "
        return "  \(parameter.name.padded(to: 22)) \(values(of: parameter, "\(value)"))\n"
            + "      \(meaning)[\(parameter.source)]"
    }

    /// For people: the policy of a file with its parameters, each with the file's value.
    package static func text(of settings: PolicySettings) -> String {
        let rules = settings.rules.isEmpty ? "" : " with \(settings.rules.count.counted("rule", "rules"))"
        let parameters = settings.table.map { text(of: $0, settings.value(of: $0)) }
        let none = ["  no parameters; rules refer to those that `parameters` declares"]
        return (["\(settings.title): \(settings.name)\(rules)"] + (parameters.isEmpty ? none : parameters))
            .joined(separator: "\n")
    }

    private static func values(of parameter: PolicyParameter, _ value: String) -> String {
        if parameter.hasRange { return "\(value.padded(to: 8)) (\(parameter.lowest) to \(parameter.highest))" }
        guard let last = parameter.choices.last else { return value }
        let others = parameter.choices.dropLast().joined(separator: ", ")
        return "\(value.padded(to: 8)) (\(others) or \(last))"
    }

    /// The policy of a file, with the parameters that it declares for its rules or else those of its policy's table,
    /// each with the file's value as its default.
    package static func json(of settings: PolicySettings) throws -> String {
        let type = PolicyCatalogue.type(named: settings.name)
        let summary = settings.rules.isEmpty ? type?.summary : RuleLadder.summary
        let policy = Policy(
            policy: settings.title, summary: summary ?? "",
            parameters: settings.table.map { Parameter($0, of: settings.title, settings.value(of: $0)) })
        return try JSONDocument.of(PolicyTable(policies: [policy]))
    }

    package static func json(_ types: [any ReclaimPolicy.Type]) throws -> String {
        let policies = types.map { type in
            Policy(
                policy: type.name, summary: type.summary,
                parameters: type.parameterTable.map { Parameter($0, of: type.name) })
        }
        return try JSONDocument.of(PolicyTable(policies: policies))
    }
}

extension ParameterValue {
    fileprivate var type: String {
        switch self {
        case .ratio: "ratio"
        case .bytes: "bytes"
        case .time: "time"
        case .count: "count"
        case .decimal: "number"
        case .flag: "flag"
        case .choice: "choice"
        case .names: "names"
        case .table: "table"
        }
    }

    fileprivate var unit: String? {
        switch self {
        case .ratio: "share"
        case .bytes: "bytes"
        case .time: "s"
        case .count, .decimal: "1"
        case .flag, .choice, .names, .table: nil
        }
    }

    fileprivate var measure: Double? {
        switch self {
        case .ratio(let value), .decimal(let value): Double(value.partsPerMillion) / 1_000_000
        case .bytes(let value): Double(value.bytes)
        case .time(let value): Double(value.microseconds) / 1_000_000
        case .count(let value): Double(value)
        case .flag, .choice, .names, .table: nil
        }
    }
}
