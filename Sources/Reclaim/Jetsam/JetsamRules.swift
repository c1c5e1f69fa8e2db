import Lifecycle
import Pressure
import Quantities

/// The kernel's rules, shared by `jetsam` and `jetsam-classic`: which step applies, and who is its victim.
///
/// Source: xnu-11417.101.15 and xnu-11215. Available is what is free, file-backed or purgeable, against shares of all
/// RAM. The order is re-evaluated after every single kill; whatever the victim itself can give without dying is purged
/// first.
struct JetsamRules: Sendable {
    let isClassic: Bool
    private let given: JetsamThresholds
    private let ram: ByteCount
    private let ballast: Ratio
    private let reaperIdle: TimeSpan
    private let aggressiveAvailable: Ratio
    private let aggressiveCandidates: Int
    private let aggressiveWindow: TimeSpan
    private let sustainedAfter: TimeSpan
    private let sustainedSpacing: TimeSpan
    private let sustainedFactor: Int
    private let purgesFirst: Bool

    init(_ values: ParameterValues, isClassic: Bool) {
        self.isClassic = isClassic
        given = JetsamThresholds(
            critical: values.ratio("critical"), idle: isClassic ? .zero : values.ratio("idle"),
            soft: values.ratio("soft"), reaper: isClassic ? .zero : values.ratio("reaper"))
        ram = values.bytes("ram")
        ballast = values.ratio("ballast")
        reaperIdle = isClassic ? .zero : values.time("reaper_idle")
        aggressiveAvailable = values.ratio("aggressive_available")
        aggressiveCandidates = values.count("aggressive_candidates")
        aggressiveWindow = values.time("aggressive_window")
        sustainedAfter = values.time("sustained_after")
        sustainedSpacing = values.time("sustained_spacing")
        sustainedFactor = values.count("sustained_factor")
        purgesFirst = values.flag("purge_first")
    }

    /// The bands up to which the rounds of the aggressive mode climb.
    static let aggressiveBands = [40, 40, 80, 80, 150].map(JetsamBand.init)

    /// What is given wins over the table's row; the ballast moves every threshold but the critical one.
    func thresholds(for device: DeviceSize) -> JetsamThresholds {
        let row = JetsamThresholds.row(for: ram == .zero ? device.meant : ram)
        func pick(_ given: Ratio, _ standard: Ratio) -> Ratio { given == .zero ? standard : given }
        return JetsamThresholds(
            critical: pick(given.critical, row.critical), idle: pick(given.idle, row.idle) + ballast,
            soft: pick(given.soft, row.soft) + ballast, reaper: pick(given.reaper, row.reaper) + ballast)
    }

    /// Above every threshold nobody goes but after a long time without a normal level.
    func contentAbove(on device: DeviceSize) -> ByteCount {
        let thresholds = thresholds(for: device)
        return device.ceiling * max(thresholds.critical, thresholds.idle, thresholds.soft, thresholds.reaper)
    }

    func decide(_ snapshot: SystemSnapshot) -> Decision {
        if snapshot.isAboutLimits {
            return answer(snapshot, Step(.jettisoned, "a limit on background apps is exceeded"), snapshot.processes)
        }
        let thresholds = thresholds(for: snapshot.device)
        let available = snapshot.availableForJetsam
        func isBelow(_ share: Ratio) -> Bool { available < snapshot.ceiling * share }
        if isBelow(thresholds.soft) {
            let violators = snapshot.processes.filter { $0.isOverSoftLimit }
            if !violators.isEmpty {
                return answer(snapshot, Step(.highwater, "over its soft limit", below: thresholds.soft), violators)
            }
        }
        let isHealthy = !isBelow(thresholds.critical) && snapshot.requester == nil
        if isHealthy { return decideHealthy(snapshot, thresholds, isBelow) }
        let shortage =
            snapshot.requester == nil
            ? Step(.pageShortage, "top process", below: thresholds.critical)
            : Step(.pageShortage, "top process, for a thread waits for a page")
        if let step = aggressiveStep(snapshot) {
            let within = snapshot.processes.filter { $0.band <= step.highestBand }
            if within.contains(where: { $0.mayBeVictim(in: snapshot) }) { return answer(snapshot, step, within) }
        }
        return answer(snapshot, shortage, snapshot.processes)
    }

    /// Enough for everybody who runs: only what is idle may go.
    private func decideHealthy(
        _ snapshot: SystemSnapshot, _ thresholds: JetsamThresholds, _ isBelow: (Ratio) -> Bool
    ) -> Decision {
        if !isClassic && isBelow(thresholds.idle) {
            let idle = snapshot.idleProcesses
            if !idle.isEmpty { return answer(snapshot, Step(.idleExit, "idle", below: thresholds.idle), idle) }
        }
        if !isClassic && isBelow(thresholds.reaper) {
            let long = snapshot.processes.filter {
                $0.band == .idle && snapshot.now - $0.positionedAt >= reaperIdle && $0.relaunchLikelihood <= .low
            }
            if !long.isEmpty {
                return answer(
                    snapshot, Step(.longIdleExit, "idle for \(reaperIdle) or longer", below: thresholds.reaper), long)
            }
        }
        if let sustained = sustained(snapshot) { return sustained }
        return .nothing(.content("available memory is above the thresholds that concern it"), snapshot)
    }

    /// Ten minutes without a normal level: band 0 goes one by one.
    private func sustained(_ snapshot: SystemSnapshot) -> Decision? {
        guard let since = snapshot.history.notNormalSince, snapshot.now - since >= sustainedAfter else { return nil }
        let idle = snapshot.idleProcesses
        guard !idle.isEmpty else { return nil }
        let most = (snapshot.history.idleAtSustained ?? idle.count) * sustainedFactor
        guard snapshot.history.sustainedKills < most else { return nil }
        if let last = snapshot.history.kills.last(where: { $0.cause == .sustainedPressure }),
            snapshot.now - last.at < sustainedSpacing
        {
            return .nothing(.waiting("the last sustained-pressure kill was a moment ago"), snapshot)
        }
        return answer(snapshot, Step(.sustainedPressure, "the level has not been normal for \(sustainedAfter)"), idle)
    }

    /// Every idle app would soon be back, so ending idle apps only moves the shortage: climb instead.
    private func aggressiveStep(_ snapshot: SystemSnapshot) -> Step? {
        guard snapshot.availableForJetsam <= snapshot.ceiling * aggressiveAvailable else { return nil }
        let idle = snapshot.idleProcesses
        guard idle.count >= aggressiveCandidates, idle.allSatisfy({ $0.relaunchLikelihood >= .medium }) else {
            return nil
        }
        let round = snapshot.history.kills(.processThrashing, since: snapshot.now - aggressiveWindow)
        var step = Step(.processThrashing, "all idle apps are likely to be back soon", below: aggressiveAvailable)
        step.highestBand = JetsamRules.aggressiveBands[min(round, JetsamRules.aggressiveBands.count - 1)]
        return step
    }

    private struct Step {
        let cause: KillCause
        let reason: String
        let threshold: Ratio?
        var highestBand = JetsamBand.internal

        init(_ cause: KillCause, _ reason: String, below threshold: Ratio? = nil) {
            self.cause = cause
            self.reason = reason
            self.threshold = threshold
        }
    }

    // MARK: Victims

    private func answer(_ snapshot: SystemSnapshot, _ step: Step, _ victims: [ProcessSnapshot]) -> Decision {
        var decision = Decision()
        let ordered = JetsamOrder.sorted(victims)
        for (index, process) in ordered.enumerated() where process.mayBeVictim(in: snapshot) {
            let score = Int64(ordered.count - index)
            if purgesFirst && process.dirty > .zero && !snapshot.isAboutLimits {
                decision.ranking.append(
                    Candidate(.purge(process.pid), score: score, reason: "its unused pages go before it does"))
            }
            decision.ranking.append(
                Candidate(
                    .terminate(process.pid), score: score,
                    reason: "\(step.cause.rawValue): \(step.reason), band \(process.band.number)", cause: step.cause))
        }
        for process in snapshot.processes {
            if !process.mayBeVictim(in: snapshot) {
                decision.spared.append(Spared(process.pid, reason: process.whyNoVictim(in: snapshot)))
            } else if !victims.contains(process) {
                decision.spared.append(Spared(process.pid, reason: "not \(step.reason)"))
            }
        }
        if let threshold = step.threshold {
            decision.evidence = Evidence(
                "available_bytes", observed: Int64(snapshot.availableForJetsam.bytes),
                threshold: Int64((snapshot.ceiling * threshold).bytes), rule: "below \(threshold) of RAM")
        }
        if !decision.ranking.isEmpty && step.cause != .idleExit && step.cause != .longIdleExit
            && !snapshot.history.sessionHasReport
        {
            decision.report = JetsamOrder.sorted(snapshot.processes).map(\.pid)
        }
        return decision
    }
}

/// The order in which jetsam ends processes: bands ascend; inside one the head first, whatever its size. Only the
/// foreground band is sorted anew: the largest group first, inside a group undefined, extension, helper, leader.
package enum JetsamOrder {
    package static func sorted(_ processes: [ProcessSnapshot]) -> [ProcessSnapshot] {
        processes.sorted { a, b in
            if a.band != b.band { return a.band < b.band }
            guard a.band == .foreground else { return (a.positionedAt, a.pid) < (b.positionedAt, b.pid) }
            let (left, right) = (total(of: a, processes), total(of: b, processes))
            if left != right { return left > right }
            // The group's number keeps two groups of one size apart; a process alone is its own group.
            let (x, y) = (a.group ?? -a.pid.number, b.group ?? -b.pid.number)
            if x != y { return x > y }
            return (a.role, b.footprint, a.pid) < (b.role, a.footprint, b.pid)
        }
    }

    /// The footprint of its whole group in the foreground band.
    private static func total(of process: ProcessSnapshot, _ all: [ProcessSnapshot]) -> ByteCount {
        guard let group = process.group else { return process.footprint }
        return all.reduce(.zero) { $1.group == group && $1.band == .foreground ? $0 + $1.footprint : $0 }
    }
}

extension SystemSnapshot {
    fileprivate var idleProcesses: [ProcessSnapshot] { processes.filter { $0.band == .idle } }

    /// What jetsam calls available: free, file-backed or purgeable.
    var availableForJetsam: ByteCount { available + measures.fileBacked + measures.purgeable }
}

extension ProcessSnapshot {
    var isOverSoftLimit: Bool {
        guard let limit, !limit.isFatal else { return false }
        return footprint > limit.bytes
    }

    func mayBeVictim(in snapshot: SystemSnapshot) -> Bool {
        pid != snapshot.requester && band < .internal && !(isEnding && !snapshot.isAboutLimits)
    }

    func whyNoVictim(in snapshot: SystemSnapshot) -> String {
        if pid == snapshot.requester { return "the memory is for itself" }
        return isEnding ? "it is on its way out" : "in the internal band"
    }
}

extension RelaunchLikelihood: Comparable {
    public static func < (a: RelaunchLikelihood, b: RelaunchLikelihood) -> Bool { a.rank < b.rank }

    /// Nobody knows: as good as rarely launched.
    private var rank: Int {
        switch self {
        case .unknown: 0
        case .low: 1
        case .medium: 2
        case .high: 3
        }
    }
}
