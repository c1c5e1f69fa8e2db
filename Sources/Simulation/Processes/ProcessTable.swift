import Quantities
import Workload

/// The apps of the run and their live processes.
final class ProcessTable {
    /// By app number.
    let apps: [AppRecord]
    /// By rising process number.
    private(set) var live: [LiveProcess] = []
    private var bySlot: [LiveProcess?] = []
    private var lastPid = 0

    init(_ apps: [AppRecord]) { self.apps = apps }

    subscript(app: AppID) -> AppRecord { apps[app.index] }

    /// The live process of that reference; nil when it has died.
    func process(_ reference: ProcessReference) -> LiveProcess? {
        guard reference.slot < bySlot.count, let process = bySlot[reference.slot] else { return nil }
        return process.pid == reference.pid ? process : nil
    }

    func process(inSlot slot: Int) -> LiveProcess? { slot < bySlot.count ? bySlot[slot] : nil }

    func process(of app: AppID) -> LiveProcess? { apps[app.index].process }

    func process(_ pid: ProcessID) -> LiveProcess? {
        // By rising number, so halving finds it.
        let place = live.partitionPoint { $0.pid >= pid }
        return place < live.count && live[place].pid == pid ? live[place] : nil
    }

    func isAlive(_ process: LiveProcess) -> Bool { bySlot[process.slot.index] === process }

    var isEmpty: Bool { live.isEmpty && bySlot.allSatisfy { $0 == nil } }

    /// A number is never used twice.
    func nextNumber() -> ProcessID {
        lastPid += 1
        return ProcessID(lastPid)
    }

    func insert(_ process: LiveProcess) {
        while bySlot.count <= process.slot.index { bySlot.append(nil) }
        bySlot[process.slot.index] = process
        live.append(process)
        process.record.begin(process)
    }

    /// Takes the process out; those behind it stand one place lower.
    func remove(_ process: LiveProcess) {
        bySlot[process.slot.index] = nil
        live.remove(at: process.position)
        for index in process.position..<live.count { live[index].position = index }
    }
}
