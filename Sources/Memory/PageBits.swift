import Glibc

/// One bit for each page of a device. Nothing here allocates after `init`.
struct PageBits: ~Copyable {
    private let words: UnsafeMutablePointer<UInt64>

    /// All bits are clear.
    init(pages: Int) {
        guard let memory = calloc(pages / 64 + 1, MemoryLayout<UInt64>.stride) else {
            preconditionFailure("the host has no memory for \(pages) page bits")
        }
        words = memory.bindMemory(to: UInt64.self, capacity: pages / 64 + 1)
    }

    deinit { free(words) }

    /// Sets the bits of a range; returns how many of them changed.
    mutating func set(_ pages: Range<Int>, _ value: Bool) -> Int {
        var changed = 0
        visit(pages) { word, mask in
            let before = words[word]
            words[word] = value ? before | mask : before & ~mask
            changed += (before ^ words[word]).nonzeroBitCount
        }
        return changed
    }

    /// How many bits of a range are set.
    func count(in pages: Range<Int>) -> Int {
        var count = 0
        visit(pages) { word, mask in count += (words[word] & mask).nonzeroBitCount }
        return count
    }

    @inline(__always)
    private func visit(_ pages: Range<Int>, _ visit: (Int, UInt64) -> Void) {
        var page = pages.lowerBound
        while page < pages.upperBound {
            let (word, bit) = (page >> 6, page & 63)
            let length = min(64 - bit, pages.upperBound - page)
            visit(word, (UInt64.max >> UInt64(64 - length)) << UInt64(bit))
            page += length
        }
    }

    /// The first page of a range with this bit; the range's end if there is none.
    func first(_ value: Bool, in pages: Range<Int>) -> Int {
        guard !pages.isEmpty else { return pages.upperBound }
        let last = (pages.upperBound - 1) >> 6
        var word = pages.lowerBound >> 6
        var bits = bits(word, value) & (UInt64.max << UInt64(pages.lowerBound & 63))
        while bits == 0 {
            word += 1
            guard word <= last else { return pages.upperBound }
            bits = self.bits(word, value)
        }
        return min(pages.upperBound, word << 6 + bits.trailingZeroBitCount)
    }

    /// One page behind the last page of a range with this bit; the range's start if there is none.
    func endOfLast(_ value: Bool, in pages: Range<Int>) -> Int {
        guard !pages.isEmpty else { return pages.lowerBound }
        let (first, last) = (pages.lowerBound >> 6, pages.upperBound - 1)
        var word = last >> 6
        var bits = bits(word, value) & (UInt64.max >> UInt64(63 - last & 63))
        while bits == 0 {
            word -= 1
            guard word >= first else { return pages.lowerBound }
            bits = self.bits(word, value)
        }
        return max(pages.lowerBound, word << 6 + 64 - bits.leadingZeroBitCount)
    }

    @inline(__always)
    private func bits(_ word: Int, _ value: Bool) -> UInt64 { value ? words[word] : ~words[word] }
}
