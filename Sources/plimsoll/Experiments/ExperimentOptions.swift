import ArgumentParser
import Experiments
import Foundation
import Interchange
import Memory
import Metrics
import Plan
import Quantities
import RunFolders
import Scenario
import Simulation
import Workload

/// How `compare` and `sweep` print their result.
enum ExperimentFormat: String, CaseIterable, ExpressibleByArgument {
    case text
    case markdown

    static let help = ArgumentHelp("How to print the result; markdown is a table for a pull request.")
}

/// What `compare` and `tune` count as lost.
struct PriceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("What an app that ends in front counts as in seconds_lost.", valueName: "time"),
        transform: OptionValue.price)
    var endPrice = PersonWaits.Prices().end

    @Option(
        help: ArgumentHelp("What a launch whose frame never comes counts as in seconds_lost.", valueName: "time"),
        transform: OptionValue.price)
    var lostLaunchPrice = PersonWaits.Prices().launch

    var ofRuns: PersonWaits.Prices { .init(end: endPrice, launch: lostLaunchPrice) }
}

/// The options that `compare` and `sweep` share.
struct ExperimentOptions: ParsableArguments {
    @Argument(help: "Scenario files, or folders with files *.yaml.", completion: Candidates.scenarios)
    var scenarios: [String]

    @Option(
        name: .customLong("policy"),
        help: ArgumentHelp("A policy: a name or a policy file. Repeatable.", valueName: "name|file"),
        completion: Candidates.policies)
    var policies: [String] = []

    @OptionGroup var settings: SettingOptions

    @Option(
        help: """
            In place of the scenario's: jemalloc uses real memory; accounting only computes what jemalloc would use.
            """)
    var backend: MemoryBackend?

    @Option(parsing: .unconditional, help: Ratio.scaleHelp, transform: OptionValue.scale)
    var scale: Ratio?

    @Option(
        parsing: .unconditional,
        help: """
            How many runs at a time. By default one per core, fewer if the host lacks memory.
            """,
        transform: { try OptionValue.count($0, in: 1...1024) })
    var jobs: Int?

    @Flag(help: "Check everything and list the first runs, but run none.")
    var dryRun = false

    @Flag(help: "Print no summary and no progress.")
    var quiet = false

    @Option(help: ExperimentFormat.help)
    var format: ExperimentFormat = .text

    @Option(name: .customLong("hand-out"), help: .hidden)
    var handOutPipes: String?

    /// The pipes to the process that has the runs made elsewhere; nil to make them here.
    var handOut: HandOut.Pipes? { handOutPipes.flatMap(HandOut.Pipes.init) }

    /// Refuses a metric that does not exist or cannot be compared.
    static func check(metric: String) throws {
        if let complaint = SummaryMetrics.complaint(about: metric) {
            throw ValidationError("--metric \(metric): \(complaint)")
        }
    }

    mutating func validate() throws {
        if handOutPipes != nil && handOut == nil {
            throw ValidationError("--hand-out takes two open pipes: READ,WRITE")
        }
        if scenarios.isEmpty { throw ValidationError("name at least one scenario") }
        try refuseEmpty(scenarios: scenarios, policies: policies)
        scenarios = try scenarios.flatMap { path in
            guard let files = ScenarioLoader.files(inFolder: path) else { return [path] }
            if files.isEmpty { throw ValidationError("\(path) is a folder without scenario files (*.yaml)") }
            return files
        }
        for (position, path) in scenarios.enumerated() where scenarios[..<position].contains(path) {
            throw ValidationError("\(path) is named twice")
        }
        try refuse(keys: settings.keys, as: "--set")
    }

    /// Refuses a `--set` that the varied setting `key` would replace in every run.
    func refuseSets(under key: String) throws {
        let varied = SettingKey(key)
        for set in settings.keys {
            if varied.covers(SettingKey(set)) {
                throw ValidationError(
                    "--set \(set): --vary \(key) replaces it in every run; leave one of them out")
            }
            if varied.mayCover(SettingKey(set)) {
                throw ValidationError("--set \(set) and --vary \(key) \(SettingKey.numberAndName)")
            }
        }
    }

    /// Refuses a `--set` or `--vary` of a key that has an option of its own.
    func refuse(keys: [String], as option: String) throws {
        try refuse(keys: keys, as: option, backend: backend)
        for key in keys {
            if key == "seed" { throw ValidationError("\(option) seed: --seeds sets the seeds") }
            if !policies.isEmpty, ["policy", "policy.name", "policy.label"].contains(key) {
                throw ValidationError("\(option) \(key): --policy sets the policies")
            }
        }
    }
}

/// Makes a plan from the command line, and checks each of its cases.
struct ExperimentPlanner {
    let options: ExperimentOptions
    /// The most host memory that any one run needs.
    private(set) var needed = ByteCount.zero
    /// The parts of `needed`, in words.
    private var whyNeeded = ""
    /// The traces of all plans that were checked.
    private var traceFiles: [String] = []
    /// The traces of the plan that was checked last.
    private var surveyed: (traces: [TraceProfile], files: TraceFiles)?
    /// Warnings about scenarios and policies, each with the scenario's path.
    private var warnings: [String] = []

    init(_ options: ExperimentOptions) { self.options = options }

    /// - Parameter policies: As given on the command line; nil is the scenario's own.
    mutating func plan(
        policies: [String?], keys: [String] = [], combinations: [[SettingValue]] = [[]], seeds: [UInt64?]
    ) throws -> ExperimentPlan {
        var plan = ExperimentPlan(
            program: plimsollVersion, scenarios: [], backend: options.backend?.rawValue,
            scale: options.scale.map { "\($0)" }, sets: options.settings.sets,
            policies: policies.map { given in given.map { .init(given: $0, label: $0) } }, keys: keys,
            combinations: combinations, seeds: seeds)
        var faults: [String] = []
        var worst = ExitStatus.done
        for path in options.scenarios {
            do throws(ScenarioFault) {
                plan.scenarios.append(try check(path, &plan))
            } catch {
                if worst == .done { worst = Failure(error).status }
                faults += error.illustrated.split(separator: "\n").map(String.init)
            }
        }
        guard faults.isEmpty else { throw Failure(worst, ExperimentPlanner.inWordsOfVary(faults, keys: keys)) }
        ExperimentPlanner.distinguish(&plan)
        if !options.quiet { warnings.forEach(Terminal.complain) }
        return plan
    }

    /// Loads the scenario with every policy and every combination of settings. Throws the faults of the first
    /// combination that fails.
    private mutating func check(
        _ path: String, _ plan: inout ExperimentPlan
    ) throws(ScenarioFault) -> ExperimentPlan.ScenarioInput {
        var status = stat()
        let isStream = path == InputFile.standardInput
        guard !isStream, stat(path, &status) != 0 || [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) else {
            throw .unreadable(path: path, reason: "every run reads it again, so it must be a file on a disk")
        }
        var input: ExperimentPlan.ScenarioInput?
        for policy in plan.policies.indices {
            for combination in plan.combinations.indices {
                let overrides = Overrides(
                    sets: plan.assignments(ofCombination: combination, policy: policy),
                    policy: plan.policies[policy]?.given, backend: options.backend, scale: options.scale)
                let loaded = try ScenarioLoader.load(path: path, overrides: overrides).get()
                // Reads every trace to its end, to find a broken one before the first run.
                try need(loaded)
                for warning in loaded.warnings(from: path) where !warnings.contains(warning) {
                    warnings.append(warning)
                }
                if input == nil { input = ExperimentPlanner.input(path, loaded) }
                // A policy given by name keeps that name as its label. A policy file may have a label of its own.
                if let given = plan.policies[policy]?.given, PolicyFile.isFile(given) {
                    plan.policies[policy]?.label = loaded.policy.title
                }
            }
            guard let given = plan.policies[policy]?.given, PolicyFile.isFile(given) else { continue }
            plan.policies[policy]?.fingerprint = Fingerprint(ofFile: given).description
        }
        guard let input else { preconditionFailure("a plan without policies or combinations") }
        let own = try? ScenarioLoader.load(path: path, overrides: Overrides(sets: options.settings.sets)).get()
        warnings += own.flatMap { plan.warning(of: $0.policy) }.map { ["\(path): warning: \($0)"] } ?? []
        return input
    }

    /// Raises `needed` to the host memory that one run needs in a process of its own.
    private mutating func need(_ plan: RunPlan) throws(ScenarioFault) {
        let traces = plan.apps.compactMap(\.memory.trace)
        // Most runs of an experiment play the same traces, which may be long: they are read once.
        let files: TraceFiles
        if let surveyed, surveyed.traces == traces {
            files = surveyed.files
        } else {
            files = try TraceFiles(plan)
            surveyed = (traces, files)
            for trace in traces where !traceFiles.contains(trace.file) { traceFiles.append(trace.file) }
        }
        let demand = plan.hostDemand(files)
        let need = demand.total + ExperimentPlanner.program
        guard need > needed else { return }
        (needed, whyNeeded) = (need, demand.parts(of: plan))
    }

    /// The memory of a process before its run begins. Traces are kept in memory only if they take at most a part of
    /// it.
    private static let program = ByteCount.mebibytes(40)

    private static func input(
        _ path: String, _ plan: RunPlan
    ) -> ExperimentPlan.ScenarioInput {
        let traces = plan.apps.compactMap { $0.memory.trace?.file }
        return .init(
            path: path, name: plan.name, fingerprint: Fingerprint(ofFile: path).description,
            traces: traces.map { Fingerprint(ofFile: $0).description })
    }

    /// Replaces `--set key=value` in diagnostics by `--vary` where the key was varied.
    private static func inWordsOfVary(_ faults: [String], keys: [String]) -> [String] {
        faults.map { fault in
            for key in keys where fault.hasPrefix("--set \(key)=") { return "--vary" + fault.dropFirst(5) }
            return fault
        }
    }
}

extension ExperimentPlanner {
    /// Makes names unique: numbers policies that share a name, and replaces the names of scenarios that share one by
    /// their paths.
    private static func distinguish(_ plan: inout ExperimentPlan) {
        var known: [String] = []
        for position in plan.policies.indices {
            guard let name = plan.policies[position]?.label else { continue }
            var (label, number) = (name, 1)
            while known.contains(label) {
                number += 1
                label = "\(name)-\(number)"
            }
            plan.policies[position]?.label = label
            known.append(label)
        }
        let names = plan.scenarios.map(\.name)
        for position in names.indices where names.count(where: { $0 == names[position] }) > 1 {
            plan.scenarios[position].name = plan.scenarios[position].path
        }
    }

    /// Who makes the runs of a plan.
    ///
    /// - Parameters:
    ///   - missing: The number of runs to make.
    ///   - tellingShares: Whether runs on this machine say how much of them is done.
    func workers(
        for missing: Int, of plan: ExperimentPlan, jobs: Int, tellingShares: Bool
    ) throws -> any CaseWorkers {
        guard let pipes = options.handOut else { return LocalWorkers(jobs: jobs, tellsShares: tellingShares) }
        let policies = plan.policies.compactMap { $0?.fingerprint == nil ? nil : $0?.given }
        let files = plan.scenarios.map(\.path) + policies + traceFiles
        return try HandOut(pipes, HandOut.Head(plan, runs: missing, needed: needed, files: files))
    }

    /// How many runs at a time; no more than fit into the host's memory.
    func jobs() throws -> Int {
        // Elsewhere there is other memory, and the engine there knows how much.
        guard options.handOut == nil else { return options.jobs ?? 1 }
        let wanted = options.jobs ?? ProcessInfo.processInfo.activeProcessorCount
        guard needed > .zero, let free = HostMachine.freeMemory else { return wanted }
        let room = free.size.bytes / needed.bytes
        guard room < wanted else { return wanted }
        guard options.jobs == nil, room > 0 else {
            // One literal: as a sum of strings with choices inside, the compiler checked it for a second.
            let subject = wanted == 1 ? "a run" : "each of \(wanted) runs at a time"
            let fitting = room > 0 ? "--jobs \(room) fits; or " : ""
            throw Failure(
                .hostRefuses,
                """
                \(free.giver) has \(free.size.readable) free, but \(subject) needs \(needed.readable) \
                (\(whyNeeded)); \(fitting)use --backend accounting, --scale, larger memory.objects or a lower \
                device.ceiling
                """)
        }
        return room
    }

    /// Reads seeds such as `1..20`; throws a usage error otherwise.
    static func seeds(_ text: String) throws -> [UInt64] {
        do {
            return try Seeds.parse(text)
        } catch {
            throw ValidationError("--seeds: \(error)")
        }
    }
}
