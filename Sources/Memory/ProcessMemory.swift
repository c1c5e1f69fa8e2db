import BasicContainers
import Quantities

/// The processes of a device, by slot.
typealias ProcessMemories = UniqueArray<ProcessMemory>

/// One process in the books: its pools and the sums over them. `PageBooks` counts the pages.
///
/// The process and its pools have one owner, so a batch works on a pool's table in place.
struct ProcessMemory: ~Copyable {
    /// Not private, because Swift 6.3.1's debug builds fail on the private content of such an array.
    struct Pool: ~Copyable {
        fileprivate var isLive = true
        var table = ObjectTable()
    }

    var isLive = false
    /// The share of each pool that is used; see `DeviceMemory.declare(hot:of:)`.
    var hot = Ratio.one
    /// Whether `takeChanges` has yet to report the process as changed.
    var isChanged = false
    /// The arena's active pages, as last counted in the device's sum.
    var activePages = 0
    /// The most pages that the heap has held after any call.
    var peakPages = 0
    /// The heap's bookkeeping, as the last audit found it.
    var metadata = 0
    /// The heap's bookkeeping as the books show it: as of the last audit that refreshed metadata.
    var metadataTold = 0
    private(set) var objects = 0
    private(set) var requested = 0
    private(set) var usable = 0
    private var pools = UniqueArray<Pool>()
    /// Ended pools; the last one is reused next.
    private var idlePools: [Int] = []

    @inline(__always)
    mutating func book(objects: Int, requested: Int, usable: Int) {
        self.objects += objects
        self.requested += requested
        self.usable += usable
    }

    func books(activePages: Int, dirtyPages: Int, compressedPages: Int, swappedPages: Int) -> ProcessBooks {
        ProcessBooks(
            objects: objects, requested: ByteCount(requested), usable: ByteCount(usable),
            active: pageBytes(activePages), dirty: pageBytes(dirtyPages), metadata: ByteCount(metadataTold),
            compressed: pageBytes(compressedPages), swapped: pageBytes(swappedPages))
    }

    mutating func makePool() -> Int {
        if let index = idlePools.popLast() {
            pools[index].isLive = true
            return index
        }
        pools.append(Pool())
        return pools.count - 1
    }

    /// Ends an empty pool.
    mutating func endPool(_ index: Int) {
        precondition(self[index].isEmpty, "pool \(index) ends with \(self[index].count) objects")
        // The pool that next gets this index begins without this pool's memory.
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
