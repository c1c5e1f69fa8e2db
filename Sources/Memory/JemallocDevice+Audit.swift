import Quantities

/// jemalloc's statistics of one arena, as of the last refresh.
struct ArenaStatistics {
    private var active: ArenaControl
    private var dirty: ArenaControl
    private var muzzy: ArenaControl
    private var small: ArenaControl
    private var large: ArenaControl
    private var base: ArenaControl
    private var inside: ArenaControl

    init() throws(AllocatorError) {
        active = try ArenaControl("stats.arenas", "pactive")
        dirty = try ArenaControl("stats.arenas", "pdirty")
        muzzy = try ArenaControl("stats.arenas", "pmuzzy")
        small = try ArenaControl("stats.arenas", "small.allocated")
        large = try ArenaControl("stats.arenas", "large.allocated")
        base = try ArenaControl("stats.arenas", "base")
        inside = try ArenaControl("stats.arenas", "internal")
    }

    struct Reading {
        let activePages, dirtyPages, muzzyPages, allocated, metadata: Int
    }

    mutating func read(_ arena: UInt32) throws(AllocatorError) -> Reading {
        Reading(
            activePages: try active.read(arena, into: 0),
            dirtyPages: try dirty.read(arena, into: 0),
            muzzyPages: try muzzy.read(arena, into: 0),
            allocated: try small.read(arena, into: 0) + large.read(arena, into: 0),
            metadata: try base.read(arena, into: 0) + inside.read(arena, into: 0))
    }
}

extension JemallocDevice {
    public func audit() throws(AuditFailure) {
        do throws(AllocatorError) { try refreshStatistics() } catch { throw .allocator(error) }
        var pages = 0
        var active = 0
        var metadata = 0
        for slot in 0..<arenas.count {
            let reading: ArenaStatistics.Reading
            do throws(AllocatorError) {
                reading = try statistics.read(arenas[slot].pointee.index)
            } catch { throw .allocator(error) }
            try compare(slot, reading)
            pages += arenas[slot].pointee.pages
            active += reading.activePages
            if slot < processes.count && processes[slot].isLive { metadata += reading.metadata }
        }
        let out = region.state.pointee.pagesOut
        try agree(nil, "pages handed out", books: out, allocator: pages)
        try agree(nil, "active bytes", books: books.active.bytes, allocator: pageBytes(active).bytes)
        let free = region.state.pointee.runs.freePages
        let rest = region.state.pointee.runs.pages - region.state.pointee.residentPages
        try agree(nil, "free pages", books: rest, allocator: free)
        self.metadata = ByteCount(metadata)
    }

    /// Idle arenas are compared too: they must hold nothing.
    private func compare(_ slot: Int, _ reading: ArenaStatistics.Reading) throws(AuditFailure) {
        let pages = arenas[slot].pointee.pages
        let active = arenas[slot].pointee.activePages
        let usable = slot < processes.count ? processes[slot].usable : 0
        try agree(slot, "active pages", books: active, allocator: reading.activePages)
        try agree(slot, "dirty pages", books: pages - active, allocator: reading.dirtyPages)
        try agree(slot, "muzzy pages", books: 0, allocator: reading.muzzyPages)
        try agree(slot, "allocated bytes", books: usable, allocator: reading.allocated)
        try agree(slot, "pages handed out", books: pages, allocator: reading.activePages + reading.dirtyPages)
    }

    private func agree(_ slot: Int?, _ figure: String, books: Int, allocator: Int) throws(AuditFailure) {
        guard books != allocator else { return }
        throw .disagreement(
            BooksDisagree(slot: slot.map { MemorySlot($0) }, figure: figure, books: books, allocator: allocator))
    }
}
