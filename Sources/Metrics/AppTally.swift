import Lifecycle
import Quantities

/// The facts of one app of a run, apart from its launches and terminations.
public struct AppTally: Sendable {
    /// The app's name.
    public let name: String
    /// Processes that were made for it.
    public var processes = 0
    /// Of these, processes that the system launched off screen.
    public var launchesBySystem = 0
    /// Processes that were alive at the end of the run: one or none.
    public var processesAtEnd = 0
    /// Why the app's processes ended, in order.
    public private(set) var ends: [ExitReason] = []
    /// Those of them that came while the process was in the foreground.
    public private(set) var endsInForeground: [ExitReason] = []
    /// The largest footprint of any of the app's processes, between samples, too.
    public var peakFootprint: ByteCount = .zero
    /// Memory warnings sent to it.
    public var warnings = 0
    /// Times that one of its processes was suspended.
    public var suspensions = 0
    /// Its processes that ended before they had saved their data.
    public var dataLost = 0
    /// Scenes that the system disconnected.
    public var scenesDisconnected = 0
    /// Times that an allocation found no room.
    public var stalls = 0
    /// The time that the app's processes waited for memory.
    public var stallTime: TimeSpan = .zero
    /// The part of it for which they were active.
    public var activeStallTime: TimeSpan = .zero
    /// The time in each state so far, by its place. A prewarmed process counts as suspended.
    private var states = [TimeSpan](repeating: .zero, count: ProcessPhase.allCases.count)
    /// The present state and when it began.
    private var present: (phase: ProcessPhase, since: Instant) = (.notRunning, .zero)

    /// An app that has not been launched yet.
    public init(name: String) { self.name = name }

    /// One of its processes ends.
    public mutating func end(_ reason: ExitReason, inForeground: Bool) {
        ends.append(reason)
        if inForeground { endsInForeground.append(reason) }
    }

    /// Its process changes to a state.
    public mutating func enter(_ phase: ProcessPhase, at now: Instant) {
        states[AppTally.place(of: present.phase)] += now - present.since
        present = (phase, now)
    }

    /// Counts the present state up to the end of the run.
    public mutating func closeStates(at end: Instant) { enter(present.phase, at: end) }

    /// The time in a state, up to the last change.
    public func time(in phase: ProcessPhase) -> TimeSpan { states[AppTally.place(of: phase)] }

    private static func place(of phase: ProcessPhase) -> Int {
        switch phase {
        case .notRunning: 0
        case .inactive: 1
        case .active: 2
        case .background: 3
        // Both rest in memory.
        case .suspended, .prewarmed: 4
        }
    }
}
