import Quantities

/// What the books hold of one process: its pools and the sums over them. Pages are known elsewhere.
struct ProcessMemory {
    /// One pool. A class, so that a batch works on its table where it is.
    final class Pool {
        fileprivate(set) var isLive = true
        var table = ObjectTable()
    }

    var isLive = false
    /// It is among the changes that nobody has taken yet.
    var isChanged = false
    /// The arena's active pages as they are counted in the device's.
    var activePages = 0
    /// The heap's bookkeeping, as of the last audit.
    var metadata = 0
    /// The same, as somebody was last told.
    var metadataSeen = 0
    private(set) var objects = 0
    private(set) var requested = 0
    private(set) var usable = 0
    private var pools: [Pool] = []
    /// Pools that ended; the last one is used next.
    private var idlePools: [Int] = []

    mutating func book(objects: Int, requested: Int, usable: Int) {
        self.objects += objects
        self.requested += requested
        self.usable += usable
    }

    func books(activePages: Int, dirtyPages: Int) -> ProcessBooks {
        ProcessBooks(
            objects: objects, requested: ByteCount(requested), usable: ByteCount(usable),
            active: pageBytes(activePages), dirty: pageBytes(dirtyPages), metadata: ByteCount(metadata))
    }

    mutating func makePool() -> Int {
        if let index = idlePools.popLast() {
            pools[index].isLive = true
            return index
        }
        pools.append(Pool())
        return pools.count - 1
    }

    /// Forgets a pool that is empty.
    mutating func endPool(_ index: Int) {
        let pool = pool(index)
        precondition(pool.table.isEmpty, "pool \(index) ends with \(pool.table.count) objects")
        // The next one begins without the memory of this one.
        pool.table = ObjectTable()
        pool.isLive = false
        idlePools.append(index)
    }

    func pool(_ index: Int) -> Pool {
        precondition(index >= 0 && index < pools.count && pools[index].isLive, "there is no pool \(index)")
        return pools[index]
    }
}
