import ArgumentParser
import Foundation
import Memory
import Metrics
import Quantities
import Scenario
import Simulation

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Runs a scenario and leaves CSV files, the effective scenario and a manifest in a folder.",
        discussion: """
            The same program, scenario and seed write the same bytes into every CSV. Results go to
            stdout, progress to stderr.

            EXAMPLES
              plimsoll run Scenarios/quickstart.yaml
              plimsoll run Scenarios/evening-commute.yaml --policy lru --seed 7 --set 'expect=[]' --out runs/a
              plimsoll run Scenarios/evening-commute.yaml --policy Scenarios/policies/oomd-default.yaml \
            --set 'expect=[]'
              plimsoll run Scenarios/quickstart.yaml --set device.cores=1 --verify
              plimsoll run Scenarios/evening-commute.yaml --policy jetsam --set 'expect=[]' --jetsam-events --out runs/b

            A scenario's expectations are about its own policy and settings: with others, 'expect=[]' takes them away,
            or the run may end with status 99.
            """)

    enum Format: String, CaseIterable, ExpressibleByArgument {
        case text
        case json
    }

    @Argument(help: "The scenario file; - is standard input.")
    var scenario: String

    @Option(
        help: """
            The folder to write; by default runs/NAME with the name that stands in the scenario, or the first \
            runs/NAME-2, -3, … that is free.
            """)
    var out: String?

    @Flag(
        help: """
            Overwrite the earlier run in --out, with its pictures, report, timeline and JetsamEvent reports, and an \
            earlier --trace. What is not plimsoll's stays.
            """)
    var force = false

    @Option(
        parsing: .unconditional, help: "The seed, instead of the scenario's.", transform: OptionValue.seed)
    var seed: UInt64?

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "Changes one setting of the scenario; may be repeated, and the last one for a key counts.",
            valueName: "key=value"),
        transform: OptionValue.assignment)
    var sets: [String] = []

    @Option(
        help: ArgumentHelp(
            "The policy, instead of the scenario's: a name, with its default parameters, or a policy file.",
            valueName: "name|file"))
    var policy: String?

    @Option(help: "jemalloc (real memory) or accounting (its arithmetic without the memory).")
    var backend: MemoryBackend?

    @Option(parsing: .unconditional, help: Ratio.scaleHelp, transform: OptionValue.scale)
    var scale: Ratio?

    @Flag(
        help: """
            Ask the policy and record its decisions, but act on none of them: apps then end for want of memory, as \
            under none. As nothing is freed, a policy that tries the mildest first does not get to ending anybody.
            """)
    var dryRun = false

    @Flag(help: "At every sample, compare the books with jemalloc's refreshed statistics and check every invariant.")
    var verify = false

    @Option(
        help: ArgumentHelp(
            "Also write a timeline for trace viewers (chrome://tracing, ui.perfetto.dev).", valueName: "file"))
    var trace: String?

    @Flag(
        help: """
            Also write a JetsamEvent report (.ips), as a device does, for every session of kills: into the folder \
            jetsam-events of the run's own.
            """)
    var jetsamEvents = false

    @Flag(help: "Show the run while it goes on; plain lines where stderr is no terminal.")
    var live = false

    @Option(help: "How fast --live goes: real (as on a device), 10x or max. Keys change it.")
    var speed: LiveSpeed?

    @Option(help: "How the summary is printed on stdout: text or json.")
    var format: Format = .text

    @Flag(help: "Of the tables, write summary.csv alone: for many runs of which only the figures are wanted.")
    var summaryOnly = false

    @Flag(help: "No summary and no progress.")
    var quiet = false

    @Flag(help: "Run even when the host seems to have too little memory for the ceiling.")
    var ignoreHost = false

    @Flag(
        help: ArgumentHelp("End when standard input ends, as when whoever started this is gone.", visibility: .hidden))
    var lifeline = false

    func validate() throws {
        try refuseEmpty(scenarios: [scenario], policies: [policy].compactMap(\.self))
        try refuseEmpty(out, "--out")
        try refuseEmpty(trace, "--trace")
        if trace == "-" {
            throw ValidationError("--trace writes to a file, for standard output has the summary; name a file, not '-'")
        }
        try refuse(keys: OptionValue.keys(of: sets), as: "--set", seed: seed, policy: policy, backend: backend)
        if live && quiet { throw ValidationError("--live shows the run, and --quiet nothing; leave one of them out") }
        if format == .json && quiet {
            throw ValidationError("--format says how the summary is printed, and --quiet that it is not")
        }
        if speed != nil && !live { throw ValidationError("--speed needs --live") }
        if trace != nil && summaryOnly {
            throw ValidationError("--trace is made from the tables; not with --summary-only")
        }
    }

    func run() throws {
        try reporting {
            let overrides = Overrides(sets: sets, seed: seed, policy: policy, backend: backend, scale: scale)
            switch ScenarioLoader.load(path: scenario, overrides: overrides) {
            case .failure(let fault): throw Failure(fault.status, [fault.description])
            case .success(let plan): return try ScenarioRun(plan: plan, command: self).run()
            }
        }
    }
}

extension MemoryBackend: ExpressibleByArgument {}

extension Ratio {
    /// The help of `--scale`, the same in every command.
    static var scaleHelp: ArgumentHelp {
        """
        A scale model of the run: the device with its thresholds and limits times this ratio, such as 0.25 or 50%; \
        apps do the same at that scale.
        """
    }
}
