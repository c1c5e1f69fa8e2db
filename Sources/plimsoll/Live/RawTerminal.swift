import Foundation

/// A terminal's size in characters.
struct ScreenSize: Hashable {
    var columns: Int
    var rows: Int
}

/// Takes over the terminal for a full screen. Restores it at the end, on Ctrl-C, SIGTERM and SIGHUP (which the run
/// notices), and on a crash (in a signal handler that makes only async-signal-safe calls).
final class RawTerminal {
    /// The signal handler reads these; they are written once, before it is installed.
    private nonisolated(unsafe) static var saved = termios()
    private nonisolated(unsafe) static var isTaken = false
    /// Shows the cursor, resets attributes, and returns to the normal screen.
    private static let leave: StaticString = "\u{1B}[?25h\u{1B}[0m\u{1B}[?1049l"

    let usesColour: Bool
    /// Whether the terminal can show blocks and dots: its locale is UTF-8.
    let usesBlocks: Bool
    private let hasKeys: Bool

    /// Whether stderr is a terminal that understands control sequences.
    static var isPossible: Bool { Terminal.showsProgress }

    init() {
        let environment = ProcessInfo.processInfo.environment
        usesColour = (environment["NO_COLOR"] ?? "").isEmpty
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        usesBlocks = locale.uppercased().contains("UTF-8") || locale.uppercased().contains("UTF8")
        // The kernel stops a background process that changes the terminal, so such a process takes no keys.
        hasKeys = isatty(0) == 1 && tcgetpgrp(0) == getpgrp()
        takeOver()
    }

    private func takeOver() {
        if hasKeys {
            tcgetattr(0, &RawTerminal.saved)
            RawTerminal.isTaken = true
            var raw = RawTerminal.saved
            raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
            // Ctrl-C stays a signal. Ctrl-Z is disabled: it would stop the program while the terminal is taken over.
            withUnsafeMutableBytes(of: &raw.c_cc) { $0[Int(VSUSP)] = 0 }
            tcsetattr(0, TCSADRAIN, &raw)
        }
        for number in [SIGILL, SIGTRAP, SIGABRT, SIGSEGV, SIGBUS, SIGFPE] {
            signal(number) { number in
                RawTerminal.giveBack()
                signal(number, SIG_DFL)
                raise(number)
            }
        }
        write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[2J")
    }

    /// Restores the terminal with calls that a signal handler may make: write and tcsetattr.
    private static func giveBack() {
        _ = Foundation.write(2, leave.utf8Start, leave.utf8CodeUnitCount)
        if isTaken { tcsetattr(0, TCSADRAIN, &saved) }
    }

    /// Restores the terminal and removes the signal handlers.
    func restore() {
        for number in [SIGILL, SIGTRAP, SIGABRT, SIGSEGV, SIGBUS, SIGFPE] { signal(number, SIG_DFL) }
        RawTerminal.giveBack()
        RawTerminal.isTaken = false
    }

    /// The terminal's size, read again for every frame, because the window may change.
    var size: ScreenSize {
        var found = winsize()
        guard ioctl(2, UInt(TIOCGWINSZ), &found) == 0, found.ws_col > 0, found.ws_row > 0 else {
            return ScreenSize(columns: 80, rows: 24)
        }
        return ScreenSize(columns: Int(found.ws_col), rows: Int(found.ws_row))
    }

    /// The key pressed within the time; nil if none is.
    func key(within span: Duration) -> Character? {
        guard hasKeys else {
            usleep(UInt32(span / .microseconds(1)))
            return nil
        }
        var waiting = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, Int32(span / .milliseconds(1))) > 0 else { return nil }
        var byte: UInt8 = 0
        guard read(0, &byte, 1) == 1 else {
            // The terminal is gone, so poll would return at once every time.
            usleep(UInt32(span / .microseconds(1)))
            return nil
        }
        return Character(Unicode.Scalar(byte))
    }

    /// Draws the lines from the top, each in place of the old one; `isFresh` clears the screen first.
    func show(_ lines: [String], isFresh: Bool) {
        var text = isFresh ? "\u{1B}[2J" : ""
        for (row, line) in lines.enumerated() { text += "\u{1B}[\(row + 1);1H\(line)\u{1B}[K" }
        write(text + "\u{1B}[J")
    }

    private func write(_ text: String) { Terminal.draw(text) }
}
