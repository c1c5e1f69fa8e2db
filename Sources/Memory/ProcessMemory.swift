import BasicContainers
import Quantities

/// The processes of a device, by slot.
typealias ProcessTable = UniqueArray<ProcessMemory>

/// What the books hold of one process: its pools and the sums over them. Pages are known elsewhere.
///
/// It has one owner, and so have its pools: a batch works on a pool's table where it is.
struct ProcessMemory: ~Copyable {
    /// Not private, because Swift 6.3.1's debug builds fail on the private content of such an array.
    struct Pool: ~Copyable {
        fileprivate var isLive = true
        var table = ObjectTable()
    }

    var isLive = false
    /// It is among the changes that nobody has taken yet.
    var isChanged = false
    /// The arena's active pages as they are counted in the device's.
    var activePages = 0
    /// The heap's bookkeeping, as the last audit found it.
    var metadata = 0
    /// The same, as of the last audit that told of it.
    var metadataTold = 0
    private(set) var objects = 0
    private(set) var requested = 0
    private(set) var usable = 0
    private var pools = UniqueArray<Pool>()
    /// Pools that ended; the last one is used next.
    private var idlePools: [Int] = []

    @inline(__always)
    mutating func book(objects: Int, requested: Int, usable: Int) {
        self.objects += objects
        self.requested += requested
        self.usable += usable
    }

    func books(activePages: Int, dirtyPages: Int) -> ProcessBooks {
        ProcessBooks(
            objects: objects, requested: ByteCount(requested), usable: ByteCount(usable),
            active: pageBytes(activePages), dirty: pageBytes(dirtyPages), metadata: ByteCount(metadataTold))
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
        precondition(self[index].isEmpty, "pool \(index) ends with \(self[index].count) objects")
        // The next one begins without the memory of this one.
        pools[index] = Pool()
        pools[index].isLive = false
        idlePools.append(index)
    }

    /// The objects of a pool.
    subscript(index: Int) -> ObjectTable {
        _read {
            check(index)
            yield pools[index].table
        }
        _modify {
            check(index)
            yield &pools[index].table
        }
    }

    private func check(_ index: Int) {
        precondition(index >= 0 && index < pools.count && pools[index].isLive, "there is no pool \(index)")
    }
}
