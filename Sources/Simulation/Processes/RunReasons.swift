import Lifecycle
import Pressure
import Quantities

/// What keeps a process running off screen: its background modes, its tasks and the events that it was woken for.
struct RunReasons {
    private var assertions = RunAssertions()
    /// Whether the background modes have work: the app came from the screen, and they are not over.
    private(set) var modesAreActive = true
    /// Whether the process was launched off screen for an event that has not reached it yet.
    private(set) var awaitsEvent = false
    /// Whether a call pauses its audio.
    private(set) var audioIsPaused = false
    /// Those of its background modes that keep it running.
    private let declaredModes: [BackgroundMode]
    /// Of these, the ones that do so now. The three are kept, because every tick reads them.
    private var lastingModes: [BackgroundMode] {
        didSet {
            hasLastingModes = !lastingModes.isEmpty
            lastingBand = JetsamBand.band(of: .background, modes: lastingModes)
        }
    }
    private var hasLastingModes: Bool
    /// The band in the background while these modes keep it running.
    private var lastingBand: JetsamBand

    init(_ modes: [BackgroundMode]) {
        declaredModes = modes.filter(\.keepsRunning)
        lastingModes = declaredModes
        hasLastingModes = !declaredModes.isEmpty
        lastingBand = JetsamBand.band(of: .background, modes: declaredModes)
    }

    /// The background modes that keep the process running off screen, a call while it lasts among them; other modes
    /// only launch it.
    var modes: [BackgroundMode] {
        (modesAreActive ? lastingModes : []) + (assertions.holds(.call) ? [.voip] : [])
    }

    var hasModes: Bool { modesAreActive && hasLastingModes }

    /// Whether it plays audio, on screen or off.
    var playsAudio: Bool { modesAreActive && lastingModes.contains(.audio) && !audioIsPaused }

    /// Whether the process holds an assertion.
    var holdsAny: Bool { !assertions.isEmpty }

    var holdsTask: Bool { assertions.holdsTask }

    /// Whether the process holds a task or an event: more than the few seconds that every app gets.
    var holdsMoreThanFinishing: Bool { assertions.holdsMoreThanFinishing }

    /// Whether nothing keeps the process running.
    var isEmpty: Bool { assertions.isEmpty && !hasModes }

    /// Its band in the background. An event raises it while it lasts, as a mode does.
    var band: JetsamBand {
        let band = modesAreActive ? lastingBand : .background
        return assertions.holdsEvent ? max(band, .elevatedInactive) : band
    }

    // MARK: Changes

    mutating func begin(_ kind: RunAssertions.Kind) -> Int { assertions.begin(kind) }

    mutating func end(_ id: Int) -> RunAssertions.Kind? { assertions.end(id) }

    mutating func endLastTask() -> Bool { assertions.endLastTask() }

    mutating func endFinishing() { assertions.endAll(.finishing) }

    mutating func clear() { assertions.clear() }

    mutating func resumeModes() { modesAreActive = true }

    mutating func endModes() { modesAreActive = false }

    /// - Parameter runsOn: Whether the mode keeps the process running nevertheless.
    mutating func pauseAudio(runsOn: Bool) {
        audioIsPaused = true
        if !runsOn { lastingModes = declaredModes.filter { $0 != .audio } }
    }

    mutating func resumeAudio() {
        audioIsPaused = false
        lastingModes = declaredModes
    }

    mutating func awaitEvent() { awaitsEvent = true }

    mutating func stopAwaitingEvent() { awaitsEvent = false }
}
