import ArgumentParser
import Foundation
import Memory
import Metrics
import Quantities
import RunFolders
import Scenario
import Simulation

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Runs a scenario; writes CSV files, the effective scenario and a manifest into a folder.",
        discussion: """
            The same program, scenario and seed write the same bytes into every CSV. Results go to stdout, progress \
            to stderr.

            EXAMPLES
              plimsoll run Scenarios/quickstart.yaml
              plimsoll run Scenarios/evening-commute.yaml --policy lru --seed 7 \\
                --set 'expect=[]' --out runs/a
              plimsoll run Scenarios/evening-commute.yaml \\
                --policy Scenarios/policies/oomd-default.yaml --set 'expect=[]'
              plimsoll run Scenarios/quickstart.yaml --set device.cores=1 --verify
              plimsoll run Scenarios/evening-commute.yaml --policy jetsam \\
                --set 'expect=[]' --jetsam-events --out runs/b

            A scenario's expectations hold for its own policy and settings. With another policy or setting, remove \
            them with --set 'expect=[]', or the run may end with status 99.
            """)

    enum Format: String, CaseIterable, ExpressibleByArgument {
        case text
        case json
    }

    @Argument(help: "The scenario file; - reads standard input.", completion: Candidates.scenarios)
    var scenario: String

    @Option(
        help: """
            The folder to write. By default runs/NAME with the scenario's name, or the first of runs/NAME-2, -3, … \
            that is free.
            """, completion: .directory)
    var out: String?

    @Flag(
        help: """
            Overwrite an earlier run in --out, with its pictures, report, timeline and JetsamEvent reports, and an \
            earlier --trace. Files that plimsoll did not write stay.
            """)
    var force = false

    @Option(
        parsing: .unconditional, help: "The seed, in place of the scenario's.", transform: OptionValue.seed)
    var seed: UInt64?

    @OptionGroup var settings: SettingOptions

    @Option(
        help: ArgumentHelp(
            "The policy, in place of the scenario's: a name, with its default parameters, or a policy file.",
            valueName: "name|file"),
        completion: Candidates.policies)
    var policy: String?

    @Option(help: "jemalloc uses real memory; accounting only computes what jemalloc would use.")
    var backend: MemoryBackend?

    @Option(parsing: .unconditional, help: Ratio.scaleHelp, transform: OptionValue.scale)
    var scale: Ratio?

    @Flag(
        help: """
            Record the policy's decisions, but carry out none: apps then end for lack of memory, as under the policy \
            none. As nothing is freed, a policy that tries milder actions first never gets to ending an app.
            """)
    var dryRun = false

    @Flag(
        help: """
            At every sample, compare the accounting with jemalloc's refreshed statistics and check every invariant. \
            After every event, check where the pages are.
            """)
    var verify = false

    @Flag(help: "Like --verify, and compare with jemalloc's statistics after every event, too; slow.")
    var verifyEvents = false

    @Option(
        help: ArgumentHelp(
            "Also write a timeline for trace viewers (chrome://tracing, ui.perfetto.dev).", valueName: "file"),
        completion: .file())
    var trace: String?

    @Flag(
        help: """
            Also write a JetsamEvent report (.ips), as a device does, for every session of kills, into the folder \
            jetsam-events below the run's folder.
            """)
    var jetsamEvents = false

    @Flag(help: "Show the run as it goes on; as plain lines where stderr is no terminal.")
    var live = false

    @Option(help: "The speed of --live: real is a device's, max is unlimited. Keys change it.")
    var speed: LiveSpeed?

    @OptionGroup var checks: CheckOptions

    @Option(help: "How to print the summary on stdout.")
    var format: Format = .text

    @Flag(help: "Write only summary.csv, app_summary.csv and exits.csv.")
    var summaryOnly = false

    @Flag(help: "Print no summary and no progress.")
    var quiet = false

    @Flag(help: "Run even if the host seems to have too little memory.")
    var ignoreHost = false

    @Flag(
        help: ArgumentHelp("End when standard input closes, as when the parent process is gone.", visibility: .hidden))
    var lifeline = false

    @Flag(help: ArgumentHelp("Show --verify a fault that is not there, which it must find.", visibility: .hidden))
    var canary = false

    @Flag(help: ArgumentHelp("Do not offer `plimsoll report`: the caller makes one.", visibility: .hidden))
    var reportFollows = false

    func validate() throws {
        try refuseEmpty(scenarios: [scenario], policies: [policy].compactMap(\.self))
        try refuseEmpty(out, "--out")
        try refuseEmpty(trace, "--trace")
        if trace == "-" {
            throw ValidationError("--trace writes to a file, as stdout takes the summary; name a file, not '-'")
        }
        try refuse(keys: settings.keys, as: "--set", seed: seed, policy: policy, backend: backend)
        if live && quiet {
            throw ValidationError("--live shows the run and --quiet shows nothing; leave one of them out")
        }
        if format == .json && quiet {
            throw ValidationError("--format prints the summary and --quiet does not; leave one of them out")
        }
        if canary && !verify && !verifyEvents { throw ValidationError("--canary needs --verify") }
        if speed != nil && !live { throw ValidationError("--speed needs --live") }
        if trace != nil && summaryOnly {
            throw ValidationError("--trace needs the tables that --summary-only leaves out; leave one of them out")
        }
    }

    /// What is asked for besides the plan.
    var order: FolderRun.Order {
        var order = FolderRun.Order(scenario: scenario)
        order.policyFile = policy.flatMap { PolicyFile.isFile($0) ? $0 : nil }
        (order.out, order.trace, order.force) = (out, trace, force)
        (order.jetsamEvents, order.summaryOnly, order.dryRun) = (jetsamEvents, summaryOnly, dryRun)
        (order.verify, order.verifyEvents, order.canary) = (verify, verifyEvents, canary)
        return order
    }

    func run() throws {
        try checks.reporting("run", keeping: [scenario], besides: out) {
            let overrides = Overrides(sets: settings.sets, seed: seed, policy: policy, backend: backend, scale: scale)
            let plan = try ScenarioLoader.load(path: scenario, overrides: overrides).get()
            return try ScenarioRun(plan: plan, command: self).run()
        }
    }
}

extension MemoryBackend: ExpressibleByArgument {}

extension Ratio {
    /// The help of `--scale`, the same in every command.
    static var scaleHelp: ArgumentHelp {
        """
        A scale model of the run: the device, its thresholds and its limits times this ratio, such as 0.25 or 50%. \
        Apps act as at full scale and hold this share of their pages.
        """
    }
}
