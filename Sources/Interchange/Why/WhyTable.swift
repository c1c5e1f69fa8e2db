import Quantities
import Reclaim
import Scenario

/// OOM reports of Linux kernels as a table of Markdown, a row each: what was short, who ended, what the kernel's rule
/// says, and who ends when the report is played.
public struct WhyTable: Sendable {
    /// The table's first lines: its titles, and the line below them.
    public static let head: String = {
        let titles = [
            "report", "Linux", "what was short", "ended", "by the rule", "its points", "the next", "its points",
            "printed score", "the replay ends",
        ]
        return row(titles) + "\n|" + String(repeating: "---|", count: titles.count)
    }()

    /// How many reports the files have.
    public var count: Int { logs.reduce(0) { $0 + $1.log.reports.count } }
    private let logs: [(file: String, log: KernelLog)]

    /// Reads logs, each with one or more reports.
    ///
    /// - Parameter paths: Paths, or `-` for standard input.
    /// - Throws: Why a file cannot be read, or that it holds no report of a kernel, in one line.
    public init(paths: [String]) throws(ScenarioFault) {
        var logs: [(file: String, log: KernelLog)] = []
        for path in paths {
            let log = try KernelLog(path: path)
            _ = try log.report()
            logs.append((path, log))
        }
        self.logs = logs
    }

    /// Makes the rows in the order of the files and of the reports in them. Each report is played.
    ///
    /// - Parameters:
    ///   - isInterrupted: Asked while a report is played; true ends the rows with `KernelReplay.Interrupted`.
    ///   - take: Takes each row as soon as it is made.
    /// - Throws: What a replay throws.
    public func rows(isInterrupted: @escaping () -> Bool = { false }, take: (String) -> Void) throws {
        for (file, log) in logs {
            for number in 1...log.reports.count {
                take(try WhyTable.row(of: log, number, file, isInterrupted))
            }
        }
    }

    private static func row(
        of log: KernelLog, _ number: Int, _ file: String, _ isInterrupted: @escaping () -> Bool
    ) throws -> String {
        let report = log.reports[number - 1]
        let verdict = KernelVerdict(report)
        let next = verdict.ranking.dropFirst().first.map { report.tasks[$0] }
        let name = file.split(separator: "/").last.map { onOneLine(String($0), atMost: 40) } ?? "-"
        return row([
            log.reports.count > 1 ? "\(name), \(number)" : name,
            verdict.guessesRelease ? "not printed" : onOneLine(report.release ?? "", atMost: 40),
            short(report), ended(report), verdict.predicted.map { onOneLine($0.name) } ?? "",
            points(verdict.predicted, verdict), next.map { onOneLine($0.name) } ?? "", points(next, verdict),
            score(verdict), try replayed(log, number, file, isInterrupted),
        ])
    }

    private static func short(_ report: KernelReport) -> String {
        if let order = report.request?.order, order < 0 { return "nothing: SysRq-f" }
        return switch report.constraint {
        case .none: "the machine"
        case .group: "a memory group"
        case .cpuset: "the nodes of a cpuset"
        case .memoryPolicy: "the nodes of a memory policy"
        }
    }

    private static func ended(_ report: KernelReport) -> String {
        if report.outcome == .panic { return "the machine: vm.panic_on_oom" }
        return (report.killed.first?.name ?? report.chosen?.name ?? report.victim?.name).map { onOneLine($0) } ?? ""
    }

    private static func points(_ task: KernelTask?, _ verdict: KernelVerdict) -> String {
        task.flatMap { verdict.points(of: $0)?.grouped } ?? ""
    }

    /// The printed score, and the rule's if it is another.
    private static func score(_ verdict: KernelVerdict) -> String {
        guard let printed = verdict.report.chosen?.score else { return "" }
        let own = verdict.printedScore.map { "\($0)" } ?? "not known"
        return own == "\(printed)" ? own : "\(printed); by the rule \(own)"
    }

    private static func replayed(
        _ log: KernelLog, _ number: Int, _ file: String, _ isInterrupted: @escaping () -> Bool
    ) throws -> String {
        guard !log.reports[number - 1].tasks.isEmpty else { return "not played: no table" }
        let outcome = try KernelReplay(KernelOOMImport(log, number: number, file: file)).play(
            isInterrupted: isInterrupted)
        guard let ended = outcome.ended else { return "nobody" }
        let grade = outcome.isSame.map { $0 ? "the same" : "another" } ?? "not graded"
        return "\(grade): \(ended.candidate.name)"
    }

    private static func row(_ cells: [String]) -> String {
        "| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |"
    }
}
