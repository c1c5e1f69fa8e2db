import Lifecycle
import Quantities

/// The device's screens: which app the user wants to see, which process owns the display, and what covers it.
final class Display {
    /// The process that owns the display: it has an active scene, or is leaving one.
    private(set) var owner: ProcessID?
    /// The app that the user wants to see.
    private(set) var frontApp: AppID?
    /// The app on the second display.
    private(set) var externalApp: AppID?
    private(set) var isLocked = false
    /// The interruptions under way; the app in front is inactive while there is one.
    private var interruptions: [(serial: Int, kind: Interruption)] = []
    private var lastInterruption = 0

    /// Whether the user could see and use an app now.
    var isFree: Bool { interruptions.isEmpty && !isLocked }

    // MARK: The display

    /// Gives the display to the process; false if it is covered or another process owns it.
    ///
    /// A process takes it when it plans the step, so that no other process activates in between.
    func take(for pid: ProcessID) -> Bool {
        guard isFree, owner == nil || owner == pid else { return false }
        owner = pid
        return true
    }

    /// The process gives up the display; false if it did not own it.
    func release(by pid: ProcessID) -> Bool {
        guard owner == pid else { return false }
        owner = nil
        return true
    }

    /// The user wants to see this app; nil: the home screen.
    func show(_ app: AppID?) { frontApp = app }

    /// The user no longer wants to see this app; no effect on another app.
    func leave(_ app: AppID) {
        if frontApp == app { frontApp = nil }
    }

    /// The second display shows this app; nil: it is unplugged or dark.
    func showExternally(_ app: AppID?) { externalApp = app }

    // MARK: What covers it

    var showsSwitcher: Bool { interruptions.contains { $0.kind == .switcher } }

    /// - Returns: The number that ends this interruption.
    func interrupt(_ kind: Interruption) -> Int {
        lastInterruption += 1
        interruptions.append((lastInterruption, kind))
        return lastInterruption
    }

    /// Ends an interruption; nil if it has ended before.
    func endInterruption(_ serial: Int) -> Interruption? {
        guard let index = interruptions.firstIndex(where: { $0.serial == serial }) else { return nil }
        return interruptions.remove(at: index).kind
    }

    /// Ends one visit to the app switcher; false if there is none.
    func leaveSwitcher() -> Bool {
        guard let index = interruptions.firstIndex(where: { $0.kind == .switcher }) else { return false }
        interruptions.remove(at: index)
        return true
    }

    func lock() { isLocked = true }

    func unlock() { isLocked = false }
}
