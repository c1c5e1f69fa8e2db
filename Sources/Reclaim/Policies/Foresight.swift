import Quantities

/// Knows when each app is wanted next: the reference that no policy without a crystal ball can reach.
///
/// It acts only when an allocation waits or one of our limits demands it, never earlier: what need not go stays. Unused
/// pages go first, then apps that are never wanted again. Of the others goes whoever gives most room for longest at the
/// least cost: footprint times the time until it is wanted, over the cost of bringing it back. With equal sizes and
/// costs that is Belady's rule, which is optimal; with `exact_up_to` candidates or fewer, a single app that covers the
/// whole need is preferred to several whenever the several would cost more.
public struct Foresight: ReclaimPolicy {
    public static let name = "foresight"
    public static let summary = "knows the future launches: the reference that no online policy can know"
    public static let needs: PolicyNeeds = .oracle
    public static let parameters: [PolicyParameter] = [
        PolicyParameter(
            "exact_up_to", .count(12), from: .count(0), to: .count(1_000),
            meaning: "with at most so many candidates, several victims are weighed against a single one",
            source: "ours")
    ]

    private let exactUpTo: Int

    public init(_ values: ParameterValues) {
        exactUpTo = values.count("exact_up_to")
    }

    public func decide(_ snapshot: SystemSnapshot) -> Decision {
        guard snapshot.requester != nil || snapshot.isAboutLimits else {
            return .nothing(.content("nobody waits for memory"), snapshot)
        }
        var decision = Decision()
        if snapshot.requester != nil {
            for process in snapshot.processes where process.dirty > .zero {
                decision.ranking.append(
                    Candidate(.purge(process.pid), score: Int64(process.dirty.bytes), reason: "holds dirty pages"))
            }
        }
        var candidates: [ProcessSnapshot] = []
        for process in snapshot.processes {
            if process.phase.isForeground || process.pid == snapshot.requester {
                decision.spared.append(Spared(process.pid, reason: "in the foreground, or the memory is for itself"))
            } else {
                candidates.append(process)
            }
        }
        let ordered = candidates.sorted { a, b in
            (score(a, snapshot), b.pid) > (score(b, snapshot), a.pid)
        }
        for process in preferringOne(ordered, snapshot) {
            decision.ranking.append(
                Candidate(.terminate(process.pid), score: score(process, snapshot), reason: why(process, snapshot)))
        }
        return decision
    }

    private func next(_ process: ProcessSnapshot, _ snapshot: SystemSnapshot) -> Instant? {
        snapshot.oracle?.nextLaunch(of: process.app)
    }

    /// KiB times milliseconds of room, per millisecond of coming back.
    private func score(_ process: ProcessSnapshot, _ snapshot: SystemSnapshot) -> Int64 {
        guard let next = next(process, snapshot) else { return .max }
        let size = snapshot.need.isCount ? 1 : max(1, Int64(process.footprint.bytes) / 1_024)
        let time = max(1, (next - snapshot.now).microseconds / 1_000)
        let (product, overflow) = size.multipliedReportingOverflow(by: time)
        return (overflow ? .max - 1 : product) / cost(process, snapshot)
    }

    /// Milliseconds until it is back.
    private func cost(_ process: ProcessSnapshot, _ snapshot: SystemSnapshot) -> Int64 {
        guard next(process, snapshot) != nil else { return 0 }
        return max(1, process.relaunchCost.microseconds / 1_000)
    }

    private func why(_ process: ProcessSnapshot, _ snapshot: SystemSnapshot) -> String {
        next(process, snapshot).map { "is not wanted before \($0)" } ?? "is not wanted again"
    }

    /// The order's first few would have to go: whether one of the others alone is cheaper than all of them.
    private func preferringOne(_ ordered: [ProcessSnapshot], _ snapshot: SystemSnapshot) -> [ProcessSnapshot] {
        guard ordered.count <= exactUpTo else { return ordered }
        func room(_ process: ProcessSnapshot) -> Int64 {
            snapshot.need.isCount ? 1 : Int64(process.footprint.bytes)
        }
        var (covered, price, several) = (Int64(0), Int64(0), 0)
        for process in ordered where covered < snapshot.need.amount {
            covered += room(process)
            price += cost(process, snapshot)
            several += 1
        }
        guard several > 1, covered >= snapshot.need.amount else { return ordered }
        let alone = ordered.firstIndex { room($0) >= snapshot.need.amount && cost($0, snapshot) < price }
        guard let alone else { return ordered }
        return [ordered[alone]] + ordered[..<alone] + ordered[(alone + 1)...]
    }
}

extension SystemSnapshot {
    /// How much is needed: bytes, or a number of processes.
    fileprivate var need: (amount: Int64, isCount: Bool) {
        switch demand {
        case .nothing: (0, false)
        case .pressure(let deficit): (Int64(deficit.bytes), false)
        case .allocation(_, let wanted): (max(1, Int64((wanted - available).bytes)), false)
        case .backgroundProcesses(let excess): (Int64(excess), true)
        case .backgroundMemory(let excess): (Int64(excess.bytes), false)
        }
    }
}
