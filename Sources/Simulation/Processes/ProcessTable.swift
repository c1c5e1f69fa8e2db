import Quantities
import Workload

/// What can have processes in the run (apps, helpers, extensions, daemons), and the live processes.
final class ProcessTable {
    /// Indexed by `AppID`.
    let apps: [AppRecord]
    /// Sorted by process number.
    private(set) var live: [LiveProcess] = []
    private var bySlot: [LiveProcess?] = []
    private var lastPid = 0

    init(_ apps: [AppRecord]) { self.apps = apps }

    subscript(app: AppID) -> AppRecord { apps[app.index] }

    /// The live process with that reference; nil if it has ended.
    func process(_ reference: ProcessReference) -> LiveProcess? {
        guard reference.slot < bySlot.count, let process = bySlot[reference.slot] else { return nil }
        return process.pid == reference.pid ? process : nil
    }

    func process(inSlot slot: Int) -> LiveProcess? { slot < bySlot.count ? bySlot[slot] : nil }

    func process(of app: AppID) -> LiveProcess? { apps[app.index].process }

    func process(_ pid: ProcessID) -> LiveProcess? {
        // Sorted by process number, so a binary search finds it.
        let place = live.partitionPoint { $0.pid >= pid }
        return place < live.count && live[place].pid == pid ? live[place] : nil
    }

    func isAlive(_ process: LiveProcess) -> Bool { bySlot[process.slot.index] === process }

    var isEmpty: Bool { live.isEmpty && bySlot.allSatisfy { $0 == nil } }

    /// A number that no process has had before.
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

    /// Removes the process; the ones behind it move up by one place.
    func remove(_ process: LiveProcess) {
        bySlot[process.slot.index] = nil
        live.remove(at: process.position)
        for index in process.position..<live.count { live[index].position = index }
    }
}
