import ArgumentParser
import Foundation
import Metrics
import Quantities
import Reclaim
import Scenario
import Workload

struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the policies with their parameters, the app archetypes, the metrics, or the scenarios.",
        discussion: """
            EXAMPLES
              plimsoll list policies
              plimsoll list policies --format json
              plimsoll list scenarios --folder Scenarios
            """)

    enum Kind: String, CaseIterable, ExpressibleByArgument {
        case policies
        case apps
        case metrics
        case scenarios
    }

    @Argument(help: "What to list.")
    var kind: Kind

    @Option(help: "The folder of the scenarios to list.")
    var folder = "Scenarios"

    @Option(help: "json is for policies: every parameter with type, default, range, unit, choices and source.")
    var format: RunCommand.Format = .text

    func validate() throws {
        try refuseEmpty(folder, "--folder", "name a folder of scenarios")
        guard format == .json, kind != .policies else { return }
        throw ValidationError("--format json is for policies only")
    }

    func run() throws {
        try reporting {
            switch (kind, format) {
            case (.policies, .text): policies()
            case (.policies, .json): Terminal.say(try PolicyTable.json())
            case (.apps, _): apps()
            case (.metrics, _): metrics()
            case (.scenarios, _): try scenarios()
            }
            return .success
        }
    }

    private func policies() {
        for type in PolicyCatalogue.all {
            Terminal.say("\(Terminal.bold(type.name)): \(type.summary)")
            for parameter in type.parameterTable {
                Terminal.say("  \(pad(parameter.name, 22)) \(values(of: parameter))")
                Terminal.say("      \(parameter.meaning) [\(parameter.source)]")
            }
        }
    }

    /// The parameter's default and its other valid values.
    private func values(of parameter: PolicyParameter) -> String {
        let standard = "\(parameter.standard)"
        if parameter.hasRange { return "\(pad(standard, 8)) (\(parameter.lowest) to \(parameter.highest))" }
        guard let last = parameter.choices.last else { return standard }
        let others = parameter.choices.dropLast().joined(separator: ", ")
        return "\(pad(standard, 8)) (\(others) or \(last))"
    }

    private func apps() {
        Terminal.say("\(pad("archetype", 18)) \(pad("base", 9)) \(pad("scene", 9)) \(pad("cache", 9)) what it is")
        for archetype in Archetype.all {
            let memory = archetype.profile.memory
            Terminal.say(
                "\(pad(archetype.name, 18)) \(pad("\(memory.base)", 9)) \(pad("\(memory.scene)", 9)) "
                    + "\(pad("\(memory.cache.size)", 9)) \(archetype.summary)")
        }
    }

    private func metrics() {
        for metric in SummaryMetrics.all { Terminal.say("\(pad(metric.name, 26)) \(metric.meaning)") }
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
