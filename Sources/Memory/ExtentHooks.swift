import CJemalloc
import Glibc

// jemalloc requests and returns pages through these functions. They run inside an allocation: nothing here may
// allocate, retain or throw.

extension extent_hooks_t {
    /// Hooks that take pages from the device's region and give them back. Extents split and merge freely, because the
    /// region is one mapping. There is no purging and no decommitting, so unused pages are either dirty or given back.
    static func deviceRegion() -> extent_hooks_t {
        extent_hooks_t(
            alloc: handOutExtent, dalloc: takeBackExtent, destroy: destroyExtent, commit: nil, decommit: nil,
            purge_lazy: nil, purge_forced: nil, split: { _, _, _, _, _, _, _ in false },
            merge: { _, _, _, _, _, _, _ in false })
    }
}

/// The owner of the hooks that jemalloc passes. The hooks are its first field, so both have the same address in C.
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
            owner.region.pointee.handOut(count, at: address, to: owner.pointee.slot)
        } else {
            owner.region.pointee.handOut(count, alignedTo: alignment, to: owner.pointee.slot)
        }
    guard let extent else { return nil }
    owner.pointee.pages += count
    // Reused pages keep their contents; zeros are written only on request.
    if zero?.pointee == true { memset(extent, 0, size) }
    commit?.pointee = true
    return extent
}

/// Takes the pages back; returns false, which means success.
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
