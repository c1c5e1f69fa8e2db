import Quantities
import Testing

@testable import Memory

/// The promises of every backend.
@Suite("A device's memory", .serialized)
struct DeviceMemoryTests {
    @Test("a full device refuses and names the free pages and the longest run", arguments: MemoryBackend.allCases)
    func refusal(backend: MemoryBackend) throws {
        let device = try makeDeviceMemory(backend, ceiling: .mebibytes(4), reserved: .mebibytes(1))
        let pool = device.makePool(in: try device.makeProcess())
        let sizes = Array(repeating: 100 << 10, count: 100)
        let result = device.allocate(sizes.span, in: pool, limit: nil)
        #expect(result.objects > 20 && result.objects < 31)
        guard case .noRoom(let wanted, let free, let longest)? = result.refusal else {
            Issue.record("\(String(describing: result.refusal))")
            return
        }
        #expect(wanted.bytes >= 100 << 10)
        #expect(longest < wanted && longest == device.longestFreeRun)
        #expect(free == device.books.available && free == longest)
        #expect(device.books.peakResident <= device.books.ceiling)
    }

    @Test("holes refuse nothing: any free pages make a run", arguments: MemoryBackend.allCases)
    func holes(backend: MemoryBackend) throws {
        let device = try makeDeviceMemory(backend, ceiling: .mebibytes(8), reserved: .zero)
        let slots = try (0..<2).map { _ in try device.makeProcess() }
        let pools = slots.map { device.makePool(in: $0) }
        // Two processes allocate in turn; then one of them leaves holes of 68 KiB everywhere.
        let sizes = [64 << 10]
        var turn = 0
        while device.allocate(sizes.span, in: pools[turn & 1], limit: nil).refusal == nil { turn += 1 }
        _ = try device.endProcess(slots[0])
        let free = device.books.available
        #expect(free > .mebibytes(3) && device.longestFreeRun == free)
        let large = [free.bytes / 10 * 7]
        #expect(device.allocate(large.span, in: pools[1], limit: nil).refusal == nil)
        #expect(device.books.peakResident <= .mebibytes(8))
        try device.audit()
    }

    @Test("an allocation stops right after the object that crosses the limit", arguments: MemoryBackend.allCases)
    func limit(backend: MemoryBackend) throws {
        let device = try makeDeviceMemory(backend, ceiling: .mebibytes(16), reserved: .zero)
        let slot = try device.makeProcess()
        let pool = device.makePool(in: slot)
        let sizes = Array(repeating: 60_000, count: 100)
        let result = device.allocate(sizes.span, in: pool, limit: .mebibytes(2))
        let books = device.books(of: slot)
        #expect(result.refusal == .limitCrossed(footprint: books.footprint))
        #expect(books.footprint > .mebibytes(2) && books.footprint <= .mebibytes(2) + .kibibytes(68))
        #expect(books.objects == result.objects && books.requested == result.requested)
        let within = device.allocate([10].span, in: pool, limit: .mebibytes(16))
        #expect(within.refusal == nil)
    }

    @Test("wired memory that comes and goes counts as the system's", arguments: MemoryBackend.allCases)
    func wired(backend: MemoryBackend) throws {
        let (ceiling, reserved) = (ByteCount.mebibytes(16), ByteCount.mebibytes(1))
        for (scale, compresses) in [(Ratio.one, false), (.one, true), (.percent(25), false), (.percent(25), true)] {
            let device = try makeDeviceMemory(
                backend, ceiling: ceiling, reserved: reserved, scale: scale,
                compressor: compresses ? CompressorLimits(pool: ceiling, input: ceiling) : nil)
            let (process, slot) = (try device.makeProcess(), try device.makeProcess())
            device.holdsWired(slot)
            let (mine, pool) = (device.makePool(in: process), device.makePool(in: slot))
            let sizes = Array(repeating: 4_096, count: 400)
            #expect(device.allocate(sizes.span, in: pool, limit: nil).refusal == nil)
            #expect(device.allocate(sizes.span, in: mine, limit: nil).refusal == nil)
            let (books, wired) = (device.books, device.books(of: slot).footprint)
            #expect(wired >= ByteCount(400 * 4_096) * scale && books.reserved == reserved + wired)
            #expect(books.active + books.dirty == device.books(of: process).footprint)
            #expect(books.frames == books.resident && books.compressed == .zero)
            _ = try device.endProcess(slot)
            #expect(device.books.reserved == reserved && device.books.frames == device.books.resident)
            try device.audit()
        }
    }

    @Test("purging returns exactly the dirty bytes", arguments: MemoryBackend.allCases)
    func purge(backend: MemoryBackend) throws {
        let device = try makeDeviceMemory(backend, ceiling: .mebibytes(16), reserved: .mebibytes(1))
        let slot = try device.makeProcess()
        let (kept, gone) = (device.makePool(in: slot), device.makePool(in: slot))
        let sizes = (1...600).map { $0 * 17 }
        _ = device.allocate(sizes.span, in: kept, limit: nil)
        _ = device.allocate(sizes.span, in: gone, limit: nil)
        let result = device.endPool(gone)
        #expect(result.objects == 600 && result.requested == device.requested(in: kept))
        let before = device.books(of: slot)
        #expect(before.dirty > .mebibytes(1))
        let resident = device.books.resident
        #expect(try device.purge(slot) == before.dirty)
        #expect(device.books(of: slot).dirty == .zero && device.books(of: slot).active == before.active)
        #expect(device.books.resident == resident - before.dirty)
        #expect(try device.purge(slot) == .zero)
        try device.audit()
    }

    @Test("the end of a process returns everything it held", arguments: MemoryBackend.allCases)
    func end(backend: MemoryBackend) throws {
        let device = try makeDeviceMemory(backend, ceiling: .mebibytes(16), reserved: .mebibytes(2))
        let slot = try device.makeProcess()
        let sizes = (1...600).map { $0 * 17 }
        _ = device.allocate(sizes.span, in: device.makePool(in: slot), limit: nil)
        let footprint = device.books(of: slot).footprint
        #expect(try device.endProcess(slot) == footprint)
        try device.audit()
        expectNothingLeft(device)
        let again = try device.makeProcess()
        #expect(again == slot)
        #expect(device.books(of: again).objects == 0 && device.books(of: again).footprint == .zero)
    }

    @Test(
        "each order of release frees at least what was asked, and not an object more", arguments: MemoryBackend.allCases
    )
    func release(backend: MemoryBackend) throws {
        let device = try makeDeviceMemory(backend, ceiling: .mebibytes(16), reserved: .zero)
        let pool = device.makePool(in: try device.makeProcess())
        var random = SeededGenerator(seed: 1, stream: "release")
        _ = device.allocate(Array(1...1_000).span, in: pool, limit: nil)
        let oldest = device.release(ByteCount(10), from: pool, order: .oldestFirst)
        #expect(oldest == ReleaseResult(objects: 4, requested: ByteCount(1 + 2 + 3 + 4)))
        let newest = device.release(ByteCount(1_001), from: pool, order: .newestFirst)
        #expect(newest == ReleaseResult(objects: 2, requested: ByteCount(1_000 + 999)))
        let scattered = device.releaseScattered(ByteCount(50_000), from: pool, using: &random)
        #expect(scattered.requested >= ByteCount(50_000) && scattered.requested < ByteCount(51_000))
        let all = device.releaseScattered(.gibibytes(1), from: pool, using: &random)
        #expect(oldest.objects + newest.objects + scattered.objects + all.objects == 1_000)
        #expect(device.requested(in: pool) == .zero)
        #expect(device.releaseScattered(ByteCount(1), from: pool, using: &random).objects == 0)
    }

    @Test("touching goes round, at most once, and nowhere in an empty pool", arguments: MemoryBackend.allCases)
    func touch(backend: MemoryBackend) throws {
        let device = try makeDeviceMemory(backend, ceiling: .mebibytes(16), reserved: .zero)
        let pool = device.makePool(in: try device.makeProcess())
        #expect(device.touch(.mebibytes(1), in: pool) == .zero)
        _ = device.allocate([100, 5_000, 70_000].span, in: pool, limit: nil)
        #expect(device.touch(ByteCount(99), in: pool) == ByteCount(99))
        #expect(device.touch(ByteCount(5_002), in: pool) == ByteCount(5_002))
        #expect(device.touch(.mebibytes(1), in: pool) == ByteCount(75_100))
    }

    @Test("a pool's index is used again, and its pages stay with the process")
    func pools() throws {
        let device = try JemallocDevice(BookedDevice(ceiling: .mebibytes(16), reserved: .zero))
        let slot = try device.makeProcess()
        let first = device.makePool(in: slot)
        let second = device.makePool(in: slot)
        #expect((first.index, second.index) == (0, 1))
        _ = device.allocate([200_000].span, in: first, limit: nil)
        let footprint = device.books(of: slot).footprint
        _ = device.endPool(first)
        #expect(device.books(of: slot).footprint == footprint && device.books(of: slot).active == .zero)
        #expect(device.makePool(in: slot).index == 0)
    }
}
