extension StringProtocol {
    /// The text's width on a terminal: two columns for a wide letter, none for a combining mark.
    public var terminalColumns: Int { reduce(0) { $0 + $1.terminalColumns } }
}

extension Character {
    /// The letter's width on a terminal, from the blocks of Unicode that hold wide letters.
    public var terminalColumns: Int {
        guard let scalar = unicodeScalars.first else { return 0 }
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            return 2
        default: return scalar.properties.generalCategory == .nonspacingMark ? 0 : 1
        }
    }
}

/// The look of a part of a text on a terminal.
public enum TextLook: Sendable {
    /// Bold.
    case strong
    /// Green.
    case good
    /// Red.
    case bad
    /// Grey: less important than the rest.
    case quiet

    /// Gives a part of a text its look.
    public typealias Paint = (_ text: String, _ look: TextLook) -> String
}

extension String {
    /// The text, filled up to a width on a terminal with spaces after it, or before it.
    public func padded(to columns: Int, before: Bool = false) -> String {
        let spaces = String(repeating: " ", count: max(0, columns - terminalColumns))
        return before ? spaces + self : self + spaces
    }
}
