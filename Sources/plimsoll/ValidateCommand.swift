import ArgumentParser
import Interchange
import Plan
import Quantities
import RunFolders
import Scenario

struct ValidateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate",
        abstract: "Checks scenarios without running them: every fault at once, with file, line and column.",
        usage: "plimsoll validate [<options>] <scenarios> ...",
        discussion: """
            `validate` does not check host memory; `run` does (status 71).

            Exit status: 65 if a scenario is invalid, 66 if one is missing.

            EXAMPLES
              plimsoll validate Scenarios/*.yaml
              plimsoll validate Scenarios/quickstart.yaml \\
                --policy Scenarios/policies/weighted.yaml
              plimsoll validate Scenarios/quickstart.yaml --set device.ceiling=1GiB
            """)

    @Argument(help: "Scenario files.", completion: Candidates.scenarios)
    var scenarios: [String]

    @Option(
        help: ArgumentHelp(
            "Check the scenarios with this policy: a name or a policy file.", valueName: "name|file"),
        completion: Candidates.policies)
    var policy: String?

    @OptionGroup var settings: SettingOptions

    func validate() throws {
        try refuseEmpty(scenarios: scenarios, policies: [policy].compactMap(\.self))
        try refuse(keys: settings.keys, as: "--set", policy: policy, backend: nil)
    }

    func run() throws {
        try reporting {
            var worst = ExitStatus.done
            for path in scenarios {
                switch check(path) {
                case .success(let plan):
                    let estimate = OutputEstimate(plan).text.map { "\(path): warning: \($0)" }
                    (plan.warnings(from: path) + [estimate].compactMap(\.self)).forEach(Terminal.complain)
                    let apps = plan.apps.count.counted("app")
                    Terminal.say("\(path.onOneLine): valid (\(apps), \(plan.duration), \(plan.policy.title))")
                case .failure(let fault):
                    Terminal.complain(fault.illustrated)
                    if worst == .done { worst = Failure(fault).status }
                }
            }
            return worst.code
        }
    }

    /// Checks the scenario and the traces that it names.
    private func check(_ path: String) -> Result<RunPlan, ScenarioFault> {
        ScenarioLoader.load(path: path, overrides: Overrides(sets: settings.sets, policy: policy)).flatMap { plan in
            Result { () throws(ScenarioFault) in
                _ = try TraceFiles(plan)
                return plan
            }
        }
    }
}
