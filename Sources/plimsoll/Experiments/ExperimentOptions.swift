import ArgumentParser
import Experiments
import Foundation
import Interchange
import Memory
import Quantities
import Scenario
import Simulation
import Workload

/// What `compare` and `sweep` have in common on the command line.
struct ExperimentOptions: ParsableArguments {
    @Argument(help: "Scenario files.")
    var scenarios: [String]

    @Option(
        name: .customLong("policy"), help: ArgumentHelp("A policy; may be repeated.", valueName: "name|file"))
    var policies: [String] = []

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "Changes one setting in every run; may be repeated, and the last one for a key counts.",
            valueName: "key=value"),
        transform: OptionValue.assignment)
    var sets: [String] = []

    @Option(
        help: "jemalloc (real memory) or accounting (its arithmetic without the memory), instead of the scenario's.")
    var backend: MemoryBackend?

    @Option(parsing: .unconditional, help: Ratio.scaleHelp, transform: OptionValue.scale)
    var scale: Ratio?

    @Option(
        parsing: .unconditional,
        help: """
            How many runs at a time, each a process of its own; by default as many as there are cores, fewer where \
            the host has not the memory.
            """,
        transform: { try OptionValue.count($0, in: 1...1024) })
    var jobs: Int?

    @Flag(help: "Check everything, say how many runs there are and which come first, and run none.")
    var dryRun = false

    @Flag(help: "No summary and no progress.")
    var quiet = false

    func validate() throws {
        if scenarios.isEmpty { throw ValidationError("name at least one scenario") }
        try refuseEmpty(scenarios: scenarios, policies: policies)
        for (position, path) in scenarios.enumerated() where scenarios[..<position].contains(path) {
            throw ValidationError("\(path) comes twice")
        }
        try refuse(keys: OptionValue.keys(of: sets), as: "--set")
    }

    /// What is varied takes the place of what is set there and below: it is not set in vain.
    func refuseSets(under key: String) throws {
        let varied = SettingKey(key)
        for set in OptionValue.keys(of: sets) {
            if varied.covers(SettingKey(set)) {
                throw ValidationError(
                    "--set \(set): --vary \(key) takes its place in every run; leave one of them out")
            }
            if varied.mayCover(SettingKey(set)) {
                throw ValidationError("--set \(set) and --vary \(key) \(SettingKey.numberAndName)")
            }
        }
    }

    /// What has an option of its own is not changed behind that option's back.
    func refuse(keys: [String], as option: String) throws {
        try refuse(keys: keys, as: option, backend: backend)
        for key in keys {
            if key == "seed" { throw ValidationError("\(option) seed: the seeds are --seeds") }
            if !policies.isEmpty, ["policy", "policy.name", "policy.label"].contains(key) {
                throw ValidationError("\(option) \(key): the policies are those of --policy")
            }
        }
    }
}

/// From the command line to a plan whose every case is known to be valid.
struct ExperimentPlanner {
    let options: ExperimentOptions
    /// What a run needs of the host at most.
    private(set) var needed = ByteCount.zero
    /// What that consists of.
    private var whyNeeded = ""
    /// The traces of the plan that was looked at last.
    private var surveyed: (traces: [TraceProfile], files: TraceFiles)?
    /// What the scenarios and policies are told, as sentences with the scenario's path.
    private var warnings: [String] = []

    init(_ options: ExperimentOptions) { self.options = options }

    /// - Parameter policies: As given; nil is the scenario's own.
    mutating func plan(
        policies: [String?], keys: [String] = [], combinations: [[SettingValue]] = [[]], seeds: [UInt64?]
    ) throws -> ExperimentPlan {
        var plan = ExperimentPlan(
            program: plimsollVersion, scenarios: [], backend: options.backend?.rawValue,
            scale: options.scale.map { "\($0)" }, sets: options.sets,
            policies: policies.map { given in given.map { .init(given: $0, label: $0) } }, keys: keys,
            combinations: combinations, seeds: seeds)
        var faults: [String] = []
        var worst = ExitStatus.done
        for path in options.scenarios {
            do throws(ScenarioFault) {
                plan.scenarios.append(try check(path, &plan))
            } catch {
                if worst == .done { worst = error.status }
                faults += error.description.split(separator: "\n").map(String.init)
            }
        }
        guard faults.isEmpty else { throw Failure(worst, ExperimentPlanner.inWordsOfVary(faults, keys: keys)) }
        ExperimentPlanner.distinguish(&plan)
        if !options.quiet { warnings.forEach(Terminal.complain) }
        return plan
    }

    /// Loads the scenario with every policy and every combination; the first faults are thrown.
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
                    sets: plan.assignments(ofCombination: combination), policy: plan.policies[policy]?.given,
                    backend: options.backend, scale: options.scale)
                let loaded = try ScenarioLoader.load(path: path, overrides: overrides).get()
                // Reads the traces from end to end, so that a broken one is found before the first run.
                try need(loaded)
                for warning in loaded.warnings(from: path) where !warnings.contains(warning) {
                    warnings.append(warning)
                }
                if input == nil { input = ExperimentPlanner.input(path, loaded) }
                // A name is called by itself, whatever label a scenario gives to its own policy of that name.
                if let given = plan.policies[policy]?.given, PolicyFile.isFile(given) {
                    plan.policies[policy]?.label = loaded.policy.title
                }
            }
            guard let given = plan.policies[policy]?.given, PolicyFile.isFile(given) else { continue }
            plan.policies[policy]?.fingerprint = ExperimentPlanner.fingerprint(ofFile: given)
        }
        guard let input else { preconditionFailure("a plan without policies or combinations") }
        return input
    }

    /// What one run needs, in a program of its own.
    private mutating func need(_ plan: RunPlan) throws(ScenarioFault) {
        let traces = plan.apps.compactMap(\.memory.trace)
        // Most runs of an experiment play the same traces, which may be long.
        let files: TraceFiles
        if let surveyed, surveyed.traces == traces {
            files = surveyed.files
        } else {
            files = try TraceFiles(plan)
            surveyed = (traces, files)
        }
        let demand = plan.hostDemand(files)
        let need = demand.total + ExperimentPlanner.program
        guard need > needed else { return }
        (needed, whyNeeded) = (need, demand.parts(of: plan))
    }

    /// What a program takes before its run begins; traces that are kept are at most a part of it.
    private static let program = ByteCount.mebibytes(40)

    static func fingerprint(ofFile path: String) -> String {
        Fingerprint(of: FileManager.default.contents(atPath: path) ?? Data()).description
    }

    private static func input(
        _ path: String, _ plan: RunPlan
    ) -> ExperimentPlan.ScenarioInput {
        let traces = plan.apps.compactMap { $0.memory.trace?.file }
        return .init(
            path: path, name: plan.name, fingerprint: fingerprint(ofFile: path),
            traces: traces.map(fingerprint(ofFile:)))
    }

    /// A diagnostic speaks of `--set key=value`; where the key was varied, so does the message.
    private static func inWordsOfVary(_ faults: [String], keys: [String]) -> [String] {
        faults.map { fault in
            for key in keys where fault.hasPrefix("--set \(key)=") { return "--vary" + fault.dropFirst(5) }
            return fault
        }
    }
}

extension ExperimentPlanner {
    /// Policies and scenarios that are called alike are told apart: policies by a number, scenarios by their paths.
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

    /// How many runs at a time: no more than the host has room for.
    func jobs() throws -> Int {
        let wanted = options.jobs ?? ProcessInfo.processInfo.activeProcessorCount
        guard needed > .zero, let free = Host.freeMemory else { return wanted }
        let room = free.size.bytes / needed.bytes
        guard room < wanted else { return wanted }
        guard options.jobs == nil, room > 0 else {
            throw Failure(
                .hostRefuses,
                "\(free.giver) has \(free.size.readable) free, and \(wanted) runs at a time need "
                    + "\(needed.readable) each (\(whyNeeded)); "
                    + (room > 0 ? "--jobs \(room) fits, " : "")
                    + "or use --backend accounting, --scale, larger memory.objects or a lower device.ceiling")
        }
        return room
    }

    /// `1..20` as seeds; a fault of the command line.
    static func seeds(_ text: String) throws -> [UInt64] {
        do {
            return try Seeds.parse(text)
        } catch {
            throw ValidationError("--seeds: \(error)")
        }
    }
}
