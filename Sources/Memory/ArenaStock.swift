import Glibc

/// All arenas of a device, one per slot. The stock makes arenas in batches, lends them to processes and reuses them.
///
/// It makes batches because jemalloc shows an arena's counter of active pages only after a refresh of all statistics,
/// which costs about 18 microseconds for every arena. A batch that grows with the stock keeps the total linear. It
/// reuses arenas because clearing one is several times cheaper than making one, whose bookkeeping jemalloc maps and
/// faults in anew.
struct ArenaStock: ~Copyable {
    /// The memory of all arenas; it must outlive them.
    let region: DeviceRegion
    private let arenas: UnsafeMutablePointer<Arena>
    private(set) var count = 0
    /// Slots without a process; the last one is lent next.
    private var idle: [Int] = []
    private var reset: ArenaControl
    private var purge: ArenaControl

    init(_ region: DeviceRegion) throws(AllocatorError) {
        let reset = try ArenaControl("arena", "reset")
        let purge = try ArenaControl("arena", "purge")
        self.reset = reset
        self.purge = purge
        self.region = region
        arenas = .allocate(capacity: MemoryLimits.liveProcesses)
    }

    deinit {
        // Arenas of processes that never ended give their pages back here, before the region is unmapped.
        arenas.deinitialize(count: count)
        arenas.deallocate()
    }

    /// The arena of a slot; its address is fixed while the stock lives.
    subscript(slot: Int) -> UnsafeMutablePointer<Arena> {
        precondition(slot >= 0 && slot < count, "slot \(slot) of \(count)")
        return arenas + slot
    }

    /// Lends the idle arena that came back last.
    mutating func lend() throws(AllocatorError) -> Int {
        if idle.isEmpty { try grow() }
        return idle.removeLast()
    }

    /// Frees everything in the arena and gives all of its pages back to the region.
    mutating func giveBack(_ slot: Int) throws(AllocatorError) {
        try reset.run(self[slot].pointee.index)  // promise: returned
        try purgeDirty(slot)
        let left = self[slot].pointee.pages
        precondition(left == 0, "slot \(slot) still holds \(left) pages after its end")
        idle.append(slot)
    }

    /// Gives the unused pages of the arena back to the region.
    mutating func purgeDirty(_ slot: Int) throws(AllocatorError) {
        try purge.run(self[slot].pointee.index)
    }

    private mutating func grow() throws(AllocatorError) {
        let first = count
        let wanted = min(max(4, count / 4), MemoryLimits.liveProcesses - count)
        guard wanted > 0 else { throw AllocatorError(control: "experimental.arenas_create_ext", code: EAGAIN) }
        for _ in 0..<wanted {
            do throws(AllocatorError) {
                (arenas + count).initialize(to: try Arena(region: region.state, slot: count))
            } catch {
                // A smaller batch is enough; an empty one is not.
                if count == first { throw error }
                break
            }
            count += 1
        }
        try refreshStatistics()
        for slot in first..<count {
            try arenas[slot].stopDecay()
            try arenas[slot].connect()
        }
        idle.append(contentsOf: (first..<count).reversed())
    }
}
