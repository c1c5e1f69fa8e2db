import Interchange
import Quantities
import Scenario
import Workload

// Recordings of allocations and of the use of apps.
extension Subject {
    static let trace = Subject(name: "trace", input: "an allocation trace: text, .gz or .zip", longest: 8_192) {
        bytes throws(Finding) in
        try readsAlike(bytes)
        let file = ScratchFile(bytes)
        let imported: MemoryReplayImport
        do throws(ScenarioFault) {
            imported = try MemoryReplayImport(path: file.path)
        } catch {
            try Claims.hold(of: error, in: [file.path])
            return false
        }
        if imported.report.split(separator: "\n").count != 14 { throw Finding("a report of other lines") }
        let plan = try Claims.isScenario(imported.scenario(in: "/nowhere"), of: "the import")
        if plan.apps.first?.memory.trace?.file != file.path { throw Finding("the scenario names another trace") }
        try countsAgain(file.path, imported.survey)
        return true
    }

    /// The two ways to read a line agree: the quick one for the two most frequent forms, and the one for all.
    private static func readsAlike(_ bytes: [UInt8]) throws(Finding) {
        let text = bytes + [0x0a]
        guard let (operation, length) = TraceOperation.quick(text.span) else { return }
        let line = Array(bytes[..<(length - 1)])
        do throws(TraceFault) {
            let other = try TraceOperation.parse(line.span, line: 1)
            if other != operation { throw TraceFault(line: 1, message: "\(other)") }
        } catch {
            throw Finding("quickly read \(operation), otherwise \(error.message)")
        }
    }

    /// A trace that was surveyed can be read to its end, and again from its first line.
    private static func countsAgain(_ path: String, _ survey: TraceSurvey) throws(Finding) {
        do throws(TraceFault) {
            let reader = try TraceFileReader(path: path)
            var counts: [Int] = []
            for _ in 0..<2 {
                var operations = 0
                while try reader.next() != nil { operations += 1 }
                counts.append(operations)
                try reader.rewind()
            }
            if counts != [survey.lines, survey.lines] { throw TraceFault(line: 0, message: "\(counts)") }
        } catch {
            throw Finding("\(survey.lines) operations, read again: \(error.message)")
        }
    }

    static let usage = Subject(name: "usage", input: "a record of the use of apps, CSV or JSON") {
        bytes throws(Finding) in
        let file = "usage.csv"
        var isAccepted = false
        for longestIdle in [nil, TimeSpan.seconds(60)] {
            let imported: AppUsageImport
            do throws(ScenarioFault) {
                imported = try AppUsageImport(bytes, file: file, user: nil, longestIdle: longestIdle)
            } catch {
                try Claims.hold(of: error, in: [file])
                continue
            }
            isAccepted = true
            try Claims.isScenario(imported.scenario, of: "the import")
        }
        return isAccepted
    }
}
