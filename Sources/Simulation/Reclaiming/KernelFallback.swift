import Plan
import Quantities
import Reclaim

/// Linux's kernel, which ends a process when an allocation finds nothing and the policy frees nothing
/// (`device.fallback: kernel-oom`), or when an allocation takes a control group beyond its limit. It holds no state:
/// the engine asks it, and carries out what it chooses.
///
/// The scenario's limits are none of the kernel's: it ends what is in front, plays audio or has just begun, as it ends
/// everything else. Only an `oom_score_adj` of -1000 exempts a process. Source: Linux, mm/oom_kill.c, `out_of_memory`,
/// and mm/memcontrol.c, `mem_cgroup_out_of_memory`.
struct KernelFallback {
    /// A process to end.
    struct Kill {
        let pid: ProcessID
        /// Why this one, for people.
        let reason: String
        /// The same in a few words.
        let standing: String?
        /// Its badness, and that of the process that would have been next; of a control group what it holds, and its
        /// limit.
        let comparison: Comparison
        /// The control group that ends with it; nil: it ends alone.
        let groupEnd: GroupEnd?
    }

    /// What the kernel finds when it has to act.
    struct Choice {
        /// What the waiting allocation wants.
        let wanted: ByteCount
        /// Nil: every process is exempt.
        let kill: Kill?
    }

    /// For so long an allocation waits, behind a policy that acts on stalls, before the kernel acts. A real kernel goes
    /// on scanning as long as a page comes free now and then; lmkd acts after 0.7 s of that, and may find nobody first.
    /// How long it goes on depends on pages of files and of drivers that the device may not have here: a guess.
    static let stall = TimeSpan.seconds(2)

    /// Whether it acts when an allocation finds nothing; otherwise the process that waits ends itself.
    let isBehindPolicy: Bool
    private let kernel: LinuxKernel
    private let demands: Demands
    private let snapshots: Snapshots
    private let recorder: RunRecorder
    /// Called for every decision.
    private let observer: ((DecisionRecord) -> Void)?

    init(
        _ device: Device, demands: Demands, snapshots: Snapshots, recorder: RunRecorder,
        observer: ((DecisionRecord) -> Void)?
    ) {
        isBehindPolicy = device.fallback.rule == .kernelOOM
        kernel = device.fallback.linux
        self.demands = demands
        self.snapshots = snapshots
        self.recorder = recorder
        self.observer = observer
    }

    /// What is to end now, recorded as a decision; nil: no allocation waits, or the compressor is making room.
    func choose() -> Choice? {
        guard let question = demands.byAllocation(), case .allocation(_, let wanted) = question.demand else {
            return nil
        }
        let snapshot = snapshots.kernelSnapshot(question)
        return Choice(wanted: wanted, kill: kill(snapshot.rankingByBadness(kernel), snapshot))
    }

    /// What is to end because a control group holds more than its limit, recorded as a decision; nil: every process of
    /// the group is exempt.
    func choose(in crossing: ControlGroups.Crossing) -> Kill? {
        var snapshot = snapshots.kernelSnapshot(
            PolicyQuestion(demand: .nothing, level: demands.level, threshold: crossing.limit))
        snapshot.processes.removeAll { $0.linux.controlGroup != crossing.group }
        var decision = snapshot.rankingByBadness(kernel, of: crossing.limit)
        let evidence = Evidence(
            ControlGroup.measure, observed: Int64(crossing.held.bytes), threshold: Int64(crossing.limit.bytes),
            rule: "the control group \(crossing.name) holds more than its memory_max")
        decision.justify(by: evidence)
        return kill(decision, snapshot, Comparison(evidence))
    }

    /// - Parameter comparison: What is compared; nil: the badness of the first with that of the next.
    private func kill(_ decision: Decision, _ snapshot: SystemSnapshot, _ comparison: Comparison? = nil) -> Kill? {
        guard let first = decision.ranking.first else { return nil }
        let record = DecisionRecord(
            number: recorder.nextDecision(), snapshot: snapshot, decision: decision,
            refusals: decision.ranking.map { _ in nil }, chosen: 0, guardrails: Guardrails(demands.limits),
            isByKernel: true)
        observer?(record)
        recorder.decision(record)
        let unit = kernel.badness.countsThousandths ? "thousandths" : "pages"
        let next = decision.ranking.dropFirst().first?.score
        return Kill(
            pid: first.action.target, reason: first.reason, standing: first.standing,
            comparison: comparison ?? Comparison("badness_\(unit)", first.score, next), groupEnd: first.groupEnd)
    }
}
