import Foundation
import Metrics
import Plan
import Pressure
import Quantities
import Reclaim

/// The summary that a run prints.
package struct RunReport {
    let plan: RunPlan
    let tally: RunTally
    let manifest: Manifest
    let path: String
    let kills: KillTable
    /// Whether the folder has all tables, and not only the summaries.
    let hasTables: Bool
    /// Commands to go on with, each with its purpose.
    let next: [(what: String, command: String)]

    package init(
        _ plan: RunPlan, _ played: FolderRun.Played, _ manifest: Manifest, hasTables: Bool,
        next: [(what: String, command: String)]
    ) {
        (self.plan, self.manifest, self.hasTables, self.next) = (plan, manifest, hasTables, next)
        (tally, path, kills) = (played.tally, played.path, played.kills)
    }

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
            return "\(level.rawValue) \((rounded - told).clockText)"
        }
        return parts.joined(separator: ", ")
    }

    /// The summary: a dozen lines, and one for each process that was ended and for each expectation.
    ///
    /// - Parameter paint: Gives a part of the text its look.
    package func text(_ paint: TextLook.Paint = { text, _ in text }) -> String {
        let took = String(format: "%.1f", manifest.times.wallS)
        var lines = [
            paint(tally.run.scenario, .strong) + RunReport.place(of: plan.device)
                + ": policy \(tally.run.policy), seed \(tally.run.seed), "
                + "\(tally.duration.clockText) of virtual time in \(took) s"
        ]
        lines += memoryRows + terminationRows(paint)
        if tally.sampled.compressor.mostCompressed > .zero { lines.append(row("compressor", compressor)) }
        if tally.stalls > 0 {
            let waited = "\(tally.stalls.counted("allocation")) waited, \(RunReport.short(tally.stallTime)) in all"
            lines.append(row("waiting", waited))
        }
        lines += expectationRows(paint)
        if manifest.dryRun { lines.append(row("dry run", "the policy's decisions were not carried out")) }
        if manifest.ending.ending == "interrupted" {
            lines.append(row("interrupted", manifest.ending.endingDetail ?? "by a signal"))
        }
        lines.append(row("written to", path))
        lines += next.map { row($0.what, $0.command) }
        return lines.joined(separator: "\n")
    }

    /// ` on an iPhone 13, at 12.5%`: the device if it has a name, and its scale if that is not 1.
    package static func place(of device: Device) -> String {
        let name = device.name?.onOneLine ?? ""
        let article = name.first.map { "aeiou".contains($0.lowercased()) } == true ? "an" : "a"
        return (name.isEmpty ? "" : " on \(article) \(name)") + (device.scale == .one ? "" : ", at \(device.scale)")
    }

    private var memoryRows: [String] {
        let share = tally.peakResident.share(of: tally.run.ceiling)
        let percent = String(format: "%.1f%%", Double(share.partsPerMillion) / 10_000)
        return [
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
        ]
    }

    /// How many processes ended, which, and by what causes of the policy.
    private func terminationRows(_ paint: TextLook.Paint) -> [String] {
        let reasons = Dictionary(grouping: tally.terminations, by: \.reason.rawValue).mapValues(\.count)
        let causes = reasons.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        let ends = row(
            "terminations",
            "\(tally.terminations.count)" + (causes.isEmpty ? "" : " (\(causes))")
                + ", \(count("terminations_foreground")) in the foreground, "
                + "\(count("terminations_perceived")) perceived")
        let victims = VictimLines(ends: tally.terminations, table: hasTables ? "terminations.csv" : nil).lines
            .map { row("", $0.isFelt ? paint($0.text, .bad) : $0.text) }
        let cells = kills.cells.map { "\($0.count) \($0.cause.rawValue) in band \($0.band.number)" }
        return [ends] + victims + (cells.isEmpty ? [] : [row("by the policy", cells.joined(separator: ", "))])
    }

    /// How many expectations held, and a line for each with a check or a cross.
    private func expectationRows(_ paint: TextLook.Paint) -> [String] {
        let results = manifest.expectations
        guard !results.isEmpty else { return [] }
        let held = results.count { $0.held }
        let words = paint("\(held) of \(results.count) held", held == results.count ? .good : .bad)
        let lines = zip(results, plan.expectations).map { result, claim -> String in
            guard !result.held else { return paint("✓", .good) + " " + result.expectation.onOneLine }
            return paint("✗", .bad) + " " + RunReport.failure(result, of: claim, in: manifest)
        }
        return [row("expectations", words)] + lines.map { row("", $0) }
    }

    /// An expectation that failed, with what the run had and the place of the claim: `a == 1 (observed 0), s.yaml:3`.
    package static func failure(_ result: Manifest.Claim, of claim: Expectation, in manifest: Manifest) -> String {
        let place = manifest.file(of: claim).flatMap { file in claim.line.map { ", \(file):\($0)" } } ?? ""
        return "\(result.expectation) (\(result.observation))\(place)".onOneLine
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

    private func row(_ name: String, _ text: String) -> String {
        "  " + name.padding(toLength: 14, withPad: " ", startingAt: 0) + text
    }

    /// One JSON object: every metric, the folder, and the expectations.
    package func json() throws -> String { try JSONDocument.of(RunResult(self)) }
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
