import Memory
import Metrics
import Plan
import Quantities

/// The memory of processes that the policy has ended, on its way back to the device.
///
/// The device takes an ended process apart at its own rate (`device.reclaim_rate`), in pieces of 100 ms or more. Until
/// a page is back it is resident, and belongs to no living process.
final class ReturningMemory {
    /// What is left of one process.
    private struct Rest {
        let slot: MemorySlot
        /// The app's name.
        let app: String
        /// When the process ended.
        let ended: Instant
        /// Its pools of objects. What is in none of them comes back with the last piece.
        let pools: [PoolID]
        let serial: Int
        /// The control group of the process, which has an end as one.
        let group: Int?
        let piece: ByteCount
        /// How many pieces are still to come.
        var pieces: Int
        /// Whether the process refuses to die.
        var refuses: Bool
    }

    /// The least time of a piece, and the most pieces of a process: our own figures.
    private static let leastTime = TimeSpan.milliseconds(100)
    private static let mostPieces = 64
    /// As long as so many are on their way, no policy looks on: our own figure, which bounds the host's memory.
    static let mostAtOnce = 16

    private var rests: [Rest] = []
    private var lastSerial = 0
    private let rate: ByteRate
    private let memory: any DeviceMemory
    private let scheduler: Scheduler
    private let agenda: Agenda
    private let faults: RunFaults

    init(
        _ rate: ByteRate, _ memory: any DeviceMemory, _ scheduler: Scheduler, _ agenda: Agenda, _ faults: RunFaults
    ) {
        self.rate = rate
        self.memory = memory
        self.scheduler = scheduler
        self.agenda = agenda
        self.faults = faults
    }

    var isEmpty: Bool { rests.isEmpty }
    var count: Int { rests.count }

    /// The books of all that is left, a process each.
    var books: [ProcessBooks] { rests.map { memory.books(of: $0.slot) } }

    /// The processes that have ended and refuse to die.
    var refusals: [RunTally.RefusedExit] {
        rests.filter(\.refuses).map {
            RunTally.RefusedExit(
                app: $0.app, since: agenda.now - $0.ended, held: memory.books(of: $0.slot).footprint)
        }
    }

    /// The most that a process which has ended still has in swap, or a control group.
    var mostInSwap: ByteCount {
        var groups: [Int: ByteCount] = [:]
        var most = ByteCount.zero
        for rest in rests {
            let books = memory.books(of: rest.slot)
            var swapped = books.compressed + books.swapped
            if let group = rest.group {
                swapped += groups[group] ?? .zero
                groups[group] = swapped
            }
            most = max(most, swapped)
        }
        return most
    }

    /// The process in this slot has ended. Its memory begins to come back.
    ///
    /// - Parameters:
    ///   - app: The app's name.
    ///   - group: The number of its control group, if it was in one.
    ///   - delay: How long the process refuses to die; nothing comes back meanwhile.
    /// - Returns: The number under which `goOn` is called for each piece.
    func begin(
        _ slot: MemorySlot, _ pools: [PoolID], of app: String, in group: Int?, after delay: TimeSpan
    ) -> Int {
        let footprint = memory.books(of: slot).footprint
        let most = rate.time(for: footprint).microseconds / ReturningMemory.leastTime.microseconds
        let count = max(1, min(ReturningMemory.mostPieces, Int(most)))
        lastSerial += 1
        let piece = ByteCount((footprint.bytes + count - 1) / count)
        rests.append(
            Rest(
                slot: slot, app: app, ended: agenda.now, pools: pools, serial: lastSerial, group: group, piece: piece,
                pieces: count, refuses: delay > .zero))
        if delay > .zero {
            agenda.schedule(.dies(serial: lastSerial), after: delay)
        } else {
            scheduler.bury(min(piece, footprint), order(lastSerial))
        }
        return lastSerial
    }

    /// A process that refused to die dies.
    func dies(_ serial: Int) {
        guard let index = rests.firstIndex(where: { $0.serial == serial }) else { return }
        rests[index].refuses = false
        let rest = rests[index]
        scheduler.bury(min(rest.piece, memory.books(of: rest.slot).footprint), order(serial))
    }

    /// The time for a piece has passed: it is back.
    ///
    /// - Returns: Whether it was the process's last.
    func goOn(_ serial: Int) -> Bool {
        guard let index = rests.firstIndex(where: { $0.serial == serial }) else { return false }
        rests[index].pieces -= 1
        let rest = rests[index]
        let left = memory.books(of: rest.slot).footprint
        do {
            guard left > rest.piece, rest.pieces > 0 else {
                rests.remove(at: index)
                _ = try memory.endProcess(rest.slot)
                return true
            }
            try shrink(rest, to: left - rest.piece)
        } catch {
            faults.fail("\(error)")
        }
        scheduler.takeBack(min(rest.piece, memory.books(of: rest.slot).footprint), order(serial))
        return false
    }

    /// The run is over: everything comes back at once.
    func end() {
        for rest in rests {
            do { _ = try memory.endProcess(rest.slot) } catch { faults.fail("\(error)") }
        }
        rests.removeAll()
    }

    /// Frees objects and gives their pages back, as far as there are objects in pools.
    private func shrink(_ rest: Rest, to footprint: ByteCount) throws(AllocatorError) {
        for pool in rest.pools {
            while memory.requested(in: pool) > .zero {
                let excess = memory.books(of: rest.slot).footprint - footprint
                guard excess > .zero else { return }
                _ = memory.release(excess.unscaled(by: memory.scale), from: pool, order: .newestFirst)
                _ = try memory.purge(rest.slot)
            }
        }
    }

    private func order(_ serial: Int) -> WorkOrder {
        WorkOrder(kind: .bury, owner: nil, serial: serial, purpose: .reclaim)
    }
}
