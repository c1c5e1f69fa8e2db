import CJemalloc

/// Owns one jemalloc arena and the extent hooks through which it takes pages; both die with the value.
///
/// An arena serves many processes, one after another: `clear` empties it in between.
struct Arena: ~Copyable {
    let index: UInt32
    /// The flags of every allocation from this arena.
    let flags: Int32
    /// The arena's hooks and the number of the region's pages that it holds; jemalloc keeps the address.
    let owner: UnsafeMutablePointer<plimsoll_extent_owner_t>
    /// jemalloc's own counter of pages in use, valid while the arena lives.
    private var activePagesInside: UnsafePointer<Int>?

    init(region: UnsafeMutablePointer<RegionState>, slot: Int) throws(AllocatorError) {
        let owner = UnsafeMutablePointer<plimsoll_extent_owner_t>.allocate(capacity: 1)
        owner.initialize(to: plimsoll_extent_owner_t(hooks: .deviceRegion(), region: region, pages: 0, slot: slot))
        let index: UInt32
        do throws(AllocatorError) {
            index = try Arena.create(owner)
        } catch {
            owner.deallocate()
            throw error
        }
        self.index = index
        self.owner = owner
        flags = plimsoll_flags(index)
        activePagesInside = nil
    }

    deinit {
        // Destroying an arena that Plimsoll created cannot fail; if it does, the books are wrong.
        let code = mallctl("arena.\(index).destroy", nil, nil, nil, 0)
        precondition(code == 0, "arena \(index) refused to die: errno \(code)")
        precondition(owner.pointee.pages == 0, "arena \(index) died holding \(owner.pointee.pages) pages")
        owner.deallocate()
    }

    private static func create(_ owner: UnsafeMutablePointer<plimsoll_extent_owner_t>) throws(AllocatorError) -> UInt32
    {
        let control = "experimental.arenas_create_ext"
        // jemalloc's own bookkeeping stays outside the device's region.
        var configuration = plimsoll_arena_config_t(
            extent_hooks: UnsafeMutableRawPointer(owner).assumingMemoryBound(to: extent_hooks_t.self),
            metadata_use_hooks: false)
        var index: UInt32 = 0
        var size = MemoryLayout<UInt32>.size
        let code = mallctl(control, &index, &size, &configuration, MemoryLayout<plimsoll_arena_config_t>.size)
        guard code == 0 else { throw AllocatorError(control: control, code: code) }
        return index
    }

    /// Disables jemalloc's decay: unused pages stay until Plimsoll purges them, and purged pages go back at once.
    func stopDecay() throws(AllocatorError) {
        try writeControl("arena.\(index).dirty_decay_ms", -1)
        try writeControl("arena.\(index).muzzy_decay_ms", 0)
    }

    /// Looks up jemalloc's counter of active pages, which exists after the first refresh of the statistics.
    mutating func connect() throws(AllocatorError) {
        let name = "experimental.arenas.\(index).pactivep"
        let found = try readControl(name, into: UnsafePointer<Int>?.none)
        guard let found else { throw AllocatorError(control: name, code: 0) }
        activePagesInside = found
    }

    var pages: Int { owner.pointee.pages }

    var activePages: Int {
        guard let activePagesInside else { preconditionFailure("arena \(index) is used before it is connected") }
        return activePagesInside.pointee
    }
}
