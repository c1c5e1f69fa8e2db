import ArgumentParser
import Quantities
import Scenario

/// A word on the command line that stands where a subcommand should and names none.
struct NearCommand {
    /// The command that has no such subcommand, as typed.
    private let command: String
    private let word: String
    private let names: [String]

    /// Nil if the words name a command that exists.
    init?(_ words: [String]) {
        var (type, command): (any ParsableCommand.Type, String) = (Plimsoll.self, "plimsoll")
        for word in words {
            let known = type.configuration.subcommands
            // A command with a default subcommand takes any other word as an argument of that one.
            guard !known.isEmpty, type.configuration.defaultSubcommand == nil, !word.hasPrefix("-") else { return nil }
            if let next = known.first(where: { $0.configuration.commandName == word }) {
                (type, command) = (next, "\(command) \(word)")
                continue
            }
            self.command = command
            self.word = word
            let shown = known.map { $0.configuration }.filter(\.shouldDisplay)
            names = shown.compactMap(\.commandName) + ["help"]
            guard word != "help" else { return nil }
            return
        }
        return nil
    }

    func complain() {
        let advice = Nearest.advice(for: word, among: names, kind: "commands")
        Terminal.complain("Error: there is no command '\(word.shortened())'\(advice)".asMessage.onOneLine)
        Terminal.complain("  See '\(command) --help' for more information.")
    }
}
