import Experiments
import Foundation
import Memory
import Metrics
import Plan
import Quantities
import Scenario
import Simulation

/// Suggests what to look at after a run, as commands that a person can copy.
struct NextSteps {
    let plan: RunPlan
    let tally: RunTally
    /// The apps of expectations that failed, in the order of these.
    let failing: [String]
    /// The run's folder.
    let folder: String
    /// The policy file of the command line, if it named one.
    let policyFile: String?
    /// Whether to suggest a report: the folder has the tables for one, and the caller does not make it.
    let offersReport: Bool
    let isDryRun: Bool
    /// How long the run took on this host, without waiting for a live view.
    let seconds: Double

    /// At most three commands, each with its purpose.
    var commands: [(what: String, command: String)] {
        var commands: [(String, String)] = []
        if offersReport { commands.append(("to see it", "\(Self.program) report \(ShellWord.quoted(folder))")) }
        if let app = saddest {
            let words = [Self.program, "explain", folder, "--app", app]
            commands.append(("to ask why", words.map(ShellWord.quoted).joined(separator: " ")))
        }
        if let policies {
            let words =
                [Self.program, "compare", folder + "/scenario.yaml"] + policies.flatMap { ["--policy", $0] } + brevity
            commands.append(("to compare", words.map(ShellWord.quoted).joined(separator: " ")))
        }
        return commands
    }

    /// The first app of a failed expectation that was ended; else the app whose end the user felt first; else the app
    /// that was ended first.
    private var saddest: String? {
        guard !isDryRun else { return nil }
        let ends = tally.terminations
        if let app = failing.first(where: { app in ends.contains { $0.app == app } }) { return app }
        return (ends.first(where: \.wasForeground) ?? ends.first(where: \.wasPerceived) ?? ends.first)?.app
    }

    /// The run's policy and another one to compare it with; nil if no value of `--policy` denotes the run's.
    private var policies: [String]? {
        let own = plan.policy
        guard policyFile != nil || own.rules.isEmpty && own.ownParameters.isEmpty else { return nil }
        return [policyFile ?? own.name, own.name == "jetsam" ? "ladder" : "jetsam"]
    }

    /// The options with which the comparison ends within a minute, by the time that this run took.
    private var brevity: [String] {
        let canCompute = plan.backend == .jemalloc && plan.device.compressor?.codec != .lz4
        let whole = seconds * Double(plan.duration.microseconds) / Double(max(1, tally.duration.microseconds))
        let yardsticks = Comparison.yardsticks.filter { !(policies ?? []).contains($0) }
        let seeds = Seeds.withinAMinute(
            runs: 2 + yardsticks.count, seconds: canCompute ? whole / NextSteps.gain : whole,
            atOnce: ProcessInfo.processInfo.activeProcessorCount)
        return (canCompute ? ["--backend", "accounting"] : []) + ["--seeds", seeds]
    }

    /// How many times faster at least a run is on the accounting backend, without tables; the shipped scenarios are
    /// 2.4 to 10 times faster.
    private static let gain = 2.0

    /// The program as a person types it in the current folder.
    static var program: String {
        let given = CommandLine.arguments.first ?? "plimsoll"
        let here = FileManager.default.currentDirectoryPath + "/"
        return given.hasPrefix(here) ? String(given.dropFirst(here.count)) : given
    }
}
