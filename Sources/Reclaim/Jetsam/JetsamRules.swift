import Lifecycle
import Pressure
import Quantities

/// The kernel's rules: which step applies, and which process is the step's victim.
///
/// Sources: the releases of `JetsamKernel`. Available memory is free, file-backed or purgeable; thresholds are shares
/// of all RAM. The rules are evaluated anew after every single kill, except that a sweep or a round goes on
/// (`JetsamCourse`); the victim's purgeable memory is taken first. The releases differ in four things: how they treat
/// band 0 before the shortage is critical, whether they have a reaper, their thresholds, and the bands of the
/// aggressive mode's rounds. Some rules were read in the source of one release only; the other three releases are
/// assumed to have them, too.
struct JetsamRules: Sendable {
    /// The release whose rules and thresholds apply; nil: the device's, or else the standard one.
    var kernel: JetsamKernel?
    /// Thresholds as shares of RAM. If one is nil, the value comes from the kernel's table of thresholds, from the row
    /// for the device's RAM (see `row(for:)`).
    var critical: Ratio?
    var idle: Ratio?
    var soft: Ratio?
    var reaper: Ratio?
    /// The amount of RAM that selects the row of the kernel's table. If nil, the device's RAM selects it.
    var ram: ByteCount?
    var ballast = Ratio.zero
    var reaperIdle = TimeSpan.seconds(300)
    var reaperRest = TimeSpan.seconds(300)
    var aggressiveAvailable = Ratio.percent(7)
    var aggressiveCandidates = 5
    var aggressiveWindow = TimeSpan.seconds(6)
    var sustainedAfter = TimeSpan.minutes(10)
    var sustainedSpacing = TimeSpan.milliseconds(500)
    var sustainedFactor = 2
    var purgesFirst = true

    /// The release whose rules apply on a device.
    func release(on device: DeviceSize) -> JetsamKernel { kernel ?? device.kernel ?? .standard }

    /// The kernel's row of thresholds for a device, with the device's own marks. If `ram` asks for the row of another
    /// device, this device's marks do not apply.
    func row(for device: DeviceSize) -> JetsamThresholds {
        let release = release(on: device)
        return ram.map { JetsamThresholds.row(for: $0, in: release) } ?? device.thresholds(in: release)
    }

    /// Above this share of the file cache, pages of files that come back are thrashing. A guess: XNU finds it by the
    /// ghosts of evicted pages, and its figure depends on the device.
    static let fileThrashing = Ratio.one

    /// The thresholds below which the steps begin. Zero means that there is no such step. A threshold that a scenario
    /// sets replaces the row's.
    ///
    /// - Parameter hasIdle: Whether a process is in band 0. Some kernels then raise the critical threshold.
    func thresholds(for device: DeviceSize, hasIdle: Bool) -> JetsamThresholds {
        let row = row(for: device)
        var found = JetsamThresholds(
            critical: critical ?? row.critical, idle: idle ?? row.idle, soft: soft ?? row.soft,
            reaper: reaper ?? row.reaper)
        if found.reaper > .zero { found.reaper = found.reaper + ballast }
        guard release(on: device).raisesCritical else {
            // The ballast moves every threshold except the critical one.
            found.idle = found.idle + ballast
            found.soft = found.soft + ballast
            return found
        }
        if hasIdle { found.critical = max(found.critical, found.idle) }
        found.critical = min(found.critical, found.soft) + ballast
        found.idle = .zero
        return found
    }

    /// Above this much available memory, processes are ended only if the pressure level has not been normal for a
    /// long time.
    func contentAbove(on device: DeviceSize) -> ByteCount {
        let thresholds = thresholds(for: device, hasIdle: true)
        return device.ceiling * max(thresholds.critical, thresholds.idle, thresholds.soft, thresholds.reaper)
    }

    /// What is left to do while the system is healthy: for steps without victims it is nothing.
    func answerHealthy(_ snapshot: SystemSnapshot, _ found: [Step]) -> Decision {
        var steps = found
        steps.removeAll { step in snapshot.processes.allSatisfy { step.passesOver($0) != nil } }
        if !steps.isEmpty { return answer(snapshot, steps) }
        return .nothing(
            sustainedRests(snapshot)
                ? .waiting("too little time has passed since the last kill for sustained pressure")
                : .content("available memory is above all thresholds that apply"), snapshot)
    }

    /// Who is over a soft limit ends.
    func highwaterStep(below threshold: Ratio?) -> Step {
        Step(.highwater, "over its soft limit", below: threshold) {
            $0.isOverSoftLimit ? nil : "not over its soft limit"
        }
    }

    /// The compressor is out of space: the top process ends, before all other steps.
    func spaceStep(_ snapshot: SystemSnapshot) -> Step? {
        guard snapshot.measures.compressor == .full else { return nil }
        var step = Step(.compressorSpaceShortage, "top process, because the compressor is full")
        step.own = Evidence(
            "compressor_use_ppm", observed: snapshot.measures.compressorUse.partsPerMillion,
            threshold: SystemMeasures.compressorIsFull.partsPerMillion, rule: "the compressor is out of space")
        return step
    }

    /// Compressed pages, or pages of files, come back too often: the top process ends for that reason.
    func thrashingStep(_ snapshot: SystemSnapshot) -> Step? {
        let measures = snapshot.measures
        // After such a kill, the kernel measures anew before it finds thrashing again.
        guard snapshot.history.kills(.compressorThrashing, since: snapshot.now - .milliseconds(500)) == 0,
            snapshot.history.kills(.fileCacheThrashing, since: snapshot.now - .seconds(1)) == 0
        else { return nil }
        if measures.compressor == .thrashing {
            var step = Step(.compressorThrashing, "top process, because compressed pages come back at once")
            step.own = Evidence(
                "refaulted_bytes", observed: Int64(measures.refaulted.bytes),
                threshold: Int64(measures.refaultedAtMost.bytes), rule: "the compressor is thrashing")
            return step
        }
        guard measures.thrashing > JetsamRules.fileThrashing else { return nil }
        var step = Step(.fileCacheThrashing, "top process, because pages of files come back again and again")
        step.own = Evidence(
            "thrashing_ppm", observed: measures.thrashing.partsPerMillion,
            threshold: JetsamRules.fileThrashing.partsPerMillion, rule: "the file cache is thrashing")
        return step
    }

    /// The first process of the lowest band ends.
    func topProcess(_ snapshot: SystemSnapshot, _ thresholds: JetsamThresholds) -> Step {
        guard snapshot.requester == nil else {
            return Step(.pageShortage, "top process, because a thread waits for a page")
        }
        var step = Step(.pageShortage, "top process", below: thresholds.critical)
        let critical = self.thresholds(for: snapshot.device, hasIdle: false).critical
        step.isIdleRaised =
            thresholds.critical > critical && snapshot.obtainable >= snapshot.ceiling * critical
        return step
    }

    /// There is enough memory for running processes: only idle ones may be ended.
    func idleStep(_ thresholds: JetsamThresholds, _ isBelow: (Ratio) -> Bool) -> [Step] {
        guard isBelow(thresholds.idle) else { return [] }
        return [Step(.idleExit, "idle", below: thresholds.idle, passesOver: JetsamRules.notIdle)]
    }

    /// Why the reaper leaves a process alone; nil: it does not. It spares what is likely to be launched again: a high
    /// or a medium likelihood (`MEMORYSTATUS_REAPER_REAP_RELAUNCH_MASK_DEFAULT`).
    func whyNotReaped(_ process: ProcessSnapshot, at now: Instant) -> String? {
        if process.band > .idle { return JetsamRules.notIdle(process) }
        if now - process.positionedAt < reaperIdle { return "idle for less than \(reaperIdle)" }
        return process.relaunchLikelihood <= .low ? nil : "likely to be launched again"
    }

    /// The level has not been normal for long.
    func sustainedStep(_ snapshot: SystemSnapshot) -> [Step] {
        guard sustainedIsDue(snapshot), !sustainedRests(snapshot) else { return [] }
        return [
            Step(
                .sustainedPressure, "the level has not been normal for \(sustainedAfter)",
                passesOver: JetsamRules.notIdle)
        ]
    }

    private static func notIdle(_ process: ProcessSnapshot) -> String? {
        process.band == .idle ? nil : "not in band 0"
    }

    /// After ten minutes without a normal level, the processes in band 0 are ended one by one.
    private func sustainedIsDue(_ snapshot: SystemSnapshot) -> Bool {
        guard let since = snapshot.history.notNormalSince, snapshot.now - since >= sustainedAfter else { return false }
        let idle = snapshot.idleProcesses.count
        guard idle > 0 else { return false }
        return snapshot.history.sustainedKills < (snapshot.history.idleAtSustained ?? idle) * sustainedFactor
    }

    /// The next kill waits until the last one's memory shows in the measures.
    private func sustainedRests(_ snapshot: SystemSnapshot) -> Bool {
        guard let last = snapshot.history.kills.last(where: { $0.cause == .sustainedPressure }) else { return false }
        return sustainedIsDue(snapshot) && snapshot.now - last.at < sustainedSpacing
    }

    /// A step that applies: whom it ends, and why.
    struct Step {
        let cause: KillCause
        let reason: String
        let threshold: Ratio?
        /// Why the step passes over a process. Nil if the process is a victim.
        let passesOver: (ProcessSnapshot) -> String?
        /// Whether the step applies only because band 0 is occupied.
        var isIdleRaised = false
        /// What the step compared, if it is not available memory.
        var own: Evidence?

        /// Whether it takes a victim's purgeable memory first. A round of the aggressive mode takes nothing.
        var takesPurgeable: Bool { cause != .processThrashing }

        init(
            _ cause: KillCause, _ reason: String, below threshold: Ratio? = nil,
            passesOver: @escaping (ProcessSnapshot) -> String? = { _ in nil }
        ) {
            self.cause = cause
            self.reason = reason
            self.threshold = threshold
            self.passesOver = passesOver
        }

        /// What it compared; nil: nothing of its own.
        func evidence(_ snapshot: SystemSnapshot) -> Evidence? {
            own
                ?? threshold.map {
                    Evidence(
                        "available_bytes", observed: Int64(snapshot.obtainable.bytes),
                        threshold: Int64((snapshot.ceiling * $0).bytes), rule: "below \($0) of RAM")
                }
        }

        /// Whether the end of this process needs a report. The end of an idle process needs none if an idle step ends
        /// it, or if the critical step applies only because band 0 is occupied. A jetsam session (the time since the
        /// policy was last content) without other victims writes no report.
        ///
        /// Source: `memorystatus_kill_top_process`, which takes no snapshot for a victim in the idle band.
        func reports(_ process: ProcessSnapshot) -> Bool {
            if cause == .idleExit || cause == .longIdleExit { return false }
            return !(isIdleRaised && process.band == .idle)
        }
    }

    // MARK: Victims

    /// Ranks the victims of the first step, then the further victims of the next step, and so on.
    func answer(_ snapshot: SystemSnapshot, _ steps: [Step]) -> Decision {
        let ordered = JetsamOrder.sorted(snapshot.processes)
        var victims: [Victim] = []
        for (place, step) in steps.enumerated() {
            let evidence = step.evidence(snapshot)
            for process in ordered where JetsamRules.place(of: process, steps) == place {
                victims.append(Victim(process: process, step: step, evidence: evidence))
            }
        }
        // If every step passes over a process, no single step supplies the evidence for sparing it. The evidence
        // is then that of the last step that has a victim or, if none has, of the last step.
        let last = victims.last?.step ?? steps.last
        var decision = Decision(spared: spared(snapshot, steps), evidence: last?.evidence(snapshot))
        for (index, victim) in victims.enumerated() where victim.process.mayBeVictim {
            let score = Int64(victims.count - index)
            if purgesFirst && !snapshot.isAboutLimits { decision.ranking += victim.discard(score: score) }
            decision.ranking.append(victim.end(score: score))
        }
        if decision.ranking.contains(where: \.isReported) && !snapshot.history.sessionHasReport {
            decision.report = ordered.map(\.pid)
        }
        return decision
    }

    /// The first step that does not pass over the process. Nil if all steps pass over it.
    private static func place(of process: ProcessSnapshot, _ steps: [Step]) -> Int? {
        steps.firstIndex { $0.passesOver(process) == nil }
    }

    private func spared(_ snapshot: SystemSnapshot, _ steps: [Step]) -> [Spared] {
        snapshot.processes.compactMap { process in
            guard process.mayBeVictim else {
                return Spared(process.pid, reason: process.whyNoVictim)
            }
            guard JetsamRules.place(of: process, steps) == nil else { return nil }
            var reasons: [String] = []
            for reason in steps.compactMap({ $0.passesOver(process) }) where !reasons.contains(reason) {
                reasons.append(reason)
            }
            return Spared(process.pid, reason: reasons.joined(separator: ", "))
        }
    }

    private struct Victim {
        let process: ProcessSnapshot
        let step: Step
        let evidence: Evidence?

        /// What is taken from the victim before it is ended: nothing, or its purgeable memory.
        func discard(score: Int64) -> [Candidate] {
            guard step.takesPurgeable, process.memory.purgeable > .zero else { return [] }
            return [told(Candidate(.discard(process.pid), score: score, reason: "its purgeable memory is taken first"))]
        }

        func end(score: Int64) -> Candidate {
            let reason = "\(step.cause.rawValue): \(step.reason), band \(process.band.number)"
            return told(Candidate(.terminate(process.pid), score: score, reason: reason, cause: step.cause))
        }

        private func told(_ plain: Candidate) -> Candidate {
            var candidate = plain
            candidate.evidence = evidence
            candidate.isReported = step.reports(process)
            return candidate
        }
    }
}

/// The order in which jetsam ends processes: lowest band first. Inside a band, the process that has held its position
/// longest (the head of the band's queue) is first, whatever its size. Helpers in the band of their app stand before
/// it: a report of iOS 14.2 has WebContent and networking processes before their app in 6 of 6 pairs. Only the
/// foreground band is sorted by size, the largest group first. Inside a group the order is by role: `undefined`,
/// `extension`, `helper`, `leader`.
package enum JetsamOrder {
    /// The processes in that order.
    package static func sorted(_ processes: [ProcessSnapshot]) -> [ProcessSnapshot] {
        var leaders: [Int: (band: JetsamBand, place: Place)] = [:]
        for leader in processes where leader.role == .leader {
            if let group = leader.group { leaders[group] = (leader.band, Place(leader)) }
        }
        /// A helper's is before that of its app.
        func place(_ process: ProcessSnapshot) -> Place {
            let own = Place(process)
            guard process.role == .helper, let leader = process.group.flatMap({ leaders[$0] }),
                leader.band == process.band
            else { return own }
            return min(own, leader.place)
        }
        return processes.sorted { a, b in
            if a.band != b.band { return a.band < b.band }
            guard a.band == .foreground else {
                let (x, y) = (place(a), place(b))
                return x == y ? (a.role, Place(a)) < (b.role, Place(b)) : x < y
            }
            let (left, right) = (total(of: a, processes), total(of: b, processes))
            if left != right { return left > right }
            // The group's number separates two groups of equal size; a process alone is its own group.
            let (x, y) = (a.group ?? -a.pid.number, b.group ?? -b.pid.number)
            if x != y { return x > y }
            return (a.role, b.footprint, a.pid) < (b.role, a.footprint, b.pid)
        }
    }

    /// A place in the queue of a band.
    private struct Place: Comparable {
        let since: Instant
        let pid: ProcessID

        init(_ process: ProcessSnapshot) { (since, pid) = (process.positionedAt, process.pid) }

        static func < (a: Place, b: Place) -> Bool { (a.since, a.pid) < (b.since, b.pid) }
    }

    /// The footprint of the whole group in the foreground band.
    private static func total(of process: ProcessSnapshot, _ all: [ProcessSnapshot]) -> ByteCount {
        guard let group = process.group else { return process.footprint }
        return all.reduce(.zero) { $1.group == group && $1.band == .foreground ? $0 + $1.footprint : $0 }
    }
}

extension SystemSnapshot {
    var idleProcesses: [ProcessSnapshot] { processes.filter { $0.band == .idle } }
}

extension ProcessSnapshot {
    var isOverSoftLimit: Bool {
        guard let limit, !limit.isFatal else { return false }
        return footprint > limit.bytes
    }

    /// The kernel exempts nobody else, not even the process whose allocation waits (`memorystatus_kill_top_process`).
    var mayBeVictim: Bool { band < .internal && !isEnding }

    fileprivate var whyNoVictim: String { isEnding ? "it is on its way out" : "in the internal band" }
}

extension RelaunchLikelihood: Comparable {
    /// By rising likelihood; `unknown` is the lowest.
    public static func < (a: RelaunchLikelihood, b: RelaunchLikelihood) -> Bool { a.rank < b.rank }

    /// `unknown` ranks lowest: the process counts as rarely launched.
    private var rank: Int {
        switch self {
        case .unknown: 0
        case .low: 1
        case .medium: 2
        case .high: 3
        }
    }
}
