import ArgumentParser
import Explanation
import Foundation
import Interchange
import Plan
import Quantities
import RunFolders
import Scenario
import Simulation

struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Says why an app was ended, what would have saved it, and at what price.",
        usage: "plimsoll explain [<options>] <directory>",
        discussion: """
            `explain` repeats the run from its scenario.yaml, as far as the run came, to get the snapshots that the \
            policy saw. It warns on stderr if the folder lacks files or contradicts the repetition. Without --app and \
            --at it explains the first few terminations: those that the policy ordered, and those by a rule, such as \
            the app's own limit or the watchdog.

            To find what would have saved an app, `explain` tries changes, each in a run of its own to the end of the \
            scenario: the numbers of the policy, the limit that demanded the end, what the app does when it is warned \
            or leaves the screen, its size, the size of the device, what the policy can be told about one process \
            (its oom_score_adj, its band or limit, lists of names such as earlyoom's avoid), and protecting it by \
            name. On a device with a compressor it also tries contents of the app that compress better or worse. For \
            sizes it looks for the smallest change beyond which every tried value saves the app; what saves it by \
            chance is named so, and never first. If no change alone saves the app for good, pairs of those that delay \
            its end longest are tried, three at most. For each change it says how long the app lives and \
            what each other app pays: its end, a slower launch, or a wait for memory. The change with the lowest \
            price comes first. Values are tried in steps, so a smaller change may also be enough. Sizes are those of \
            the phone, also where a scale model was run.

            Of each termination it says in at most fifteen lines of 80 columns why it came, what the app could do, \
            what the user or the device could change, and what that costs. A printed command leaves out the \
            scenario's claims where one of them does not hold with the change, so that it ends with status 0. --all \
            says everything: the policy's numbers, the processes that were spared and why, the whole prices, and \
            what was tried in vain. --format json writes all of it as one JSON document.

            --guesses says how much of the run hangs on figures that nobody has published, such as how many pages of \
            files the system keeps: what stays true with other values of each and with 40 draws of all, what does \
            not, and which figures decide. It plays about 80 runs to their end.

            The runs with changes compute memory instead of allocating it (as --backend accounting does), on all \
            cores; so does the repeated run, unless a compressor with codec: lz4 needs real memory.

            EXAMPLES
              plimsoll run Scenarios/evening-on-iphone.yaml
              plimsoll explain runs/evening-on-iphone
              plimsoll explain runs/evening-on-iphone --app weather --all
              plimsoll explain runs/evening-on-iphone --app weather --at 12min
              plimsoll explain runs/evening-on-iphone --felt --format json
              plimsoll explain runs/evening-on-iphone --guesses

            Exit status: 0 done; 65 if the run has no such app; 66 if the folder holds no run; 71 if the host has too \
            little memory; 129, 130 and 143 interrupted.
            """)

    @Argument(help: "The folder of a run.", completion: Candidates.runFolders)
    var directory: String

    @Option(help: "Explain the terminations of this app only.", completion: Candidates.apps)
    var app: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Explain the termination nearest to this time, such as 9min30s.", valueName: "time"),
        transform: OptionValue.time)
    var at: TimeSpan?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Explain at most this number of terminations, 3 by default; ignored with --at.", valueName: "count"),
        transform: { try OptionValue.count($0, in: 1...Int.max) })
    var most: Int?

    @Flag(help: "Explain every termination that the user felt: in the foreground, or soon before the app was wanted.")
    var felt = false

    @Flag(help: "Say everything, not only what matters most.")
    var all = false

    @Flag(help: "Say what of the run hangs on figures that nobody has published.")
    var guesses = false

    @Option(help: "What to write to stdout: text, or everything as JSON (text, json).")
    var format: RunCommand.Format = .text

    @Flag(help: "Repeat the run even if the host seems to have too little memory.")
    var ignoreHost = false

    func validate() throws {
        try refuseEmpty(directory, "the folder", "name the folder of a run")
        if guesses, all || felt || most != nil || at != nil {
            throw ValidationError("--guesses asks about the whole run; omit --all, --at, --felt and --most")
        }
        guard felt else { return }
        if most != nil || at != nil { throw ValidationError("--felt chooses the terminations; omit --most and --at") }
    }

    func run() throws {
        try reporting {
            try RunRecord.demandRun(in: directory)
            let path = directory + "/scenario.yaml"
            let plan = try plan(path)
            let record = try RunRecord(directory, plan)
            var answer = ExplainAnswer(
                scenario: path, format: format, scope: all ? .all : .short, namesApps: app == nil)
            guard !record.isDryRun else {
                try answer.end("This was a dry run: the policy's decisions were not carried out, so it ended no app.")
                return .success
            }
            let traces = try TraceFiles(plan)
            let repeated = plan.isTheSameOnAccounting ? plan.onAccounting : plan
            if !ignoreHost { try HostMachine.check(repeated, traces, flag: "--ignore-host") }
            Interruption.install()
            let line = StatusLine(after: .milliseconds(500))
            // The status line disappears however the command ends.
            defer { line.clear() }
            let explainer = Explainer(
                plan: plan, scenario: path, traces: traces, lastEvent: record.lastEvent,
                likely: guesses ? nil : app ?? record.endedApp(at: at), triesPolicy: all || format == .json,
                workforce: SomeCores(max(1, ProcessInfo.processInfo.activeProcessorCount)),
                isInterrupted: { Interruption.signalNumber != 0 },
                progress: { step in line.show { "\(step.text), \(Int($0)) s" } },
                witness: { record.compare($0) })
            if guesses {
                let study = try study(explainer, record)
                line.clear()
                answer.warn(record.warnings)
                if let study { try answer.end(study) } else { try answer.end(GuessStudy.nothingToGuess) }
                return .success
            }
            let history = try history(explainer, record)
            line.clear()
            answer.warn(record.warnings)
            answer.otherEnds = history.otherEnds
            let terminations = chosen(of: history.terminations)
            guard !terminations.isEmpty else {
                try answer.end(withoutTermination(history, record))
                if history.terminations.isEmpty { suggestSurvey() }
                return .success
            }
            try explain(terminations, by: explainer, &answer, line)
            return .success
        }
    }

    /// Explains the ends. A program that reads the document gets those that were found before an interruption, too.
    private func explain(
        _ terminations: [Explainer.Termination], by explainer: Explainer, _ answer: inout ExplainAnswer,
        _ line: StatusLine
    ) throws {
        do {
            try Failure.catching {
                try explainer.explain(terminations) { explanation in
                    line.clear()
                    answer.add(explanation)
                }
            }
        } catch {
            line.clear()
            if Interruption.signalNumber != 0 && format == .json {
                try answer.end("Interrupted: \(answer.count) of \(terminations.count) ends are explained.")
            }
            throw error
        }
        line.clear()
        try answer.end()
    }

    private func plan(_ path: String) throws -> RunPlan {
        let plan = try ScenarioLoader.load(path: path).get()
        if let app, !plan.apps.contains(where: { $0.name == app }) {
            let advice = Nearest.advice(for: app, among: plan.apps.map(\.name), kind: "apps")
            throw Failure(.invalidInput, "the run has no app '\(app)'\(advice)")
        }
        return plan
    }

    private var limit: Int { most ?? 3 }

    /// The run's ends, compared with the record.
    private func history(_ explainer: Explainer, _ record: RunRecord) throws -> Explainer.History {
        // Without --at and --felt the comparison stops after the terminations to explain; with them, it goes on, to
        // find the nearest one or all.
        let limit = at == nil && !felt ? limit : .max
        let history = try Failure.catching { try explainer.history(of: app, most: limit) }
        if history.terminations.count < limit { record.compareEnd() }
        return history
    }

    /// What hangs on guesses; nil if nothing does.
    private func study(_ explainer: Explainer, _ record: RunRecord) throws -> GuessStudy? {
        guard !explainer.plan.guesses.isEmpty else { return nil }
        return try Failure.catching {
            _ = try explainer.history()
            record.compareEnd()
            return try explainer.study(of: app)
        }
    }

    /// Says that there is nothing to explain, and which ends with other causes there were.
    private func withoutTermination(_ history: Explainer.History, _ record: RunRecord) -> String {
        let run = "in this run\(record.isWhole ? "" : ", as far as it came")"
        guard history.terminations.isEmpty else {
            return "\(app.map { "No end of \($0)" } ?? "No end") \(run) was felt by the user."
        }
        return app.map { "\($0) was not ended by the system \(run)." } ?? "The system ended no app \(run)."
    }

    /// Where to go on with an app that was not ended.
    private func suggestSurvey() {
        guard let app, format == .text else { return }
        let words = [NextSteps.program, "survive", directory + "/scenario.yaml", "--app", app]
        Terminal.say("How often it survives, and how large it may be:")
        Terminal.say("  " + words.map(ShellWord.quoted).joined(separator: " "))
    }

    private func chosen(of all: [Explainer.Termination]) -> [Explainer.Termination] {
        if felt { return all.filter(\.isFelt) }
        guard let at else { return Array(all.prefix(limit)) }
        let instant = Instant.zero + at
        func distance(_ termination: Explainer.Termination) -> Int64 {
            abs((termination.at - instant).microseconds)
        }
        let nearest = all.min { (distance($0), $0.at) < (distance($1), $1.at) }
        return nearest.map { [$0] } ?? []
    }
}

extension Explainer.Step {
    /// The text of the status line while the command works.
    fileprivate var text: String {
        switch self {
        case .repeating(let now, let end):
            "repeating the run: \(Progress.clock(now - .zero)) of \(Progress.clock(end - .zero))"
        case .trying(let count, let most):
            "looking for what would have saved it: \(count) of at most \(most.counted("change")) tried"
        case .varying(let count, let all): "varying the guesses: \(count) of \(all.counted("run"))"
        }
    }
}

extension Failure {
    /// Reports a run's fault as one line with its exit status.
    fileprivate static func catching<Value>(_ work: () throws -> Value) throws -> Value {
        do {
            return try work()
        } catch is Explainer.Interrupted {
            throw ExitCode(128 + Interruption.signalNumber)
        } catch {
            throw Failure(of: error) ?? Failure(.hostRefuses, "\(error)")
        }
    }
}
