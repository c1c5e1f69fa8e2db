import ArgumentParser
import Experiments
import Foundation
import RunFolders

/// Computes a confidence interval of a mean of means. `Scripts/tune` calls it; the help does not show it.
///
/// Stdin holds `{"strata": [[1.5, 2], [3]], "confidence": 0.95, "stream": "1"}`; stdout gets
/// `{"low": 1.2, "high": 3.1}`. A stratum is a group of values, such as those of one scenario.
struct IntervalCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "interval", abstract: "Computes a bootstrap interval for other programs.", shouldDisplay: false)

    private struct Question: Decodable {
        let strata: [[Double]]
        let confidence: Double
        /// Names the stream of random numbers.
        let stream: String

        var isSound: Bool {
            !strata.isEmpty && strata.allSatisfy { !$0.isEmpty } && confidence > 0 && confidence < 1
        }
    }

    private struct Answer: Encodable {
        let low: Double
        let high: Double
    }

    @Argument(parsing: .allUnrecognized, help: .hidden)
    var words: [String] = []

    func run() throws {
        try reporting {
            if let word = words.first {
                throw Failure(
                    .wrongUsage, "interval reads its question from standard input and takes no argument; not '\(word)'")
            }
            let given = FileHandle.standardInput.readDataToEndOfFile()
            guard let question = JSONDocument.read(Question.self, given), question.isSound else {
                throw Failure(.wrongUsage, "standard input does not describe an interval")
            }
            let bootstrap = Bootstrap(resamples: Bootstrap.standard.resamples, confidence: question.confidence)
            let interval = bootstrap.widenedInterval(ofMeanOf: question.strata, stream: "tune/\(question.stream)")
            Terminal.say(try JSONDocument.of(Answer(low: interval.low, high: interval.high)))
            return .success
        }
    }
}
