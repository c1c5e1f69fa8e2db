import Quantities
import Reclaim

/// Other values of a parameter within its range, near ones first.
struct ParameterSteps {
    let values: [(value: ParameterValue, distance: Double)]

    init(_ parameter: PolicyParameter, from present: ParameterValue) {
        switch (present, parameter.lowest, parameter.highest) {
        case (.flag(let flag), _, _): values = [(.flag(!flag), 0.5)]
        case (.choice(let choice), _, _):
            // Another choice is a larger step than a flag, and as large as twice the number.
            values = parameter.choices.filter { $0 != choice }.map { (.choice($0), 1) }
        case (.ratio(let value), .ratio(let low), .ratio(let high)):
            values = ParameterSteps.around(
                value.partsPerMillion, low.partsPerMillion, high.partsPerMillion, unit: 1_000
            ).map { (.ratio(Ratio(partsPerMillion: $0.0)), $0.1) }
        case (.bytes(let value), .bytes(let low), .bytes(let high)):
            values = ParameterSteps.around(Int64(value.bytes), Int64(low.bytes), Int64(high.bytes), unit: 1 << 12)
                .map { (.bytes(ByteCount(Int($0.0))), $0.1) }
        case (.time(let value), .time(let low), .time(let high)):
            values = ParameterSteps.around(
                value.microseconds, low.microseconds, high.microseconds, unit: 1_000
            ).map { (.time(TimeSpan(microseconds: $0.0)), $0.1) }
        case (.count(let value), .count(let low), .count(let high)):
            values = ParameterSteps.around(Int64(value), Int64(low), Int64(high), unit: 1)
                .map { (.count(Int($0.0)), $0.1) }
        default: values = []
        }
    }

    /// Steps from a fiftieth of the value on, each longer by a quarter than the one before, and the lowest and the
    /// highest; the distance is a share of the value, or of a thousandth of the range where the value is zero.
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
