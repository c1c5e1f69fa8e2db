import Memory
import Quantities
import Reclaim

/// The control groups of the scenario, as a run has them.
final class ControlGroups {
    /// A group that holds more than its limit.
    struct Crossing {
        let group: Int
        let name: String
        let held: ByteCount
        let limit: ByteCount
    }

    let all: [ControlGroup]
    let haveLimits: Bool
    /// What is alive when the run begins may hold more than a group's limit: the kernel acts for an allocation only.
    private var hasBegun = false
    private let memory: any DeviceMemory
    private let processes: ProcessTable

    init(_ groups: [ControlGroup], memory: any DeviceMemory, processes: ProcessTable) {
        all = groups
        haveLimits = groups.contains { $0.limit != nil }
        self.memory = memory
        self.processes = processes
    }

    /// The start of the run is made.
    func begin() { hasBegun = true }

    /// The live processes of a group, by rising process number.
    func processes(of group: Int) -> [LiveProcess] {
        processes.live.filter { $0.record.membership.controlGroup == group }
    }

    /// All that the processes of a group hold, in RAM or not.
    private func held(by group: Int) -> ByteCount {
        processes(of: group).reduce(.zero) { $0 + memory.books(of: $1.slot).footprint }
    }

    /// The footprint that an allocation of the process must not cross unnoticed: its own limit, or what its group's
    /// limit leaves it; nil: none.
    func limitToNotice(of process: LiveProcess) -> ByteCount? {
        let own = process.limitToNotice
        guard haveLimits, hasBegun, let group = process.record.membership.controlGroup, let limit = all[group].limit
        else { return own }
        let left = max(.zero, memory.books(of: process.slot).footprint + limit - held(by: group))
        return min(own ?? left, left)
    }

    /// Whether the process's group holds more than its limit.
    func crossing(by process: LiveProcess) -> Crossing? {
        guard let group = process.record.membership.controlGroup, let limit = all[group].limit else { return nil }
        let held = held(by: group)
        guard held > limit else { return nil }
        return Crossing(group: group, name: all[group].name, held: held, limit: limit)
    }
}
