import Pressure
import Quantities

/// systemd-oomd: acts when swap is used up, or when pressure lasts.
///
/// If more than a share of memory and more than that share of swap are used, it ends the process that has most in swap.
/// If full stalls take more than a share of the time for a while, it ends the process from which most memory was
/// reclaimed (`MemorySnapshot.recentlyReclaimed`); among equals, the largest. After an action it ignores pressure for
/// `pause`, and does not wait for the victim's memory. Source: systemd v261. Without swap the first condition cannot
/// hold, as on a real machine without swap.
public struct SystemdOOMD: ReclaimPolicy {
    public static let name = "systemd-oomd"
    public static let summary = "Linux's systemd-oomd: swap used up, or pressure that lasts (systemd v261)"
    public static let needs: PolicyNeeds = [.everySample, .looksOn]

    private static let source = "systemd v261"

    public static let parameters: [Parameter<Self>] = [
        Parameter(
            \.used, "used", from: .zero, to: .one,
            meaning: "memory and swap count as used up if more than this share of each is used", source: source
        ).about(.swap),
        Parameter(
            \.pressure, "pressure", from: .zero, to: .one,
            meaning: "pressure counts as too high if full stalls, averaged over 10 s, take more than this share",
            source: source),
        Parameter(
            \.duration, "duration", from: .zero, to: .minutes(5),
            meaning: "how long pressure must stay too high before it acts",
            source: source),
        Parameter(
            \.pause, "pause", from: .zero, to: .minutes(10),
            meaning: "how long it ignores pressure after an action", source: source),
    ]

    private var used = Ratio.percent(90)
    private var pressure = Ratio.percent(60)
    private var duration = TimeSpan.seconds(30)
    private var pause = TimeSpan.seconds(15)

    public init() {}

    public func decide(_ snapshot: SystemSnapshot) -> Decision {
        if snapshot.isAboutLimits {
            return ranking(snapshot, because: "a limit is exceeded") { ($0.recentlyReclaimed, $0.footprint) }
        }
        if let evidence = usedUp(snapshot) {
            var decision = ranking(snapshot, because: "has most in swap") { ($0.swapped, $0.footprint) }
            decision.justify(by: evidence)
            return decision
        }
        if let last = snapshot.history.lastAction, snapshot.now - last < pause {
            return .nothing(.waiting("it rests after its last action"), snapshot)
        }
        if let evidence = lastingPressure(snapshot) {
            var decision = ranking(snapshot, because: "most memory was reclaimed from it") {
                ($0.recentlyReclaimed, $0.footprint)
            }
            decision.justify(by: evidence)
            return decision
        }
        return .notDue("swap is not used up, and no pressure lasts", snapshot)
    }

    private func usedUp(_ snapshot: SystemSnapshot) -> Evidence? {
        let measures = snapshot.measures
        let swap = measures.swapTotal - measures.swapFree
        guard measures.swapTotal > .zero, swap > measures.swapTotal * used,
            snapshot.ceiling - snapshot.obtainable > snapshot.ceiling * used
        else { return nil }
        return Evidence(
            "swap_used_bytes", observed: Int64(swap.bytes), threshold: Int64((measures.swapTotal * used).bytes),
            rule: "memory and swap are used up above \(used)")
    }

    /// Holds if every update of the last `duration` is above the threshold and the updates reach that far back.
    private func lastingPressure(_ snapshot: SystemSnapshot) -> Evidence? {
        let begin = snapshot.now - duration
        var holds = false
        for update in snapshot.measures.stallUpdates.reversed() {
            guard update.full.avg10 > pressure else { break }
            if update.at <= begin {
                holds = true
                break
            }
        }
        guard holds else { return nil }
        return Evidence(
            "psi_full_avg10_ppm", observed: snapshot.measures.full.avg10.partsPerMillion,
            threshold: pressure.partsPerMillion, rule: "full stalls above \(pressure) for \(duration)")
    }

    private func ranking(
        _ snapshot: SystemSnapshot, because why: String, by measure: (ProcessSnapshot) -> (ByteCount, ByteCount)
    ) -> Decision {
        var decision = Decision()
        let sorted = snapshot.processes.sorted { a, b in
            let (x, y) = (measure(a), measure(b))
            return (x.0, x.1, b.pid) > (y.0, y.1, a.pid)
        }
        for process in sorted {
            decision.rank(.terminate(process.pid), score: Int64(measure(process).0.bytes), because: why)
        }
        return decision
    }
}
