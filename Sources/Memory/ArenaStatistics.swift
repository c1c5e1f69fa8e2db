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
