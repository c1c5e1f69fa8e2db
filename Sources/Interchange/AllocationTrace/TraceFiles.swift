import Foundation
import Plan
import Quantities
import Scenario
import Workload

/// The traces of a plan. Reads every file once from end to end before the run, so that a faulty line is found early.
public struct TraceFiles: TraceLibrary, Sendable {
    private struct Entry: Sendable {
        var file: String
        var lastLine: Int?
        var survey: TraceSurvey
        /// Nil for a trace that is too long to keep; a replay reads it from the file again.
        var steps: [TraceStep]?
    }

    private var entries: [Entry] = []

    /// Surveys the traces of the plan's apps; apps that play the same file share the survey.
    ///
    /// Throws a diagnostic for the user, such as `trace.txt:7: error: …`, for the first fault of the first faulty file.
    public init(_ plan: RunPlan) throws(ScenarioFault) {
        for app in plan.apps {
            guard let trace = app.memory.trace, entry(of: trace) == nil else { continue }
            var steps: [TraceStep]? = []
            let survey = try TraceFiles.survey(trace.file, lastLine: trace.lastLine, into: &steps)
            entries.append(Entry(file: trace.file, lastLine: trace.lastLine, survey: survey, steps: steps))
        }
    }

    /// Reads the file to its end, or to the given line, and counts its operations.
    public static func survey(_ path: String, lastLine: Int? = nil) throws(ScenarioFault) -> TraceSurvey {
        var steps: [TraceStep]?
        return try survey(path, lastLine: lastLine, into: &steps)
    }

    /// Surveys a file. If `steps` is an array, it receives the steps of a replay unless the trace becomes too long.
    private static func survey(
        _ path: String, lastLine: Int?, into steps: inout [TraceStep]?
    ) throws(ScenarioFault) -> TraceSurvey {
        var surveyor = TraceSurveyor()
        var kept: [TraceStep] = []
        let mostKept = steps == nil ? 0 : TraceProfile.longestKept
        do throws(TraceFault) {
            let reader = try TraceFileReader(path: path, lastLine: lastLine)
            while let operation = try reader.next() {
                let step = try reader.note(operation, in: &surveyor)
                if surveyor.survey.lines <= mostKept { kept.append(step) }
            }
        } catch {
            guard error.line > 0 else { throw .unreadable(path: path, reason: error.message) }
            throw invalid(path, error.line, column: error.column, error.message)
        }
        surveyor.close()
        let survey = surveyor.survey
        guard survey.lines > 0 else { throw invalid(path, 1, "the trace holds no operation") }
        if let lastLine, survey.lines < lastLine {
            throw invalid(path, survey.lines, "the trace ends here, but last_line asks for line \(lastLine)")
        }
        steps = survey.lines <= mostKept ? kept : nil
        return survey
    }

    private static func invalid(_ path: String, _ line: Int, column: Int = 1, _ message: String) -> ScenarioFault {
        .invalid([Diagnostic(location: .file(path, line: line, column: column), message: message)])
    }

    private func entry(of trace: TraceProfile) -> Entry? {
        entries.first { $0.file == trace.file && $0.lastLine == trace.lastLine }
    }

    /// The survey of a trace of the plan; traps for any other trace.
    public func survey(of trace: TraceProfile) -> TraceSurvey {
        guard let entry = entry(of: trace) else { preconditionFailure("\(trace.file) was not surveyed") }
        return entry.survey
    }

    /// Opens a trace from memory if it was kept, otherwise from its file.
    public func open(_ trace: TraceProfile) throws(TraceFault) -> any TraceReader {
        if let steps = entry(of: trace)?.steps { return KeptTrace(steps) }
        return try LongTrace(path: trace.file, lastLine: trace.lastLine)
    }
}

/// A trace that is held completely in memory.
private final class KeptTrace: TraceReader {
    private let steps: [TraceStep]
    private var position = 0

    init(_ steps: [TraceStep]) { self.steps = steps }

    func read(_ most: Int, into batch: inout [TraceStep]) {
        batch.removeAll(keepingCapacity: true)
        let end = min(steps.count, position + most)
        batch.append(contentsOf: steps[position..<end])
        position = end
    }

    func rewind() { position = 0 }
}

/// A trace that every round reads from its file, in constant memory for any length.
private final class LongTrace: TraceReader {
    private let file: TraceFileReader
    private var surveyor = TraceSurveyor()

    init(path: String, lastLine: Int?) throws(TraceFault) {
        file = try TraceFileReader(path: path, lastLine: lastLine)
    }

    func read(_ most: Int, into batch: inout [TraceStep]) throws(TraceFault) {
        batch.removeAll(keepingCapacity: true)
        while batch.count < most, let operation = try file.next() {
            batch.append(try file.note(operation, in: &surveyor))
        }
    }

    func rewind() throws(TraceFault) {
        try file.rewind()
        surveyor = TraceSurveyor()
    }
}
