import Metrics
import Quantities
import Scenario
import Simulation

/// The course of a whole run, to compare it with another run of the same user.
struct RunCourse {
    let tally: RunTally
    let waits: [MemoryWait]

    init(_ tally: RunTally, waits: [MemoryWait]) {
        self.tally = tally
        self.waits = waits
    }

    var harm: RunHarm { RunHarm(self) }

    /// The waits for memory, except those within launches that reached a first frame: the latency of such a launch
    /// includes its waits.
    var waitsOutsideLaunches: [MemoryWait] {
        let launches = Dictionary(grouping: tally.launches.filter { $0.latency != nil }, by: \.app)
            .mapValues { $0.sorted { $0.tapped < $1.tapped } }
        return waits.filter { wait in
            let own = launches[wait.app] ?? []
            // Launches of one app do not overlap.
            guard let last = own[..<own.partitionPoint { $0.tapped > wait.until }].last else { return true }
            return last.tapped + (last.latency ?? .zero) < wait.since
        }
    }

    /// The instants of the user's taps on the app, in order.
    func taps(on app: String) -> [Instant] {
        tally.launches.filter { $0.app == app }.map(\.tapped).sorted()
    }
}

/// The losses of a whole run in figures. The first figure that differs decides which of two runs is worse.
struct RunHarm: Comparable {
    /// Processes that the system ended in the foreground.
    let foreground: Int
    /// Launches without a first frame.
    let lostLaunches: Int
    /// Ends after which the user soon wanted the app again.
    let perceived: Int
    /// Processes that the system ended.
    let terminations: Int
    let coldLaunches: Int
    /// How long processes in the foreground waited for memory, in tenths of a second.
    let foregroundWait: Int64

    init(_ course: RunCourse) {
        let ends = course.tally.terminations
        foreground = ends.count(where: \.wasForeground)
        lostLaunches = course.tally.launches.count { $0.latency == nil }
        perceived = ends.count(where: \.wasPerceived)
        terminations = ends.count
        coldLaunches = course.tally.launches.count { $0.kind == .cold }
        let waited = course.waits.filter(\.wasForeground).reduce(TimeSpan.zero) { $0 + ($1.until - $1.since) }
        foregroundWait = waited.microseconds / 100_000
    }

    private var figures: [Int64] {
        [foreground, lostLaunches, perceived, terminations, coldLaunches].map(Int64.init) + [foregroundWait]
    }

    static func < (a: RunHarm, b: RunHarm) -> Bool { a.figures.lexicographicallyPrecedes(b.figures) }
}
