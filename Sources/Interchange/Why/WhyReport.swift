import Quantities
import Scenario

/// The answer to "why did it end my process?" for one report: a paragraph for people.
///
/// It says who ended, by which rule and by how much, first the constraint and what held the memory, then what would
/// have changed the choice, and whom other killers would choose in this state.
public struct WhyReport: Sendable {
    /// A sentence, and how soon it is left out where the paragraph would be too long.
    struct Sentence: Sendable {
        let text: String
        /// 0: never left out; the higher, the sooner.
        let weight: Int

        init(_ text: String, weight: Int = 0) { (self.text, self.weight) = (text, weight) }
    }

    /// How many reports the file has.
    public let count: Int
    /// Which of them this is about, from 1.
    public let number: Int
    let sentences: [Sentence]

    /// The most lines of an answer.
    public static let mostLines = 15

    /// Reads a kernel's log or a JetsamEvent report, and answers for one report.
    ///
    /// - Parameters:
    ///   - path: A path, or `-` for standard input.
    ///   - number: Which report of a log, from 1; nil: the last one.
    ///   - app: The process that is asked about, by name or number; nil: the one that ended.
    /// - Throws: Why the file cannot be read, that it holds no report, or no such process, in one line.
    public init(path: String, number: Int? = nil, app: String? = nil) throws(ScenarioFault) {
        try self.init(
            InputFile.read(path, as: KernelLog.kind, atMost: KernelLog.mostBytes), file: path, number: number, app: app)
    }

    /// As above, from bytes.
    public init(_ bytes: [UInt8], file: String, number: Int? = nil, app: String? = nil) throws(ScenarioFault) {
        let start = bytes.first { $0 != 0x20 && $0 != 0x09 && $0 != 0x0a && $0 != 0x0d }
        if start == UInt8(ascii: "{"), !LogEncoding.isJSONJournal(bytes) {
            let report = try JetsamReport(bytes, file: file)
            if let number, number != 1 {
                throw KernelLog.fault(file, "there is no report \(number); the file has 1 report")
            }
            (count, self.number) = (1, 1)
            sentences = try JetsamAnswer(report, app: app, file: file).sentences
            return
        }
        let log = KernelLog(bytes, file: file)
        let report = try log.report(number)
        count = log.reports.count
        self.number = number ?? log.reports.count
        sentences = try KernelAnswer(KernelVerdict(report), app: app, file: file).sentences
    }

    /// The paragraph, at most `mostLines` lines.
    ///
    /// - Parameter width: The most columns of a line, at least 40.
    public func text(width: Int = 80) -> String {
        var kept = sentences
        if count > 1 {
            let which = number == count ? "the last" : "number \(number)"
            kept.insert(Sentence("The file has \(count) reports; this is \(which) (--report chooses)."), at: 0)
        }
        var lines = WhyReport.wrapped(kept.map(\.text), width)
        while lines.count > WhyReport.mostLines, let worst = kept.map(\.weight).max(), worst > 0,
            let place = kept.lastIndex(where: { $0.weight == worst })
        {
            kept.remove(at: place)
            lines = WhyReport.wrapped(kept.map(\.text), width)
        }
        return lines.prefix(WhyReport.mostLines).joined(separator: "\n")
    }

    private static func wrapped(_ sentences: [String], _ width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in sentences.joined(separator: " ").split(separator: " ") {
            if !line.isEmpty, line.count + 1 + word.count > max(40, width) {
                lines.append(line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        return line.isEmpty ? lines : lines + [line]
    }
}
