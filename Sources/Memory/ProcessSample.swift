import Quantities

/// Which of one process's objects a scale model makes.
struct ProcessSample {
    /// What makes up the process's share of pages.
    let runs: PoolID

    /// Every object that is meant, oldest first: its size, and in the place of an address how many were made for it.
    private final class Pool {
        var table = ObjectTable()
    }

    private let geometry: AllocatorGeometry
    private let scale: Int64
    /// By size class: what the next object adds to until it is one, in parts per million. Half an object at the start,
    /// so that the sample is as often too large as too small.
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

    /// How many are made for the next object of this size: small objects by turns, each size class by itself; none of
    /// those that have pages of their own, for runs make up the rest. A quarter less than the share, because the
    /// sample's slabs have more holes than its share of them, and runs can only add pages.
    mutating func copies(of size: Int) -> Int {
        guard size <= geometry.largestSmall else { return 0 }
        let bin = geometry.bin(of: size)
        due[bin] += scale / 4 * 3
        let copies = due[bin] / ProcessSample.one
        due[bin] -= copies * ProcessSample.one
        return Int(copies)
    }

    /// Notes an object that is meant, and how many were made for it.
    mutating func note(_ size: Int, copies: Int, _ pool: Int) {
        pools[pool].table.append(ObjectTable.Entry(unit: copies, size: size))
    }

    /// Releases so many objects that are meant; answers the bytes of those that were made for them.
    mutating func release(_ count: Int, _ pool: Int, _ order: ReleaseOrder) -> Int {
        var bytes = 0
        for _ in 0..<count {
            let entry = order == .oldestFirst ? pools[pool].table.removeOldest() : pools[pool].table.removeNewest()
            bytes += entry.unit * entry.size
        }
        return bytes
    }
}
