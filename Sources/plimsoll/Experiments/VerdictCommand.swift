import ArgumentParser
import Experiments
import Foundation
import RunFolders

/// Judges a search's result. `Scripts/tune` calls it; the help does not show it.
///
/// Stdin holds a `HeldOut` as JSON, stdout gets its verdicts.
struct VerdictCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verdict", abstract: "Judges a search's result for other programs.", shouldDisplay: false)

    @Argument(parsing: .allUnrecognized, help: .hidden)
    var words: [String] = []

    func run() throws {
        try reporting {
            if let word = words.first {
                throw Failure(
                    .wrongUsage, "verdict reads its question from standard input and takes no argument; not '\(word)'")
            }
            let given = FileHandle.standardInput.readDataToEndOfFile()
            guard let question = JSONDocument.read(HeldOut.self, given), question.isSound else {
                throw Failure(.wrongUsage, "standard input does not describe the runs of a search")
            }
            Terminal.say(try JSONDocument.of(question.verdicts))
            return .success
        }
    }
}
