import Plan
import Quantities
import Scenario
import Simulation

/// The claims that all readers share.
enum Claims {
    /// The most bytes of a line of a diagnostic.
    private static let longestLine = 2_000

    /// A refusal says where the fault is, on one line.
    ///
    /// - Parameter files: The names that a place may have; with none of them the place is an option.
    static func hold(of fault: ScenarioFault, in files: [String]) throws(Finding) {
        switch fault {
        case .unreadable(let path, let reason): throw Finding("\(path) was there, but: \(reason)")
        case .invalid(let diagnostics), .lacking(let diagnostics):
            if diagnostics.isEmpty { throw Finding("a refusal without a reason") }
            for diagnostic in diagnostics { try hold(of: diagnostic, in: files) }
            let lines = diagnostics.description.split(separator: "\n", omittingEmptySubsequences: false)
            let expected = diagnostics.count + (diagnostics.more == 0 ? 0 : 1)
            if lines.count != expected { throw Finding("\(lines.count) lines for \(expected) faults") }
            if diagnostics.illustrated.isEmpty { throw Finding("a refusal without a picture") }
        }
    }

    private static func hold(of diagnostic: Diagnostic, in files: [String]) throws(Finding) {
        let text = diagnostic.description
        switch diagnostic.location {
        case .file(let file, let line, let column):
            if !files.contains(file) { throw Finding("a fault in \(file), which is no input: \(text)") }
            if line < 1 || column < 1 { throw Finding("no place: \(text)") }
        case .option:
            if !files.isEmpty { throw Finding("a fault in an option: \(text)") }
        }
        if diagnostic.message.isEmpty { throw Finding("no message") }
        try isOneLine(text)
    }

    /// A line for a terminal: nothing in it moves the cursor or turns the text around, and it has an end.
    static func isOneLine(_ text: String) throws(Finding) {
        if text.utf8.count > longestLine { throw Finding("a line of \(text.utf8.count) bytes: \(text.prefix(200))") }
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                throw Finding("a line with U+\(String(scalar.value, radix: 16)): \(text.debugDescription)")
            default: continue
            }
        }
    }

    /// What an import writes is a valid scenario.
    @discardableResult
    static func isScenario(_ text: String, of what: String) throws(Finding) -> RunPlan {
        switch ScenarioLoader.load(text: text, file: "made.yaml") {
        case .success(let plan): return plan
        case .failure(let fault): throw Finding("\(what) is no scenario: \(fault)")
        }
    }

    /// An accepted plan can be written and read again, and nothing changes on the way.
    static func areTheSameAgain(_ plan: RunPlan) throws(Finding) {
        var plan = plan
        // Remarks are about the text.
        plan.remarks = []
        let text = EffectiveScenario.yaml(of: plan)
        switch ScenarioLoader.load(text: text, file: "again.yaml") {
        case .failure(let fault): throw Finding("its own scenario is refused: \(fault)")
        case .success(let again):
            if again != plan { throw Finding("its own scenario gives another plan") }
            if EffectiveScenario.yaml(of: again) != text { throw Finding("its own scenario is written otherwise") }
        }
    }

    /// What a run throws that is no fault: what it says of the start does not fit, or the host has no memory left.
    static func isRefusal(_ error: any Error) throws(Finding) {
        switch error {
        case RunFailure.ours(let fault): throw Finding("\(fault)")
        case let fault as ScenarioFault: throw Finding("the user never sees this text: \(fault)")
        default: return
        }
    }
}
