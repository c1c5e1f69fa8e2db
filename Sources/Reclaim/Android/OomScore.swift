import Lifecycle
import Pressure
import Quantities

/// Android's importance of a process, `oom_score_adj`: the higher, the sooner it is killed.
///
/// Source: AOSP lmkd android-13 and the activity manager. The mapping from UIKit's states is Plimsoll's own. A
/// process that plays audio or navigates counts as perceptible; any other process that runs code off screen counts as
/// a service. The app that was in front before the present one is protected as "previous". All other processes are
/// cached: the longest idle has the highest score, and processes that were never in front score higher than those
/// that were. If the scenario sets an app's `oom_score_adj`, that is the score of its process. `ActivityManager` says
/// what changes with time.
public enum OomScore {
    /// A native process that the activity manager does not manage; it is never killed. Not assigned here.
    public static let native = -1_000
    /// The system server. Not assigned here.
    public static let system = -900
    /// A persistent app, such as the telephone. Not assigned here.
    public static let persistent = -800
    /// A service that the system or a persistent app is bound to. Not assigned here.
    public static let persistentService = -700
    /// On the screen and active.
    public static let foreground = 0
    /// Left the screen a moment ago and still plays or navigates. Assigned only with `ActivityManager.ages`.
    public static let recentForeground = 50
    /// On the screen, but not active.
    public static let visible = 100
    /// Off screen, but noticed by the user: playing or navigating.
    public static let perceptible = 200
    /// Being backed up. Not assigned here.
    public static let backup = 300
    /// A heavyweight app. Not assigned here.
    public static let heavy = 400
    /// Running code off screen.
    public static let service = 500
    /// The home app (`ActivityManager.home`).
    public static let home = 600
    /// The app that was in front before the present one.
    public static let previous = 700
    /// A service that others have followed. Assigned only with `ActivityManager.ages`.
    public static let serviceB = 800
    /// Waiting to be wanted again; the longest idle has the highest score.
    public static let cached = 900...999
    /// The highest score that there is (`OOM_SCORE_ADJ_MAX`).
    static let highest = 1_000
    /// The distance between two cached processes: up to ten of them get distinct scores.
    private static let step = 10

    /// The score of every process, in the order of the snapshot.
    public static func all(of snapshot: SystemSnapshot, by manager: ActivityManager = ActivityManager()) -> [Int] {
        let processes = snapshot.processes
        let bases = manager.bases(of: snapshot)
        var scores = bases.map { $0 ?? previous }
        var waiting = processes.indices.filter { bases[$0] == nil }
        waiting.sort { processes[$0].lastUse > processes[$1].lastUse }
        if let first = waiting.first, manager.isPrevious(processes[first], at: snapshot.now) { waiting.removeFirst() }
        for (rank, index) in waiting.enumerated() {
            scores[index] = min(cached.lowerBound + rank * step, cached.upperBound)
        }
        return scores
    }
}

/// What of Android's activity manager a policy asks for beyond the scores that follow from what a process does.
///
/// Source: AOSP android-14, `OomAdjuster.computeOomAdjLSP` and the constants of `ActivityManagerConstants`. Left out
/// are bindings between processes, what the activity manager ends itself (`limits.background_processes` stands for its
/// limit on cached processes), and large services on a device that is short of memory.
public struct ActivityManager: Hashable, Sendable {
    /// The names of the home app: off screen it has the score `OomScore.home`.
    public var home: [String] = []
    /// Whether scores change with time: see the constants.
    public var ages = false

    /// So long after it left the screen an app is no longer protected as "previous" (`MAX_PREVIOUS_TIME`).
    public static let previousLasts = TimeSpan.minutes(1)
    /// So long after it left the screen an app that plays or navigates counts as recently in front
    /// (`TOP_TO_FGS_GRACE_DURATION`).
    public static let recentLasts = TimeSpan.seconds(15)
    /// A service that has done nothing for so long is cached (`MAX_SERVICE_INACTIVITY`). That a service has done
    /// nothing since its app was last in front, or was launched, is an assumption.
    public static let serviceLasts = TimeSpan.minutes(30)

    /// Scores that do not change with time.
    public init() {}

    /// The parameters of a policy that asks the activity manager.
    static func parameters<Policy>(
        ages: Parameter<Policy>.Field<Bool>, home: Parameter<Policy>.Field<[String]>
    ) -> [Parameter<Policy>] {
        let source = "AOSP android-14, OomAdjuster.computeOomAdjLSP"
        return [
            Parameter(
                ages, "activity_manager",
                meaning:
                    "scores change with time: the previous app is protected for a minute, services age, and an app "
                    + "that plays on is protected for 15s",
                source: source),
            Parameter(home, "home", meaning: "the home app, which has the score 600 off screen", source: source),
        ]
    }

    /// The scores that follow from what each process does; nil for a process that is only kept for later.
    fileprivate func bases(of snapshot: SystemSnapshot) -> [Int?] {
        var bases = snapshot.processes.map { $0.declaredOomScoreAdj ?? base(of: $0, at: snapshot.now) }
        guard ages else { return bases }
        let services = snapshot.processes.indices.filter {
            bases[$0] == OomScore.service && snapshot.processes[$0].declaredOomScoreAdj == nil
        }.sorted { snapshot.processes[$0].lastUse > snapshot.processes[$1].lastUse }
        // A third of the services, and one more, are those that were used last (`mNewNumAServiceProcs`).
        for index in services.dropFirst(services.count / 3 + 1) { bases[index] = OomScore.serviceB }
        return bases
    }

    private func base(of process: ProcessSnapshot, at now: Instant) -> Int? {
        let base = ages ? agedBase(of: process, at: now) : process.base
        guard home.contains(process.name) else { return base }
        return min(base ?? OomScore.home, OomScore.home)
    }

    private func agedBase(of process: ProcessSnapshot, at now: Instant) -> Int? {
        let idle = process.idleTime(at: now)
        return switch process.base {
        case OomScore.perceptible? where process.lastForeground != nil && idle < ActivityManager.recentLasts:
            OomScore.recentForeground
        case OomScore.service? where idle >= ActivityManager.serviceLasts: nil
        case let base: base
        }
    }

    /// Whether the process that was used last of those that are kept for later is protected as the previous app.
    fileprivate func isPrevious(_ process: ProcessSnapshot, at now: Instant) -> Bool {
        guard process.lastForeground != nil else { return false }
        return !ages || process.idleTime(at: now) < ActivityManager.previousLasts
    }
}

extension ProcessSnapshot {
    /// The order in which the user had the processes in front, the latest last. Processes that were never in front come
    /// before them.
    fileprivate var lastUse: (wasInFront: Int, at: Instant, ProcessID) {
        (lastForeground == nil ? 0 : 1, lastForeground ?? launchedAt, pid)
    }

    /// The score that follows from what the process does; nil if the process does nothing and is only kept for later.
    fileprivate var base: Int? {
        switch phase {
        case .active: OomScore.foreground
        case .inactive: OomScore.visible
        case .background: modes.isEmpty ? OomScore.service : OomScore.perceptible
        case .suspended, .prewarmed, .notRunning: nil
        }
    }
}

/// A process with its score.
struct ScoredProcess {
    let process: ProcessSnapshot
    let score: Int
}

extension SystemSnapshot {
    /// Victims as lmkd picks them: processes with a score of at least `floor`, the highest first. Among equal scores
    /// it takes the least recently used; at scores up to `heaviestAt` it takes the largest instead, because the user
    /// notices every kill there, and one kill should be enough. lmkd does not know whose allocation waits. If nobody
    /// has such a score, nobody is killed, and an allocation goes on waiting. Source: AOSP lmkd android-13 and -14,
    /// `find_and_kill_process`.
    func rankingByScore(
        floor: Int, heaviestAt: Int, by manager: ActivityManager = ActivityManager(), because why: String
    ) -> Decision {
        var decision = Decision()
        var victims: [ScoredProcess] = []
        for (process, score) in zip(processes, OomScore.all(of: self, by: manager)) {
            if process.isEnding {
                decision.spare(process, because: "it is on its way out")
            } else if score < floor {
                decision.spare(process, because: "its score \(score) is below the floor \(floor)")
            } else {
                victims.append(ScoredProcess(process: process, score: score))
            }
        }
        if victims.isEmpty { decision.standstill = .waiting("no process has a score of \(floor) or more") }
        victims.sort { a, b in
            if a.score != b.score { return a.score > b.score }
            if a.score <= heaviestAt {
                return (a.process.footprint, b.process.pid) > (b.process.footprint, a.process.pid)
            }
            return a.process.lastUse < b.process.lastUse
        }
        decision.ranking = victims.map {
            Candidate(
                .terminate($0.process.pid), score: Int64($0.score), reason: "\(why): score \($0.score), floor \(floor)")
        }
        return decision
    }
}
