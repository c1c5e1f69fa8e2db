import ArgumentParser
import Explanation
import Foundation
import Interchange
import Quantities
import Scenario
import Simulation

struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Says in plain words why an app was ended, who was spared, and what would have saved it.",
        discussion: """
            The run is repeated from its own scenario.yaml, as far as it came, which gives the very
            snapshots that the policy saw; what its folder lacks or contradicts is said on stderr. What
            would have saved an app is found by asking the policy again about the recorded snapshot with
            other values of each of its numbers, in steps that grow. A run of its own to the end of the
            scenario then tells how long the app lives, and what every other app pays: its end, a slower
            launch, or a wait for memory. Of the first few values that save it the one that costs least
            is named, or that nothing is worth its price; a smaller change between two steps may do, too.
            Without --app and --at the first few terminations are explained.

            EXAMPLES
              plimsoll explain runs/evening-commute
              plimsoll explain runs/evening-commute --app mail
              plimsoll explain runs/evening-commute --app mail --at 18min

            Exit status: 0 done; 65 when the run has no such app; 66 when the folder holds no run; 71 when
            the host has too little memory; 129, 130 and 143 interrupted.
            """)

    @Argument(help: "The folder of a run.")
    var directory: String

    @Option(help: "The app whose end is to be explained; without it, the first few terminations.")
    var app: String?

    @Option(
        parsing: .unconditional, help: "The termination nearest to this time, such as 9min30s.",
        transform: OptionValue.time)
    var at: TimeSpan?

    @Option(
        parsing: .unconditional, help: "How many terminations, when no time is given; 3 without it.",
        transform: { try OptionValue.count($0, in: 1...Int.max) })
    var most = 3

    @Flag(help: "Repeat the run even when the host seems to have too little memory for it.")
    var ignoreHost = false

    func validate() throws { try refuseEmpty(directory, "the folder", "name the folder of a run") }

    func run() throws {
        try reporting {
            try RunRecord.demandRun(in: directory)
            let path = directory + "/scenario.yaml"
            let plan: RunPlan
            switch ScenarioLoader.load(path: path) {
            case .failure(let fault): throw Failure(fault.status, [fault.description])
            case .success(let loaded): plan = loaded
            }
            if let app, !plan.apps.contains(where: { $0.name == app }) {
                throw Failure(.invalidInput, "the run has no app '\(app)'")
            }
            let record = try RunRecord(directory, plan)
            guard !record.isDryRun else {
                Terminal.say(
                    "This was a dry run: none of the policy's decisions was carried out, so the policy ended nobody.")
                return .success
            }
            let traces = try Failure.opening(plan)
            if !ignoreHost { try Host.check(plan, traces, flag: "--ignore-host") }
            Interruption.install()
            let line = StatusLine()
            // Whatever ends it, the line does not stay behind.
            defer { line.clear() }
            let explainer = Explainer(
                plan: plan, scenario: path, traces: traces, lastEvent: record.lastEvent,
                isInterrupted: { Interruption.signalNumber != 0 }, progress: { line.draw($0.text) },
                witness: { record.compare($0) })
            // Without a time the first few are enough, and the run need not be repeated to its end.
            let limit = at == nil ? most : .max
            let history = try Failure.catching { try explainer.history(of: app, most: limit) }
            let all = history.terminations
            line.clear()
            if all.count < limit { record.compareEnd() }
            for warning in record.warnings { Terminal.complain("plimsoll: warning: \(warning)") }
            guard !all.isEmpty else {
                for text in nobody(history, record) { Terminal.say(text) }
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

    /// The policy ended nobody; who else did is said.
    private func nobody(_ history: Explainer.History, _ record: RunRecord) -> [String] {
        let run = "in this run\(record.isWhole ? "" : ", as far as it came")"
        let head = "The policy ended \(app.map { "\($0) at no time" } ?? "nobody") \(run)."
        guard !history.otherEnds.isEmpty else { return [head] }
        let count = history.otherEnds.count
        let reasons = Set(history.otherEnds.map(\.reason)).sorted().map { reason in
            let ends = history.otherEnds.filter { $0.reason == reason }
            let names = Set(ends.map(\.app)).sorted().joined(separator: ", ")
            return "  \(reason): \(ends.count)\(app == nil ? " (\(names))" : "")"
        }
        return [
            "\(head) \(count) \(count == 1 ? "end" : "ends") came otherwise; events.csv says of each exit why:"
        ] + reasons
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
    /// For whoever waits.
    fileprivate var text: String {
        switch self {
        case .repeating(let now, let end):
            "repeating the run: \(Progress.clock(now - .zero)) of \(Progress.clock(end - .zero))"
        case .trying(let number, let count): "looking for what would have saved it: change \(number) of \(count)"
        case .following(let now, let end):
            "following what that costs: \(Progress.clock(now - .zero)) of \(Progress.clock(end - .zero))"
        }
    }
}

/// One line on a terminal's stderr that is drawn over and over; nothing where there is no terminal.
private final class StatusLine {
    private let isShown = Terminal.showsProgress
    private var drawn = ContinuousClock.now
    private var hasDrawn = false

    func draw(_ text: @autoclosure () -> String) {
        let clock = ContinuousClock.now
        guard isShown, !hasDrawn || clock - drawn > .milliseconds(100) else { return }
        (drawn, hasDrawn) = (clock, true)
        Terminal.draw("\r\(text().prefix(max(10, Terminal.width - 1)))\u{1B}[K")
    }

    func clear() {
        guard hasDrawn else { return }
        hasDrawn = false
        Terminal.draw("\r\u{1B}[K")
    }
}

extension Failure {
    /// A run's own fault as one line and its exit status.
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
