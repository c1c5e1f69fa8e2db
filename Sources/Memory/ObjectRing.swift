import Glibc

/// The memory of an object table's ring.
///
/// A short ring comes from Plimsoll's heap. A long ring is a mapping of its own, which the host backs as it is
/// written. Pieces go back to the host in two cases: when a ring is copied into one of twice the length, and when a
/// piece has lost its objects. So a table takes memory only for its live objects, even after a peak.
enum ObjectRing {
    typealias Entry = ObjectTable.Entry

    /// The number of places given back at a time: 512 KiB. A longer ring is a mapping.
    static let piece = 1 << 16

    static func make(_ capacity: Int) -> UnsafeMutablePointer<Entry> {
        guard capacity > piece else { return .allocate(capacity: capacity) }
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        let memory = mmap(nil, bytes(capacity), PROT_READ | PROT_WRITE, flags, -1, 0)
        guard let memory, memory != MAP_FAILED else {
            HostRefusal.end("has no memory for a table of \(capacity) objects")
        }
        // A huge page would back places that are not written, and would stay if only half of it is given back.
        _ = madvise(memory, bytes(capacity), MADV_NOHUGEPAGE)
        return memory.bindMemory(to: Entry.self, capacity: capacity)
    }

    static func free(_ ring: UnsafeMutablePointer<Entry>, _ capacity: Int) {
        guard capacity > piece else { return ring.deallocate() }
        let code = munmap(ring, bytes(capacity))
        precondition(code == 0, "a table of \(capacity) objects refused to be unmapped: errno \(errno)")
    }

    /// Gives a piece of a long ring back to the host; it reads as zeros until it is written again.
    static func leave(_ places: UnsafeMutablePointer<Entry>) {
        let code = madvise(places, bytes(piece), MADV_DONTNEED)
        if code != 0 { HostRefusal.end("did not take \(piece) places back") }
    }

    /// Moves the entries from `first` on to the start of another ring, piece by piece.
    static func move(
        _ count: Int, from ring: UnsafeMutablePointer<Entry>, _ capacity: Int, _ first: Int,
        to other: UnsafeMutablePointer<Entry>
    ) {
        var moved = 0
        while moved < count {
            let start = (first + moved) & (capacity - 1)
            let length = min(count - moved, piece - start & (piece - 1), capacity - start)
            (other + moved).moveInitialize(from: ring + start, count: length)
            moved += length
            // Only a whole piece: the piece with the ring's beginning may also hold its end.
            if capacity > piece, length == piece { leave(ring + start) }
        }
    }

    private static func bytes(_ capacity: Int) -> Int { capacity * MemoryLayout<Entry>.stride }
}
