import Pressure
import Quantities

// Text of a given width, and its colours.
extension LiveScreen {
    enum Look: String {
        case plain = ""
        case strong = "1"
        case quiet = "2"
        case normal = "32"
        case warning = "33"
        case critical = "31"
    }

    /// The look of the current pressure level.
    var look: Look {
        switch glance.level {
        case .normal: .normal
        case .warning: .warning
        case .critical: .critical
        }
    }

    func paint(_ text: String, _ look: Look) -> String {
        usesColour && look != .plain && !text.isEmpty ? "\u{1B}[\(look.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// The text's width on a terminal: two columns for a wide letter, none for a combining mark.
    static func columns(of text: String) -> Int { text.terminalColumns }

    /// The text cut to `width` columns (the screen's by default), with control characters replaced.
    func fit(_ text: String, to width: Int? = nil) -> String {
        let width = max(0, width ?? size.columns)
        var result = ""
        var used = 0
        for character in text {
            let isControl = character.unicodeScalars.contains {
                $0.properties.generalCategory == .control || $0.properties.generalCategory == .format
            }
            let letter: Character = isControl ? "?" : character
            let columns = letter.terminalColumns
            if used + columns > width {
                guard let last = result.popLast() else { break }
                // Makes room for the ellipsis. A wide letter frees two columns, so a space fills the second.
                result += last.terminalColumns == 2 ? " …" : "…"
                break
            }
            result.append(letter)
            used += columns
        }
        return result
    }

    /// The text aligned left in a column of `width`, with at least one space after it.
    func pad(_ text: String, _ width: Int) -> String {
        let shown = fit(text, to: width - 1)
        return shown + String(repeating: " ", count: max(0, width - LiveScreen.columns(of: shown)))
    }

    /// The text aligned right in a column of `width`, with at least one space before it.
    func lead(_ text: String, _ width: Int) -> String {
        let shown = fit(text, to: width - 1)
        return String(repeating: " ", count: max(0, width - LiveScreen.columns(of: shown))) + shown
    }
}
