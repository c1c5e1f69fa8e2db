import Quantities

/// The reasons for which a process may run off screen. Without one it is suspended.
///
/// Background modes that keep an app running are not in here: they are declared, not taken.
public struct RunAssertions: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// The few seconds after leaving the screen.
        case finishing
        /// `beginBackgroundTask`.
        case task
        /// An event that the system woke the app for.
        case event(LaunchReason)
    }

    private struct Assertion: Hashable, Sendable {
        let id: Int
        let kind: Kind
    }

    /// About how much warning an expiry handler gets before the time is over: 5 s of the usual 30 s, and no larger a
    /// share of less; the figure is ours.
    public static func expiryNotice(of time: TimeSpan) -> TimeSpan {
        min(.seconds(5), TimeSpan(microseconds: time.microseconds / 6))
    }

    /// What is asked at every tick is found once for each change.
    private var held: [Assertion] = [] {
        didSet {
            isEmpty = held.isEmpty
            holdsMoreThanFinishing = held.contains { $0.kind != .finishing }
        }
    }
    private var lastID = 0
    public private(set) var isEmpty = true
    /// A task or an event: more than the few seconds that everybody gets.
    public private(set) var holdsMoreThanFinishing = false

    public init() {}

    public var holdsTask: Bool { held.contains { $0.kind == .task } }
    /// It is at work on something that the system woke it for.
    public var holdsEvent: Bool {
        held.contains { assertion in
            if case .event = assertion.kind { true } else { false }
        }
    }

    /// Takes an assertion; the number names it when it ends.
    public mutating func begin(_ kind: Kind) -> Int {
        lastID += 1
        held.append(Assertion(id: lastID, kind: kind))
        return lastID
    }

    /// Ends one; nil when it is not held any more. With the last task the few seconds after leaving the screen end,
    /// too: the app has said that it is done.
    public mutating func end(_ id: Int) -> Kind? {
        guard let index = held.firstIndex(where: { $0.id == id }) else { return nil }
        let kind = held.remove(at: index).kind
        if kind == .task && !holdsTask { endAll(.finishing) }
        return kind
    }

    /// Ends the task that was begun last; false when there is none.
    public mutating func endLastTask() -> Bool {
        guard let last = held.last(where: { $0.kind == .task }) else { return false }
        return end(last.id) != nil
    }

    public mutating func endAll(_ kind: Kind) {
        held.removeAll { $0.kind == kind }
    }

    /// The process is suspended, or back on screen.
    public mutating func clear() {
        held.removeAll()
    }
}
