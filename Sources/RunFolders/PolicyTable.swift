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
        /// `ratio`, `bytes`, `time`, `count`, `flag`, `choice` or `names`.
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

        package init(_ parameter: PolicyParameter, of policy: String) {
            self.policy = policy
            self.parameter = parameter.name
            type = parameter.lowest.type
            unit = parameter.lowest.unit
            `default` = "\(parameter.standard)"
            defaultValue = parameter.standard.measure
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
                case .ratio, .bytes, .time, .count, .names, .table: nil
                }
            mayBeTable = parameter.mayBeTable
            meaning = parameter.meaning
            source = parameter.source
        }
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
        case .count: "1"
        case .flag, .choice, .names, .table: nil
        }
    }

    fileprivate var measure: Double? {
        switch self {
        case .ratio(let value): Double(value.partsPerMillion) / 1_000_000
        case .bytes(let value): Double(value.bytes)
        case .time(let value): Double(value.microseconds) / 1_000_000
        case .count(let value): Double(value)
        case .flag, .choice, .names, .table: nil
        }
    }
}
