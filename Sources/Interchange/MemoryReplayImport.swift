import Foundation
import Quantities
import Scenario
import Workload

/// An allocation trace as a scenario that plays it in one app.
///
/// The trace itself stays where it is; the scenario names it. A trace has no clock, so the pace is the ordinary one.
public struct MemoryReplayImport: Sendable {
    public let path: String
    public let survey: TraceSurvey

    public init(path: String) throws(ScenarioFault) {
        self.path = path
        survey = try TraceFiles.survey(path)
    }

    /// What the trace does, one figure per line: for people and for scripts.
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

    /// Seconds of running time that the trace needs at the ordinary pace, rounded up.
    private var seconds: Int { (survey.lines + TraceProfile.ordinaryPace - 1) / TraceProfile.ordinaryPace }

    /// A scenario that can be run as it is.
    ///
    /// - Parameter folder: Where the scenario will lie; the trace is named relative to it if it lies below.
    public func scenario(in folder: String) -> String {
        let ceiling = max(64, survey.peakRequested.bytes * 2 >> 20 + 32)
        return """
            # The allocation trace \(URL(filePath: path).lastPathComponent.onOneLine), played by one app that does \
            nothing else.
            # \(survey.lines) operations; at most \(survey.peakRequested.bytes) bytes requested, in at most \
            \(survey.peakObjects) objects.
            plimsoll: 1
            name: memory-replay
            duration: \(seconds + 10)s
            device: { ceiling: \(ceiling)MiB, reserved: 8MiB }
            apps:
              - name: replay
                memory:
                  base: 0B
                  scene: 0B
                  # The trace has no clock: the pace is ours. Instead of a pace: `over: 30s`.
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

    /// As YAML in double quotes, on one line.
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
