import Lifecycle
import Plan
import Quantities

/// The device's screens: which app the user wants to see, which process owns the display, and what covers it.
final class Display {
    /// A process that owns a place of the display.
    struct Owner: Equatable {
        let pid: ProcessID
        let app: AppID
    }

    /// The process that owns the display: it has an active scene, or is leaving one. Two own it while two apps are side
    /// by side.
    private(set) var owners: [Owner] = []
    /// The app that the user wants to see.
    private(set) var frontApp: AppID?
    /// The app that the user wants to see beside the app in front.
    private(set) var besideApp: AppID?
    /// Whether two apps may be active: until one of two apps side by side has left the display.
    private(set) var isShared = false
    /// The app that the second display is to show.
    private(set) var externalApp: AppID?
    /// The process that owns the second display: it has an active scene there, or is leaving it.
    private var externalOwner: ProcessID?
    private(set) var isLocked = false
    /// Whether the device is restarting: until it has booted, or is unlocked.
    private(set) var isOff = false
    /// Whether the device has not been unlocked since its restart.
    private(set) var awaitsFirstUnlock = false
    /// Whether protected files can be opened. They can until some seconds after the lock, and from the first unlock
    /// after a restart on.
    private(set) var protectedDataIsAvailable = true
    private var lastLock = 0
    private var lastRestart = 0
    /// The interruptions under way; the app in front is inactive while one of them covers the screen.
    private var interruptions: [(serial: Int, kind: Interruption, covers: Bool)] = []
    private var lastInterruption = 0
    /// The extensions that are shown over an app: keyboards, share sheets.
    private var presentations: [(serial: Int, part: AppID, app: AppID)] = []
    private var lastPresentation = 0

    /// Whether the user could see and use an app now.
    var isFree: Bool { !isLocked && !interruptions.contains { $0.covers } }

    // MARK: The display

    /// Gives the display to the process; false if it is covered or another process owns it. Two apps side by side
    /// share it.
    ///
    /// A process takes it when it plans the step, so that no other process activates in between.
    func take(for process: LiveProcess) -> Bool {
        guard isFree, owners.allSatisfy({ $0.pid == process.pid || isPair($0.app, process.app) }) else { return false }
        let owner = Owner(pid: process.pid, app: process.app)
        if !owners.contains(owner) { owners.append(owner) }
        return true
    }

    /// The process gives up the display; false if it did not own it.
    func release(by pid: ProcessID) -> Bool {
        guard let index = owners.firstIndex(where: { $0.pid == pid }) else { return false }
        owners.remove(at: index)
        endSharing()
        return true
    }

    /// The user wants to see this app, and no other one; nil: the home screen.
    func show(_ app: AppID?) { (frontApp, besideApp) = (app, nil) }

    /// The user wants to see this app beside the one in front.
    func showBeside(_ app: AppID) { (besideApp, isShared) = (app, true) }

    /// The user no longer wants to see this app. An app beside it has the whole screen from here on. No effect on
    /// another app.
    func leave(_ app: AppID) {
        if frontApp == app {
            show(besideApp)
        } else if besideApp == app {
            besideApp = nil
        }
        endSharing()
    }

    /// Whether the user wants to see this app, alone or beside another one.
    func isShown(_ app: AppID) -> Bool { frontApp == app || besideApp == app }

    /// The apps that the user wants to see: the one in front, and the one beside it.
    var shownApps: [AppID] { [frontApp, besideApp].compactMap(\.self) }

    private func isPair(_ one: AppID, _ other: AppID) -> Bool {
        besideApp != nil && one != other && isShown(one) && isShown(other)
    }

    private func endSharing() {
        if besideApp == nil && owners.count <= 1 { isShared = false }
    }

    /// The second display is to show this app; nil: it is unplugged or dark.
    func showExternally(_ app: AppID?) { externalApp = app }

    /// Gives the second display to the process; false if another process owns it, because its scene is not gone yet.
    func takeExternal(for pid: ProcessID) -> Bool {
        guard externalOwner == nil || externalOwner == pid else { return false }
        externalOwner = pid
        return true
    }

    /// The process gives up the second display; false if it did not own it.
    func releaseExternal(by pid: ProcessID) -> Bool {
        guard externalOwner == pid else { return false }
        externalOwner = nil
        return true
    }

    // MARK: What is shown over an app

    var hasPresentations: Bool { !presentations.isEmpty }

    func isPresented(_ part: AppID) -> Bool { presentations.contains { $0.part == part } }

    /// The extensions that are shown over the app.
    func presented(over app: AppID) -> [AppID] { presentations.filter { $0.app == app }.map(\.part) }

    /// Shows an extension over an app.
    ///
    /// - Returns: The number that ends this.
    func present(_ part: AppID, over app: AppID) -> Int {
        lastPresentation += 1
        presentations.append((lastPresentation, part, app))
        return lastPresentation
    }

    /// Ends one presentation; nil if it has ended before.
    func dismiss(serial: Int) -> AppID? {
        guard let index = presentations.firstIndex(where: { $0.serial == serial }) else { return nil }
        return presentations.remove(at: index).part
    }

    /// The extension's process has ended.
    func dismiss(_ part: AppID) { presentations.removeAll { $0.part == part } }

    /// The app leaves the screen.
    ///
    /// - Returns: The extensions that were shown over it.
    func dismissAll(over app: AppID) -> [AppID] {
        defer { presentations.removeAll { $0.app == app } }
        return presented(over: app)
    }

    // MARK: What covers it

    var showsSwitcher: Bool { interruptions.contains { $0.kind == .switcher } }

    /// - Parameter covers: Whether it covers the screen; a banner does not.
    /// - Returns: The number that ends this interruption.
    func interrupt(_ kind: Interruption, covers: Bool) -> Int {
        lastInterruption += 1
        interruptions.append((lastInterruption, kind, covers))
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

    var showsCall: Bool { interruptions.contains { $0.kind == .call } }

    /// - Returns: The number of this lock.
    func lock() -> Int {
        isLocked = true
        lastLock += 1
        return lastLock
    }

    /// Protected data becomes unavailable; false if the device is no longer in that lock.
    func closeProtectedData(_ lock: Int) -> Bool {
        guard isLocked, lock == lastLock else { return false }
        protectedDataIsAvailable = false
        return true
    }

    func unlock() {
        (isLocked, isOff) = (false, false)
        (awaitsFirstUnlock, protectedDataIsAvailable) = (false, true)
    }

    /// The device restarts: nothing covers its screen any more, and protected data is unavailable until it is unlocked.
    ///
    /// - Returns: The number of this restart.
    func turnOff() -> Int {
        (isOff, awaitsFirstUnlock, protectedDataIsAvailable) = (true, true, false)
        interruptions.removeAll()
        // A lock before the restart takes protected data away no more.
        lastLock += 1
        lastRestart += 1
        return lastRestart
    }

    /// The device has booted; false if it was unlocked or restarted since.
    func turnOn(_ restart: Int) -> Bool {
        guard isOff, restart == lastRestart else { return false }
        isOff = false
        return true
    }
}
