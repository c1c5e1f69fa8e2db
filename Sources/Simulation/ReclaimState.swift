import Metrics
import Pressure
import Quantities
import Reclaim

/// What the simulation remembers between two decisions.
struct ReclaimState {
    /// Nobody is asked for another one before it is done.
    var acting: ActionUnderWay?
    var serial = 0
    var decisions = 0
    /// Questions that nothing was done about since the last action, with their answers: said once, not at every sample.
    var said: [String] = []
    /// What a policy may know of the past.
    var history = ReclaimHistory()
    var stalls = StallMeter()
    /// When the averages of footprints were last updated.
    var growthAt: Instant = .zero
    /// Band and cause of everything that the policy ended.
    var kills = KillTable()
    /// That of the session under way, if anybody wants reports and somebody was ended; and how many there were.
    var report: KillReport?
    var reports = 0
    /// The policy does not want to be asked before this instant.
    var nextLook: Instant = .zero
    /// What policies were shown last, by rising process number; the latest processes may not be among them yet.
    var shown: [ProcessSnapshot] = []
    /// By app, the instants at which it is wanted, rising; only for a policy that knows the future.
    var wanted: [[Instant]] = []
    /// Likewise: how long each app is in front.
    var visits = Visits()

    /// Pages are on their way back to the device: a purge or a termination is under way.
    var isFreeing: Bool { acting?.isFreeing ?? false }
}
