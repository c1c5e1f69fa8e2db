import Lifecycle
import Pressure

/// What each process of a report is, by its place in the report: an app, a part of an app, or a process of the system.
///
/// A report says what a process does (`states`), how important it is (`priority`) and with which others it is counted
/// (`coalition`), but not what it is. What follows is a guess, from reports of iOS 10.1, 14.2 and 18.5:
///
/// - A process that calls itself a `daemon`, has no state, or is in the home screen's band (160) or above belongs to
///   the system. So does one that is merely `active`: since iOS 15 that word stands for any process that runs (27 of 28
///   daemons of band 10 have it). `frontmost` below band 100 does not change that.
/// - Names tell of extensions, tunnels and services with an interface (`ExtensionNames`).
/// - A coalition has one app at most: the oldest process that no name makes an extension. All others are its parts. It
///   has none if SpringBoard or an older daemon is in it, or if extensions of several makers are: then it is a process
///   of the system that hosts extensions, as `chronod` hosts widgets.
/// - Apple's own apps are known by their names, and code of others by `csTrustLevel` (5, the system's is 7 or 8). If
///   the report tells the freezer's reasons apart, a suspended process for which the freezer is `disabled` is no app.
///
/// Limits: an app of Apple's that runs off screen and is not in the list of names counts as a daemon, and an extension
/// without a known word and without a coalition counts as an app.
struct JetsamRoles {
    /// Nil: an app.
    private(set) var kinds: [ProcessKind?]
    /// The place of the app that a part belongs to.
    private(set) var hosts: [Int?]

    private let report: JetsamReport
    private let processes: [JetsamReport.Process]
    /// Whether the report tells which suspended processes the freezer may take.
    private let tellsFreezable: Bool

    init(_ report: JetsamReport) {
        self.report = report
        processes = report.processes
        tellsFreezable = processes.contains { process in
            process.isSuspended && process.skipsFreezer.map { $0 != JetsamRoles.notFreezable } == true
        }
        kinds = Array(repeating: .daemon, count: processes.count)
        hosts = Array(repeating: nil, count: processes.count)
        for group in groups { assign(group) }
    }

    /// The places of each coalition's processes; a process without a coalition is alone.
    private var groups: [[Int]] {
        var groups: [[Int]] = []
        var numbers: [Int: Int] = [:]
        for (place, process) in processes.enumerated() {
            if let coalition = process.coalition, let number = numbers[coalition] {
                groups[number].append(place)
            } else {
                if let coalition = process.coalition { numbers[coalition] = groups.count }
                groups.append([place])
            }
        }
        return groups
    }

    // MARK: A coalition

    private mutating func assign(_ group: [Int]) {
        let hasWebPage = group.contains { processes[$0].isWebKit }
        let others = group.filter { !processes[$0].isWebKit }
        for place in others { kinds[place] = kind(of: processes[place], beside: hasWebPage) }
        let nameless = others.filter { kinds[$0] == nil }
        let app = app(of: others, among: nameless)
        for place in nameless where place != app { kinds[place] = .otherExtension }
        for place in group where place != app {
            if processes[place].isWebKit { kinds[place] = webKit(place, of: app) }
            if kinds[place] != .daemon { hosts[place] = app }
        }
    }

    /// What a process is by itself; nil: it may be the app of its coalition.
    ///
    /// - Parameter webPage: Whether one of WebKit's processes is in its coalition.
    private func kind(of process: JetsamReport.Process, beside webPage: Bool) -> ProcessKind? {
        if isOfSystem(process) { return .daemon }
        let named = ExtensionNames.kind(of: process.name)
        if isMerelyRunning(process) {
            if let kind = ExtensionNames.particularKind(of: process.name) { return kind }
            let isApp = process.isEvidentlyApp || webPage && !process.name.hasSuffix("d")
            return isApp && named == nil ? nil : .daemon
        }
        if let named { return named }
        let isFixed = process.isSuspended && process.skipsFreezer == JetsamRoles.notFreezable
        return isFixed && tellsFreezable && !process.isEvidentlyApp && !webPage ? .otherExtension : nil
    }

    /// A helper needs its app. Without one it is an extension of which nothing more is known, or works for a daemon.
    private func webKit(_ place: Int, of app: Int?) -> ProcessKind {
        let name = processes[place].name
        guard app != nil else { return processes[place].states.contains("daemon") ? .daemon : .otherExtension }
        if name.hasPrefix("com.apple.WebKit.WebContent") { return .webContent }
        return name.hasPrefix("com.apple.WebKit.Networking") ? .networking : .helper
    }

    /// The place of the app among the processes of a coalition, WebKit's apart.
    private func app(of group: [Int], among nameless: [Int]) -> Int? {
        guard !nameless.isEmpty else { return nil }
        let hostsOfSystem = group.filter { kinds[$0] == .daemon }
        if hostsOfSystem.contains(where: { processes[$0].name == "SpringBoard" }) { return nil }
        let ordered = nameless.sorted { isOlder($0, $1) }
        let best =
            ordered.first { processes[$0].isAppByName } ?? ordered.first { isInFront(processes[$0]) }
            ?? ordered.first { processes[$0].isEvidentlyApp } ?? ordered[0]
        // What an app starts is younger than the app, and named after its task.
        let isHosted = hostsOfSystem.contains { host in
            isOlder(host, best) && !processes[host].isService && processes[host].hasAgeOrPID
        }
        if isHosted && !processes[best].isAppByName { return nil }
        guard !processes[best].isEvidentlyApp, !isInFront(processes[best]) else { return best }
        let name = processes[best].name.lowercased()
        let makers = Set(
            group.filter { kinds[$0] != nil && kinds[$0] != .daemon }
                .map { ExtensionNames.maker(of: processes[$0].name) }
                .filter { !$0.isEmpty && !name.contains($0.prefix(4)) && !$0.hasPrefix(name.prefix(4)) })
        let isOldest = group.allSatisfy { $0 == best || isOlder(best, $0) }
        return makers.count >= (isOldest ? 3 : 2) ? nil : best
    }

    /// Of two processes of the same age, the one with the smaller number was launched first.
    private func isOlder(_ a: Int, _ b: Int) -> Bool {
        let (one, other) = (processes[a], processes[b])
        if let age = one.age, let otherAge = other.age, age != otherAge { return age > otherAge }
        if let pid = one.pid, let otherPID = other.pid, pid != otherPID { return pid < otherPID }
        return a < b
    }

    // MARK: A process

    private static let notFreezable = "disabled"

    /// Whether it belongs to the system by its state, its band or its name.
    private func isOfSystem(_ process: JetsamReport.Process) -> Bool {
        if process.states.isEmpty || process.states.contains("daemon") { return true }
        if let band = report.band(of: process), band >= .home { return true }
        return process.pid == 0 || process.name == "SpringBoard" || process.name == "kernel_task"
            || process.name == "launchd" || process.name.hasPrefix("com.apple.DriverKit")
    }

    /// Whether its states say no more than that it runs.
    private func isMerelyRunning(_ process: JetsamReport.Process) -> Bool {
        let isBelowScreen = report.band(of: process).map { $0 < .foreground } ?? false
        return process.states.allSatisfy { state in
            state == "active" || isBelowScreen && JetsamReport.onScreen.contains(state)
        }
    }

    private func isInFront(_ process: JetsamReport.Process) -> Bool {
        !process.isSuspended && !isMerelyRunning(process)
            && process.states.contains(where: JetsamReport.onScreen.contains)
    }
}

extension JetsamReport {
    /// The words for a process that is on the screen, if its band says so, too.
    static let onScreen: Set<String> = ["frontmost", "foreground"]
}

extension JetsamReport.Process {
    /// Whether it is in memory without running code.
    var isSuspended: Bool { states.contains("suspended") || states.contains("frozen") }

    fileprivate var isWebKit: Bool { name.hasPrefix("com.apple.WebKit.") }

    fileprivate var hasAgeOrPID: Bool { age != nil || pid != nil }

    fileprivate var isAppByName: Bool { AppleApps.names.contains(name) }

    /// Whether its name is that of an app of Apple's, or its code is not the system's.
    fileprivate var isEvidentlyApp: Bool { isAppByName || trustLevel.map { (1...6).contains($0) } == true }

    /// Whether a process of the system works for the process that started it: an app does not come from it.
    fileprivate var isService: Bool {
        let name = name.lowercased()
        return name.contains("service") || name.contains("helper") || name.hasPrefix("com.apple.callkit")
    }
}

/// The names of the processes of Apple's own apps, which do not differ from those of daemons while they run off screen.
///
/// As seen in reports and on Apple's devices; iOS 10 to 18.
private enum AppleApps {
    static let names: Set<String> = [
        "AppStore", "Books", "Bridge", "Calculator", "Camera", "Clips", "Compass", "Contacts", "DocumentsApp",
        "FaceTime",
        "Files", "FindMy", "FindMyFriends", "FindMyiPhone", "Fitness", "Freeform", "GarageBand", "Health", "Home",
        "Journal", "Keynote", "Magnifier", "Maps", "Measure", "MobileCal", "MobileMail", "MobileNotes", "MobilePhone",
        "MobileSafari", "MobileSlideShow", "MobileSMS", "MobileStore", "MobileTimer", "Music", "News", "Numbers",
        "Pages",
        "Passbook", "Passwords", "Photo Booth", "Podcasts", "Preferences", "Reminders", "Shortcuts", "Siri",
        "Spotlight",
        "Stocks", "Tips", "Translate", "TV", "Videos", "VoiceMemos", "Weather", "Workflow", "iBooks", "iMovie",
    ]
}
