/// The segments of the compressor's pool: how full each is, and which is filled at present.
///
/// A segment is one allocation of the compressor. Contents are appended to the segment that is filled. A page that
/// leaves makes a hole, which is not filled; a segment without contents is given back, and a sparse one is compacted.
struct SegmentTable: ~Copyable {
    /// XNU's segment on iOS: 256 KiB (`vm_compressor.c`).
    static let bytes = 256 << 10

    struct Segment {
        /// The bytes of the pages in it, and the bytes written so far, holes included.
        fileprivate(set) var used: Int32 = 0
        fileprivate(set) var written: Int32 = 0
        /// The first and last page in it.
        var first = PageLists.none
        var last = PageLists.none
        fileprivate(set) var isReal = false
    }

    let table: UnsafeMutablePointer<Segment>
    let most: Int
    /// The segment that is filled, and the one that is filled next; -1 for none.
    private(set) var filling = -1
    private(set) var spare = -1
    /// Segments in use, with `filling` and `spare`.
    private(set) var count = 0
    /// The bytes of all compressed contents.
    private(set) var used = 0
    /// Full segments without contents, which can be given back.
    private(set) var empty = 0
    /// Full segments at most half full.
    private(set) var sparse = 0
    /// All segments with lower numbers are in use.
    private var lowest = 0
    /// No segment with this number or a higher one was ever in use; a device of many gigabytes has room for many more.
    private var bound = 0
    /// No segment with a lower number can be given back.
    private var lowestEmpty = 0

    init(most: Int) {
        self.most = most
        table = .allocate(capacity: most)
        table.initialize(repeating: Segment(), count: most)
    }

    deinit { table.deallocate() }

    private func isFull(_ segment: Int) -> Bool {
        table[segment].isReal && segment != filling && segment != spare
    }

    private func isSparse(_ segment: Int) -> Bool { Int(table[segment].used) * 2 <= SegmentTable.bytes }

    /// Whether contents of this size fit into the segment that is filled, or into the spare one.
    func hasRoom(for size: Int) -> Bool {
        spare >= 0 || (filling >= 0 && Int(table[filling].written) + size <= SegmentTable.bytes)
    }

    /// Appends contents, for which there is room; returns the segment.
    mutating func write(_ size: Int) -> Int {
        if filling < 0 || Int(table[filling].written) + size > SegmentTable.bytes { useSpare() }
        table[filling].written += Int32(size)
        table[filling].used += Int32(size)
        used += size
        return filling
    }

    private mutating func useSpare() {
        precondition(spare >= 0, "the compressor has no segment left")
        let before = filling
        filling = spare
        spare = -1
        guard before >= 0 else { return }
        if isSparse(before) { sparse += 1 }
        if table[before].used == 0 { noteEmpty(before) }
    }

    mutating func erase(_ size: Int, from segment: Int) {
        let wasSparse = isSparse(segment)
        table[segment].used -= Int32(size)
        used -= size
        guard isFull(segment) else { return }
        if !wasSparse && isSparse(segment) { sparse += 1 }
        if table[segment].used == 0 { noteEmpty(segment) }
    }

    private mutating func noteEmpty(_ segment: Int) {
        empty += 1
        lowestEmpty = min(lowestEmpty, segment)
    }

    /// A number for another segment; nil: there are as many as there may be.
    var unused: Int? {
        guard count < most else { return nil }
        for segment in lowest..<most where !table[segment].isReal { return segment }
        return nil
    }

    /// A new segment: it is filled next.
    mutating func add(_ segment: Int) {
        precondition(spare < 0 && !table[segment].isReal, "segment \(segment) is not needed")
        table[segment] = Segment()
        table[segment].isReal = true
        spare = segment
        lowest = segment + 1
        bound = max(bound, lowest)
        count += 1
    }

    /// A full segment without contents; it is no longer one.
    mutating func takeEmpty() -> Int? {
        guard empty > 0 else { return nil }
        for segment in lowestEmpty..<bound where isFull(segment) && table[segment].used == 0 {
            table[segment].isReal = false
            lowest = min(lowest, segment)
            lowestEmpty = segment + 1
            empty -= 1
            sparse -= 1
            count -= 1
            return segment
        }
        return nil
    }

    /// The full segment with the least contents, if it is at most half full and not empty.
    var sparsest: Int? {
        guard sparse > empty else { return nil }
        var (best, left) = (Int?.none, sparse - empty)
        for segment in 0..<bound where isFull(segment) && table[segment].used > 0 && isSparse(segment) {
            if best.map({ table[segment].used < table[$0].used }) ?? true { best = segment }
            left -= 1
            if left == 0 { break }
        }
        return best
    }
}
