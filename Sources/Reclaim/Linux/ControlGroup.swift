import Lifecycle
import Quantities

/// A control group of Linux: a slice, a service, a pod. Its processes have a limit together, or end together.
///
/// Groups are flat here: none is inside another one.
public struct ControlGroup: Hashable, Sendable {
    /// The group's name in the scenario.
    public var name: String
    /// The apps and processes whose processes belong to the group, by their numbers.
    public var members: [AppID] = []
    /// Whether Linux's kernel ends all of the group when it ends a process of it (`memory.oom.group`). A process with
    /// the `oom_score_adj` -1000 lives on.
    ///
    /// Source: Linux 4.19 and later, `mem_cgroup_get_oom_group` and `oom_kill_memcg_member`.
    public var endsAsOne = false
    /// The most that the processes of the group may hold together (`memory.max`); nil: there is no limit.
    public var limit: ByteCount?
    /// Whether systemd-oomd may end the group.
    public var preference = ManagedOOMPreference.none

    /// The measure in decisions and exits for a group's limit.
    public static let measure = "control_group_bytes"

    /// A group without members, limit or preference.
    public init(name: String) { self.name = name }
}

/// The end of a whole control group.
public struct GroupEnd: Hashable, Sendable {
    /// The group's number in `SystemSnapshot.groups`.
    public var group: Int
    /// Whether processes with the `oom_score_adj` -1000 live on.
    public var sparesExempt: Bool

    /// The end of this group.
    public init(of group: Int, sparesExempt: Bool) { (self.group, self.sparesExempt) = (group, sparesExempt) }

    /// Whether the process ends with the group.
    public func includes(_ process: ProcessSnapshot) -> Bool {
        process.linux.controlGroup == group && !(sparesExempt && process.oomScoreAdj == KernelBadness.exempt)
    }
}

extension SystemSnapshot {
    /// The processes that the candidate's action ends, if it ends any: its target and, if a group ends, the others of
    /// the group.
    public func victims(of candidate: Candidate) -> [ProcessSnapshot] {
        guard candidate.action.isTermination else { return [] }
        return processes.filter { $0.pid == candidate.action.target || candidate.groupEnd?.includes($0) == true }
    }

    /// The end of the group of a process, if the kernel ends the group as one; nil: the process ends alone.
    func endOfGroup(of process: ProcessSnapshot) -> GroupEnd? {
        guard let group = process.linux.controlGroup, group < groups.count, groups[group].endsAsOne else { return nil }
        return GroupEnd(of: group, sparesExempt: true)
    }

    /// The same with each control group as one process: what its processes hold, the preference of the group, and in
    /// all else the process of it that waits for memory or, if none does, the one in front or in the highest band. Its
    /// idle time is the shortest, and its growth that of the sum.
    public var joiningGroups: SystemSnapshot {
        guard !groups.isEmpty else { return self }
        let members = groups.indices.map { group in processes.filter { $0.linux.controlGroup == group } }
        let leaders = members.map(leader)
        var joined = self
        joined.processes = processes.compactMap { process in
            guard let group = process.linux.controlGroup else { return process }
            return process.pid == leaders[group] ? sum(of: members[group], groups[group], process) : nil
        }
        return joined
    }

    private func leader(of members: [ProcessSnapshot]) -> ProcessID? {
        members.max { a, b in
            let (x, y) = (a.pid == requester ? 1 : 0, b.pid == requester ? 1 : 0)
            return (x, a.isInFront ? 1 : 0, a.band.number, b.pid.number)
                < (y, b.isInFront ? 1 : 0, b.band.number, a.pid.number)
        }?.pid
    }

    private func sum(
        of members: [ProcessSnapshot], _ group: ControlGroup, _ leader: ProcessSnapshot
    ) -> ProcessSnapshot {
        var whole = leader
        whole.name = group.name
        whole.linux.preference = group.preference
        whole.lastForeground = members.map { $0.lastForeground ?? $0.launchedAt }.max()
        whole.relaunchCost = members.reduce(.zero) { $0 + $1.relaunchCost }
        whole.use.returnCost = members.reduce(.zero) { $0 + $1.use.returnCost }
        whole.isEnding = members.contains(where: \.isEnding)
        func total(_ path: KeyPath<MemorySnapshot, ByteCount>) -> ByteCount {
            members.reduce(.zero) { $0 + $1.memory[keyPath: path] }
        }
        var memory = MemorySnapshot(footprint: total(\.footprint), dirty: total(\.dirty), cache: total(\.cache))
        memory.swapped = total(\.swapped)
        memory.compressed = total(\.compressed)
        memory.onFlash = total(\.onFlash)
        memory.purgeable = total(\.purgeable)
        memory.files = total(\.files)
        memory.recentlyReclaimed = total(\.recentlyReclaimed)
        memory.freezer = leader.memory.freezer
        whole.memory = memory
        let averages = members.map { process in
            process.growth > .zero
                ? ByteCount(
                    Int(scaled(Int64(process.footprint.bytes), by: 1_000_000, over: process.growth.partsPerMillion)))
                : process.footprint
        }
        let average = averages.reduce(.zero, +)
        whole.growth = average > .zero ? memory.footprint.share(of: average) : leader.growth
        return whole
    }
}

extension Decision {
    /// Makes the ends in a ranking of a snapshot with joined groups those of the groups.
    ///
    /// - Parameter snapshot: The snapshot that was ranked.
    mutating func endGroups(of snapshot: SystemSnapshot) {
        for index in ranking.indices where ranking[index].action.isTermination {
            guard let process = snapshot.process(ranking[index].action.target), let group = process.linux.controlGroup
            else { continue }
            ranking[index].groupEnd = GroupEnd(of: group, sparesExempt: false)
            ranking[index].reason += "; all of the control group \(snapshot.groups[group].name) ends"
        }
    }
}
