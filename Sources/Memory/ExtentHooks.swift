import CJemalloc
import Glibc

// jemalloc asks for pages, and gives them back, through these functions. They run inside an allocation: nothing here
// may allocate, retain or throw.

extension extent_hooks_t {
    /// Pages come from the device's region and go back to it; extents split and merge freely, for the region is one
    /// mapping; purging and decommitting are opted out of, so that unused pages are either dirty or given back.
    static func deviceRegion() -> extent_hooks_t {
        extent_hooks_t(
            alloc: handOutExtent, dalloc: takeBackExtent, destroy: destroyExtent, commit: nil, decommit: nil,
            purge_lazy: nil, purge_forced: nil, split: { _, _, _, _, _, _, _ in false },
            merge: { _, _, _, _, _, _, _ in false })
    }
}

/// The owner that jemalloc hands back to us. The hooks are its first field, as C guarantees.
private func owner(_ hooks: UnsafeMutablePointer<extent_hooks_t>?) -> UnsafeMutablePointer<plimsoll_extent_owner_t> {
    guard let hooks else { preconditionFailure("jemalloc called an extent hook without its hooks") }
    return UnsafeMutableRawPointer(hooks).assumingMemoryBound(to: plimsoll_extent_owner_t.self)
}

extension UnsafeMutablePointer<plimsoll_extent_owner_t> {
    /// Safe: every owner is made with its device's region, which outlives the arena.
    var region: UnsafeMutablePointer<RegionState> { pointee.region.assumingMemoryBound(to: RegionState.self) }
}

private func handOutExtent(
    _ hooks: UnsafeMutablePointer<extent_hooks_t>?, _ address: UnsafeMutableRawPointer?, _ size: Int,
    _ alignment: Int, _ zero: UnsafeMutablePointer<Bool>?, _ commit: UnsafeMutablePointer<Bool>?, _ arena: UInt32
) -> UnsafeMutableRawPointer? {
    let owner = owner(hooks)
    let count = size / DeviceRegion.pageSize
    let extent =
        if let address {
            owner.region.pointee.handOut(count, at: address)
        } else {
            owner.region.pointee.handOut(count, alignedTo: alignment)
        }
    guard let extent else { return nil }
    owner.pointee.pages += count
    // Pages are used again as they are; zeroes are written only when they are asked for.
    if zero?.pointee == true { memset(extent, 0, size) }
    commit?.pointee = true
    return extent
}

/// Answers false: the pages were taken back.
private func takeBackExtent(
    _ hooks: UnsafeMutablePointer<extent_hooks_t>?, _ address: UnsafeMutableRawPointer?, _ size: Int,
    _ committed: Bool, _ arena: UInt32
) -> Bool {
    guard let address else { preconditionFailure("jemalloc gave back \(size) bytes at no address") }
    let owner = owner(hooks)
    let count = size / DeviceRegion.pageSize
    precondition(
        owner.pointee.pages >= count, "arena \(arena) gives back \(count) pages of \(owner.pointee.pages)")
    owner.region.pointee.takeBack(count, at: address)
    owner.pointee.pages -= count
    return false
}

private func destroyExtent(
    _ hooks: UnsafeMutablePointer<extent_hooks_t>?, _ address: UnsafeMutableRawPointer?, _ size: Int,
    _ committed: Bool, _ arena: UInt32
) {
    _ = takeBackExtent(hooks, address, size, committed, arena)
}
