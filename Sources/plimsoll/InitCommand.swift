import ArgumentParser
import Foundation
import Plan
import Quantities
import RunFolders
import Scenario
import Survival
import Workload

struct InitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Writes a first scenario, with comments, from the answers to six questions.",
        usage: "plimsoll init [<options>] <name>",
        discussion: """
            On a terminal it asks the questions that no option answers; an empty answer is the default. Elsewhere it \
            asks nothing. It overwrites no file.

            Exit status: 64 if the name or an answer is wrong, 73 if the file exists or cannot be made.

            EXAMPLES
              plimsoll init my-phone
              plimsoll init small-phone --device iphone-se-2 --apps 8 --duration 30min
              plimsoll init three-apps --apps messaging,mail,browser --day commuter \\
                --policy lru --expect 'chat survives'
              plimsoll init my-app --app mine --like photo-editor --footprint 300MiB
            """)

    @Argument(help: "The scenario's name. The file is NAME.yaml, in the current folder.")
    var name: String

    @Option(help: InitCommand.asking(.device, "name"), completion: .list(DevicePreset.all.map(\.name)))
    var device: String?

    @Option(help: InitCommand.asking(.apps, "number|kinds"), completion: .list(Archetype.all.map(\.name)))
    var apps: String?

    @Option(help: InitCommand.asking(.day, "name"), completion: .list(CommonDay.allCases.map(\.rawValue)))
    var day: String?

    @Option(help: InitCommand.asking(.duration, "time"))
    var duration: String?

    @Option(help: InitCommand.asking(.policy, "name"), completion: Candidates.policies)
    var policy: String?

    @Option(help: InitCommand.asking(.expect, "claims"))
    var expect: String?

    @Option(help: "Puts an app of yours with this name among the others; the scenario claims that it survives.")
    var app: String?

    @Option(
        help: ArgumentHelp("The kind of app that is most like yours, with --app; by default plain.", valueName: "kind"),
        completion: .list(Archetype.all.map(\.name)))
    var like: String?

    @Option(
        help: ArgumentHelp(
            "The most that your app holds in ten minutes alone in front, with --app; by default its kind's.",
            valueName: "size"), transform: { try OptionValue.footprint($0) })
    var footprint: ByteCount?

    func validate() throws {
        try refuseEmpty(app, "--app", "name your app")
        if app == nil, like != nil || footprint != nil {
            throw ValidationError("--like and --footprint are about an app of yours; name it with --app")
        }
    }

    private static func asking(_ question: FirstScenario.Question, _ value: String) -> ArgumentHelp {
        ArgumentHelp("\(question.words); by default \(question.standard).", valueName: value)
    }

    /// The option that answers the question.
    private func option(_ question: FirstScenario.Question) -> String? {
        switch question {
        case .device: device
        case .apps: apps
        case .day: day
        case .duration: duration
        case .policy: policy
        case .expect: expect
        }
    }

    func run() throws {
        try reporting {
            var scenario = try FirstScenario(named: name)
            // The app of the user's own is among those that claims are about.
            let questions = FirstScenario.Question.allCases
            for question in questions where question != .expect {
                if let answer = option(question) { try scenario.answer(question, answer) }
            }
            if let app { try scenario.add(.init(name: app, like: like ?? "plain", footprint: footprint)) }
            if let expect { try scenario.answer(.expect, expect) }
            guard !FileManager.default.fileExists(atPath: scenario.file) else {
                throw Failure(.cannotCreate, "\(scenario.file) exists already; give another name")
            }
            if isatty(0) == 1 && isatty(2) == 1 {
                for question in questions where option(question) == nil { ask(question, for: &scenario) }
            }
            let plan = try scenario.plan()
            try OutputFile.create(scenario.file, Array(scenario.text.utf8))
            let (file, apps) = (ShellWord.quoted(scenario.file), plan.apps.count.counted("app"))
            Terminal.say("\(file): \(apps), \(plan.duration), \(plan.policy.title)")
            Terminal.say("  to run it     \(ShellWord.quoted(NextSteps.program)) run \(file)")
            return .success
        }
    }

    /// Asks until the answer is right. An empty answer, or none, leaves the default.
    private func ask(_ question: FirstScenario.Question, for scenario: inout FirstScenario) {
        while true {
            Terminal.draw("\(question.words) [\(scenario.standard(of: question))]: ")
            guard let line = readLine(), !line.isEmpty else { return }
            do {
                return try scenario.answer(question, line)
            } catch {
                Terminal.complain(error.reason)
            }
        }
    }
}
