import Lifecycle
import Metrics
import Plan
import Reclaim
import Simulation

/// The possible outcomes of a run, as the code declares them: why processes end, what is refused and by which rule,
/// what a policy does, and what the tables have rows for.
package enum Outcomes {
    /// The outcomes that must occur in at least one world in a hundred.
    package static let frequent: [String] =
        ExitReason.allCases.map { "exit \($0.rawValue)" }
        + ReclaimAction.Kind.allCases.filter { $0.part != .freezer }.map { "action \($0.rawValue)" }
        + UserRefusal.allCases.filter { !$0.isKeptByLoader }.map { "refused: \($0.rawValue)" }
        + Refusal.Rule.allCases.filter { !unreachable.contains($0) && !rare.contains($0) }
        .map { "refused by \($0.rawValue)" }

    /// The outcomes that must occur in at least one world. A process ends within a fraction of a second, so a policy
    /// seldom names one meanwhile. Only a process that is no app is named for a suspension that it cannot have. Few
    /// devices have a freezer.
    package static let occasional: [String] =
        EventKind.allCases.map { "event \($0.rawValue)" } + Callback.allCases.map { "callback \($0.rawValue)" }
        + AppNotification.allCases.map { "notification \($0.rawValue)" }
        + LaunchKind.allCases.map { "launch \($0.rawValue)" }
        + byFreezer + rare.map { "refused by \($0.rawValue)" }

    private static let rare: [Refusal.Rule] = [.ending, .phase, .freezer]

    /// What only a freezer does for a policy.
    private static let byFreezer: [String] =
        ReclaimAction.Kind.allCases.filter { $0.part == .freezer }.map { "action \($0.rawValue)" }

    /// The rule that none of Plimsoll's policies violates: none names a process or a scene outside its snapshot.
    private static let unreachable: [Refusal.Rule] = [.alive]

    /// Outcomes that should be impossible; one that occurs must be investigated.
    package static let unexpected: [String] =
        unreachable.map { "refused by \($0.rawValue)" }
        + UserRefusal.allCases.filter(\.isKeptByLoader).map { "refused: \($0.rawValue)" }

    /// The outcomes of a run, each once.
    ///
    /// - Parameters:
    ///   - events: The bytes of `events.csv`. The other parameters hold the bytes of the tables that they name.
    package static func things(events: [UInt8], decisions: [UInt8], launches: [UInt8]) -> [String] {
        var things: Set<String> = []
        for row in TableReader(events, columns: ["event", "detail", "reason", "exit_reason", "action"]).rows {
            things.insert("event \(row[0])")
            switch EventKind(rawValue: row[0]) {
            case .exit: things.insert("exit \(row[3])")
            case .action: things.insert("action \(row[4])")
            case .callback: things.insert("callback \(row[1])")
            case .notification: things.insert("notification \(row[1])")
            case .refused:
                let refusal = UserRefusal.allCases.first {
                    row[2] == $0.rawValue || row[2].hasPrefix("\($0.rawValue) ")
                }
                // If the text begins like two refusals, the exact match wins.
                things.insert("refused: \(UserRefusal(rawValue: row[2])?.rawValue ?? refusal?.rawValue ?? row[2])")
            default: break
            }
        }
        for row in TableReader(decisions, columns: ["rule"]).rows where !row[0].isEmpty {
            things.insert("refused by \(row[0])")
        }
        for row in TableReader(launches, columns: ["kind"]).rows { things.insert("launch \(row[0])") }
        return things.sorted()
    }
}
