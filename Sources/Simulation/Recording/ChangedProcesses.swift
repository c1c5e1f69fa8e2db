import BitCollections
import HeapModule
import Memory
import Quantities

/// When a process's band changes by itself.
private struct Ageing: Comparable {
    let at: Instant
    let process: ProcessReference

    static func < (a: Ageing, b: Ageing) -> Bool { (a.at, a.process.pid) < (b.at, b.process.pid) }
}

/// The processes that may have changed since the last sample, so that an unchanged process costs nothing.
///
/// Each process reports itself by its position among the live ones; the memory reports the processes whose books
/// changed.
final class ChangedProcesses {
    private let processes: ProcessTable
    private let memory: any DeviceMemory
    private let agenda: Agenda
    private var positions = BitSet()
    /// Whether the list is up to date with the positions entered.
    private var isListed = true
    /// Sorted by process number; ended processes may be among them.
    private var list: [ProcessReference] = []
    /// The processes whose bands will change by time alone, the next one first.
    private var ageing = Heap<Ageing>()
    private var slots: [Int] = []

    init(_ processes: ProcessTable, _ memory: any DeviceMemory, _ agenda: Agenda) {
        self.processes = processes
        self.memory = memory
        self.agenda = agenda
    }

    func insert(_ position: Int) {
        positions.insert(position)
        isListed = false
    }

    /// The band of the process changes at this instant.
    func expectChange(of process: LiveProcess, at instant: Instant) {
        ageing.insert(Ageing(at: instant, process: process.reference))
    }

    /// All of them, by rising process number; ended processes may be among them.
    func all() -> [ProcessReference] {
        memory.takeChanges(into: &slots)
        for slot in slots { processes.process(inSlot: slot)?.memoryDidChange() }
        return entered()
    }

    /// Like `all()`, but without processes whose memory changed after the last call of `all()`.
    func entered() -> [ProcessReference] {
        while let next = ageing.min, next.at <= agenda.now {
            ageing.removeMin()
            processes.process(next.process)?.stateDidChange()
        }
        if !isListed {
            list.removeOneByOne()
            for position in positions { list.append(processes.live[position].reference) }
            isListed = true
        }
        return list
    }

    /// The process at this position is no longer among the live ones.
    func remove(_ position: Int) {
        if position == processes.live.count {
            positions.remove(position)
        } else {
            positions = BitSet(processes.live.indices.lazy.filter { self.processes.live[$0].hasChanged })
        }
    }

    /// A sample has been taken.
    func removeAll() {
        // One by one, so that the set keeps its memory.
        while let last = positions.last { positions.remove(last) }
        isListed = true
        list.removeOneByOne()
    }
}
