import ArgumentParser
import Explanation
import Foundation
import Interchange
import Plan
import Quantities
import Scenario
import Simulation
import Synchronization

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
            or leaves the screen, its size, the size of the device, and protecting it by name. For sizes it looks for \
            the smallest sufficient change. For each change that saves the app it says how long the app lives and \
            what each other app pays: its end, a slower launch, or a wait for memory. The change with the lowest \
            price comes first. Values are tried in steps, so a smaller change may also be enough.

            EXAMPLES
              plimsoll run Scenarios/evening-on-iphone.yaml
              plimsoll explain runs/evening-on-iphone
              plimsoll explain runs/evening-on-iphone --app weather
              plimsoll explain runs/evening-on-iphone --app weather --at 12min

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
    var most = 3

    @Flag(help: "Repeat the run even if the host seems to have too little memory.")
    var ignoreHost = false

    func validate() throws { try refuseEmpty(directory, "the folder", "name the folder of a run") }

    func run() throws {
        try reporting {
            try RunRecord.demandRun(in: directory)
            let path = directory + "/scenario.yaml"
            let plan: RunPlan
            switch ScenarioLoader.load(path: path) {
            case .failure(let fault): throw Failure(fault.status, [fault.illustrated])
            case .success(let loaded): plan = loaded
            }
            if let app, !plan.apps.contains(where: { $0.name == app }) {
                let advice = Nearest.advice(for: app, among: plan.apps.map(\.name), kind: "apps")
                throw Failure(.invalidInput, "the run has no app '\(app)'\(advice)")
            }
            let record = try RunRecord(directory, plan)
            guard !record.isDryRun else {
                Terminal.say(
                    "This was a dry run: the policy's decisions were not carried out, so it ended no app.")
                return .success
            }
            let traces = try Failure.opening(plan)
            if !ignoreHost { try Host.check(plan, traces, flag: "--ignore-host") }
            Interruption.install()
            let line = StatusLine()
            // The status line disappears however the command ends.
            defer { line.clear() }
            let explainer = Explainer(
                plan: plan, scenario: path, traces: traces, lastEvent: record.lastEvent, workforce: AllCores(),
                isInterrupted: { Interruption.signalNumber != 0 }, progress: { line.draw($0.text) },
                witness: { record.compare($0) })
            // Without --at the repetition stops after the terminations to explain; with it, it goes on, to find the
            // nearest one.
            let limit = at == nil ? most : .max
            let history = try Failure.catching { try explainer.history(of: app, most: limit) }
            let all = history.terminations
            line.clear()
            if all.count < limit { record.compareEnd() }
            for warning in record.warnings { Terminal.complain("plimsoll: warning: \(warning)") }
            guard !all.isEmpty else {
                for text in withoutTermination(history, record) { Terminal.say(text) }
                return .success
            }
            for (index, termination) in chosen(of: all).enumerated() {
                let text = try Failure.catching { try explainer.explain(termination) }
                line.clear()
                if index > 0 { Terminal.say("") }
                for line in text { Terminal.say(line) }
            }
            return .success
        }
    }

    /// Says that the system ended no app, and lists the ends with other causes.
    private func withoutTermination(_ history: Explainer.History, _ record: RunRecord) -> [String] {
        let run = "in this run\(record.isWhole ? "" : ", as far as it came")"
        let head = app.map { "\($0) was not ended by the system \(run)." } ?? "The system ended no app \(run)."
        guard !history.otherEnds.isEmpty else { return [head] }
        let reasons = Set(history.otherEnds.map(\.reason)).sorted().map { reason in
            let ends = history.otherEnds.filter { $0.reason == reason }
            let names = Set(ends.map(\.app)).sorted().joined(separator: ", ")
            return "  \(reason): \(ends.count)\(app == nil ? " (\(names))" : "")"
        }
        return ["\(head) These ends came from the app or the user:"] + reasons
    }

    private func chosen(of all: [Explainer.Termination]) -> [Explainer.Termination] {
        guard let at else { return Array(all.prefix(most)) }
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
        case .trying(let count, let now, let end):
            "looking for what would have saved it: \(count.counted("change")) tried, \(Progress.clock(now - .zero)) of "
                + "\(Progress.clock(end - .zero))"
        }
    }
}

/// One line on a terminal's stderr. It appears after two seconds and is redrawn in place; without a terminal nothing
/// is drawn.
private final class StatusLine: Sendable {
    private struct State {
        var due = ContinuousClock.now + .seconds(2)
        var hasDrawn = false
    }

    private let isShown = Terminal.showsProgress
    private let state = Mutex(State())

    func draw(_ text: @autoclosure () -> String) {
        guard isShown else { return }
        let now = ContinuousClock.now
        state.withLock { state in
            guard now >= state.due else { return }
            (state.due, state.hasDrawn) = (now + .milliseconds(100), true)
            Terminal.draw("\r\(text().prefix(max(10, Terminal.width - 1)))\u{1B}[K")
        }
    }

    func clear() {
        state.withLock { state in
            guard state.hasDrawn else { return }
            state.hasDrawn = false
            Terminal.draw("\r\u{1B}[K")
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
        } catch let failure as RunFailure {
            throw Failure(failure.status, failure.text)
        } catch {
            throw Failure(.hostRefuses, "\(error)")
        }
    }
}
