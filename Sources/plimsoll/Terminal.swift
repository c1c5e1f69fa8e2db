import Foundation

/// What the program may say, and where.
enum Terminal {
    static func say(_ text: String) { print(text) }

    static func complain(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }

    /// Whether stderr is a terminal that understands control sequences.
    static var showsProgress: Bool {
        isatty(2) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }

    /// Whether stdout may be coloured: a terminal, and nobody asked for no colour (no-color.org).
    static var usesColour: Bool {
        let environment = ProcessInfo.processInfo.environment
        return isatty(1) == 1 && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }

    static func bold(_ text: String) -> String { usesColour ? "\u{1B}[1m\(text)\u{1B}[0m" : text }
    static func red(_ text: String) -> String { usesColour ? "\u{1B}[31m\(text)\u{1B}[0m" : text }
    static func green(_ text: String) -> String { usesColour ? "\u{1B}[32m\(text)\u{1B}[0m" : text }

    /// The terminal's width in columns; 80 when it is unknown.
    static var width: Int {
        var size = winsize()
        guard ioctl(2, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
