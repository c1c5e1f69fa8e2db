import Foundation

/// A terminal's size in characters.
struct ScreenSize: Hashable {
    var columns: Int
    var rows: Int
}

/// The terminal, taken over for a full screen and given back as it was, however the program ends: at the end, on
/// Ctrl-C, SIGTERM and SIGHUP (which the run notices), and on a trap of our own (by a handler that does only what a
/// handler may).
final class RawTerminal {
    /// What the handler needs; written once, before the handlers are installed.
    private nonisolated(unsafe) static var saved = termios()
    private nonisolated(unsafe) static var isTaken = false
    /// Cursor visible, attributes off, normal screen.
    private static let leave: StaticString = "\u{1B}[?25h\u{1B}[0m\u{1B}[?1049l"

    let usesColour: Bool
    /// Whether blocks and dots can be shown: the locale says UTF-8.
    let usesBlocks: Bool
    private let hasKeys: Bool

    /// Whether stderr is a terminal that understands control sequences.
    static var isPossible: Bool { Terminal.showsProgress }

    init() {
        let environment = ProcessInfo.processInfo.environment
        usesColour = (environment["NO_COLOR"] ?? "").isEmpty
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        usesBlocks = locale.uppercased().contains("UTF-8") || locale.uppercased().contains("UTF8")
        // A program in the background that changes the terminal would be stopped; it does not listen either.
        hasKeys = isatty(0) == 1 && tcgetpgrp(0) == getpgrp()
        takeOver()
    }

    private func takeOver() {
        if hasKeys {
            tcgetattr(0, &RawTerminal.saved)
            RawTerminal.isTaken = true
            var raw = RawTerminal.saved
            raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
            // Ctrl-C stays a signal. Ctrl-Z would leave the terminal in our hands: it is no key here.
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

    /// Only what a signal handler may do: write and tcsetattr.
    private static func giveBack() {
        _ = Foundation.write(2, leave.utf8Start, leave.utf8CodeUnitCount)
        if isTaken { tcsetattr(0, TCSADRAIN, &saved) }
    }

    /// Gives the terminal back.
    func restore() {
        for number in [SIGILL, SIGTRAP, SIGABRT, SIGSEGV, SIGBUS, SIGFPE] { signal(number, SIG_DFL) }
        RawTerminal.giveBack()
        RawTerminal.isTaken = false
    }

    /// Asked anew for every picture, so that it follows a window that changes its size.
    var size: ScreenSize {
        var found = winsize()
        guard ioctl(2, UInt(TIOCGWINSZ), &found) == 0, found.ws_col > 0, found.ws_row > 0 else {
            return ScreenSize(columns: 80, rows: 24)
        }
        return ScreenSize(columns: Int(found.ws_col), rows: Int(found.ws_row))
    }

    /// The key that is pressed within the time, if one is.
    func key(within span: Duration) -> Character? {
        guard hasKeys else {
            usleep(UInt32(span / .microseconds(1)))
            return nil
        }
        var waiting = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, Int32(span / .milliseconds(1))) > 0 else { return nil }
        var byte: UInt8 = 0
        guard read(0, &byte, 1) == 1 else {
            // The terminal is gone: poll would say so without a pause.
            usleep(UInt32(span / .microseconds(1)))
            return nil
        }
        return Character(Unicode.Scalar(byte))
    }

    /// Draws the lines from the top; every line replaces the one that was there.
    func show(_ lines: [String], isFresh: Bool) {
        var text = isFresh ? "\u{1B}[2J" : ""
        for (row, line) in lines.enumerated() { text += "\u{1B}[\(row + 1);1H\(line)\u{1B}[K" }
        write(text + "\u{1B}[J")
    }

    private func write(_ text: String) { Terminal.draw(text) }
}
