/// A word on a command line, as a shell reads it.
public enum ShellWord {
    /// Characters without a special meaning in any shell.
    private static let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=%@:,./")

    /// The text as one word, in single quotes where it needs them.
    public static func quoted(_ text: String) -> String {
        if !text.isEmpty && text.allSatisfy(plain.contains) { return text }
        return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }
}
