import ArgumentParser
import Foundation
import Quantities
import Scenario
import Simulation

struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Says in plain words why an app was ended, who was spared, and what would have saved it.",
        discussion: """
            The run is repeated from its own scenario.yaml, which gives the very snapshots that the policy saw. What
            would have saved an app is found by asking the policy again about the recorded snapshot, and confirmed by a
            run of its own. Without --app and --at the first few terminations are explained.

            EXAMPLES
              plimsoll explain runs/evening-commute
              plimsoll explain runs/evening-commute --app mail
              plimsoll explain runs/evening-commute --app mail --at 18min
            """)

    @Argument(help: "The folder of a run.")
    var directory: String

    @Option(help: "The app whose end is to be explained; without it, the first few terminations.")
    var app: String?

    @Option(help: "The termination nearest to this time, such as 9min30s.")
    var at: TimeSpan?

    @Option(help: "How many terminations, when no time is given.")
    var most = 3

    func run() throws {
        try reporting {
            let path = directory + "/scenario.yaml"
            let plan: RunPlan
            switch ScenarioLoader.load(path: path) {
            case .failure(let fault): throw Failure(fault.status, [fault.description])
            case .success(let loaded): plan = loaded
            }
            if let app, !plan.apps.contains(where: { $0.name == app }) {
                throw Failure(.invalidInput, "the run has no app '\(app)'")
            }
            let line = StatusLine()
            let record = RunRecord(directory)
            let explainer = Explainer(
                plan: plan, scenario: path, progress: { line.draw($0.text) }, witness: { record.compare($0) })
            // Without a time the first few are enough, and the run need not be repeated to its end.
            let limit = at == nil ? max(1, most) : .max
            let all = try Failure.catching { try explainer.terminations(of: app, most: limit) }
            line.clear()
            if all.count < limit { record.compareEnd() }
            if let warning = record.warning { Terminal.complain("plimsoll: warning: \(warning)") }
            guard !all.isEmpty else {
                Terminal.say("The policy ended \(app ?? "nobody") \(app == nil ? "" : "at no time ")in this run.")
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

    private func chosen(of all: [Explainer.Termination]) -> [Explainer.Termination] {
        guard let at else { return Array(all.prefix(max(1, most))) }
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
        } catch let failure as RunFailure {
            switch failure {
            case .ours(let fault): throw Failure(.internalFault, "\(fault)")
            case .output(let fault): throw Failure(.cannotWrite, "\(fault)")
            }
        } catch {
            throw Failure(.hostRefuses, "\(error)")
        }
    }
}

extension TimeSpan: ExpressibleByArgument {
    public init?(argument: String) {
        guard let span = try? TimeSpan(parsing: argument) else { return nil }
        self = span
    }
}
