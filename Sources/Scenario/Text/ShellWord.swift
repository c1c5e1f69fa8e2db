/// A word on a command line, as a shell reads it.
public enum ShellWord {
    /// What no shell gives a meaning to.
    private static let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=%@:,./")

    /// The text as one word: as it is where that is enough, else in single quotes.
    public static func quoted(_ text: String) -> String {
        if !text.isEmpty && text.allSatisfy(plain.contains) { return text }
        return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }
}
