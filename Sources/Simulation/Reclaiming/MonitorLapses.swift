import Pressure
import Quantities

/// What a faulty monitor misses and says in vain, as the seed decides. Without faults it draws nothing.
struct MonitorLapses {
    private let faults: MonitorFaults
    private var looks: SeededGenerator
    private var tells: SeededGenerator
    /// The samples that were missed within the last `window`, in order.
    private var missed: [Instant] = []

    /// How long an end remembers what was missed before it.
    static let window = TimeSpan.seconds(10)

    init(_ faults: MonitorFaults, seed: UInt64) {
        self.faults = faults
        looks = SeededGenerator(seed: seed, stream: "monitor/missed")
        tells = SeededGenerator(seed: seed, stream: "monitor/warnings")
    }

    /// Whether the monitor misses the sample of this instant.
    mutating func misses(at now: Instant) -> Bool {
        guard faults.missed > .zero, looks.chance(faults.missed) else { return false }
        missed.removeAll { now - $0 > MonitorLapses.window }
        missed.append(now)
        return true
    }

    /// Whether a warning is lost.
    mutating func losesWarning() -> Bool { faults.warningsLost > .zero && tells.chance(faults.warningsLost) }

    /// How many samples were missed shortly before this instant.
    func recentlyMissed(at now: Instant) -> Int { missed.count { now - $0 <= MonitorLapses.window } }
}
