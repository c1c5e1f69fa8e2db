import Glibc

/// All extents of an accounting device: runs of pages that one heap holds, as jemalloc's `edata_t` without memory.
///
/// An extent lives in a table and is named by its number, which is used again. Numbers never decide anything: order is
/// by serial and page, as in jemalloc, where the serial tells when the pages came from the device.
struct ExtentTable: ~Copyable {
    enum State: UInt8 {
        case unused, dirty, slab, large
    }

    struct Extent {
        var page: Int32
        var pages: Int32
        var serial: UInt32
        var slot: Int32
        var state: State
        /// The small size class of a slab, and how many objects still fit.
        var bin: UInt8 = 0
        var room: UInt16 = 0
        /// Where the extent is in its heap.
        var position: Int32 = -1
        /// The neighbours in the list of the slot's extents; -1 at its ends.
        var previous: Int32 = -1
        var next: Int32 = -1

        /// jemalloc's order: the oldest first, and of the same age the lowest (`edata_snad_comp`).
        var key: UInt64 { UInt64(serial) << 32 | UInt64(UInt32(bitPattern: page)) }
    }

    /// A heap of extents by key; the first is the least.
    struct Heap {
        fileprivate(set) var nodes: [(key: UInt64, extent: Int)] = []
        var isEmpty: Bool { nodes.isEmpty }
    }

    private var extents: [Extent] = []
    private var unused: [Int] = []
    /// The number of the dirty extent, plus one, whose first or last page this is.
    private let edges: UnsafeMutablePointer<UInt32>
    private let pages: Int

    init(pages: Int) {
        guard let memory = calloc(pages, MemoryLayout<UInt32>.stride) else {
            preconditionFailure("the host has no memory for \(pages) page tags")
        }
        edges = memory.bindMemory(to: UInt32.self, capacity: pages)
        self.pages = pages
    }

    deinit { free(edges) }

    subscript(extent: Int) -> Extent {
        get { extents[extent] }
        set { extents[extent] = newValue }
    }

    /// Adds an extent in front of the slot's list.
    mutating func add(_ extent: Extent, to first: inout Int32) -> Int {
        var extent = extent
        extent.next = first
        let number = unused.popLast() ?? extents.count
        if first >= 0 { extents[Int(first)].previous = Int32(number) }
        first = Int32(number)
        if number == extents.count { extents.append(extent) } else { extents[number] = extent }
        return number
    }

    /// Forgets an extent that is in no heap.
    mutating func remove(_ number: Int, from first: inout Int32) {
        let (previous, next) = (extents[number].previous, extents[number].next)
        if previous >= 0 { extents[Int(previous)].next = next } else { first = next }
        if next >= 0 { extents[Int(next)].previous = previous }
        extents[number].state = .unused
        unused.append(number)
    }

    /// Marks or unmarks both ends of a dirty extent, so that its neighbours find it.
    mutating func mark(_ number: Int, _ isDirty: Bool) {
        let (page, count) = (Int(extents[number].page), Int(extents[number].pages))
        let tag = isDirty ? UInt32(number) + 1 : 0
        edges[page] = tag
        edges[page + count - 1] = tag
    }

    /// The slot's dirty extent that has `page` at its edge.
    func dirtyExtent(at page: Int, of slot: Int32) -> Int? {
        guard page >= 0, page < pages, edges[page] != 0 else { return nil }
        let number = Int(edges[page]) - 1
        return extents[number].slot == slot ? number : nil
    }

    mutating func insert(_ number: Int, into heap: inout Heap) {
        heap.nodes.append((extents[number].key, number))
        rise(heap.nodes.count - 1, &heap)
    }

    mutating func remove(_ number: Int, from heap: inout Heap) {
        let position = Int(extents[number].position)
        let last = heap.nodes.removeLast()
        extents[number].position = -1
        guard position < heap.nodes.count else { return }
        heap.nodes[position] = last
        extents[last.extent].position = Int32(position)
        rise(position, &heap)
        sink(Int(extents[last.extent].position), &heap)
    }

    private mutating func rise(_ start: Int, _ heap: inout Heap) {
        var position = start
        let node = heap.nodes[position]
        while position > 0 {
            let parent = (position - 1) / 2
            guard node.key < heap.nodes[parent].key else { break }
            heap.nodes[position] = heap.nodes[parent]
            extents[heap.nodes[position].extent].position = Int32(position)
            position = parent
        }
        heap.nodes[position] = node
        extents[node.extent].position = Int32(position)
    }

    private mutating func sink(_ start: Int, _ heap: inout Heap) {
        var position = start
        let node = heap.nodes[position]
        while true {
            var child = 2 * position + 1
            guard child < heap.nodes.count else { break }
            if child + 1 < heap.nodes.count && heap.nodes[child + 1].key < heap.nodes[child].key { child += 1 }
            guard heap.nodes[child].key < node.key else { break }
            heap.nodes[position] = heap.nodes[child]
            extents[heap.nodes[position].extent].position = Int32(position)
            position = child
        }
        heap.nodes[position] = node
        extents[node.extent].position = Int32(position)
    }
}
