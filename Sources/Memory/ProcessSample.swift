import Quantities

/// Chooses which of one process's objects a scale model makes.
struct ProcessSample {
    /// The pool of page runs that fills up the process's share of pages.
    let runs: PoolID
    /// The process's share of the original's pages in the store on flash.
    var swapped = ByteCount.zero

    /// The original's objects, oldest first: each one's size and, in place of an address, how many were made for it.
    private final class Pool {
        var table = ObjectTable()
    }

    private let geometry: AllocatorGeometry
    private let scale: Int64
    /// For each size class, the part of the next object that is due, in parts per million. The object is made when all
    /// of it is due. The part starts at half an object, so that the sample is too large as often as too small.
    private var due: [Int64]
    private var pools: [Pool] = []

    private static let one: Int64 = 1_000_000

    init(_ geometry: AllocatorGeometry, _ scale: Ratio, runs: PoolID) {
        self.runs = runs
        self.geometry = geometry
        self.scale = scale.partsPerMillion
        due = Array(repeating: ProcessSample.one / 2, count: geometry.bins.count)
    }

    mutating func makePool(_ index: Int) {
        while pools.count <= index { pools.append(Pool()) }
    }

    mutating func endPool(_ index: Int) { pools[index] = Pool() }

    /// How many objects to make for the original's next object of this size. Each size class of small objects is
    /// counted separately. Objects with pages of their own are not made; page runs stand in for them. The sample has
    /// a quarter fewer objects than the scale asks for: its slabs have proportionally more holes, and page runs can
    /// only add pages, not remove them.
    mutating func copies(of size: Int) -> Int {
        guard size <= geometry.largestSmall else { return 0 }
        let bin = geometry.bin(of: size)
        due[bin] += scale / 4 * 3
        let copies = due[bin] / ProcessSample.one
        due[bin] -= copies * ProcessSample.one
        return Int(copies)
    }

    /// Notes an object of the original and how many were made for it.
    mutating func note(_ size: Int, copies: Int, _ pool: Int) {
        pools[pool].table.append(ObjectTable.Entry(unit: copies, size: size))
    }

    /// Releases this many objects of the original; returns the bytes of the objects made for them.
    mutating func release(_ count: Int, _ pool: Int, _ order: ReleaseOrder) -> Int {
        var bytes = 0
        for _ in 0..<count {
            let entry = order == .oldestFirst ? pools[pool].table.removeOldest() : pools[pool].table.removeNewest()
            bytes += entry.unit * entry.size
        }
        return bytes
    }
}
