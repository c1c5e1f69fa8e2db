import ArgumentParser
import Experiments
import Foundation
import Metrics
import Quantities
import Reclaim
import RunFolders
import Scenario
import Workload

struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the policies, the app archetypes, the devices, the metrics, or the scenarios.",
        usage: "plimsoll list [<options>] <kind> [<name>]",
        discussion: """
            With the name of a policy it lists the policy's parameters, with the path of a policy file those that the \
            file sets or declares for its rules, with the name of an archetype all of the \
            archetype's settings, as a scenario writes them. Devices are listed with the source of each figure and how \
            far to trust it; with the name of a device also the figures that no key takes, and the keys.

            EXAMPLES
              plimsoll list policies
              plimsoll list policies jetsam
              plimsoll list policies Scenarios/policies/weighted.yaml
              plimsoll list policies --format json
              plimsoll list apps
              plimsoll list apps browser
              plimsoll list apps --footprint 450MiB
              plimsoll list devices
              plimsoll list devices iphone-13
              plimsoll list scenarios --folder Scenarios
            """)

    enum Kind: String, CaseIterable, ExpressibleByArgument {
        case policies
        case apps
        case devices
        case metrics
        case scenarios
    }

    @Argument(help: "What to list.")
    var kind: Kind

    @Argument(
        help: "A policy or its file, an archetype or a device: list only this one, with its details.",
        completion: Candidates.listed)
    var name: String?

    @Flag(help: "List the details of every policy, archetype or device.")
    var details = false

    @Option(
        help: ArgumentHelp(
            "apps: the footprint of an app of yours, 300MiB by default. The last line shows how a scenario writes it.",
            valueName: "size"),
        transform: OptionValue.footprint)
    var footprint: ByteCount?

    @Option(help: "The folder of the scenarios to list.", completion: .directory)
    var folder = "Scenarios"

    @Option(
        help: """
            json is for policies, devices and metrics: every parameter with type, default, range, unit, choices and \
            source; every figure of a device with its source; every metric as schema csv has it.
            """)
    var format: RunCommand.Format = .text

    func validate() throws {
        try refuseEmpty(folder, "--folder", "name a folder of scenarios")
        if format == .json && ![.policies, .devices, .metrics].contains(kind) {
            throw ValidationError("--format json is for policies, devices and metrics only")
        }
        if kind == .metrics || kind == .scenarios {
            if let name { throw ValidationError("'\(name)': only policies, apps and devices are listed by name") }
            if details { throw ValidationError("--details is for policies, apps and devices only") }
        }
        guard footprint != nil else { return }
        if kind != .apps { throw ValidationError("--footprint is for apps only") }
        if name != nil || details { throw ValidationError("--footprint is for the list of all apps") }
    }

    func run() throws {
        try reporting {
            switch (kind, format) {
            case (.policies, let format) where name.map(PolicyFile.isFile) == true:
                try policyFile(isJSON: format == .json)
            case (.policies, .text): try policies()
            case (.policies, .json): Terminal.say(try PolicyTable.json(try chosenPolicies()))
            case (.apps, _): try apps()
            case (.devices, .text): try devices()
            case (.devices, .json): Terminal.say(try DeviceTable.json(try chosenDevices()))
            case (.metrics, .text): metrics()
            case (.metrics, .json): Terminal.say(try DataPackage.metrics())
            case (.scenarios, _): try scenarios()
            }
            return .success
        }
    }

    /// The member with the name on the command line; without a name, all members.
    private func chosen<Member>(_ all: [Member], _ kind: String, by name: (Member) -> String) throws -> [Member] {
        guard let wanted = self.name else { return all }
        if let member = all.first(where: { name($0) == wanted }) { return [member] }
        let advice = Nearest.advice(for: wanted, among: all.map(name), kind: kind)
        throw Failure(.wrongUsage, "there is no '\(wanted.shortened())' among the \(kind)\(advice)")
    }

    // MARK: Policies

    private func chosenPolicies() throws -> [any ReclaimPolicy.Type] {
        try chosen(PolicyCatalogue.all, "policies") { $0.name }
    }

    private func policies() throws {
        let types = try chosenPolicies()
        guard details || name != nil else {
            let width = (types.map { $0.name.count }.max() ?? 0) + 2
            for type in types { Terminal.say(Terminal.bold(pad(type.name, width)) + type.summary) }
            Terminal.say("\nplimsoll list policies NAME lists a policy's parameters, --details those of all.")
            return
        }
        for type in types {
            Terminal.say("\(Terminal.bold(type.name)): \(type.summary)")
            for parameter in type.parameterTable { Terminal.say(PolicyTable.text(of: parameter, parameter.standard)) }
        }
    }

    /// The policy of a file, with its own values as defaults.
    private func policyFile(isJSON: Bool) throws {
        let settings = try PolicyFile.load(path: name ?? "").mapError { Failure($0) }.get()
        Terminal.say(isJSON ? try PolicyTable.json(of: settings) : PolicyTable.text(of: settings))
    }

    // MARK: Apps

    private func apps() throws {
        let archetypes = try chosen(Archetype.all, "apps") { $0.name }
        if details || name != nil {
            for archetype in archetypes { Terminal.say(settings(of: archetype)) }
            return
        }
        func row(_ cells: [String], _ text: String) {
            Terminal.say(zip(cells, [18, 9, 9, 9, 11]).map { pad($0, $1) + " " }.joined() + text)
        }
        row(["archetype", "base", "scene", "cache", "peak"], "what it is")
        for archetype in archetypes {
            let memory = archetype.profile.memory
            let peak = try AppTrial(archetype).peak()
            let sizes = [memory.base, memory.scene, memory.cache.size].map { "\($0)" }
            row([archetype.name] + sizes + [peak.readable], archetype.summary)
        }
        try explainSizes()
    }

    /// Says what a peak is, and how a scenario declares an app of a given size.
    private func explainSizes() throws {
        let size = footprint ?? .mebibytes(300)
        let base = try AppTrial.base(of: size)
        Terminal.say(
            """

            peak: the app's most memory in ten minutes in the foreground, from a run of the app alone. It is more
            than base, scene and cache: these grow, and objects occupy whole size classes and pages.
            plimsoll list apps NAME lists all settings of an archetype. Its costs are medians; how much they vary
            (spread, 35%) is a guess.

            An app of yours that peaks at \(size): { name: mine, memory: { base: \(base) } }
            """)
    }

    /// All of the archetype's settings, as a scenario writes them.
    private func settings(of archetype: Archetype) -> String {
        let lines = EffectiveScenario.yaml(of: AppTrial(archetype).plan).split(separator: "\n")
        return lines.drop { $0 != "apps:" }.dropFirst().prefix { $0.hasPrefix(" ") }.joined(separator: "\n")
    }

    // MARK: Devices

    private func chosenDevices() throws -> [DevicePreset] {
        try chosen(DevicePreset.all, "devices") { $0.name }
    }

    private func devices() throws {
        let isWhole = details || name != nil
        for device in try chosenDevices() {
            Terminal.say("\(Terminal.bold(device.name)): \(device.models); \(device.os)")
            for fact in device.facts where isWhole || fact.isKey {
                Terminal.say("  \(pad(fact.name, 36)) \(fact.value)")
                Terminal.say("      \(fact.confidence.rawValue) [\(fact.source)]")
            }
            if isWhole { Terminal.say("\n" + DeviceTable.scenario(of: device) + "\n") }
        }
        Terminal.say("")
        for confidence in Confidence.allCases {
            Terminal.say("\(pad(confidence.rawValue, 12)) \(confidence.meaning)")
        }
        guard !isWhole else { return }
        Terminal.say(
            "\nA scenario takes a device with device: { like: NAME }. plimsoll list devices NAME lists all of one.")
    }

    private func metrics() {
        func say(_ metric: SummaryMetric) { Terminal.say("\(pad(metric.name, 26)) \(metric.meaning)") }
        for metric in SummaryMetrics.all { say(metric) }
        Terminal.say("\nOf compare, sweep and tune, which run every case under \(ExperimentPlan.yardstick), too:")
        say(.secondsLost)
        Terminal.say("")
        Terminal.say("For each app, in app_summary.csv; an expectation names the app first (maps.terminations == 0):")
        for metric in AppMetrics.comparable { Terminal.say("  \(pad(metric.name, 40)) \(metric.column.meaning)") }
    }

    private func scenarios() throws {
        let files: [String]
        do {
            files = try RunDirectory.content(of: folder)
        } catch {
            throw Failure(.missingInput, "\(error); name another folder with --folder")
        }
        for file in files.sorted() where file.hasSuffix(".yaml") {
            let path = "\(folder)/\(file)"
            let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            let first = text.split(separator: "\n").first { $0.hasPrefix("#") } ?? "#"
            let title = first.dropFirst().trimmingCharacters(in: .whitespaces)
            Terminal.say("\(pad(path.onOneLine, 44)) \(title.shortened(to: 200).onOneLine)")
        }
    }
}
