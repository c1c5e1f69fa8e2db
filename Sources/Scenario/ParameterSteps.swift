import Quantities
import Reclaim

/// Other values of a parameter within its range, nearest first.
struct ParameterSteps {
    let values: [(value: ParameterValue, distance: Double)]

    /// - Parameter present: Counts as zero if it is `table`, which has no figure.
    init(_ parameter: PolicyParameter, from present: ParameterValue) {
        switch present {
        case .flag(let flag): values = [(.flag(!flag), 0.5)]
        case .choice(let choice):
            // Changing a choice counts as a larger step than changing a flag, and as the same step as doubling a
            // number.
            values = parameter.choices.filter { $0 != choice }.map { (.choice($0), 1) }
        case .ratio, .bytes, .time, .count, .decimal, .table:
            guard let numbers = parameter.numbers else { preconditionFailure("\(parameter.name) has no range") }
            values = ParameterSteps.around(
                present.number ?? 0, numbers.lowerBound, numbers.upperBound, unit: parameter.unit
            ).map { (parameter.value($0.0), $0.1) }
        case .names: values = []
        }
    }

    /// Values around the present one. The first step is a fiftieth of the value, and each further step is larger than
    /// the last by a quarter. The lowest and the highest value are added. The distance is a share of the value or, if
    /// the value is zero, of a thousandth of the range.
    static func around(_ value: Int64, _ low: Int64, _ high: Int64, unit: Int64) -> [(Int64, Double)] {
        let scale = value > 0 ? value : max(unit, (high - low) / 1_000)
        var found: [Int64] = []
        var step = max(unit, scale / 50 / unit * unit)
        while step <= high - low {
            for candidate in [value - step, value + step] where candidate >= low && candidate <= high {
                if !found.contains(candidate) { found.append(candidate) }
            }
            let (next, overflow) = step.addingReportingOverflow(max(unit, step / 4 / unit * unit))
            if overflow || found.count > 120 { break }
            step = next
        }
        for end in [low, high] where end != value && !found.contains(end) { found.append(end) }
        return found.map { ($0, Double(abs($0 - value)) / Double(scale)) }
    }
}

extension PolicyParameter {
    /// The smallest step.
    fileprivate var unit: Int64 {
        switch lowest {
        case .ratio, .time, .decimal: 1_000
        case .bytes: 1 << 12
        case .count, .flag, .choice, .names, .table: 1
        }
    }
}
