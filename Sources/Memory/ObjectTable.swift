import Quantities

/// The live objects of one pool in the order of their creation. Place and size of an object take 8 bytes.
///
/// The table is a ring, so removing the oldest or the newest object costs nothing. When an object leaves from the
/// middle, the newest one moves into its place. So after a scattered release, the order is no longer exactly that of
/// creation.
///
/// The ring is raw memory with one owner, because an array would check for every object whether it is shared. A long
/// ring takes 8 bytes of host memory for each live object plus less than 2 MiB, even while it grows and after objects
/// have left; see `ObjectRing`. `BookCosts` estimates a run's need from this figure.
struct ObjectTable: ~Copyable {
    /// An object's place, in units of 8 bytes (jemalloc's smallest size class) from the region's start, and its size.
    struct Entry {
        private let packed: UInt64

        init(unit: Int, size: Int) {
            packed = UInt64(truncatingIfNeeded: unit) << 30 | UInt64(truncatingIfNeeded: size)
        }

        var unit: Int { Int(truncatingIfNeeded: packed >> 30) }
        var size: Int { Int(truncatingIfNeeded: packed & 0x3fff_ffff) }
    }

    private var ring: UnsafeMutablePointer<Entry>?
    /// A power of two.
    private var capacity = 0
    /// The number of places in a piece, minus one, if pieces go back to the host; `Int.max` in short rings.
    private var pieceMask = Int.max
    private var first = 0
    private(set) var count = 0
    /// The sum of the sizes.
    private(set) var requested = 0
    /// The object, counted from the oldest, and the byte in it at which `goRound` continues.
    private var cursor = 0
    private var cursorOffset = 0

    deinit { if let ring { ObjectRing.free(ring, capacity) } }

    var isEmpty: Bool { count == 0 }

    /// An object's place in the ring, by its position from the oldest; the position must be below the capacity.
    ///
    /// Positions are below 2^48, the limit of memory, so nothing overflows. A table with capacity has a ring.
    @inline(__always)
    private func place(_ position: Int) -> UnsafeMutablePointer<Entry> {
        ring.unsafelyUnwrapped + ((first &+ position) & (capacity &- 1))
    }

    @inline(__always)
    subscript(position: Int) -> Entry {
        precondition(position >= 0 && position < count, "object \(position) of a table of \(count)")
        return place(position).pointee
    }

    @inline(__always)
    mutating func append(_ entry: Entry) {
        if count == capacity { grow() }
        place(count).pointee = entry
        count &+= 1
        requested += entry.size
    }

    @inline(__always)
    mutating func removeOldest() -> Entry {
        let entry = self[0]
        first = (first &+ 1) & (capacity &- 1)
        forget(entry)
        if first & pieceMask == 0 { leavePiece(endingAt: first) }
        if cursor > 0 { cursor -= 1 } else { cursorOffset = 0 }
        return entry
    }

    mutating func removeNewest() -> Entry {
        let entry = self[count - 1]
        forget(entry)
        leaveNewest()
        return entry
    }

    /// Removes an object from the middle; the newest moves into its place.
    mutating func remove(at position: Int) -> Entry {
        let entry = self[position]
        place(position).pointee = place(count - 1).pointee
        forget(entry)
        leaveNewest()
        if cursor == position { cursorOffset = 0 }
        return entry
    }

    /// Visits this many bytes of the objects in turn, starting where the last call stopped. Calls `visit` with each
    /// object and the range of its bytes. The table must not be empty unless `bytes` is zero.
    @inline(__always)
    mutating func goRound(_ bytes: Int, _ visit: (_ entry: Entry, _ offset: Int, _ length: Int) -> Void) {
        var left = bytes
        while left > 0 {
            let piece = nextPiece(left)
            visit(piece.entry, piece.offset, piece.length)
            left -= piece.length
        }
    }

    /// A part of one object.
    struct Piece {
        let entry: Entry
        let offset: Int
        let length: Int
    }

    private mutating func nextPiece(_ bytes: Int) -> Piece {
        let piece = peekPiece(bytes)
        takePiece(piece)
        return piece
    }

    /// The first of the newest objects, of which there are this share, and at least one.
    func firstOfNewest(_ share: Ratio) -> Int {
        guard share < .one, count > 0 else { return 0 }
        return count - max(1, Int(Int64(count) * share.partsPerMillion / 1_000_000))
    }

    /// Moves the cursor on if it stands before this object, or behind the last one: only the objects from this one on
    /// are visited from now on.
    @inline(__always)
    mutating func keepCursor(from first: Int) {
        guard cursor < first || cursor >= count else { return }
        (cursor, cursorOffset) = (first, 0)
    }

    /// The next piece of `goRound`, at most this long; `takePiece` goes on after it.
    @inline(__always)
    mutating func peekPiece(_ bytes: Int) -> Piece {
        if cursor >= count {
            cursor = 0
            cursorOffset = 0
        }
        let entry = self[cursor]
        return Piece(entry: entry, offset: cursorOffset, length: min(bytes, entry.size - cursorOffset))
    }

    @inline(__always)
    mutating func takePiece(_ piece: Piece) {
        cursorOffset += piece.length
        if cursorOffset == piece.entry.size {
            cursor += 1
            cursorOffset = 0
        }
    }

    /// Passes whole objects from the cursor on, as far as `bytes` go and `visit` returns true; returns their bytes. The
    /// cursor may then stand behind the last object.
    @inline(__always)
    mutating func passWhole(_ bytes: Int, _ visit: (Entry) -> Bool) -> Int {
        guard cursorOffset == 0 else { return 0 }
        var (position, left) = (cursor, bytes)
        while position < count {
            let entry = place(position).pointee
            guard entry.size <= left, visit(entry) else { break }
            left &-= entry.size
            position &+= 1
        }
        cursor = position
        return bytes - left
    }

    @inline(__always)
    private mutating func forget(_ entry: Entry) {
        count -= 1
        requested -= entry.size
        // The object under the cursor may have left or moved.
        if cursor >= count { cursorOffset = 0 }
    }

    /// Call this after the newest object has left. In a short ring the condition holds only for place 0, where
    /// `leavePiece` does nothing.
    @inline(__always)
    private func leaveNewest() {
        let end = (first &+ count) & (capacity &- 1)
        if end & pieceMask == 0 { leavePiece(endingAt: (end &+ pieceMask &+ 1) & (capacity &- 1)) }
    }

    /// Gives a piece whose last place has just become free back to the host, unless the piece holds other objects.
    @inline(never)
    private func leavePiece(endingAt end: Int) {
        let length = ObjectRing.piece
        guard let ring, capacity > length, count <= capacity - length else { return }
        ObjectRing.leave(ring + ((end - length) & (capacity - 1)))
    }

    private mutating func grow() {
        let larger = ObjectRing.make(max(8, capacity * 2))
        if let ring {
            ObjectRing.move(count, from: ring, capacity, first, to: larger)
            ObjectRing.free(ring, capacity)
        }
        ring = larger
        capacity = max(8, capacity * 2)
        pieceMask = capacity > ObjectRing.piece ? ObjectRing.piece - 1 : Int.max
        first = 0
    }
}
