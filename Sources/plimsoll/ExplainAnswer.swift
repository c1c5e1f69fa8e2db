import Explanation
import RunFolders
import Simulation

/// What `explain` writes to stdout: each explanation as soon as it is found, or all of them as one JSON document.
struct ExplainAnswer {
    private let format: RunCommand.Format
    private let scope: Explanation.Scope
    /// Whether other ends are told with their apps.
    private let namesApps: Bool
    private var document: ExplainDocument
    /// The ends that the system did not cause. They are told where it caused none.
    var otherEnds: [Explainer.OtherEnd] = []

    /// How many ends are explained so far.
    var count: Int { document.explanations.count }

    init(scenario: String, format: RunCommand.Format, scope: Explanation.Scope, namesApps: Bool) {
        (self.format, self.scope, self.namesApps) = (format, scope, namesApps)
        document = ExplainDocument(scenario: scenario)
    }

    mutating func warn(_ warnings: [String]) {
        document.warnings += warnings
        for warning in warnings { Terminal.complain("plimsoll: warning: \(warning)") }
    }

    mutating func add(_ explanation: Explanation) {
        document.explanations.append(explanation)
        guard format == .text else { return }
        if document.explanations.count > 1 { Terminal.say("") }
        for line in explanation.lines(scope, width: Terminal.outputWidth) { Terminal.say(line) }
    }

    /// Ends the answer.
    ///
    /// - Parameter note: Why there is nothing to explain.
    mutating func end(_ note: String? = nil) throws {
        document.note = note
        document.otherEnds = otherEnds.map(ExplainDocument.End.init)
        switch (format, note) {
        case (.json, _): Terminal.say(try JSONDocument.of(document))
        case (.text, let note?): for line in text(note) { Terminal.say(line) }
        case (.text, nil): if scope == .short { Terminal.say(Explanation.more) }
        }
    }

    /// Ends the answer with what hangs on guesses.
    func end(_ study: GuessStudy) throws {
        switch format {
        case .json: Terminal.say(try JSONDocument.of(study.document(warnings: document.warnings)))
        case .text: for line in study.lines(width: Terminal.outputWidth) { Terminal.say(line) }
        }
    }

    /// The note, with the other ends by their reasons.
    private func text(_ note: String) -> [String] {
        guard !otherEnds.isEmpty else { return [note] }
        let reasons = Set(otherEnds.map(\.words)).sorted().map { reason in
            let ends = otherEnds.filter { $0.words == reason }
            let names = Set(ends.map(\.app)).sorted().joined(separator: ", ")
            return "  \(reason): \(ends.count)\(namesApps ? " (\(names))" : "")"
        }
        return ["\(note) These ends came from the app or the user:"] + reasons
    }
}
