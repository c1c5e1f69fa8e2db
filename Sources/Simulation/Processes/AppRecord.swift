import Lifecycle
import Memory
import Plan
import Quantities
import Reclaim
import Workload

/// An app, a helper, an extension or a daemon of the scenario: what outlives its processes.
final class AppRecord {
    // The properties that every tick reads come first, in few cache lines.
    let id: AppID
    /// A stream of its own: adding an app or a process does not change the draws of others.
    var sizes: SizeStream
    /// In the order of creation.
    private(set) var sessions: [SceneSession] = [] {
        didSet { process?.stateDidChange() }
    }
    /// The scene that was in front last.
    private(set) var frontScene: SceneID?
    let profile: AppProfile
    /// Whether it is a helper, an extension or a daemon, and no app.
    let isPart: Bool
    /// Its place among the processes of its app.
    let membership: Membership
    /// The limits on its footprint; without limits of its own it has the device's default.
    let limits: AppLimits
    /// What the public record of the life cycle leaves open.
    let rules: LifecycleRules
    var behaviour: SeededGenerator
    /// Decides whether the app does its duty off screen and on a disconnect.
    var duty: SeededGenerator
    /// Its live process; nil if there is none.
    private(set) var process: LiveProcess?
    /// Its live process, unless the process is only prewarmed.
    var launchedProcess: LiveProcess? { process?.phase == .prewarmed ? nil : process }
    var wasLaunched: Bool { use.launches > 0 }
    /// Whether the user swiped the app away: pushes and refreshes do not launch it until the user opens it again.
    private(set) var wasSwipedAway = false
    /// The number of sessions that the user closed while the app was not running; the app is told at its next launch.
    private var discardedWhileDead = 0
    /// How often it has been launched and used.
    private(set) var use = AppUse() {
        didSet { process?.stateDidChange() }
    }
    /// The terminations by the system that the user may still notice.
    private(set) var ends = SystemEnds()
    /// A tap that came while the old process was being ended.
    private(set) var tapAfterExit: (at: Instant, reason: LaunchReason)?
    /// What it has asked the system to do for it off screen.
    var requests = BackgroundRequests()
    private var lastScene = 0
    /// What the app's callbacks cost from its last event on.
    private(set) var costs: DrawnCosts
    private var spread: SeededGenerator
    private var crashes: SeededGenerator
    /// When its last process ended, if that crashed by itself.
    private(set) var crashedAt: Instant?
    private var hangs: SeededGenerator
    private let faults: RunFaults

    init(_ id: AppID, _ declared: AppProfile, _ membership: Membership, in plan: RunPlan, faults: RunFaults) {
        let (rules, seed) = (plan.lifecycle, plan.seed)
        var profile = declared
        isPart = declared.part != nil
        self.membership = membership
        // iOS 12 knows no scenes.
        if !rules.scenes && !isPart { profile.scenes = SceneSupport(support: false) }
        self.id = id
        self.profile = profile
        limits = AppLimits(profile.limits, standard: isPart ? nil : plan.device.limit(ofEntitled: profile.isEntitled))
        self.rules = rules
        self.faults = faults
        func stream(_ what: String) -> SeededGenerator {
            SeededGenerator(seed: seed, stream: "app/\(declared.name)/\(what)")  // promise: own-draws
        }
        sizes = SizeStream(SizeSampler(profile.memory.objects), stream("sizes"))
        (behaviour, duty, spread) = (stream("behaviour"), stream("duty"), stream("costs"))
        (crashes, hangs) = (stream("crashes"), stream("hangs"))
        costs = DrawnCosts(of: profile)
    }

    /// The plan's apps and other processes, by their numbers.
    static func all(of plan: RunPlan, faults: RunFaults) -> [AppRecord] {
        let memberships = Membership.all(of: plan)
        return plan.apps.enumerated().map { index, app in
            var app = app
            // Without a file cache it does not matter what files an app has.
            if plan.device.fileCache == nil { app.memory.files = FileProfile() }
            return AppRecord(AppID(index), app, memberships[index], in: plan, faults: faults)
        }
    }

    /// Draws the app's costs. Call it once for each event of the plan that opens or wakes the app, whatever comes of
    /// the event: so the n-th event draws the same costs under every policy.
    func drawCosts() {
        guard profile.spread.sigma > .zero else { return }
        costs = DrawnCosts(of: profile, times: profile.spread.factor(using: &spread))
    }

    /// Draws how long its next process runs until it crashes by itself; nil: it does not.
    func drawCrash() -> TimeSpan? {
        guard let mean = profile.faults.crashesAfter else { return nil }
        return TimeSpan(microseconds: 1 + Int64(crashes.below(2 * UInt64(max(1, mean.microseconds)))))
    }

    /// Draws how long it takes until its main thread hangs; nil: it does not.
    func drawHang() -> TimeSpan? {
        guard let mean = profile.faults.hangsAfter else { return nil }
        return TimeSpan(microseconds: 1 + Int64(hangs.below(2 * UInt64(max(1, mean.microseconds)))))
    }

    // MARK: Its process

    func begin(_ process: LiveProcess) {
        if !process.launch.isPrewarmed { goOn() }
        self.process = process
    }

    /// Its process is launched; a prewarmed one is launched later than it begins.
    func goOn() { use.wasLaunched() }

    /// Its process is gone, and with it its scenes' memory and pending launch reasons.
    func processEnded() { (process, crashedAt) = (nil, nil) }

    /// The process that has ended crashed by itself.
    func crashedByItself(at now: Instant) { crashedAt = now }

    /// The user opens the app, so the system may launch it off screen again.
    func open(_ scene: SceneID) {
        frontScene = scene
        wasSwipedAway = false
    }

    /// The user swipes the app away, and does not want back what the system ended before.
    func swipeAway() {
        wasSwipedAway = true
        requests.cancelTransfers()
        ends.forgetLast()
    }

    /// Keeps a tap until the old process is gone.
    ///
    /// - Returns: The time of an earlier tap that this one replaces.
    func keepTap(at instant: Instant, _ reason: LaunchReason) -> Instant? {
        defer { tapAfterExit = (instant, reason) }
        return tapAfterExit?.at
    }

    /// Takes the tap that waited for the end of the old process.
    func takeTap() -> (at: Instant, reason: LaunchReason)? {
        defer { tapAfterExit = nil }
        return tapAfterExit
    }

    /// The system has ended the app's process.
    ///
    /// - Parameter fact: The index of the termination in the run's tally.
    func wasTerminated(at now: Instant, fact: Int) { ends.add(at: now, fact: fact) }

    /// The user wants the app, maybe for the first time since some terminations by the system.
    ///
    /// - Returns: The indices of these terminations.
    func want(at tapped: Instant) -> [Int] {
        use.wasUsed(at: tapped)
        return ends.takeMissed()
    }

    /// The user wants the app back, and the system may have ended it.
    func wasRelaunched(tapped: Instant) {
        if ends.relaunch(tapped: tapped) { process?.stateDidChange() }
    }

    /// Before the run, the system ended the app, and it was launched again after these times.
    func wasRelaunched(after intervals: [TimeSpan]) { ends.remember(intervals) }

    // MARK: Its sessions

    func newSession(isExternal: Bool = false) -> SceneID {
        lastScene += 1
        let id = SceneID(lastScene)
        sessions.append(SceneSession(id: id, isExternal: isExternal))
        return id
    }

    /// The scene that a tap brings back: the one last in front, else the youngest. Scenes that are being closed and the
    /// second display's scene do not count.
    var sceneToShow: SceneID? {
        let closing = process?.course.closing ?? []
        let open = sessions.filter { !$0.isExternal && !closing.contains($0.id) }
        if let front = frontScene, open.contains(where: { $0.id == front }) { return front }
        return open.last?.id
    }

    /// The youngest scene of the device's own display that the user can still close.
    var closableScene: SceneID? {
        let closing = process?.course.closing ?? []
        return sessions.last { !$0.isExternal && !closing.contains($0.id) }?.id
    }

    /// Whether the user has no other window of the app, on either display.
    func isLast(_ scene: SceneID) -> Bool {
        let closing = process?.course.closing ?? []
        return !sessions.contains { $0.id != scene && !closing.contains($0.id) }
    }

    func session(_ scene: SceneID) -> SceneSession {
        guard let found = sessions.first(where: { $0.id == scene }) else {
            faults.fail("\(profile.name) has no session \(scene.number)")
            return SceneSession(id: scene)
        }
        return found
    }

    func update(_ scene: SceneID, _ change: (inout SceneSession) -> Void) {
        guard let index = sessions.firstIndex(where: { $0.id == scene }) else {
            return faults.fail("\(profile.name) has no session \(scene.number)")
        }
        change(&sessions[index])
    }

    /// Removes the session for good.
    func discard(_ scene: SceneID) { sessions.removeAll { $0.id == scene } }

    /// The user closed a scene while the app was not running.
    func discardWhileDead(_ scene: SceneID) {
        discard(scene)
        discardedWhileDead += 1
    }

    /// The user has swiped the app away: its scenes are closed for good, and the app is told at its next launch.
    func discardAllSessions() {
        guard profile.scenes.support else { return }
        discardedWhileDead += sessions.count(where: \.wasConnected)
        sessions.removeAll()
    }

    /// Whether the user closed sessions of which the app has not been told. Resets the count.
    func takeDiscarded() -> Bool {
        defer { discardedWhileDead = 0 }
        return discardedWhileDead > 0
    }

    /// The process ends: its connected scenes disconnect without a callback.
    ///
    /// - Returns: The scenes that were connected.
    func disconnectAll() -> [SceneID] {
        var left: [SceneID] = []
        for index in sessions.indices where sessions[index].machine.phase.isConnected {
            sessions[index].processDied()
            left.append(sessions[index].id)
        }
        return left
    }

    /// The process leaves the tables. Its scenes lose their memory and their pending launch reasons. Two kinds of
    /// sessions are discarded: those that the user closed while the process was ending, and the second display's, which
    /// has no use without the process.
    func forgetProcess(closing: [SceneID], external: SceneID?) {
        for index in sessions.indices { sessions[index].forgetProcess() }
        discardedWhileDead += closing.count
        sessions.removeAll { closing.contains($0.id) }
        if let external { discard(external) }
    }
}

/// When the system ended an app: the terminations that the user may still notice.
struct SystemEnds {
    /// When the system last ended the app; nil once the user has launched it again.
    private var last: Instant?
    /// The terminations since the user last wanted the app, by their indices in the tally.
    private var missed: [Int] = []
    /// The time from each of the last ten terminations to the next wish for the app.
    private(set) var relaunchIntervals: [TimeSpan] = []

    mutating func add(at now: Instant, fact: Int) {
        last = now
        missed.append(fact)
    }

    mutating func takeMissed() -> [Int] {
        defer { missed.removeAll() }
        return missed
    }

    /// - Returns: Whether the system had ended the app.
    mutating func relaunch(tapped: Instant) -> Bool {
        guard let last else { return false }
        self.last = nil
        // A tap on a process that was being ended came before its end.
        relaunchIntervals = relaunchIntervals.suffix(9) + [max(.zero, tapped - last)]
        return true
    }

    mutating func forgetLast() { last = nil }

    mutating func remember(_ intervals: [TimeSpan]) { relaunchIntervals = intervals.suffix(10) }
}
