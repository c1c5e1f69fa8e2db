import CJemalloc

/// jemalloc's sizes as numbers: the small classes and their slabs, and the classes of page runs.
struct AllocatorGeometry {
    /// A small size class: the bytes of its objects, the pages of its slabs, and the objects that fit into a slab.
    struct Bin {
        let size: Int
        let pages: Int
        let objects: Int
    }

    let bins: [Bin]
    /// The largest small size. Objects that are larger have pages of their own.
    let largestSmall: Int
    /// By size in units of 8 bytes: the bin.
    private let binOfUnits: [UInt8]
    /// The pages that every large object gets beyond its size class (`opt.cache_oblivious`).
    let largePad: Int
    /// Lookup tables of `classToKeep`, `classToSearch` and `classTooLong` for short runs.
    private var keeping: [UInt8] = []
    private var searching: [UInt8] = []
    private var tooLong: [UInt8] = []
    private static let lookedUp = 256
    /// A dirty run more than 2 to this power times as long as wanted is not split.
    let mostOversized: Int

    init() throws(AllocatorError) {
        var bins: [Bin] = []
        for index in 0..<Int(try readControl("arenas.nbins", into: UInt32(0))) {
            let name = "arenas.bin.\(index)"
            let slab = try readControl(name + ".slab_size", into: 0)
            let objects = try readControl(name + ".nregs", into: UInt32(0))
            let size = try readControl(name + ".size", into: 0)
            bins.append(Bin(size: size, pages: slab / DeviceRegion.pageSize, objects: Int(objects)))
        }
        largestSmall = bins[bins.count - 1].size
        var lookup: [UInt8] = []
        for units in 0...(largestSmall >> 3) {
            lookup.append(UInt8(bins.firstIndex { $0.size >= units << 3 } ?? 0))
        }
        binOfUnits = lookup
        self.bins = bins
        largePad = try readControl("opt.cache_oblivious", into: false) ? 1 : 0
        // No run has more than 2^24 pages.
        mostOversized = min(24, try readControl("opt.lg_extent_max_active_fit", into: 0))
        let runs = 1...AllocatorGeometry.lookedUp
        keeping = [0] + runs.map { UInt8(AllocatorGeometry.runClass(floor($0))) }
        searching = [0] + runs.map { UInt8(ceiling($0)) }
        tooLong = [0] + runs.map { UInt8(AllocatorGeometry.runClass(($0 << mostOversized) + 1)) }
    }

    func bin(of size: Int) -> Int { Int(binOfUnits[(size + 7) >> 3]) }

    /// The index of the smallest class of page runs with at least this many pages: 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, …
    /// with four classes per doubling (`sz_psz2ind`).
    static func runClass(_ pages: Int) -> Int {
        guard pages > 4 else { return pages - 1 }
        let group = (2 * pages - 1).bitWidth - (2 * pages - 1).leadingZeroBitCount - 4
        return 4 + group * 4 + ((pages + (1 << group) - 1) >> group) - 5
    }

    /// The number of pages of a class of runs (`sz_pind2sz`).
    static func pages(ofRunClass index: Int) -> Int {
        index < 4 ? index + 1 : (5 + (index - 4) % 4) << ((index - 4) / 4)
    }

    /// The class that keeps a free run: the largest that the run fills (`sz_psz_quantize_floor`).
    func classToKeep(_ pages: Int) -> Int {
        pages <= AllocatorGeometry.lookedUp ? Int(keeping[pages]) : AllocatorGeometry.runClass(floor(pages))
    }

    /// The lowest class whose runs are all long enough (`sz_psz_quantize_ceil`).
    func classToSearch(_ pages: Int) -> Int {
        pages <= AllocatorGeometry.lookedUp ? Int(searching[pages]) : ceiling(pages)
    }

    /// The lowest class whose runs are too long to be split for this many pages.
    func classTooLong(_ pages: Int) -> Int {
        pages <= AllocatorGeometry.lookedUp
            ? Int(tooLong[pages]) : AllocatorGeometry.runClass((pages << mostOversized) + 1)
    }

    private func ceiling(_ pages: Int) -> Int {
        let below = floor(pages)
        guard below < pages else { return AllocatorGeometry.runClass(below) }
        let above = AllocatorGeometry.pages(ofRunClass: AllocatorGeometry.runClass(below - largePad + 1))
        return AllocatorGeometry.runClass(above + largePad)
    }

    private func floor(_ pages: Int) -> Int {
        let above = AllocatorGeometry.runClass(pages - largePad + 1)
        return above == 0 ? pages : AllocatorGeometry.pages(ofRunClass: above - 1) + largePad
    }
}
