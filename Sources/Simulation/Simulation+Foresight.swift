import Memory
import Quantities
import Reclaim
import Workload

/// How long each app is in front, and when: what only foresight knows.
struct Visits {
    /// By app, rising.
    private var spans: [[(from: Instant, to: Instant)]] = []

    init() {}

    /// - Parameters:
    ///   - user: What the user does, in any order.
    ///   - end: Of the run; whoever is in front stays until then.
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

    /// How long it is in front from now on, or when it comes next; zero where it never does.
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

    /// The app that the user looks at afterwards.
    fileprivate func front(after front: AppID?) -> AppID? {
        if let app = wantedApp { return app }
        return switch self {
        case .home, .lock: nil
        case .quit(let app) where app == front: nil
        default: front
        }
    }
}

extension Simulation {
    /// What is to come: every launch of the scenario, what each app is likely to hold, and the limits.
    func oracle() -> Oracle {
        let launches = reclaim.wanted.map { instants in instants.filter { $0 > now } }
        var oracle = Oracle(nextLaunch: launches.map(\.first))
        oracle.launches = launches
        oracle.sizes = expectedSizes()
        oracle.backgroundProcesses = plan.limits.backgroundProcesses
        oracle.backgroundMemory = plan.limits.backgroundMemory
        return oracle
    }

    /// When each app will be wanted, for a policy that knows the future.
    func wantedInstants() -> [[Instant]] {
        var wanted: [[Instant]] = Array(repeating: [], count: plan.apps.count)
        for event in user {
            if let app = event.action.wantedApp { wanted[app.index].append(event.at) }
        }
        return wanted.map { $0.sorted() }
    }

    /// What each app will hold at the end of its next visit to the front, by its profile: for a policy that knows the
    /// future. What it draws by chance is not foreseen, and neither is what an allocator adds.
    private func expectedSizes() -> [ByteCount] {
        apps.map { app in
            let declared = app.profile.memory
            let launched = declared.base + declared.scene
            let visit = reclaim.visits.next(of: app.id, at: now)
            guard let process = process(of: app.id) else {
                return (launched + declared.gain(from: .zero, over: visit, cache: .zero)) * scale
            }
            let cache = memory.requested(in: process.cache)
            let gain = declared.gain(from: process.workload.activeTime, over: visit, cache: cache) * scale
            // A launch under way has not filled all that it will.
            let held = memory.books(of: process.slot).footprint
            return gain + (process.launch == nil ? held : max(held, launched * scale))
        }
    }
}
