import Lifecycle
import Quantities

/// The device's screens: which app the user wants to see, which process owns the display, and what covers it.
final class Display {
    /// The process that owns the display: it has an active scene, or is on the way out of one.
    private(set) var owner: ProcessID?
    /// The app that the user wants to see.
    private(set) var frontApp: AppID?
    /// The app that is shown on the second display.
    private(set) var externalApp: AppID?
    private(set) var isLocked = false
    /// Those under way; the app in front is inactive while there is one.
    private var interruptions: [(serial: Int, kind: Interruption)] = []
    private var lastInterruption = 0

    /// Whether the user could see and use an app now.
    var isFree: Bool { interruptions.isEmpty && !isLocked }

    // MARK: The display

    /// Gives the display to the process; false when it is covered or another process owns it.
    ///
    /// It is taken when the step is planned, so that no other process activates in between.
    func take(for pid: ProcessID) -> Bool {
        guard isFree, owner == nil || owner == pid else { return false }
        owner = pid
        return true
    }

    /// The process gives the display up; false when it was another's.
    func release(by pid: ProcessID) -> Bool {
        guard owner == pid else { return false }
        owner = nil
        return true
    }

    /// The user wants to see this app; nil: the home screen.
    func show(_ app: AppID?) { frontApp = app }

    /// The user does not want to see this app any more, if it was the one.
    func leave(_ app: AppID) {
        if frontApp == app { frontApp = nil }
    }

    /// The second display shows this app; nil: it is unplugged or dark.
    func showExternally(_ app: AppID?) { externalApp = app }

    // MARK: What covers it

    var showsSwitcher: Bool { interruptions.contains { $0.kind == .switcher } }

    /// - Returns: The number under which the interruption ends.
    func interrupt(_ kind: Interruption) -> Int {
        lastInterruption += 1
        interruptions.append((lastInterruption, kind))
        return lastInterruption
    }

    /// Nil when it has ended before.
    func endInterruption(_ serial: Int) -> Interruption? {
        guard let index = interruptions.firstIndex(where: { $0.serial == serial }) else { return nil }
        return interruptions.remove(at: index).kind
    }

    /// Ends one visit to the app switcher; false when there is none.
    func leaveSwitcher() -> Bool {
        guard let index = interruptions.firstIndex(where: { $0.kind == .switcher }) else { return false }
        interruptions.remove(at: index)
        return true
    }

    func lock() { isLocked = true }

    func unlock() { isLocked = false }
}
