import Lifecycle
import Quantities

/// What an app has asked the system to do for it off screen. It outlives the app's processes.
struct BackgroundRequests {
    /// The most pending refreshes and processing tasks of an app. Source: Apple's documentation of
    /// `BGTaskScheduler.submit(_:)`.
    static let mostRefreshes = 1
    static let mostProcessing = 10

    /// The earliest begin of each pending refresh and processing task.
    private(set) var refreshes: [Instant] = []
    private(set) var processing: [Instant] = []
    /// When the last refresh was granted.
    private(set) var lastRefresh: Instant?
    /// Whether a processing task that the app has submitted may be running.
    private(set) var runsProcessing = false
    /// How many transfers are under way.
    private(set) var transfers = 0
    /// The number that the present transfers have; a force quit cancels them.
    private(set) var transferSerial = 0
    /// Whether all transfers are done, and the app has not heard of it.
    private(set) var awaitsDelivery = false
    /// How often the app was woken for transfers since the delay was last reset, and when it was the last time.
    private var wakes = 0
    private var lastWake: Instant?
    /// Whether the app's Live Activity is shown, and its number.
    private(set) var showsLiveActivity = false
    private(set) var activitySerial = 0
    /// Whether the app has never asked for anything.
    private(set) var isEmpty = true

    // MARK: Tasks

    /// - Returns: False if the app has as many pending requests of this kind as the system allows.
    mutating func submit(_ task: LaunchReason, notBefore earliest: Instant) -> Bool {
        let isRefresh = task == .backgroundFetch
        let (count, most) =
            isRefresh
            ? (refreshes.count, BackgroundRequests.mostRefreshes)
            : (processing.count, BackgroundRequests.mostProcessing)
        guard count < most else { return false }
        isEmpty = false
        if isRefresh { refreshes.append(earliest) } else { processing.append(earliest) }
        return true
    }

    /// When the pending refresh may run; nil without one.
    func refreshDue(_ rules: LifecycleRules) -> Instant? {
        guard let earliest = refreshes.first else { return nil }
        return max(earliest, lastRefresh.map { $0 + rules.refreshInterval } ?? earliest)
    }

    mutating func grantRefresh(at now: Instant) {
        refreshes.removeFirst()
        lastRefresh = now
    }

    /// Takes a processing task that is due.
    ///
    /// - Returns: False if none is.
    mutating func grantProcessing(at now: Instant) -> Bool {
        guard let index = processing.firstIndex(where: { $0 <= now }) else { return false }
        processing.remove(at: index)
        runsProcessing = true
        return true
    }

    mutating func endProcessing() { runsProcessing = false }

    // MARK: Transfers

    /// A transfer is begun.
    ///
    /// - Returns: When it starts: an app off screen that was woken for transfers has to wait.
    mutating func beginTransfer(at now: Instant, isOnScreen: Bool, _ rules: LifecycleRules) -> Instant {
        isEmpty = false
        transfers += 1
        let start = lastWake.map { $0 + rules.transferDelay * Int64(wakes) } ?? now
        if isOnScreen || start <= now { resetDelay() }
        return isOnScreen ? now : max(now, start)
    }

    /// - Returns: Whether the transfer was the last one.
    mutating func endTransfer(_ serial: Int) -> Bool {
        guard serial == transferSerial else { return false }
        transfers -= 1
        if transfers == 0 { awaitsDelivery = true }
        return transfers == 0
    }

    mutating func wasDelivered() { awaitsDelivery = false }

    mutating func wasWoken(at now: Instant) {
        wakes += 1
        lastWake = now
    }

    /// The user has the app on screen, or a delay has passed unused.
    mutating func resetDelay() { (wakes, lastWake) = (0, nil) }

    /// The user has swiped the app away.
    mutating func cancelTransfers() {
        transferSerial += 1
        transfers = 0
        awaitsDelivery = false
    }

    // MARK: Live Activities

    /// - Returns: The number of the activity; it replaces an earlier one.
    mutating func showLiveActivity() -> Int {
        isEmpty = false
        showsLiveActivity = true
        activitySerial += 1
        return activitySerial
    }

    /// - Returns: False if a later activity has replaced it.
    mutating func endLiveActivity(_ serial: Int) -> Bool {
        guard serial == activitySerial else { return false }
        showsLiveActivity = false
        return true
    }
}
