/// The free runs among a number of pages: finds the first run that is long enough, and the length of the longest.
///
/// Runs are handed out first fit by address, which keeps fragmentation low and the upper pages untouched for as long
/// as possible. A tree with eight children per node holds the maximum of the run lengths below each node; the leaves
/// are the lengths themselves, at the page where a run starts. Taking a run, giving it back and joining it with both
/// neighbours costs O(log n); the longest run costs O(1). `init` allocates everything: 9 bytes per page.
///
/// Limit: it trusts its callers. If a caller gives a range back twice, `give` notices it only if a free run starts at
/// the range's first page.
struct PageRuns: ~Copyable {
    let pages: Int
    private(set) var freePages = 0
    /// All levels in sequence, the leaves first: `tree[page]` is the length of the run that starts there.
    private let tree: UnsafeMutablePointer<UInt32>
    /// By page: the length of the free run that ends there; 0 for none.
    private let ending: UnsafeMutablePointer<UInt32>
    /// Where each level starts in `tree`.
    private let levels: UnsafeMutablePointer<Int>
    private let top: Int
    /// The length of `tree`.
    private let nodes: Int

    private static let childBits = 3

    /// All pages are taken at first.
    init(pages: Int) {
        precondition(pages > 0 && pages < 1 << 31, "\(pages) pages cannot be managed")
        self.pages = pages
        var starts = [0]
        var width = pages
        var total = 0
        while true {
            let padded = (width + 7) & ~7
            total += padded
            guard width > 1 else { break }
            starts.append(total)
            width = padded >> PageRuns.childBits
        }
        top = starts.count - 1
        nodes = total
        levels = .allocate(capacity: starts.count)
        levels.initialize(from: starts, count: starts.count)
        tree = HostTable.make(total, of: UInt32.self)
        ending = HostTable.make(pages, of: UInt32.self)
    }

    deinit {
        levels.deallocate()
        HostTable.free(tree, nodes)
        HostTable.free(ending, pages)
    }

    /// The number of pages in the longest free run.
    var longestRun: Int { Int(tree[levels[top]]) }

    /// Takes the first run of `count` pages whose first page, plus `offset`, is a multiple of `alignment`.
    mutating func take(_ count: Int, alignment: Int = 1, offset: Int = 0) -> Int? {
        guard var start = firstRun(of: count, from: 0) else { return nil }
        guard alignment > 1 else {
            carve(count, at: start, outOf: start)
            return start
        }
        while true {
            let aligned = (start + offset + alignment - 1) / alignment * alignment - offset
            if aligned + count <= start + Int(tree[start]) {
                carve(count, at: aligned, outOf: start)
                return aligned
            }
            guard let next = firstRun(of: count, from: start + 1) else { return nil }
            start = next
        }
    }

    /// Takes exactly `count` pages from `page` on, if a free run starts there and is long enough.
    ///
    /// The caller uses it to extend a run that it holds. The page before `page` belongs to that run, so a free run
    /// that includes `page` must start there.
    mutating func take(_ count: Int, startingAt page: Int) -> Bool {
        guard page >= 0, page + count <= pages, Int(tree[page]) >= count else { return false }
        carve(count, at: page, outOf: page)
        return true
    }

    /// Gives pages back; they join the free runs on both sides.
    mutating func give(_ count: Int, at page: Int) {
        precondition(
            count > 0 && page >= 0 && page + count <= pages, "pages \(page)+\(count) are outside of \(pages)")
        precondition(tree[page] == 0, "page \(page) is given back twice")
        var start = page
        var end = page + count
        if end < pages && tree[end] != 0 {
            let length = Int(tree[end])
            set(end, 0)
            ending[end + length - 1] = 0
            end += length
        }
        if start > 0 && ending[start - 1] != 0 {
            let length = Int(ending[start - 1])
            ending[start - 1] = 0
            start -= length
        }
        put(end - start, at: start)
        freePages += count
    }

    /// Takes `count` pages at `page` out of the free run that starts at `run`.
    private mutating func carve(_ count: Int, at page: Int, outOf run: Int) {
        let end = run + Int(tree[run])
        ending[end - 1] = 0
        if page > run { put(page - run, at: run) } else { set(run, 0) }
        if page + count < end { put(end - page - count, at: page + count) }
        freePages -= count
    }

    private mutating func put(_ length: Int, at page: Int) {
        set(page, UInt32(truncatingIfNeeded: length))
        ending[page + length - 1] = UInt32(truncatingIfNeeded: length)
    }

    /// Writes a leaf and those maxima above it that change.
    private mutating func set(_ page: Int, _ value: UInt32) {
        var old = tree[page]
        var new = value
        tree[page] = value
        var position = page
        var level = 0
        while level < top {
            let siblings = levels[level] + (position & ~7)
            position >>= PageRuns.childBits
            level += 1
            let above = levels[level] + position
            let before = tree[above]
            if new < before {
                // Another child may still hold the maximum.
                if old < before { return }
                new = largest(siblings)
            }
            if new == before { return }
            tree[above] = new
            old = before
        }
    }

    private func largest(_ first: Int) -> UInt32 {
        var result = tree[first]
        var index = first + 1
        while index < first + 8 {
            if tree[index] > result { result = tree[index] }
            index += 1
        }
        return result
    }

    /// The start of the first run at or after `page` that has at least `count` pages.
    private func firstRun(of count: Int, from page: Int) -> Int? {
        precondition(count > 0, "a run of \(count) pages was asked for")
        guard longestRun >= count, page < pages else { return nil }
        let wanted = UInt32(truncatingIfNeeded: count)
        var level = page == 0 ? top : 0
        var position = page
        // Go up until a node at or right of the position has such a run below it; then down, always leftmost.
        while tree[levels[level] + position] < wanted {
            position += 1
            while position & 7 == 0 || level == top {
                guard level < top else { return nil }
                // The group is exhausted: its parent's right neighbour is next.
                position >>= PageRuns.childBits
                level += 1
            }
        }
        while level > 0 {
            level -= 1
            position <<= PageRuns.childBits
            while tree[levels[level] + position] < wanted { position += 1 }
        }
        return position
    }

    /// The last free run that starts before `page`.
    func lastRun(before page: Int) -> Range<Int>? {
        guard page > 0 else { return nil }
        var level = 0
        var position = page - 1
        // Go up and left until something is free below; then down, always rightmost.
        while tree[levels[level] + position] == 0 {
            while position & 7 == 0 {
                guard level < top else { return nil }
                position >>= PageRuns.childBits
                level += 1
            }
            position -= 1
        }
        while level > 0 {
            level -= 1
            position = position << PageRuns.childBits | 7
            while tree[levels[level] + position] == 0 { position -= 1 }
        }
        return position..<position + Int(tree[position])
    }
}
