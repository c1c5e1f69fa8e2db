import Experiments
import Metrics
import Plan
import Quantities
import Scenario
import Survival

// What each command checks.
extension CheckReport {
    /// That nothing could be checked: a case for each fault of a scenario, with its place, or one for another failure.
    ///
    /// - Parameter command: The command, such as `run`.
    package init?(_ command: String, insteadOf error: any Error) {
        guard let failure = Failure(of: error) else { return nil }
        let claim = "the scenario is valid"
        switch error as? ScenarioFault {
        case .invalid(let faults), .lacking(let faults):
            let cases = faults.map { fault -> Case in
                guard case .file(let file, let line, _) = fault.location else {
                    return Case(claim, file: nil, .faulty, fault.description)
                }
                return Case(claim, file: file, line: line, .faulty, fault.message)
            }
            self.init(command, cases)
        case .unreadable(let path, let reason):
            self.init(command, [Case("the scenario can be read", file: path, .faulty, reason)])
        case nil:
            let what = failure.lines.joined(separator: " ")
            self.init(command, [Case("the command ends well", file: nil, .faulty, what)])
        }
    }

    /// The expectations of a run; of a run that did not complete, only that.
    package init(of plan: RunPlan, _ manifest: Manifest) {
        guard manifest.ending.ending == "completed" else {
            let what = [manifest.ending.ending, manifest.ending.endingDetail].compactMap(\.self)
            self.init(
                plan.name, [Case("the run completes", file: nil, .failed, what.joined(separator: ": "))])
            return
        }
        let cases = zip(manifest.expectations, plan.expectations).map { result, claim in
            Case(
                result.expectation, file: manifest.file(of: claim), line: claim.line, result.held ? .passed : .failed,
                result.observation)
        }
        self.init(plan.name, cases)
    }

    /// That no policy is worse than the first one on any metric that has a better direction, in each scenario and, if
    /// there are several, in all together.
    package init(of comparison: Comparison) {
        var cases: [Case] = []
        let first = comparison.plan.policies.first.flatMap { $0?.label } ?? ""
        for section in comparison.sections {
            let file = comparison.plan.scenarios.first { $0.name == section.scenario }?.path
            for block in section.blocks where block.sense != .neither {
                for row in block.rows where row.role == .candidate {
                    let finding = Finding(block.metric, block.sense, row.result)
                    let place = section.scenario ?? "all scenarios"
                    cases.append(
                        Case(
                            "\(row.policy) is no worse than \(first) on \(block.metric), \(place)", file: file,
                            CheckReport.outcome(of: row.result, block.sense),
                            Conclusion(row.policy, against: first, [finding]).sentence))
                }
            }
        }
        self.init("compare with \(first)", cases)
    }

    /// A difference that every seed has alike counts although it has no interval: more runs would not change it.
    private static func outcome(of result: PairedComparison, _ sense: MetricSense) -> Outcome {
        switch result.verdict {
        case .worse: .failed
        case .baseline, .identical, .notShown, .better, .higher, .lower: .passed
        case .sameUnderEverySeed:
            (result.difference.flatMap { sense.loss(of: $0, against: 0) } ?? 0) > 0 ? .failed : .passed
        case .notComparable, .tooFew, .absent: .undecided
        }
    }

    /// That the app survives in the share of the runs that was asked for. If it does in fewer, that failed; if it does
    /// in as many, and the interval of the share reaches below, more runs have to decide.
    ///
    /// - Parameters:
    ///   - footprint: The app's own, as it was asked for or measured; nil if it is not known.
    ///   - file: The scenario's file; nil without one.
    package init(of answer: Answer, footprint: ByteCount?, file: String?) {
        let question = answer.question
        let size = footprint.map { ", \($0)," } ?? ""
        let outcome: Outcome =
            switch answer.verdictWord {
            case .yes: .passed
            case .no, .absent: .failed
            case .open: answer.isProbablyYes ? .undecided : .failed
            }
        let claim = "\(question.name)\(size) survives in \(question.share) of the runs"
        self.init(
            "survive",
            [
                Case(
                    claim + (question.device.map { " on \($0)" } ?? ""), file: file, outcome,
                    answer.checked)
            ])
    }
}
