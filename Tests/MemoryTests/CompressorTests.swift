import Quantities
import Testing

@testable import Memory

/// One device on both backends, used alike.
private struct Twins {
    let real: BookedDevice<PagedHeaps<JemallocHeaps>>
    let counted: BookedDevice<PagedHeaps<AccountingHeaps>>
    var onReal: RandomOperations
    var onCounted: RandomOperations
    private var random: SeededGenerator
    /// Calls that compressed, brought back or swapped something.
    private(set) var effects = 0

    init(seed: Int, ceiling: ByteCount, batch: Int, sizes: SizeDistribution? = nil) throws {
        let limits = CompressorLimits(pool: ceiling, input: ceiling)
        let reserved = ByteCount.mebibytes(1)
        real = try BookedDevice(ceiling: ceiling, reserved: reserved, keeping: .segments(limits), seed: UInt64(seed))
        counted = try BookedDevice(
            ceiling: ceiling, reserved: reserved, keeping: .segments(limits), seed: UInt64(seed))
        onReal = RandomOperations(real, seed: UInt64(seed), batch: batch, sizes: sizes, wide: seed % 3 == 0)
        onCounted = RandomOperations(counted, seed: UInt64(seed), batch: batch, sizes: sizes, wide: seed % 3 == 0)
        random = SeededGenerator(seed: UInt64(seed), stream: "compressor-tests")
    }

    mutating func step() throws {
        try onReal.step()
        try onCounted.step()
        guard !onReal.live.isEmpty else { return }
        let chosen = Int(random.below(UInt64(onReal.live.count)))
        let bytes = ByteCount(random.number(in: 0...2 << 20))
        let (slot, same) = (onReal.live[chosen].slot, onCounted.live[chosen].slot)
        let (a, b): (ByteCount, ByteCount)
        switch random.below(12) {
        case 0..<5: (a, b) = (real.compress(slot, atMost: bytes), counted.compress(same, atMost: bytes))
        case 5: (a, b) = (real.bringBack(slot, atMost: bytes), counted.bringBack(same, atMost: bytes))
        case 6:
            let kind = Compressibility(
                ratio: percent(100...400), repeated: percent(0...50), incompressible: percent(0...50))
            real.declare(kind, of: slot)
            counted.declare(kind, of: same)
            return
        case 7, 8:
            let (gone, alike) = (real.swapOut(slot, atMost: bytes), counted.swapOut(same, atMost: bytes))
            #expect(gone == alike && gone.written <= bytes && gone.written <= gone.pages)
            (a, b) = (gone.pages, alike.pages)
        default: return
        }
        #expect(a == b)
        if a > .zero { effects += 1 }
    }

    private mutating func percent(_ range: ClosedRange<Int>) -> Ratio { .percent(Int64(random.number(in: range))) }

    /// What differs between the two, or within the books of one.
    func disagreement() -> String? {
        for (a, b) in zip(onReal.live, onCounted.live) where real.books(of: a.slot) != counted.books(of: b.slot) {
            return "slot \(a.slot.index): \(real.books(of: a.slot)) and \(counted.books(of: b.slot))"
        }
        if real.longestFreeRun != counted.longestFreeRun { return "the longest runs" }
        if real.figures != counted.figures {
            return "the pools: \(real.figures) and \(counted.figures)"
        }
        let books = counted.books
        let sums = onCounted.live.map { counted.books(of: $0.slot) }
        guard books.frames == books.resident else { return "\(books.frames) frames, \(books.resident) resident" }
        guard sums.map(\.compressed).reduce(.zero, +) == books.compressed else { return "the compressed pages" }
        guard sums.map(\.swapped).reduce(.zero, +) == books.swapped else { return "the swapped pages" }
        let figures = counted.figures
        guard figures.swapped == books.swapped, figures.compressed == books.compressed,
            figures.onStorage <= figures.swapped,
            figures.swapped + figures.swappedBack <= figures.swappedInAll,
            figures.onStorage + figures.readInAll <= figures.writtenInAll,
            figures.swappedBack + figures.repeatedBroughtBack <= figures.broughtBack
        else { return "the store: \(figures)" }
        let resident = sums.map(\.resident).reduce(books.reserved + books.compressor, +)
        guard resident == books.resident, books.resident <= books.ceiling else { return "the frames: \(books)" }
        return nil
    }
}

/// jemalloc's statistics cover the whole process, so tests run one after another.
@Suite("Pages without frames, and the compressor", .serialized)
struct CompressorTests {
    @Test("whatever is compressed and comes back, both backends have the same books", arguments: 0..<100)
    func sameBooks(seed: Int) throws {
        try compare(seed, ceiling: .mebibytes(24), steps: 200, batch: 256 << 10)
    }

    @Test("so they have with large objects under a ceiling that is often met", arguments: 0..<20)
    func sameBooksLarge(seed: Int) throws {
        let sizes = SizeDistribution.logNormal(
            median: .kibibytes(40), sigma: .percent(200), highest: .mebibytes(12))
        let refusals = try compare(seed, ceiling: .mebibytes(64), steps: 150, batch: 16 << 20, sizes: sizes)
        #expect(refusals > 0, "seed \(seed)")
    }

    @discardableResult
    private func compare(
        _ seed: Int, ceiling: ByteCount, steps: Int, batch: Int, sizes: SizeDistribution? = nil
    ) throws -> Int {
        var twins = try Twins(seed: seed, ceiling: ceiling, batch: batch, sizes: sizes)
        for step in 0..<steps {
            try twins.step()
            let difference = twins.disagreement()
            try #require(difference == nil, "seed \(seed), step \(step): \(difference ?? "")")
            guard step % 10 == 9 else { continue }
            try twins.real.audit()
            try twins.counted.audit()
            let backed = pageBytes(twins.real.heaps.base.backedByHost)
            try #require(backed <= ceiling, "seed \(seed), step \(step): the host backs \(backed)")
        }
        #expect(twins.effects > 0 && twins.real.figures.swappedInAll > .zero, "seed \(seed)")
        #expect(twins.onReal.refusals == twins.onCounted.refusals, "seed \(seed)")
        #expect(twins.real.touchedBytes <= ceiling, "seed \(seed)")
        try twins.onReal.endAll()
        try twins.onCounted.endAll()
        try twins.real.audit()
        let books = twins.real.books
        #expect(books == twins.counted.books.with(metadata: books.metadata), "seed \(seed)")
        #expect(books.resident == books.reserved + books.compressor, "seed \(seed)")
        #expect(books.active == .zero && books.dirty == .zero && books.compressed == .zero, "seed \(seed)")
        #expect(books.swapped == .zero && twins.real.figures.onStorage == .zero, "seed \(seed)")
        return twins.onReal.refusals.count
    }

    @Test("at a full ceiling compressing makes room")
    func fullCeiling() throws {
        for backend in [MemoryBackend.jemalloc, .accounting] {
            let (device, pages, old, pool) = try fullDevice(backend)
            let before = device.available
            #expect(before < ByteCount.kibibytes(300))
            let done = pages.compress(old, atMost: .mebibytes(4))
            #expect(done == .mebibytes(4))
            #expect(device.available - before > .mebibytes(2))
            let sizes = [Int](repeating: 100, count: 10_000)
            #expect(device.allocate(sizes.span, in: pool, limit: nil).refusal == nil)
        }
    }

    @Test("what does not compress makes no room, and the pool is full")
    func incompressible() throws {
        for backend in [MemoryBackend.jemalloc, .accounting] {
            let (device, pages, old, _) = try fullDevice(backend)
            pages.declare(Compressibility(ratio: .one, repeated: .zero, incompressible: .one), of: old)
            let before = device.available
            let done = pages.compress(old, atMost: .mebibytes(4))
            #expect(done < .mebibytes(1))
            #expect(device.available <= before + .kibibytes(256))
            #expect(pages.figures.isFull)
        }
    }

    @Test("pages that are used again come back, and their segments go")
    func comeBack() throws {
        for backend in [MemoryBackend.jemalloc, .accounting] {
            let device = try makeDeviceMemory(
                backend, ceiling: .mebibytes(32), reserved: .zero, compressor: limits(.mebibytes(32)))
            let pages = try #require(device.compressor)
            let slot = try device.makeProcess()
            let pool = device.makePool(in: slot)
            _ = device.allocate([Int](repeating: 1_000, count: 8_000).span, in: pool, limit: nil)
            let footprint = device.books(of: slot).footprint
            let done = pages.compress(slot, atMost: .mebibytes(64))
            #expect(done == footprint)
            #expect(device.books(of: slot).resident == .zero && device.books(of: slot).footprint == footprint)
            #expect(device.touch(.mebibytes(64), in: pool) == ByteCount(8_000_000))
            #expect(device.books(of: slot).compressed < footprint * .percent(5))
            #expect(pages.figures.stored < .kibibytes(300))
            #expect(pages.figures.segments <= 2)
        }
    }

    @Test("a use for which there is no room stops early and says why")
    func noRoom() throws {
        for backend in [MemoryBackend.jemalloc, .accounting] {
            let (device, pages, old, pool) = try fullDevice(backend)
            _ = pages.compress(old, atMost: .mebibytes(8))
            while device.allocate([4_096].span, in: pool, limit: nil).refusal == nil {}
            let mine = PoolID(slot: old, index: 0)
            let whole = device.requested(in: mine)
            #expect(device.read(whole, in: mine) < whole)
            guard case .noRoom(let wanted, let free, _) = device.refusal else { continue }
            #expect(wanted > free)
        }
    }

    // MARK: The store on flash

    @Test("contents go to the store oldest first, up to a limit; repeated words stay, and the pool's segments go")
    func swapOut() throws {
        for backend in [MemoryBackend.jemalloc, .accounting] {
            let (device, pages, slot, _) = try compressedDevice(backend, repeated: 25)
            let (footprint, before) = (device.books(of: slot).footprint, pages.figures)
            #expect(before.repeated > .mebibytes(1) && before.stored > .mebibytes(2))
            let first = pages.swapOut(slot, atMost: .mebibytes(1))
            #expect(first.written <= .mebibytes(1) && first.written > .mebibytes(1) - .kibibytes(4))
            #expect(pages.figures.pool < before.pool)
            let rest = pages.swapOut(slot, atMost: .mebibytes(64))
            let (books, after) = (device.books(of: slot), pages.figures)
            #expect(books.compressed == before.repeated && books.swapped == first.pages + rest.pages)
            #expect(books.compressed + books.swapped == footprint && books.resident == .zero)
            #expect(after.stored == .zero && after.onStorage == before.stored)
            #expect(after.writtenInAll == first.written + rest.written && after.writtenInAll == before.stored)
            #expect(after.segments <= 2 && after.pool < .mebibytes(1))
            #expect(device.books.frames == device.books.resident)
            #expect(pages.swapOut(slot, atMost: .mebibytes(64)) == SwappedPages(pages: .zero, written: .zero))
            try device.audit()
        }
    }

    @Test("swapped pages come back when they are used, and count as read")
    func swapBack() throws {
        for backend in [MemoryBackend.jemalloc, .accounting] {
            let (device, pages, slot, pool) = try compressedDevice(backend, repeated: 10)
            let swapped = pages.swapOut(slot, atMost: .mebibytes(64))
            #expect(device.touch(.mebibytes(64), in: pool) == ByteCount(8_000_000))
            let figures = pages.figures
            #expect(device.books(of: slot).swapped < swapped.pages * .percent(5))
            #expect(figures.swappedBack == swapped.pages - figures.swapped)
            #expect(figures.readInAll == swapped.written - figures.onStorage && figures.readInAll > .zero)
            #expect(figures.broughtBack == figures.swappedBack + figures.repeatedBroughtBack)
            try device.audit()
        }
    }

    @Test("what is brought back comes from the pool first, then from the store")
    func orderBack() throws {
        for backend in [MemoryBackend.jemalloc, .accounting] {
            let (device, pages, slot, _) = try compressedDevice(backend, repeated: 0)
            let swapped = pages.swapOut(slot, atMost: .mebibytes(1))
            let compressed = device.books(of: slot).compressed
            #expect(pages.bringBack(slot, atMost: compressed) == compressed)
            #expect(pages.figures.swappedBack == .zero && device.books(of: slot).compressed == .zero)
            #expect(pages.bringBack(slot, atMost: .mebibytes(64)) == swapped.pages)
            #expect(pages.figures.swappedBack == swapped.pages && pages.figures.readInAll == swapped.written)
            #expect(device.books(of: slot).resident == device.books(of: slot).footprint)
        }
    }

    @Test("a process that ends leaves nothing in the store, and nothing was read")
    func endSwapped() throws {
        for backend in [MemoryBackend.jemalloc, .accounting] {
            let (device, pages, slot, _) = try compressedDevice(backend, repeated: 10)
            let swapped = pages.swapOut(slot, atMost: .mebibytes(2))
            let footprint = device.books(of: slot).footprint
            #expect(try device.endProcess(slot) == footprint)
            let figures = pages.figures
            #expect(device.books.swapped == .zero && figures.swapped == .zero && figures.onStorage == .zero)
            #expect(figures.swappedInAll == swapped.pages && figures.writtenInAll == swapped.written)
            #expect(figures.swappedBack == .zero && figures.readInAll == .zero)
            #expect(device.books.resident == device.books.compressor)
            try device.audit()
        }
    }

    @Test("a limit below the next page's contents moves nothing")
    func smallLimit() throws {
        let (_, pages, slot, _) = try compressedDevice(.accounting, repeated: 0, incompressible: 100)
        #expect(pages.swapOut(slot, atMost: ByteCount(4_095)).pages == .zero)
        let one = ByteCount.kibibytes(4)
        #expect(pages.swapOut(slot, atMost: one) == SwappedPages(pages: one, written: one))
    }

    @Test("pages in the store do not count for the limit of what may be compressed")
    func inputLimit() throws {
        let ceiling = ByteCount.mebibytes(32)
        let device = try makeDeviceMemory(
            .accounting, ceiling: ceiling, reserved: .zero,
            compressor: CompressorLimits(pool: ceiling, input: .mebibytes(2)))
        let pages = try #require(device.compressor)
        let slot = try device.makeProcess()
        pages.declare(Compressibility(ratio: .percent(200), repeated: .zero, incompressible: .zero), of: slot)
        let pool = device.makePool(in: slot)
        _ = device.allocate([Int](repeating: 1_000, count: 8_000).span, in: pool, limit: nil)
        #expect(pages.compress(slot, atMost: .mebibytes(4)) == .mebibytes(2) && pages.figures.isFull)
        #expect(pages.compress(slot, atMost: .mebibytes(4)) == .zero)
        #expect(pages.swapOut(slot, atMost: .mebibytes(8)).pages == .mebibytes(2))
        #expect(pages.compress(slot, atMost: .mebibytes(4)) == .mebibytes(2))
    }

    /// A device with one process, all of whose pages are compressed.
    private func compressedDevice(
        _ backend: MemoryBackend, repeated: Int64, incompressible: Int64 = 0
    ) throws -> (any DeviceMemory, any CompressedPages, MemorySlot, PoolID) {
        let device = try makeDeviceMemory(
            backend, ceiling: .mebibytes(32), reserved: .zero, compressor: limits(.mebibytes(32)))
        let pages = try #require(device.compressor)
        let slot = try device.makeProcess()
        let kind = Compressibility(
            ratio: .percent(200), repeated: .percent(repeated), incompressible: .percent(incompressible))
        pages.declare(kind, of: slot)
        let pool = device.makePool(in: slot)
        _ = device.allocate([Int](repeating: 1_000, count: 8_000).span, in: pool, limit: nil)
        #expect(pages.compress(slot, atMost: .mebibytes(64)) == device.books(of: slot).footprint)
        return (device, pages, slot, pool)
    }

    private func limits(_ ceiling: ByteCount) -> CompressorLimits { CompressorLimits(pool: ceiling, input: ceiling) }

    /// A device without free memory: an old process that holds nearly all of it, and a pool of a new one.
    private func fullDevice(_ backend: MemoryBackend) throws -> (
        any DeviceMemory, any CompressedPages, MemorySlot, PoolID
    ) {
        let ceiling = ByteCount.mebibytes(16)
        let device = try makeDeviceMemory(
            backend, ceiling: ceiling, reserved: .mebibytes(1), compressor: limits(ceiling))
        let (old, new) = (try device.makeProcess(), try device.makeProcess())
        let (mine, pool) = (device.makePool(in: old), device.makePool(in: new))
        while device.available > .mebibytes(1) {
            _ = device.allocate([3_000, 20_000, 100_000].span, in: mine, limit: nil)
        }
        while device.allocate([4_096].span, in: pool, limit: nil).refusal == nil {}
        return (device, try #require(device.compressor), old, pool)
    }
}

extension DeviceBooks {
    fileprivate func with(metadata: ByteCount) -> DeviceBooks {
        var books = self
        books.metadata = metadata
        return books
    }
}
