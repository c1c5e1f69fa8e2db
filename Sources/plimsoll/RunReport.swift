import Foundation
import Metrics
import Pressure
import Quantities
import Reclaim
import RunFolders

/// The summary that a run prints.
struct RunReport {
    let tally: RunTally
    let manifest: Manifest
    let path: String
    let kills: KillTable
    let next: NextSteps

    private func value(_ name: String) -> MetricValue {
        SummaryMetrics.named(name)?.value(tally) ?? .absent
    }

    private func count(_ name: String) -> String { value(name).text }

    private func milliseconds(_ name: String) -> String {
        value(name).number.map { String(format: "%.0f ms", $0) } ?? "none"
    }

    /// The times at the three levels in whole seconds, rounded so that their sum is the rounded total.
    static func levels(_ times: [TimeSpan]) -> String {
        var (sum, told) = (TimeSpan.zero, TimeSpan.zero)
        let parts = zip(PressureLevel.allCases, times).map { level, time in
            sum += time
            let rounded = TimeSpan.seconds((sum.microseconds + 500_000) / 1_000_000)
            defer { told = rounded }
            return "\(level.rawValue) \(Progress.clock(rounded - told))"
        }
        return parts.joined(separator: ", ")
    }

    /// The summary as about a dozen lines of text.
    var text: String {
        let reasons = Dictionary(grouping: tally.terminations, by: \.reason.rawValue).mapValues(\.count)
        let causes = reasons.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        let share = tally.peakResident.share(of: tally.run.ceiling)
        let percent = String(format: "%.1f%%", Double(share.partsPerMillion) / 10_000)
        let took = String(format: "%.1f", manifest.times.wallS)
        var lines = [
            Terminal.bold("\(tally.run.scenario)") + ": policy \(tally.run.policy), seed \(tally.run.seed), "
                + "\(Progress.clock(tally.duration)) of virtual time in \(took) s",
            row("memory", "peak \(tally.peakResident.readable) of \(tally.run.ceiling.readable) (\(percent))"),
            row("pressure", RunReport.levels([tally.levels.normal, tally.levels.warning, tally.levels.critical])),
            row(
                "launches",
                "\(count("launches_hot")) hot, \(count("launches_warm")) warm, \(count("launches_cold")) cold; "
                    + "p50 \(milliseconds("launch_latency_p50_ms")), p95 \(milliseconds("launch_latency_p95_ms")), "
                    + "max \(milliseconds("launch_latency_max_ms"))"),
            row(
                "reclaim",
                "\(tally.warnings.counted("warning")), \(tally.suspensions.counted("suspension")), "
                    + "\(tally.scenesDisconnected.counted("scene")) disconnected, "
                    + "\(tally.bytesReclaimed.readable) reclaimed"),
            row(
                "terminations",
                "\(tally.terminations.count)" + (causes.isEmpty ? "" : " (\(causes))")
                    + ", \(count("terminations_foreground")) in the foreground, "
                    + "\(count("terminations_perceived")) perceived"),
        ]
        if kills.total > 0 {
            let cells = kills.cells.map { "\($0.count) \($0.cause.rawValue) in band \($0.band.number)" }
            lines.append(row("by the policy", cells.joined(separator: ", ")))
        }
        if tally.sampled.compressor.mostCompressed > .zero { lines.append(row("compressor", compressor)) }
        if tally.stalls > 0 {
            lines.append(
                row(
                    "waiting",
                    "\(tally.stalls.counted("allocation")) waited, \(RunReport.short(tally.stallTime)) in all"))
        }
        let held = manifest.expectations.count { $0.held }
        if !manifest.expectations.isEmpty {
            let all = held == manifest.expectations.count
            let words = "\(held) of \(manifest.expectations.count) held"
            lines.append(row("expectations", all ? Terminal.green(words) : Terminal.red(words)))
        }
        if manifest.dryRun { lines.append(row("dry run", "the policy's decisions were not carried out")) }
        if manifest.ending.ending == "interrupted" {
            lines.append(row("interrupted", manifest.ending.endingDetail ?? "by a signal"))
        }
        lines.append(row("written to", path))
        lines += next.commands.map { row($0.what, $0.command) }
        return lines.joined(separator: "\n")
    }

    /// What the compressor gained and cost.
    private var compressor: String {
        "up to \(tally.sampled.compressor.mostCompressed.readable) in \(tally.sampled.compressor.pool.readable), "
            + "\(RunReport.short(tally.sampled.compressor.compressing)) of a fast core to compress, "
            + "\(RunReport.short(tally.sampled.compressor.decompressing)) to bring back"
    }

    /// A time in words; below a second with tenths of a millisecond.
    static func short(_ span: TimeSpan) -> String {
        if span >= .seconds(1) { return span.readable }
        if span.microseconds < 100 { return "less than 0.1 ms" }
        return decimalText(span.microseconds / 100, digits: 1) + " ms"
    }

    private func row(_ name: String, _ text: String) -> String { "  \(pad(name, 14))\(text)" }

    /// One JSON object: every metric, the folder, and the expectations.
    func json() throws -> String { try JSONDocument.of(RunResult(self)) }
}

/// What `--format json` prints.
private struct RunResult: Encodable {
    let runDirectory: String
    let ending: String
    let exitStatus: Int32
    let dryRun: Bool
    let summary: Summary
    let kills: [Kill]
    let expectations: [Expectation]

    init(_ report: RunReport) {
        runDirectory = report.path
        (ending, exitStatus) = (report.manifest.ending.ending, report.manifest.ending.exitStatus)
        dryRun = report.manifest.dryRun
        summary = Summary(tally: report.tally)
        kills = report.kills.cells.map { Kill(band: $0.band.number, cause: $0.cause.rawValue, count: $0.count) }
        expectations = report.manifest.expectations.map(Expectation.init)
    }

    struct Kill: Encodable {
        let band: Int
        let cause: String
        let count: Int
    }

    /// Every metric by its name; null if the run has no such value.
    struct Summary: Encodable {
        let tally: RunTally

        func encode(to encoder: any Encoder) throws {
            var metrics = encoder.container(keyedBy: MetricName.self)
            for metric in SummaryMetrics.all {
                let name = MetricName(stringValue: metric.name)
                switch metric.value(tally) {
                case .text(let value): try metrics.encode(value, forKey: name)
                case .number(let value): try metrics.encode(value, forKey: name)
                case .count(let value): try metrics.encode(value, forKey: name)
                case .bytes(let value): try metrics.encode(value.bytes, forKey: name)
                case .milliseconds, .seconds, .ratio, .absent:
                    try metrics.encode(metric.value(tally).number, forKey: name)
                }
            }
        }
    }

    private struct MetricName: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// `observed` is a number as in the summary, or null where this run has no such value.
    struct Expectation: Encodable {
        let expectation: String
        let held: Bool
        let observed: Double?

        init(_ result: Manifest.Claim) {
            (expectation, held, observed) = (result.expectation, result.held, Double(result.observed))
        }

        private enum CodingKeys: String, CodingKey { case expectation, held, observed }

        func encode(to encoder: any Encoder) throws {
            var keys = encoder.container(keyedBy: CodingKeys.self)
            try keys.encode(expectation, forKey: .expectation)
            try keys.encode(held, forKey: .held)
            try keys.encode(observed, forKey: .observed)
        }
    }
}
