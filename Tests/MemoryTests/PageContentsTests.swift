import Quantities
import SystemLz4
import Testing

@testable import Memory

/// jemalloc's statistics cover the whole process, so tests run one after another.
@Suite("Contents that LZ4 compresses", .serialized)
struct PageContentsTests {
    private typealias Device = BookedDevice<PagedHeaps<JemallocHeaps>>

    private func device(_ recipe: PageRecipe?, seed: UInt64 = 1, ceiling: ByteCount = .mebibytes(24)) throws -> Device {
        let limits = CompressorLimits(pool: ceiling, input: ceiling, recipe: recipe)
        return try Device(ceiling: ceiling, reserved: .mebibytes(1), keeping: .segments(limits), seed: seed)
    }

    /// A device on which one process holds at least this many pages, all of this kind.
    private func filled(
        _ recipe: PageRecipe, pages: Int, _ kind: Compressibility, seed: UInt64 = 1
    ) throws -> (Device, MemorySlot, PoolID) {
        let device = try device(recipe, seed: seed)
        let slot = try device.makeProcess()
        let pool = device.makePool(in: slot)
        device.declare(kind, of: slot)
        #expect(device.allocate([Int](repeating: 4_096, count: pages).span, in: pool, limit: nil).refusal == nil)
        return (device, slot, pool)
    }

    private func kind(ratio: Int64, repeated: Int64 = 0, incompressible: Int64 = 0) -> Compressibility {
        Compressibility(
            ratio: .percent(ratio), repeated: .percent(repeated), incompressible: .percent(incompressible))
    }

    /// What LZ4 makes of a page, in the units of the pool.
    private func size(of page: UnsafeRawPointer) -> Int {
        var output = [CChar](repeating: 0, count: 8_192)
        let size = Int(LZ4_compress_default(page.assumingMemoryBound(to: CChar.self), &output, 4_096, 8_192))
        return size > 4_080 ? 4_096 : (size + 15) / 16 * 16
    }

    @Test("with a head of random bytes a page takes what it should, to the unit of 16 bytes")
    func head() throws {
        let page = UnsafeMutableRawPointer.allocate(byteCount: 4_096, alignment: 4_096)
        defer { page.deallocate() }
        let contents = PageContents(at: page, pages: 1, segments: 1, .head, seed: 7)
        for wanted in stride(from: 48, through: 4_080, by: 16) {
            #expect(contents.compress(0, drawn: wanted) == wanted)
            #expect(size(of: page) == wanted)
        }
        // LZ4 has no shorter words for a page that is not all one byte.
        for wanted in [16, 32] { #expect(contents.compress(0, drawn: wanted) == 48) }
        #expect(contents.compress(0, drawn: 4_096) == 4_096 && size(of: page) == 4_096)
        #expect(contents.compress(0, drawn: 0) == 0)
    }

    @Test("with a mix of words a page takes about what it should, down to what LZ4 can do")
    func words() throws {
        let page = UnsafeMutableRawPointer.allocate(byteCount: 4_096, alignment: 4_096)
        defer { page.deallocate() }
        let contents = PageContents(at: page, pages: 1, segments: 1, .words, seed: 7)
        var sizes: Set<Int> = []
        for wanted in [1_536, 1_700, 2_048, 2_500, 3_000, 3_500, 3_900] {
            var sum = 0
            for _ in 0..<200 {
                let size = contents.compress(0, drawn: wanted)
                #expect(size == self.size(of: page))
                sizes.insert(size)
                sum += size
            }
            #expect(abs(sum / 200 - wanted) * 100 <= wanted * 2, "\(sum / 200) bytes in place of \(wanted)")
        }
        // LZ4 decides, not the draw.
        #expect(sizes.count > 50)
        #expect((1_450...1_650).contains(contents.compress(0, drawn: 700)))
    }

    @Test("the pool holds what LZ4 makes of the pages that come back", arguments: PageRecipe.allCases)
    func reallyCompressed(recipe: PageRecipe) throws {
        let (device, slot, _) = try filled(
            recipe, pages: 1_000, kind(ratio: 200, repeated: 20, incompressible: 20))
        let done = device.compress(slot, atMost: .mebibytes(3))
        #expect(done == .mebibytes(3))
        let frames = device.heaps.frames
        let kept = frames.pointee.contents
        let contents = try #require(kept)
        let base = device.heaps.base.start
        var (words, whole, smaller) = (0, 0, 0)
        while let page = frames.pointee.newestFrameless(of: slot.index) {
            let stored = contents.stored(of: page).count
            let before = device.books(of: slot).compressed
            #expect(device.bringBack(slot, atMost: .kibibytes(4)) == .kibibytes(4))
            #expect(device.books(of: slot).compressed == before - .kibibytes(4))
            let words64 = UnsafeRawBufferPointer(start: base + page * 4_096, count: 4_096).bindMemory(to: UInt64.self)
            if words64.allSatisfy({ $0 == words64[0] }) {
                #expect(stored == 0)
                words += 1
            } else if stored == 4_096 {
                whole += 1
            } else {
                #expect((stored + 15) / 16 * 16 == size(of: base + page * 4_096))
                smaller += 1
            }
        }
        #expect(words + whole + smaller == 768)
        for (share, count) in [(20, words), (20, whole), (60, smaller)] { #expect(abs(count * 100 / 768 - share) < 5) }
        #expect(device.figures.stored == .zero && device.figures.repeatedBroughtBack == pageBytes(words))
    }

    @Test("a changed bit in the pool does not come back unnoticed", arguments: PageRecipe.allCases)
    func damaged(recipe: PageRecipe) throws {
        for incompressible in [0, 100] as [Int64] {
            let (device, slot, _) = try filled(recipe, pages: 64, kind(ratio: 200, incompressible: incompressible))
            #expect(device.compress(slot, atMost: .kibibytes(128)) == .kibibytes(128))
            let frames = device.heaps.frames
            let kept = frames.pointee.contents
            let contents = try #require(kept)
            let newest = frames.pointee.newestFrameless(of: slot.index)
            let page = try #require(newest)
            let stored = contents.stored(of: page)
            #expect(contents.fault(restoring: page) == nil)
            for byte in [0, stored.count / 4, stored.count - 1] {
                stored[byte] ^= 16
                #expect(contents.fault(restoring: page) != nil, "byte \(byte) of \(stored.count)")
                stored[byte] ^= 16
            }
            #expect(contents.fault(restoring: page) == nil)
        }
    }

    @Test("a page of one repeated word comes back as this word")
    func repeatedWord() throws {
        let (device, slot, _) = try filled(.head, pages: 64, kind(ratio: 200, repeated: 100))
        #expect(device.compress(slot, atMost: .kibibytes(128)) == .kibibytes(128))
        #expect(device.figures.repeated == .kibibytes(128) && device.figures.stored == .zero)
        let newest = device.heaps.frames.pointee.newestFrameless(of: slot.index)
        let first = try #require(newest)
        #expect(device.bringBack(slot, atMost: .mebibytes(1)) == .kibibytes(128))
        let start = device.heaps.base.start + first * 4_096
        let words = UnsafeRawBufferPointer(start: start, count: 4_096).bindMemory(to: UInt64.self)
        #expect(words.allSatisfy { $0 == words[0] } && words[0] != 0)
    }

    /// Random calls on one device; all contents are checked when they come back, at the end the last.
    private func play(_ recipe: PageRecipe?, seed: UInt64, steps: Int) throws -> (Device, Set<CompressorBooks>) {
        let device = try device(recipe, seed: seed)
        var calls = RandomOperations(device, seed: seed, batch: 256 << 10, wide: seed % 3 == 0)
        var random = SeededGenerator(seed: seed, stream: "contents-tests")
        var states: Set<CompressorBooks> = []
        for step in 0..<steps {
            try calls.step()
            guard !calls.live.isEmpty else { continue }
            let slot = calls.live[Int(random.below(UInt64(calls.live.count)))].slot
            let bytes = ByteCount(random.number(in: 0...2 << 20))
            switch random.below(10) {
            case 0..<5: _ = device.compress(slot, atMost: bytes)
            case 5: _ = device.bringBack(slot, atMost: bytes)
            case 6:
                device.declare(
                    kind(
                        ratio: Int64(random.number(in: 100...400)), repeated: Int64(random.number(in: 0...50)),
                        incompressible: Int64(random.number(in: 0...50))), of: slot)
            default: break
            }
            try check(device, calls.live.map(\.slot))
            states.insert(device.figures)
            if step % 10 == 9 { try device.audit() }
        }
        for process in calls.live { _ = device.bringBack(process.slot, atMost: .mebibytes(64)) }
        try calls.endAll()
        try device.audit()
        #expect(device.books.compressed == .zero && device.figures.stored == .zero)
        return (device, states)
    }

    private func check(_ device: Device, _ slots: [MemorySlot]) throws {
        let (books, own) = (device.books, slots.map { device.books(of: $0) })
        #expect(books.frames == books.resident && books.resident <= books.ceiling)
        #expect(own.map(\.compressed).reduce(.zero, +) == books.compressed)
        #expect(own.map(\.resident).reduce(books.reserved + books.compressor, +) == books.resident)
    }

    @Test("whatever moves, all contents come back, and both sums hold", arguments: 0..<20, PageRecipe.allCases)
    func random(seed: Int, recipe: PageRecipe) throws {
        let (device, states) = try play(recipe, seed: UInt64(seed), steps: 150)
        #expect(states.count > 30)
        #expect(device.touchedBytes <= .mebibytes(24))
        #expect(pageBytes(device.heaps.base.backedByHost) <= .mebibytes(24))
    }

    @Test("contents move when sparse segments are compacted, and come back")
    func compacted() throws {
        let (device, slot, pool) = try filled(.words, pages: 4_000, kind(ratio: 200))
        #expect(device.compress(slot, atMost: .mebibytes(12)) == .mebibytes(12))
        // Every second page comes back, so all segments are half full.
        var generator = SeededGenerator(seed: 1, stream: "compacted")
        _ = device.releaseScattered(.mebibytes(7), from: pool, using: &generator)
        _ = try device.purge(slot)
        _ = device.compress(slot, atMost: .mebibytes(4))
        #expect(device.figures.compacted > .kibibytes(64))
        _ = device.bringBack(slot, atMost: .mebibytes(24))
        #expect(device.books.compressed == .zero)
        try device.audit()
    }

    @Test("the same seed gives the same sizes, another seed other ones")
    func seeds() throws {
        let runs = try [1, 1, 2].map { try play(.words, seed: $0, steps: 80).1 }
        #expect(runs[0] == runs[1] && runs[0] != runs[2])
    }
}
