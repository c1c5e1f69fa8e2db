import Quantities

/// The assertions that let a process run off screen. Without one it is suspended.
///
/// Background modes that keep an app running are not included: apps declare them, but do not take them.
public struct RunAssertions: Hashable, Sendable {
    /// Why an assertion is held.
    public enum Kind: Hashable, Sendable {
        /// The few seconds after the app leaves the screen.
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

    /// About how long before the end of `time` an expiry handler is called: 5 s of the usual 30 s, a sixth of a shorter
    /// time. The figure is Plimsoll's.
    public static func expiryNotice(of time: TimeSpan) -> TimeSpan {
        min(.seconds(5), TimeSpan(microseconds: time.microseconds / 6))
    }

    /// Each change updates the values that every tick reads.
    private var held: [Assertion] = [] {
        didSet {
            isEmpty = held.isEmpty
            holdsMoreThanFinishing = held.contains { $0.kind != .finishing }
        }
    }
    private var lastID = 0
    /// Whether no assertion is held.
    public private(set) var isEmpty = true
    /// Whether a task or an event is held, beyond the few seconds that every app gets.
    public private(set) var holdsMoreThanFinishing = false

    /// No assertions.
    public init() {}

    /// Whether a background task is held.
    public var holdsTask: Bool { held.contains { $0.kind == .task } }
    /// Whether the process works on an event that the system woke it for.
    public var holdsEvent: Bool {
        held.contains { assertion in
            if case .event = assertion.kind { true } else { false }
        }
    }

    /// Whether the process works on an event of this kind.
    public func holds(_ reason: LaunchReason) -> Bool { held.contains { $0.kind == .event(reason) } }

    /// Takes an assertion; returns the number to end it with.
    public mutating func begin(_ kind: Kind) -> Int {
        lastID += 1
        held.append(Assertion(id: lastID, kind: kind))
        return lastID
    }

    /// Ends an assertion; nil if it is no longer held. The end of the last task also ends the few seconds after leaving
    /// the screen: the app has said that it is done.
    public mutating func end(_ id: Int) -> Kind? {
        guard let index = held.firstIndex(where: { $0.id == id }) else { return nil }
        let kind = held.remove(at: index).kind
        if kind == .task && !holdsTask { endAll(.finishing) }
        return kind
    }

    /// Ends the task begun last; false without a task.
    public mutating func endLastTask() -> Bool {
        guard let last = held.last(where: { $0.kind == .task }) else { return false }
        return end(last.id) != nil
    }

    /// Ends all work on events of this reason; false if there is none.
    public mutating func endAll(of reason: LaunchReason) -> Bool {
        guard holds(reason) else { return false }
        endAll(.event(reason))
        return true
    }

    /// Ends all assertions of one kind.
    public mutating func endAll(_ kind: Kind) {
        held.removeAll { $0.kind == kind }
    }

    /// Ends all assertions: the process is suspended or back on screen.
    public mutating func clear() {
        held.removeAll()
    }
}
