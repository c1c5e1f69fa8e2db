import Foundation
import Quantities
import Scenario
import Simulation
import Workload

/// The traces of a plan: every file read once from end to end before the run, so that a broken line is found then.
public struct TraceFiles: TraceLibrary, Sendable {
    private struct Entry: Sendable {
        var file: String
        var lastLine: Int?
        var survey: TraceSurvey
    }

    private var entries: [Entry] = []

    /// Surveys the traces of the plan's apps; apps that play the same file share the survey.
    ///
    /// Fails with what the user must hear: `trace.txt:7: error: …`, for the first fault of the first faulty file.
    public init(_ plan: RunPlan) throws(ScenarioFault) {
        for app in plan.apps {
            guard let trace = app.memory.trace, entry(of: trace) == nil else { continue }
            let survey = try TraceFiles.survey(trace.file, lastLine: trace.lastLine)
            entries.append(Entry(file: trace.file, lastLine: trace.lastLine, survey: survey))
        }
    }

    /// Reads the file to its end, or to a line, and counts.
    public static func survey(_ path: String, lastLine: Int? = nil) throws(ScenarioFault) -> TraceSurvey {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
            throw .unreadable(path: path, reason: "there is no such file; expected an allocation trace")
        }
        guard !isDirectory.boolValue else {
            throw .unreadable(path: path, reason: "this is a directory; expected an allocation trace")
        }
        var survey = TraceSurvey()
        do throws(TraceFault) {
            let reader = try TraceFileReader(path: path, lastLine: lastLine)
            while let operation = try reader.next() { try survey.note(operation) }
        } catch {
            guard error.line > 0 else { throw .unreadable(path: path, reason: error.message) }
            throw invalid(path, error.line, error.message)
        }
        guard survey.lines > 0 else { throw invalid(path, 1, "the trace holds no operation") }
        if let lastLine, survey.lines < lastLine {
            throw invalid(path, survey.lines, "the trace ends here, but last_line asks for line \(lastLine)")
        }
        survey.close()
        return survey
    }

    private static func invalid(_ path: String, _ line: Int, _ message: String) -> ScenarioFault {
        .invalid([Diagnostic(location: .file(path, line: line, column: 1), message: message)])
    }

    private func entry(of trace: TraceProfile) -> Entry? {
        entries.first { $0.file == trace.file && $0.lastLine == trace.lastLine }
    }

    public func survey(of trace: TraceProfile) -> TraceSurvey {
        guard let entry = entry(of: trace) else { preconditionFailure("\(trace.file) was not surveyed") }
        return entry.survey
    }

    public func open(_ trace: TraceProfile) throws(TraceFault) -> any TraceReader {
        try TraceFileReader(path: trace.file, lastLine: trace.lastLine)
    }
}
