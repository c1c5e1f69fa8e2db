import Quantities

/// What a setting's value counts, and the smallest unit of its amount.
public enum SettingKind: String, Hashable, Sendable, Codable {
    /// A bare whole number.
    case whole
    /// A bare number, in millionths.
    case decimal
    /// Bytes.
    case bytes
    /// Microseconds.
    case time
    /// A share written in percent; the amount is in parts per million.
    case ratio
    /// Bytes per second.
    case rate
    /// Anything else; it has no amount.
    case text

    /// The end of a column's name: its unit.
    public var suffix: String {
        switch self {
        case .whole, .decimal, .text: ""
        case .bytes: "_bytes"
        case .time: "_s"
        case .ratio: "_ratio"
        case .rate: "_bytes_per_s"
        }
    }
}

/// One value of a setting, as `--set` takes it and as a table shows it.
public struct SettingValue: Hashable, Sendable, Codable {
    /// What the value counts.
    public let kind: SettingKind
    /// The amount in the kind's smallest unit; 0 for a text.
    public let amount: Int64
    /// The value as written, or its shortest exact form.
    public let text: String

    /// Reads a value; anything but a quantity is a text.
    public init(_ text: String) {
        self.text = text
        if text.isDigits, let value = Int64(text) {
            (kind, amount) = (.whole, value)
        } else if let value = try? Ratio(parsing: text) {
            (kind, amount) = (text.hasSuffix("%") ? .ratio : .decimal, value.partsPerMillion)
        } else if let value = try? ByteCount(parsing: text) {
            (kind, amount) = (.bytes, Int64(value.bytes))
        } else if let value = try? TimeSpan(parsing: text) {
            (kind, amount) = (.time, value.microseconds)
        } else if let value = try? ByteRate(parsing: text) {
            (kind, amount) = (.rate, Int64(value.bytesPerSecond))
        } else {
            (kind, amount) = (.text, 0)
        }
    }

    /// A value with the shortest exact form of an amount; the kind must not be `text`.
    public init(_ kind: SettingKind, _ amount: Int64) {
        (self.kind, self.amount) = (kind, amount)
        text =
            switch kind {
            case .whole: "\(amount)"
            case .decimal: decimalText(amount, digits: 6)
            case .bytes: "\(ByteCount(Int(amount)))"
            case .time: "\(TimeSpan(microseconds: amount))"
            case .ratio: "\(Ratio(partsPerMillion: amount))"
            case .rate: "\(ByteRate(bytesPerSecond: Int(amount)))"
            case .text: preconditionFailure("a text has no amount")
            }
    }

    /// The value as another kind: a whole number can become a decimal; nil otherwise.
    func promoted(to other: SettingKind) -> SettingValue? {
        if kind == other { return self }
        guard kind == .whole, other == .decimal, amount < Int64.max / 1_000_000 else { return nil }
        return SettingValue(.decimal, amount * 1_000_000)
    }

    /// The value as a cell of a column whose name ends with the kind's suffix: seconds, bytes, shares.
    public var cell: String {
        switch kind {
        case .whole, .bytes, .rate: "\(amount)"
        case .decimal, .time, .ratio: decimalText(amount, digits: 6)
        case .text: text
        }
    }
}
