import Quantities

/// Linux's kernel: ends the process with most badness when an allocation finds no page, and never before.
///
/// A level of pressure alone makes it do nothing. Badness is what the process holds in RAM and in swap, in pages, and
/// its `oom_score_adj` in thousandths of RAM and swap; `KernelBadness` has the rule by release, and the release is the
/// device's (`device.linux`). Only an `oom_score_adj` of -1000 exempts a process. The process whose allocation waits is
/// no exception, and one in front is none where the limits do not protect it (`protect_foreground`).
///
/// The scenario's limits on background apps are none of the kernel's; for them the policy ends the process with most
/// badness that counts against the limit. Source: Linux, mm/oom_kill.c, `oom_badness` and `out_of_memory`.
public struct KernelOOM: ReclaimPolicy {
    public static let name = "kernel-oom"
    public static let summary = "Linux's kernel: ends what has most badness when an allocation finds no page"
    public static let parameters: [Parameter<Self>] = [
        Parameter(
            \.endsRequester, "oom_kill_allocating_task",
            meaning: "the process whose allocation finds no page is ended itself, unless its oom_score_adj is -1000",
            source: "Linux, vm.oom_kill_allocating_task; off there, too")
    ]

    private var endsRequester = false

    public init() {}

    public func decide(_ snapshot: SystemSnapshot) -> Decision {
        guard snapshot.requester != nil || snapshot.isAboutLimits else {
            return .nothing(.content("the kernel acts when an allocation finds no page"), snapshot)
        }
        var decision = snapshot.rankingByBadness(snapshot.device.linux)
        guard endsRequester, let requester = snapshot.requester,
            let own = decision.ranking.first(where: { $0.action.target == requester })
        else { return decision }
        decision.spared += decision.ranking.filter { $0.action.target != requester }.map {
            Spared($0.action.target, reason: "oom_kill_allocating_task is on, and another process allocates")
        }
        decision.ranking = [own]
        decision.ranking[0].standing = "it allocates"
        decision.ranking[0].reason = "oom_kill_allocating_task is on, and it allocates; it has \(own.score) points"
        return decision
    }
}
