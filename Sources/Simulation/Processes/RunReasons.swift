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
    /// Whether that suspends what plays.
    private var isSilenced = false
    /// Whether its video goes on in a small window over other apps.
    private(set) var showsPicture = false
    /// The number of this window; the timer of an earlier one is ignored.
    private(set) var pictureSerial = 0
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
        let lasting = modesAreActive ? lastingModes : pictureRuns ? [.audio] : []
        return lasting + (assertions.holds(.call) ? [.voip] : [])
    }

    var hasModes: Bool { modesAreActive && hasLastingModes || pictureRuns }

    /// Whether the picture in picture keeps it running: a call pauses the video.
    private var pictureRuns: Bool { showsPicture && !isSilenced }

    /// Whether it plays audio, on screen or off.
    var playsAudio: Bool { (modesAreActive && lastingModes.contains(.audio) || pictureRuns) && !audioIsPaused }

    /// Whether the process holds an assertion.
    var holdsAny: Bool { !assertions.isEmpty }

    var holdsTask: Bool { assertions.holdsTask }

    /// Whether the process holds a task or an event: more than the few seconds that every app gets.
    var holdsMoreThanFinishing: Bool { assertions.holdsMoreThanFinishing }

    /// Whether nothing keeps the process running.
    var isEmpty: Bool { assertions.isEmpty && !hasModes }

    /// Its band in the background. An event raises it while it lasts, as a mode does.
    var band: JetsamBand {
        let band: JetsamBand = pictureRuns ? .audio : modesAreActive ? lastingBand : .background
        return assertions.holdsEvent ? max(band, .elevatedInactive) : band
    }

    // MARK: Changes

    mutating func begin(_ kind: RunAssertions.Kind) -> Int { assertions.begin(kind) }

    mutating func end(_ id: Int) -> RunAssertions.Kind? { assertions.end(id) }

    mutating func endLastTask() -> Bool { assertions.endLastTask() }

    mutating func endFinishing() { assertions.endAll(.finishing) }

    mutating func clear() { assertions.clear() }

    func holds(_ reason: LaunchReason) -> Bool { assertions.holds(reason) }

    /// Ends all work on events of this reason; false if there is none.
    mutating func endAll(of reason: LaunchReason) -> Bool { assertions.endAll(of: reason) }

    /// - Returns: The number of the picture.
    mutating func showPicture() -> Int {
        showsPicture = true
        pictureSerial += 1
        return pictureSerial
    }

    mutating func endPicture() { showsPicture = false }

    mutating func resumeModes() { modesAreActive = true }

    mutating func endModes() { modesAreActive = false }

    /// - Parameter runsOn: Whether the mode keeps the process running nevertheless.
    mutating func pauseAudio(runsOn: Bool) {
        audioIsPaused = true
        isSilenced = !runsOn
        if !runsOn { lastingModes = declaredModes.filter { $0 != .audio } }
    }

    mutating func resumeAudio() {
        (audioIsPaused, isSilenced) = (false, false)
        lastingModes = declaredModes
    }

    mutating func awaitEvent() { awaitsEvent = true }

    mutating func stopAwaitingEvent() { awaitsEvent = false }
}
