import Memory
import Plan
import Quantities
import Reclaim
import Workload

/// When each app is in front, and for how long. Only the policy `foresight` knows this.
struct Visits {
    /// For each app, its visits to the front in the order of time.
    private var spans: [[(from: Instant, to: Instant)]] = []

    init() {}

    /// - Parameters:
    ///   - user: What the user does, in any order.
    ///   - end: The end of the run; the app in front stays there until then.
    init(_ user: [UserEvent], apps: Int, until end: Instant) {
        spans = Array(repeating: [], count: apps)
        var front: AppID?
        var since = Instant.zero
        let ordered = user.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
        for (_, event) in ordered {
            let next = event.action.front(after: front)
            guard next != front else { continue }
            if let front { spans[front.index].append((since, event.at)) }
            (front, since) = (next, event.at)
        }
        if let front { spans[front.index].append((since, max(since, end))) }
    }

    /// How long the app is in front from now on, or on its next visit; zero if there is none.
    func next(of app: AppID, at now: Instant) -> TimeSpan {
        guard app.index < spans.count, let span = spans[app.index].first(where: { $0.to > now }) else { return .zero }
        return span.to - max(now, span.from)
    }
}

extension UserAction {
    /// The app that the user wants to see.
    var wantedApp: AppID? {
        switch self {
        case .launch(let app), .switchTo(let app), .openScene(let app), .open(let app, _): app
        default: nil
        }
    }

    /// The app that the user looks at after this action.
    fileprivate func front(after front: AppID?) -> AppID? {
        if let app = wantedApp { return app }
        return switch self {
        case .home, .lock: nil
        case .quit(let app) where app == front: nil
        default: front
        }
    }
}

/// The future, for a policy that may know it: every launch of the scenario, each app's expected footprint, and the
/// limits.
struct KnownFuture {
    /// For each app, the instants at which it is wanted, rising.
    private let wanted: [[Instant]]
    private let visits: Visits
    private let limits: Limits
    private let memory: any DeviceMemory
    private let processes: ProcessTable

    init(_ user: [UserEvent], _ plan: RunPlan, memory: any DeviceMemory, processes: ProcessTable) {
        var wanted: [[Instant]] = Array(repeating: [], count: plan.apps.count)
        for event in user {
            if let app = event.action.wantedApp { wanted[app.index].append(event.at) }
        }
        self.wanted = wanted.map { $0.sorted() }
        visits = Visits(user, apps: plan.apps.count, until: .zero + plan.duration)
        limits = plan.limits
        self.memory = memory
        self.processes = processes
    }

    func oracle(at now: Instant) -> Oracle {
        let launches = wanted.map { instants in instants.filter { $0 > now } }
        var oracle = Oracle(nextLaunch: launches.map(\.first))
        oracle.launches = launches
        oracle.sizes = expectedSizes(at: now)
        oracle.backgroundProcesses = limits.backgroundProcesses
        oracle.backgroundMemory = limits.backgroundMemory
        return oracle
    }

    /// What each app will hold at the end of its next visit to the front, by its profile. Random draws and the
    /// allocator's overhead are not foreseen.
    private func expectedSizes(at now: Instant) -> [ByteCount] {
        processes.apps.map { app in
            let declared = app.profile.memory
            let launched = declared.base + declared.scene
            let visit = visits.next(of: app.id, at: now)
            guard let process = app.launchedProcess else {
                return (launched + declared.gain(from: .zero, over: visit, cache: .zero)) * memory.scale
            }
            let cache = memory.requested(in: process.pools.cache)
            let gain = declared.gain(from: process.workload.activeTime, over: visit, cache: cache) * memory.scale
            // A launch under way has not filled all of its memory yet.
            let held = memory.books(of: process.slot).footprint
            return gain + (process.launch.pending == nil ? held : max(held, launched * memory.scale))
        }
    }
}
