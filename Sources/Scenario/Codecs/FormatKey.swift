import Plan
import Quantities

/// A key of the format, as its field describes it to tests and random worlds.
package struct FormatKey: Sendable {
    /// The path of its record, `apps[].memory`; empty for the scenario's own keys.
    package let record: String
    package let name: String
    /// See `Field.init` and `Codec`.
    package let drawn: Drawn?
    package let chance: Int64?
    package let none: String?
    let isUnscaled: Bool

    /// Every key that a definition describes. Actions of the user and parameters of policies have catalogues of their
    /// own.
    private static let all = Codec<RunPlan>.record.keys("")
    package static let byPath = Dictionary(uniqueKeysWithValues: all.map { (path($0.name, in: $0.record), $0) })
    /// The keys whose fields or codecs say from which range worlds draw, in the order of the definitions.
    package static let drawnAtAll = all.filter { $0.drawn != nil }
    /// The keys that random worlds write without code for them.
    package static let drawnAlone = all.filter { $0.chance != nil }

    /// `apps[].memory.base`.
    package static func path(_ name: String, in record: String) -> String {
        record.isEmpty ? name : "\(record).\(name)"
    }

    /// The key, and those within its value.
    static func keys<Value>(
        _ name: String, _ codec: Codec<Value>, in record: String, drawn: Drawn? = nil, chance: Int64? = nil
    ) -> [FormatKey] {
        let key = FormatKey(
            record: record, name: name, drawn: drawn ?? codec.drawn, chance: chance, none: codec.none,
            isUnscaled: codec.isUnscaled)
        return [key] + codec.keys(path(name, in: record))
    }
}

/// What a random world draws for a key: from a range with both its ends, a flag in some of a hundred cases, or a name.
/// Rates are per second, shares in per cent.
package enum Drawn: Sendable {
    case sizes(ByteCount, ByteCount)
    case rates(ByteCount, ByteCount)
    case times(TimeSpan, TimeSpan)
    case shares(Int, Int)
    case numbers(Int, Int)
    case flag(Int64)
    case names([String])
}
