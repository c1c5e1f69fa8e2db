import Foundation
import Quantities
import RunFolders

/// The program's output to stdout and stderr.
enum Terminal {
    /// Writes a line to stdout. On failure the program ends with status 74, without a message if the reader is gone.
    /// If the terminal was closed, the program continues and ends as interrupted.
    static func say(_ text: String) {
        guard let code = write(text + "\n", to: 1), Interruption.signalNumber != SIGHUP else { return }
        if code != EPIPE { complain("plimsoll: cannot write to standard output: \(String(cString: strerror(code)))") }
        exit(ExitStatus.cannotWrite.rawValue)
    }

    /// Writes one line or several to stderr, with control characters of quoted input escaped. Ignores failures.
    static func complain(_ text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(\.onOneLine)
        _ = write(lines.joined(separator: "\n") + "\n", to: 2)
    }

    /// Writes raw text, such as progress, to stderr.
    static func draw(_ text: String) { _ = write(text, to: 2) }

    /// A bar for stderr's line, filled to a share from 0 to 1, with figures beside it.
    static func bar(_ share: Double, _ figures: String) -> String {
        let room = max(0, min(40, width - figures.count - 4))
        let filled = min(room, Int(Double(room) * share))
        let bar = String(repeating: "=", count: filled) + String(repeating: " ", count: room - filled)
        return "[\(bar)]\(figures)"
    }

    /// Writes everything; returns the error number on failure.
    private static func write(_ text: String, to descriptor: Int32) -> Int32? {
        let bytes = Array(text.utf8)
        var done = 0
        while done < bytes.count {
            let count = bytes[done...].withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return errno }
            done += count
        }
        return nil
    }

    /// Opens /dev/null for each standard descriptor that the caller closed. Otherwise the next opened file would get
    /// that descriptor, and messages would land in a CSV.
    static func secureDescriptors() {
        signal(SIGPIPE, SIG_IGN)
        for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) < 0 {
            // This is the lowest free descriptor, as those below it are open.
            _ = open("/dev/null", descriptor == 0 ? O_RDONLY : O_WRONLY)
        }
    }

    /// Whether stderr is a terminal that understands control sequences.
    static var showsProgress: Bool {
        isatty(2) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }

    /// Whether to colour stdout: it is a terminal, and NO_COLOR is not set (no-color.org).
    static var usesColour: Bool {
        let environment = ProcessInfo.processInfo.environment
        return isatty(1) == 1 && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }

    static func bold(_ text: String) -> String { usesColour ? "\u{1B}[1m\(text)\u{1B}[0m" : text }
    static func red(_ text: String) -> String { usesColour ? "\u{1B}[31m\(text)\u{1B}[0m" : text }
    static func green(_ text: String) -> String { usesColour ? "\u{1B}[32m\(text)\u{1B}[0m" : text }

    static func painted(_ text: String, _ look: TextLook) -> String {
        switch look {
        case .strong: bold(text)
        case .good: green(text)
        case .bad: red(text)
        case .quiet: usesColour ? "\u{1B}[2m\(text)\u{1B}[0m" : text
        }
    }

    /// The width of stderr's terminal in columns; 80 if unknown.
    static var width: Int { width(of: 2) }

    /// The width of stdout's terminal in columns; 80 if stdout is none.
    static var outputWidth: Int { width(of: 1) }

    private static func width(of descriptor: Int32) -> Int {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}

/// The text, filled up to `width` with spaces on the right.
func pad(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
}
