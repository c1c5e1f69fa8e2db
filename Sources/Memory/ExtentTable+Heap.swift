// jemalloc 5.3.0's pairing heap (`ph.h`), shape for shape.
//
// The shape of the heap, and not the keys alone, decides which extent is first. In 5.3.0 a root without children may
// be removed while other extents wait beside it. The next waiting extent then becomes the root, even if its key is
// not the least. If an extent with a lesser key than this root comes later, it is put above all waiting extents. From
// then on the first extent does not always have the least key. 5.3.1 fixes this (jemalloc pull request 2565). To get
// the pages of 5.3.0, the shapes must be those of 5.3.0.
extension ExtentTable {
    /// The extents of one class; the first is usually the oldest and lowest.
    struct Heap {
        fileprivate(set) var root: Int32 = -1
        /// How many extents were inserted since the waiting ones were last joined with the root.
        fileprivate var waiting: UInt32 = 0

        var isEmpty: Bool { root < 0 }
    }

    private func key(_ number: Int32) -> UInt64 { extents[Int(number)].key }

    /// Puts the extent beside the root, where it waits; some inserts join waiting extents in pairs.
    mutating func insert(_ number: Int, into heap: inout Heap) {
        let node = Int32(number)
        (extents[number].before, extents[number].after, extents[number].below) = (-1, -1, -1)
        guard heap.root >= 0 else {
            heap.root = node
            joinWaiting(in: heap)
            return
        }
        let root = Int(heap.root)
        if extents[number].key < extents[root].key {
            // The extents that wait beside the old root go below the new root with it.
            extents[number].below = heap.root
            extents[root].before = node
            heap.root = node
            heap.waiting = 0
            return
        }
        heap.waiting += 1
        link(node, extents[root].after)
        link(heap.root, node)
        joinWaiting(in: heap)
    }

    /// The first extent, after joining the waiting ones with the root. The heap must not be empty.
    mutating func first(of heap: inout Heap) -> Int {
        settle(&heap)
        return Int(heap.root)
    }

    mutating func removeFirst(from heap: inout Heap) -> Int? {
        guard heap.root >= 0 else { return nil }
        settle(&heap)
        let first = heap.root
        heap.root = combine(extents[Int(first)].below)
        return Int(first)
    }

    mutating func remove(_ number: Int, from heap: inout Heap) {
        let node = Int32(number)
        if heap.root == node {
            guard extents[number].below >= 0 else {
                // From here on the heap may be out of order, as described above.
                heap.root = extents[number].after
                return
            }
            settle(&heap)
            if heap.root == node {
                heap.root = combine(extents[number].below)
                return
            }
        }
        let before = extents[number].before
        let isFirstChild = extents[Int(before)].below == node
        let heir = combine(extents[number].below)
        let after = extents[number].after
        if heir >= 0 { link(heir, after) }
        let next = heir >= 0 ? heir : after
        if isFirstChild { extents[Int(before)].below = next } else { extents[Int(before)].after = next }
        if next >= 0 { extents[Int(next)].before = before }
    }

    /// Makes `right` the sibling after `left`; -1 stands for none.
    private mutating func link(_ left: Int32, _ right: Int32) {
        extents[Int(left)].after = right
        if right >= 0 { extents[Int(right)].before = left }
    }

    /// Makes the lesser of two extents the parent of the other; returns it.
    private mutating func join(_ one: Int32, _ other: Int32) -> Int32 {
        let (parent, child) = key(one) < key(other) ? (one, other) : (other, one)
        link(child, extents[Int(parent)].below)
        extents[Int(child)].before = parent
        extents[Int(parent)].below = child
        return parent
    }

    /// After the nth insertion, joins the latest extents in pairs, as often as two divides n - 1.
    private mutating func joinWaiting(in heap: Heap) {
        guard heap.waiting > 1 else { return }
        for _ in 0..<(heap.waiting - 1).trailingZeroBitCount {
            let one = extents[Int(heap.root)].after
            guard one >= 0 else { return }
            let other = extents[Int(one)].after
            guard other >= 0 else { return }
            let rest = extents[Int(other)].after
            let joined = join(one, other)
            link(joined, rest)
            link(heap.root, joined)
            if rest < 0 { return }
        }
    }

    /// Joins the waiting extents with the root. The heap must not be empty.
    mutating func settle(_ heap: inout Heap) {
        heap.waiting = 0
        let rest = extents[Int(heap.root)].after
        guard rest >= 0 else { return }
        extents[Int(heap.root)].after = -1
        heap.root = join(heap.root, combine(rest))
    }

    /// Joins siblings into one tree: first neighbours in pairs, then the queue's first two until one is left.
    private mutating func combine(_ first: Int32) -> Int32 {
        guard first >= 0, extents[Int(first)].after >= 0 else { return first }
        // The siblings' own chain serves as the queue.
        var (head, tail) = (Int32(-1), Int32(-1))
        var node = first
        while node >= 0 {
            let other = extents[Int(node)].after
            let rest = other >= 0 ? extents[Int(other)].after : -1
            let joined = other >= 0 ? join(node, other) : node
            extents[Int(joined)].after = -1
            if tail >= 0 { extents[Int(tail)].after = joined } else { head = joined }
            tail = joined
            node = rest
        }
        while true {
            let other = extents[Int(head)].after
            guard other >= 0 else { return head }
            let rest = extents[Int(other)].after
            let joined = join(head, other)
            extents[Int(joined)].after = -1
            guard rest >= 0 else { return joined }
            extents[Int(tail)].after = joined
            tail = joined
            head = rest
        }
    }
}
