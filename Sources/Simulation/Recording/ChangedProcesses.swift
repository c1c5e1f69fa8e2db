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

/// The processes that may have changed since the last sample, so that one that has not costs nothing.
///
/// Each process enters itself by its position among the live ones; the memory names those whose books changed.
final class ChangedProcesses {
    private let processes: ProcessTable
    private let memory: any DeviceMemory
    private let agenda: Agenda
    private var positions = BitSet()
    /// Whether a position was entered since the list of them was last made.
    private var isListed = true
    /// By rising process number; dead ones may be among them.
    private var list: [ProcessReference] = []
    /// Those whose bands time alone will change, the next first.
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

    /// All of them, by rising process number; dead ones may be among them.
    func all() -> [ProcessReference] {
        memory.takeChanges(into: &slots)
        for slot in slots { processes.process(inSlot: slot)?.memoryDidChange() }
        return entered()
    }

    /// The same without those whose memory has changed and that `all` has not asked for since.
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

    /// The process at this position has gone from the live ones.
    func remove(_ position: Int) {
        if position == processes.live.count {
            positions.remove(position)
        } else {
            positions = BitSet(processes.live.indices.lazy.filter { self.processes.live[$0].hasChanged })
        }
    }

    /// A sample has been taken.
    func removeAll() {
        // One by one, for then it keeps its memory.
        while let last = positions.last { positions.remove(last) }
        isListed = true
        list.removeOneByOne()
    }
}
