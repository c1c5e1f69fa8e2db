import Foundation
import Quantities
import Scenario
import Workload

/// Turns an allocation trace into a scenario that plays it in one app.
///
/// The trace stays where it is, and the scenario refers to it. A trace has no clock, so the scenario uses the
/// ordinary
/// pace.
public struct MemoryReplayImport: Sendable {
    /// The path of the trace.
    public let path: String
    /// The counts of the trace's operations.
    public let survey: TraceSurvey

    /// Surveys the trace at a path.
    ///
    /// - Throws: Why the file cannot be read, or its first fault with its line.
    public init(path: String) throws(ScenarioFault) {
        self.path = path
        survey = try TraceFiles.survey(path)
    }

    /// The figures of the trace, one per line, for people and scripts.
    public var report: String {
        let counts = survey.counts
        let rows: [(String, Int)] = [
            ("lines", survey.lines), ("malloc", counts.malloc), ("calloc", counts.calloc),
            ("realloc", counts.realloc), ("memalign", counts.memalign), ("free", counts.free),
            ("free_of_null", counts.freeOfNull), ("thread_done", counts.threadDone),
            ("allocated_bytes", survey.allocated.bytes), ("peak_requested_bytes", survey.peakRequested.bytes),
            ("peak_requested_line", survey.peakLine), ("peak_objects", survey.peakObjects),
            ("final_requested_bytes", survey.requested.bytes), ("final_objects", survey.objects),
        ]
        return importReport(rows.map { ($0.0, "\($0.1)") })
    }

    /// The running time that the trace needs at the ordinary pace, in seconds, rounded up.
    private var seconds: Int { (survey.lines + TraceProfile.ordinaryPace - 1) / TraceProfile.ordinaryPace }

    /// A complete scenario, ready to run.
    ///
    /// - Parameter folder: The scenario's future folder. A trace below it gets a relative path.
    public func scenario(in folder: String) -> String {
        let ceiling = max(64, survey.peakRequested.bytes * 2 >> 20 + 32)
        return """
            # The allocation trace \(URL(filePath: path).lastPathComponent.onOneLine), played by one app that does \
            nothing else.
            # \(survey.lines.counted("operation")); at most \(survey.peakRequested.bytes.counted("byte")) \
            requested, in at most \(survey.peakObjects.counted("object")).
            plimsoll: 1
            name: memory-replay
            duration: \(seconds + 10)s
            device: { ceiling: \(ceiling)MiB, reserved: 8MiB }
            apps:
              - name: replay
                memory:
                  base: 0B
                  scene: 0B
                  # The trace has no clock: the importer chose the pace. Instead of a pace: `over: 30s`.
                  trace: { file: \(quoted(relative(to: folder))), pace: \(TraceProfile.ordinaryPace)/s, ends: hold }
                background: { snapshot: 0B }
            user:
              - { at: 0s, launch: replay }

            """
    }

    private func relative(to folder: String) -> String {
        func whole(_ path: String) -> String {
            URL(filePath: path).standardizedFileURL.path(percentEncoded: false)
        }
        let base = whole(folder)
        let prefix = base.hasSuffix("/") ? base : base + "/"
        let file = whole(path)
        return file.hasPrefix(prefix) ? String(file.dropFirst(prefix.count)) : file
    }

    /// The text in YAML's double quotes, on one line.
    private func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\0"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}", "\u{FEFF}":
                let digits = String(scalar.value, radix: 16, uppercase: true)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
