import Glibc
import Quantities
import SystemLz4

/// What a page contains that compresses, but is not one repeated word (`device.compressor.contents`).
public enum PageRecipe: String, CaseIterable, Sendable {
    /// Random bytes, then zeros. It can have any ratio.
    case head
    /// Each word of 8 bytes is random, or one of sixteen words. It is more like the memory of programs, and LZ4 makes
    /// it at most 2.67 times smaller.
    case words
}

/// The version of the installed LZ4, for example `1.9.4`.
public var lz4Version: String { String(cString: LZ4_versionString()) }

/// Where compressed contents begin.
struct StoredPlace: Equatable {
    let segment: Int
    /// In bytes from the start of the segment.
    let offset: Int
}

/// Compresses pages of real memory with LZ4, into real memory.
///
/// What a process has written into a page does not matter to it, and would compress too well. So the page is written
/// anew, from the seed, before it is compressed: with what `Compressibility` drew for it. It comes back with these
/// contents. A sum over the page shows whether they are the same. The contents of one repeated word are kept in the
/// table.
///
/// Limits: one thread. The table takes 16 bytes for each address whose page was ever compressed.
final class PageContents {
    /// Where the contents of a page are.
    private struct Record {
        /// A sum over the page, or the repeated word.
        var sum: UInt64
        var segment: UInt32
        /// In units of 16 bytes.
        var offset: UInt16
        /// The bytes that LZ4 made of the page: all of them if it did not shrink, and 0 for a repeated word.
        var length: UInt16
    }

    /// The unit of places in a segment; XNU's compressor also aligns contents to 16 bytes.
    private static let unit = 16
    private static let page = DeviceRegion.pageSize
    private static let words = page / MemoryLayout<UInt64>.stride
    private static let vocabularySize = 16

    private let base: UnsafeMutableRawPointer
    private let records: UnsafeMutablePointer<Record>
    private let pages: Int
    /// By segment: where it begins, in units of 8 bytes from the start of the region.
    private var segments: [Int]
    /// What LZ4 made of the last page; nothing if the page did not shrink.
    private let output: UnsafeMutablePointer<CChar>
    /// The sixteen words of the page that is written.
    private let vocabulary: UnsafeMutablePointer<UInt64>
    private let recipe: PageRecipe
    private var generator: SeededGenerator

    /// - Parameters:
    ///   - base: The start of the region.
    ///   - pages: How many addresses it has, in pages.
    ///   - segments: The most segments of the pool.
    init(at base: UnsafeMutableRawPointer, pages: Int, segments: Int, _ recipe: PageRecipe, seed: UInt64) {
        self.base = base
        self.recipe = recipe
        records = HostTable.make(pages, of: Record.self)
        self.pages = pages
        self.segments = Array(repeating: 0, count: segments)
        output = .allocate(capacity: PageContents.page)
        vocabulary = .allocate(capacity: PageContents.vocabularySize)
        generator = SeededGenerator(seed: seed, stream: "contents of pages")
    }

    deinit {
        HostTable.free(records, pages)
        output.deallocate()
        vocabulary.deallocate()
    }

    // MARK: Places

    /// A new segment begins at this place, in units of 8 bytes from the start of the region.
    func begin(_ segment: Int, at unit: Int) { segments[segment] = unit }

    private func start(of page: Int) -> UnsafeMutableRawPointer { base + page * PageContents.page }

    /// What the pool holds of a compressed page; empty for one repeated word.
    func stored(of page: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: place(records[page]), count: Int(records[page].length))
    }

    private func place(_ record: Record) -> UnsafeMutableRawPointer {
        base + (segments[Int(record.segment)] << 3) + Int(record.offset) * PageContents.unit
    }

    // MARK: Out

    /// Writes the page's contents and compresses them.
    ///
    /// - Parameter drawn: The bytes that the contents should take: none for one repeated word, a page for contents
    ///   that do not compress.
    /// - Returns: The bytes that they take: what LZ4 makes of them, in whole units, or a page if it does not shrink.
    func compress(_ page: Int, drawn: Int) -> Int {
        let start = start(of: page)
        write(start, drawn)
        if memcmp(start, start + 8, PageContents.page - 8) == 0 {
            keep(start.load(as: UInt64.self), of: page, length: 0)
            return 0
        }
        let most = PageContents.page - PageContents.unit
        let length = Int(LZ4_compress_default(start, output, Int32(PageContents.page), Int32(most)))
        keep(PageContents.sum(start), of: page, length: length > 0 ? length : PageContents.page)
        return room(of: page)
    }

    private func keep(_ sum: UInt64, of page: Int, length: Int) {
        records[page] = Record(sum: sum, segment: 0, offset: 0, length: UInt16(length))
    }

    private func room(of page: Int) -> Int {
        ByteCount(Int(records[page].length)).roundedUp(toMultipleOf: PageContents.unit).bytes
    }

    /// The contents of the page that was compressed last go to this place.
    func keep(_ page: Int, at place: StoredPlace) {
        settle(page, at: place)
        let length = Int(records[page].length)
        let contents = length == PageContents.page ? start(of: page) : UnsafeMutableRawPointer(output)
        memcpy(self.place(records[page]), contents, length)
    }

    /// The contents of a page, which is in no segment, move to this place. Both places are still there.
    func move(_ page: Int, to place: StoredPlace) {
        let before = self.place(records[page])
        settle(page, at: place)
        memmove(self.place(records[page]), before, Int(records[page].length))
    }

    private func settle(_ page: Int, at place: StoredPlace) {
        records[page].segment = UInt32(place.segment)
        records[page].offset = UInt16(place.offset / PageContents.unit)
    }

    // MARK: In

    /// Fills a page's new frame with its contents.
    func restore(_ page: Int) {
        if let fault = fault(restoring: page) { preconditionFailure(fault) }
    }

    /// Fills a page's new frame with its contents; says what is wrong with them.
    func fault(restoring page: Int) -> String? {
        let (record, start) = (records[page], start(of: page))
        let length = Int(record.length)
        guard length > 0 else {
            start.bindMemory(to: UInt64.self, capacity: PageContents.words)
                .update(repeating: record.sum, count: PageContents.words)
            return nil
        }
        let stored = place(record)
        if length == PageContents.page {
            memcpy(start, stored, length)
        } else {
            let whole = Int32(PageContents.page)
            let count = LZ4_decompress_safe(stored, start, Int32(length), whole)
            guard count == whole else { return "LZ4 made \(count) bytes of the \(length) of page \(page)" }
        }
        let isSame = PageContents.sum(start) == record.sum  // promise: contents
        return isSame ? nil : "page \(page) came back with other contents"
    }

    /// Changes with every word of the page, and with their order.
    private static func sum(_ start: UnsafeRawPointer) -> UInt64 {
        var sum: UInt64 = 0
        for word in 0..<words {
            // Each step is reversible, so a single other word always gives another sum. The factor is 2^64 over the
            // golden ratio, as in SplitMix64.
            sum = (sum ^ start.load(fromByteOffset: word * 8, as: UInt64.self)) &* 0x9e37_79b9_7f4a_7c15
            sum ^= sum >> 32
        }
        return sum
    }

    /// What disagrees between the record of a compressed page and the table's.
    func disagreement(about page: Int, with entry: FrameTable.Page) -> String? {
        let isInSegment = entry.place != FrameTable.Place.word
        guard room(of: page) == Int(entry.size), isInSegment == (records[page].length > 0) else {
            return "page \(page) takes \(entry.size) bytes, and its contents \(records[page].length)"
        }
        guard !isInSegment || records[page].segment + FrameTable.Place.segments == entry.place else {
            return "page \(page) is at \(entry.place), and its contents in segment \(records[page].segment)"
        }
        return nil
    }
}

// MARK: - Recipes

extension PageContents {
    /// Writes what compresses to about this many bytes.
    private func write(_ start: UnsafeMutableRawPointer, _ size: Int) {
        let words = start.bindMemory(to: UInt64.self, capacity: PageContents.words)
        if size == 0 {
            words.update(repeating: generator.next(), count: PageContents.words)
        } else if size >= PageContents.page {
            writeRandom(words, PageContents.words)
        } else {
            switch recipe {
            case .head: writeHead(words, size)
            case .words: writeMix(words, size)
            }
        }
    }

    private func writeRandom(_ words: UnsafeMutablePointer<UInt64>, _ count: Int) {
        for word in 0..<count { words[word] = generator.next() }
    }

    /// LZ4 adds 27 to 37 bytes to the random ones: how many bytes are literal, where the zeros begin, and how many they
    /// are (measured with LZ4 1.9.4). So the page takes what it should, to the unit.
    private func writeHead(_ words: UnsafeMutablePointer<UInt64>, _ size: Int) {
        let count = max(8, size - 33 - size / 600)
        writeRandom(words, (count + 7) / 8)
        memset(UnsafeMutableRawPointer(words) + count, 0, PageContents.page - count)
    }

    /// What LZ4 makes of a page without random words, and of pages of which a quarter, half, three quarters and all
    /// words are random. Measured with LZ4 1.9.4, 500 pages each.
    private static let mixSizes = [1_536, 2_248, 2_952, 3_604, 4_114]

    private func writeMix(_ words: UnsafeMutablePointer<UInt64>, _ size: Int) {
        let share = PageContents.randomWords(for: size)
        writeRandom(vocabulary, PageContents.vocabularySize)
        for word in 0..<PageContents.words {
            let isRandom = generator.below(1_000_000) < share
            let chosen = Int(generator.below(UInt64(PageContents.vocabularySize)))
            words[word] = isRandom ? generator.next() : vocabulary[chosen]
        }
    }

    /// The share of random words, in millionths, with which a page takes this many bytes.
    private static func randomWords(for size: Int) -> UInt64 {
        for (step, (low, high)) in zip(mixSizes, mixSizes.dropFirst()).enumerated() where size < high {
            return UInt64(step * 250_000 + max(0, size - low) * 250_000 / (high - low))
        }
        return 1_000_000
    }
}
