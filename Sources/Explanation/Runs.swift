import Plan
import Scenario
import Simulation

/// The runs with changes that were played on the accounting backend, and those that are being played. A run that was
/// played for one termination may serve another.
final class Runs {
    private let player: Player
    private let crew: Crew<Played>
    /// The key is the arguments of `--set`; it is empty for the run without a change.
    private var replays: [[String]: Replay] = [:]
    private var underWay: Set<[String]> = []

    private struct Played: Sendable {
        let key: [String]
        let result: Result<Replay, any Error>
    }

    init(_ player: Player, hands: Int) {
        self.player = player
        crew = Crew(hands: hands)
    }

    deinit { finishAll() }

    var hasFreeHand: Bool { crew.hasFreeHand }

    func isUnderWay(_ change: Change) -> Bool { underWay.contains(change.assignments) }

    /// The run with the change, if it was played far enough to answer the question, or to its end if there is none.
    func replay(_ change: Change, _ question: ReplayQuestion?) -> Replay? {
        guard let replay = replays[change.assignments] else { return nil }
        return question.map { $0.isAnswered(by: replay) } ?? replay.isWhole ? replay : nil
    }

    /// Keeps a whole run that was played otherwise.
    func keep(_ replay: Replay, _ change: Change) { replays[change.assignments] = replay }

    /// Begins a run, which is played until all questions are answered; without questions, to its end.
    func begin(_ change: Change, _ questions: [ReplayQuestion]) {
        let (player, key, plan) = (player, change.assignments, change.plan.onAccounting)
        underWay.insert(key)
        crew.begin { Played(key: key, result: Result { try player.replay(plan, about: questions) }) }
    }

    /// Waits for the next run to be over.
    func finishOne() throws {
        let played = crew.next()
        underWay.remove(played.key)
        replays[played.key] = try played.result.get()
    }

    /// Waits for all runs to be over, whatever they yield.
    private func finishAll() { while crew.underWay > 0 { _ = crew.next() } }

    /// Plays the run, unless it is known.
    func played(_ change: Change, _ question: ReplayQuestion?) throws -> Replay {
        while true {
            if let replay = replay(change, question) { return replay }
            if !isUnderWay(change), hasFreeHand { begin(change, question.map { [$0] } ?? []) } else { try finishOne() }
        }
    }
}
