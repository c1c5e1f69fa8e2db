import Foundation
import Quantities

/// What a command checked, for continuous integration: JUnit XML, and annotations of GitHub Actions.
///
/// Both follow from the result alone, so that equal results give equal bytes. JUnit's times are therefore left out.
package struct CheckReport {
    /// What came of a case.
    package enum Outcome: Sendable {
        case passed
        case failed
        /// The runs do not decide it. JUnit calls it skipped, and the annotation is a warning.
        case undecided
        /// It could not be checked. JUnit calls it an error.
        case faulty
    }

    /// One thing that was checked.
    package struct Case: Sendable {
        /// The claim.
        package let name: String
        /// The file with the claim, or what it is about; nil if there is none.
        package let file: String?
        /// The claim's line in the file, from 1; nil if the claim is not in it.
        package let line: Int?
        package let outcome: Outcome
        /// What was found.
        package let message: String

        package init(_ name: String, file: String?, line: Int? = nil, _ outcome: Outcome, _ message: String) {
            (self.name, self.file, self.line) = (name, file, line)
            (self.outcome, self.message) = (outcome, message)
        }
    }

    /// What was checked as a whole: the scenario's name, or the command's.
    package let title: String
    package let cases: [Case]

    package init(_ title: String, _ cases: [Case]) {
        (self.title, self.cases) = (title, cases)
    }

    package var hasFailed: Bool { count(.failed) > 0 }

    // MARK: JUnit

    /// How every such file begins, so that a later report may take the place of an earlier one.
    private static let head = #"<?xml version="1.0" encoding="UTF-8"?>"# + "\n" + #"<testsuites name="plimsoll""#

    /// The report as JUnit XML: one suite, with a test case for each case.
    package var junit: String {
        let counts =
            " tests=\"\(cases.count)\" failures=\"\(count(.failed))\" errors=\"\(count(.faulty))\""
            + " skipped=\"\(count(.undecided))\""
        let suite = "  <testsuite name=\(CheckReport.attribute(title))\(counts)>"
        let start = [CheckReport.head + counts + ">", suite]
        let lines = start + cases.map(testCase) + ["  </testsuite>", "</testsuites>"]
        return lines.joined(separator: "\n") + "\n"
    }

    private func count(_ outcome: Outcome) -> Int { cases.count { $0.outcome == outcome } }

    private func testCase(_ one: Case) -> String {
        var start = "    <testcase name=\(CheckReport.attribute(one.name)) classname=\(CheckReport.attribute(title))"
        if let file = one.file { start += " file=\(CheckReport.attribute(file))" }
        if let line = one.line { start += " line=\"\(line)\"" }
        let message = CheckReport.attribute(one.message)
        let outcome =
            switch one.outcome {
            case .passed: "<system-out>\(CheckReport.escaped(one.message))</system-out>"
            case .failed: "<failure message=\(message)/>"
            case .undecided: "<skipped message=\(message)/>"
            case .faulty: "<error message=\(message)/>"
            }
        return start + ">\n      \(outcome)\n    </testcase>"
    }

    /// The text as a quoted value of XML.
    private static func attribute(_ text: String) -> String { "\"\(escaped(text))\"" }

    /// The text as XML has it. `onOneLine` spells out control characters; XML has no way to write most of them.
    private static func escaped(_ text: String) -> String {
        var quoted = ""
        for scalar in text.onOneLine.unicodeScalars {
            switch scalar {
            case "&": quoted += "&amp;"
            case "<": quoted += "&lt;"
            case ">": quoted += "&gt;"
            case "\"": quoted += "&quot;"
            // Not characters of XML.
            case "\u{FFFE}", "\u{FFFF}": quoted += "?"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted
    }

    // MARK: GitHub

    /// A line for every case that did not pass, as GitHub Actions reads it from a step's output: an error for a
    /// case that failed or could not be checked, a warning for an undecided one.
    package var annotations: [String] {
        cases.compactMap { one -> String? in
            let level: String
            switch one.outcome {
            case .passed: return nil
            case .failed, .faulty: level = "error"
            case .undecided: level = "warning"
            }
            let given: [(String, String?)] = [
                ("file", one.file), ("line", one.line.map { "\($0)" }), ("title", title),
            ]
            let properties = given.compactMap { name, value in
                value.map { "\(name)=\(CheckReport.property($0))" }
            }
            let said = CheckReport.data("\(one.name): \(one.message)")
            return "::\(level) \(properties.joined(separator: ","))::\(said)"
        }
    }

    /// A text after the second `::`: a line, with the percent sign escaped.
    private static func data(_ text: String) -> String { text.onOneLine.replacing("%", with: "%25") }

    /// A property's value, which ends at a comma, and whose list ends at a colon.
    private static func property(_ text: String) -> String {
        data(text).replacing(":", with: "%3A").replacing(",", with: "%2C")
    }
}

// The file.
extension CheckReport {
    /// Refuses a path that cannot be written, or has something else than such a report: before the work, and again
    /// when the report is written.
    ///
    /// - Parameters:
    ///   - inputs: The scenarios, which are never overwritten.
    ///   - out: The folder that the command writes; it may not exist yet.
    package static func check(_ path: String, keeping inputs: [String], besides out: String?) throws {
        for input in inputs.isEmpty ? [""] : inputs {
            try OutputFile.check(path, force: true, keeping: (input, "scenario"), option: "--junit")
        }
        if FileManager.default.fileExists(atPath: path), !isReport(path) {
            throw Failure(.cannotCreate, "\(path) exists already and is no report of --junit; give another --junit")
        }
        let folder = URL(fileURLWithPath: path).standardizedFileURL.deletingLastPathComponent().path
        let isInside = out.map { URL(fileURLWithPath: $0).standardizedFileURL.path == folder } ?? false
        guard isInside || access(folder, W_OK) == 0 else {
            throw Failure(.cannotCreate, "cannot create \(path): \(String(cString: strerror(errno)))")
        }
    }

    private static func isReport(_ path: String) -> Bool {
        guard let file = FileHandle(forReadingAtPath: path) else { return false }
        let start = try? file.read(upToCount: head.utf8.count)
        return start.map { $0.elementsEqual(head.utf8) } ?? false
    }

    /// Writes the JUnit XML, in place of an earlier report.
    package func write(to path: String, keeping inputs: [String], besides out: String?) throws {
        try CheckReport.check(path, keeping: inputs, besides: out)
        try OutputFile.replace(path, Array(junit.utf8))
    }
}
