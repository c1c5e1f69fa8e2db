import ArgumentParser
import Experiments
import Foundation
import Interchange
import Lifecycle
import Plan
import Quantities
import RunFolders
import Scenario
import Simulation
import Survival
import Workload

struct SurviveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "survive",
        abstract: "Says whether an app survives: how often, how long in the background, how large it may be.",
        usage: """
            plimsoll survive [<options>] <scenario> --app <name>
            plimsoll survive [<options>] --like <archetype>
            plimsoll survive [<options>] --kind <process>
            """,
        discussion: """
            An app survives a run if the system ends none of its processes and it does not crash; the user's own \
            quits do not count. The answer has the share of seeds under which it survives, how long it stays alive in \
            the background, as which counter of MetricKit its ends would be counted, the largest footprint at which \
            it survives with --probability, and what changes of its behaviour would gain. The scenario is a file, a \
            JetsamEvent report (.ips), or with --like an app of the catalogue among thirteen others, or with --kind a \
            process that is no app, such as a keyboard, beside them. Devices are those of `plimsoll list devices`. \
            All runs use the accounting backend. Each part of the answer is printed as soon as it is known, how often \
            the app survives first.

            EXAMPLES
              plimsoll survive Scenarios/seeded-commuter.yaml --app weather
              plimsoll survive Scenarios/seeded-commuter.yaml --app weather \\
                --footprint 40MiB..120MiB --seeds 1..20 --out survivals/weather
              plimsoll survive --like photo-editor --footprint 300MiB \\
                --device iphone-x --day gaming --seeds 1..20

              plimsoll survive --like document-editor --footprint 4GiB \\
                --device iphone-15-pro --incompressible 100% --seeds 1..5 --share-only
              plimsoll survive --kind keyboard --footprint 60MiB --seeds 1..5 --share-only

            A footprint is the app's most memory in ten minutes alone in front, as in `plimsoll list apps`, or the \
            most of another process at work. Where it decides that memory compresses, the answer says \
            so, and how often the app would survive if none of its memory did. Each \
            finished run is recorded at once: --resume continues an interrupted command, with the same answer. \
            `plimsoll plot` draws the folder.

            With --junit or --github the command is a check: the status is 99 if the app survives in fewer of the \
            runs than asked for. If it does in as many, but the interval still allows fewer, the check is undecided, \
            and the status 0; more seeds decide.

            Exit status: 0 answered, without --junit and --github whatever the answer; 99 a check failed; 65 if the \
            scenario is invalid or has no such app; 66 if it is missing; 71 if the host has too little memory; 73 or \
            74 if a file or folder cannot be made or written; 129, 130 and 143 interrupted.
            """)

    @Argument(help: "A scenario file, or a JetsamEvent report.", completion: Candidates.scenarios)
    var scenario: String?

    @Option(
        help: """
            The app, or another process of the scenario. With --like or --kind the name that it gets, by default that \
            of its archetype or kind.
            """,
        completion: Candidates.apps)
    var app: String?

    @Option(
        help: ArgumentHelp("Without a scenario: the kind of app, as in `plimsoll list apps`.", valueName: "archetype"),
        completion: .list(Archetype.all.map(\.name)))
    var like: String?

    @Option(
        help: ArgumentHelp(
            """
            Without a scenario: what the process is that is no app (an extension, a helper or a daemon), as in the \
            scenario's key `processes`.
            """, valueName: "process"),
        completion: .list(ProcessKind.allCases.map(\.rawValue)))
    var kind: String?

    @Option(
        help: ArgumentHelp(
            "With --like or --kind: what the user does. "
                + CommonDay.allCases.map { "\($0.rawValue): \($0.meaning)" }.joined(separator: "; ") + ".",
            valueName: "name"))
    var day: CommonDay?

    @Option(
        name: .customLong("device"),
        help: ArgumentHelp(
            """
            A device of `plimsoll list devices` in place of the scenario's; with --like by default iphone-13. The \
            answer is about the first. The smallest one on which the app survives is sought among those given. If \
            one is given, it is sought among all of the same system; among the larger ones only if the app does not \
            survive.
            """, valueName: "name"),
        completion: .list(DevicePreset.all.map(\.name)))
    var devices: [String] = []

    @Option(
        name: .customLong("footprint"),
        help: ArgumentHelp(
            """
            A size gives the app that footprint; a range, such as 80MiB..600MiB, is searched for the largest one, by \
            default a quarter to twice the app's own. Give one of each, or either. Sizes go from 20MiB (1MiB for an \
            extension) to 4GiB, or to a higher limit that the device has for an app with the entitlement: above the \
            limit of other apps, the app is taken to have it.
            """, valueName: "size|range"))
    var footprints: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            The share of the app's memory that does not compress, such as 100% for graphics and models; by default \
            as the scenario has it, and 10%. It matters on a device with a compressor.
            """, valueName: "share"),
        transform: SurviveCommand.incompressible)
    var incompressible: Ratio?

    @Option(
        help: ArgumentHelp("The share of runs in which the app is to survive.", valueName: "share"),
        transform: SurviveCommand.share)
    var probability = Ratio.percent(90)

    @Option(help: "The seeds, such as 1..40 or 1,2,5.")
    var seeds = "1..40"

    @Option(
        help: ArgumentHelp("A policy: a name or a policy file, in place of the scenario's.", valueName: "name|file"),
        completion: Candidates.policies)
    var policy: String?

    @OptionGroup var settings: SettingOptions

    @Flag(help: "Only say how often it survives and how it ends; search nothing.")
    var shareOnly = false

    @Flag(
        help: """
            Also say how much hangs on figures that nobody has published: each alone at other values, and 40 draws of \
            all together.
            """)
    var guesses = false

    @Option(
        parsing: .unconditional,
        help: "How many runs at a time, by default one per core. The answer does not depend on it.",
        transform: { try OptionValue.count($0, in: 1...1024) })
    var jobs: Int?

    @Flag(help: "Continue in --out what was interrupted there. All other options must be those of the first command.")
    var resume = false

    @Option(
        help: "The folder to write. By default runs/survive, or the first of runs/survive-2, -3, … that is free.",
        completion: .directory)
    var out: String?

    @OptionGroup var checks: CheckOptions

    @Flag(help: "Print no answer and no progress.")
    var quiet = false

    @Flag(help: "Run even if the host seems to have too little memory.")
    var ignoreHost = false

    static func share(_ text: String) throws -> Ratio {
        guard let share = try? Ratio(parsing: text), share > .zero, share <= .one else {
            throw ValidationError("expected a share above 0 and up to 1, such as 0.9 or 90%")
        }
        return share
    }

    static func incompressible(_ text: String) throws -> Ratio {
        guard let share = try? Ratio(parsing: text), share >= .zero, share <= .one else {
            throw ValidationError("expected a share from 0 to 1, such as 0.8 or 80%")
        }
        return share
    }

    /// The most seeds; with more, the ledger would need much memory.
    private static let mostSeeds = 10_000

    func validate() throws {
        try refuseEmpty(out, "--out")
        if let scenario { try refuseEmpty(scenarios: [scenario], policies: [policy].compactMap(\.self)) }
        try validateSubject()
        for (place, device) in devices.enumerated() {
            if DevicePreset.named(device) == nil {
                let advice = Nearest.advice(for: device, among: DevicePreset.all.map(\.name), kind: "devices")
                throw ValidationError("--device \(device.shortened()): there is no such device\(advice)")
            }
            if devices[..<place].contains(device) { throw ValidationError("--device \(device) is given twice") }
        }
        if resume && out == nil { throw ValidationError("--resume needs the folder of --out") }
        try refuse(keys: settings.keys, as: "--set", policy: policy, backend: nil)
        for key in settings.keys where ["seed", "backend"].contains(key) {
            throw ValidationError(
                "--set \(key): " + (key == "seed" ? "--seeds sets the seeds" : "all runs use the accounting backend"))
        }
        _ = try sizes()
        _ = try seedList()
    }

    /// Checks what the question is about.
    private func validateSubject() throws {
        if scenario == nil && like == nil && kind == nil {
            throw ValidationError(
                "name a scenario and --app, or an app of the catalogue with --like, or another process with --kind")
        }
        if like != nil && kind != nil {
            throw ValidationError("--like is an app, --kind is not; leave one out")
        }
        for (option, value) in [("--like", like), ("--kind", kind)] where scenario != nil && value != nil {
            throw ValidationError("\(option) needs no scenario; leave one of them out")
        }
        if like == nil && kind == nil {
            if app == nil { throw ValidationError("name the app with --app") }
            if day != nil { throw ValidationError("--day needs --like; a scenario has a day of its own") }
        }
        if let like, Archetype.named(like) == nil {
            let advice = Nearest.advice(for: like, among: Archetype.all.map(\.name), kind: "archetypes")
            let isKind = ProcessKind(rawValue: like) != nil
            throw ValidationError(
                "--like \(like.shortened()): there is no such archetype"
                    + (isKind ? "; --kind \(like) asks about such a process" : advice))
        }
        if let kind, ProcessKind(rawValue: kind) == nil {
            let advice = Nearest.advice(
                for: kind, among: ProcessKind.allCases.map(\.rawValue), kind: "kinds of processes")
            throw ValidationError("--kind \(kind.shortened()): there is no such process\(advice)")
        }
        if scenario == nil, let app, CommonDay.fleet.contains(where: { $0.name == app }) {
            throw ValidationError("--app \(app): another app of the day has that name; choose another")
        }
    }

    /// The app's name.
    var name: String { app ?? kind ?? like.map { CommonDay.name(ofAppLike: $0) } ?? "" }

    /// The device that the answer is about; nil for the scenario's own.
    var device: String? { devices.first ?? (scenario == nil ? "iphone-13" : nil) }

    /// The devices among which the smallest is sought.
    var compared: [String] {
        guard !shareOnly, let device, let preset = DevicePreset.named(device) else { return [] }
        guard devices.count < 2 else { return devices }
        func system(_ preset: DevicePreset) -> Substring { preset.os.prefix { $0 != " " } }
        return DevicePreset.all.filter { system($0) == system(preset) }.map(\.name)
    }

    func seedList() throws -> [UInt64] {
        let seeds = try ExperimentPlanner.seeds(seeds)
        guard seeds.count <= SurviveCommand.mostSeeds else {
            throw ValidationError("--seeds: \(seeds.count) are more than \(SurviveCommand.mostSeeds) seeds")
        }
        return seeds
    }

    /// The footprint and the range that are given.
    ///
    /// - Parameter allowed: The footprints that the app may have; nil if they are not known yet.
    func sizes(
        within allowed: ClosedRange<ByteCount>? = nil
    ) throws -> (own: ByteCount?, range: ClosedRange<ByteCount>?) {
        var sizes: (own: ByteCount?, range: ClosedRange<ByteCount>?)
        for text in footprints {
            guard let dots = text.firstRange(of: "..") else {
                guard sizes.own == nil else { throw ValidationError("--footprint: give one size, not two") }
                sizes.own = try SurviveCommand.footprint(text, allowed)
                continue
            }
            guard sizes.range == nil else { throw ValidationError("--footprint: give one range, not two") }
            let low = try SurviveCommand.footprint(String(text[..<dots.lowerBound]), allowed)
            let high = try SurviveCommand.footprint(String(text[dots.upperBound...]), allowed)
            guard low < high else { throw ValidationError("--footprint \(text): the range is empty or upside down") }
            sizes.range = low...high
        }
        if shareOnly && sizes.range != nil {
            throw ValidationError("--share-only searches nothing; leave the range of --footprint out")
        }
        return sizes
    }

    private static func footprint(_ text: String, _ allowed: ClosedRange<ByteCount>?) throws -> ByteCount {
        do {
            return try OptionValue.footprint(text, within: allowed)
        } catch let fault as ValidationError {
            throw ValidationError("--footprint \(text.shortened()): \(fault.message)")
        }
    }

    func run() throws {
        try checks.reporting("survive", keeping: [scenario].compactMap(\.self), besides: out) {
            // The hold on the folder, the ledger, the table that is written, and one in reserve.
            try HostMachine.demandFiles(4, for: "survive")
            Interruption.install()
            do {
                return try SurviveRun(self).run()
            } catch is FatePlayer.Interrupted {
                throw ExitCode(128 + Interruption.signalNumber)
            }
        }
    }
}

extension CommonDay: ExpressibleByArgument {}
