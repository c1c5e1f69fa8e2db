import Memory
import Quantities
import Testing

@Suite("A device that stands for a larger or smaller one")
struct ScaleModelTests {
    private static let page = 4096

    /// The same random operations on a device and on its model: slots, pools, sizes and releases.
    private struct Pair {
        let whole: any DeviceMemory
        let model: any DeviceMemory
        var random: SeededGenerator
        var slots: [MemorySlot] = []
        var pools: [PoolID] = []
        /// Objects with names, on the device and on its model.
        var named: [(slot: MemorySlot, whole: ObjectHandle, model: ObjectHandle)] = []
        let sampler = SizeSampler(
            .logNormal(median: .kibibytes(2), sigma: Ratio(partsPerMillion: 1_400_000), highest: .mebibytes(1)))

        init(_ backend: MemoryBackend, _ scale: Ratio, seed: UInt64, compresses: Bool = false) throws {
            let (ceiling, reserved) = (ByteCount.mebibytes(80), ByteCount.mebibytes(10))
            func limits(_ size: ByteCount) -> CompressorLimits? {
                compresses ? CompressorLimits(pool: size, input: size) : nil
            }
            whole = try makeDeviceMemory(.accounting, ceiling: ceiling, reserved: reserved, compressor: limits(ceiling))
            model = try makeDeviceMemory(
                backend, ceiling: ceiling * scale, reserved: reserved * scale, scale: scale,
                compressor: limits(ceiling * scale))
            random = SeededGenerator(seed: seed, stream: "scale")
            for _ in 0..<3 {
                let slot = try whole.makeProcess()
                #expect(try model.makeProcess() == slot)
                slots.append(slot)
                for _ in 0..<3 {
                    pools.append(whole.makePool(in: slot))
                    _ = model.makePool(in: slot)
                }
            }
        }

        /// The model's counterpart of the device's pool.
        func twin(_ pool: PoolID) -> PoolID { PoolID(slot: pool.slot, index: pool.index + 1) }

        mutating func step() throws {
            let pool = pools[random.number(in: 0...pools.count - 1)]
            let bytes = ByteCount(random.number(in: 1...3 << 20))
            switch random.below(whole.compressor == nil ? 13 : 21) {
            case 13, 14:
                #expect(whole.touch(bytes, in: pool) == model.touch(bytes, in: twin(pool)))
            case 15: #expect(whole.read(bytes, in: pool) == model.read(bytes, in: twin(pool)))
            case 16, 17:
                let pages = bytes.roundedUp(toMultipleOf: 4_096)
                let done = whole.compressor?.compress(pool.slot, atMost: pages)
                #expect(
                    model.compressor?.compress(pool.slot, atMost: pages * model.scale) == done.map { $0 * model.scale })
            case 18:
                let pages = bytes.roundedUp(toMultipleOf: 4_096)
                let done = whole.compressor?.bringBack(pool.slot, atMost: pages)
                #expect(
                    model.compressor?.bringBack(pool.slot, atMost: pages * model.scale) == done.map { $0 * model.scale }
                )
            case 19, 20:
                let most = bytes.roundedUp(toMultipleOf: 4_096)
                let done = whole.compressor?.swapOut(pool.slot, atMost: most)
                let same = model.compressor?.swapOut(pool.slot, atMost: most * model.scale)
                #expect(same?.pages == done.map { $0.pages * model.scale })
                #expect(same?.written == done.map { $0.written * model.scale })
            case 0:
                _ = try whole.purge(pool.slot)
                _ = try model.purge(pool.slot)
            case 1..<4:
                let gone = whole.release(bytes, from: pool, order: .oldestFirst)
                let same = model.release(bytes, from: twin(pool), order: .oldestFirst)
                #expect(gone == same)
            case 4..<7: try stepByName(pool.slot)
            default:
                var sizes: [Int] = []
                sampler.fill(&sizes, with: bytes, using: &random)
                let made = whole.allocate(sizes.span, in: pool, limit: .mebibytes(30))
                let limit = ByteCount.mebibytes(30) * model.scale
                let same = model.allocate(sizes.span, in: twin(pool), limit: limit)
                #expect(made.objects == same.objects)
                #expect((made.refusal == nil) == (same.refusal == nil))
            }
            #expect(whole.requested(in: pool) == model.requested(in: twin(pool)))
        }

        /// Allocates twenty objects by name, as a trace does, and frees as many.
        private mutating func stepByName(_ slot: MemorySlot) throws {
            for _ in 0..<20 {
                let size = ByteCount(sampler.next(using: &random))
                let limit = ByteCount.mebibytes(30)
                let made = whole.makeObject(size, alignment: nil, in: slot, limit: limit)
                let same = model.makeObject(size, alignment: nil, in: slot, limit: limit * model.scale)
                #expect((made.refusal == nil) == (same.refusal == nil))
                if let one = made.object, let other = same.object { named.append((slot, one, other)) }
                guard named.count > 400 else { continue }
                let gone = named.remove(at: random.number(in: 0...named.count - 1))
                whole.freeObject(gone.whole, in: gone.slot)
                model.freeObject(gone.model, in: gone.slot)
            }
        }
    }

    /// Differences beyond a page occur only if hardly anything but slabs with holes remains, or the model is full to
    /// the page.
    @Test(
        "each process holds its share of the pages, to the page, and is refused and released what it would be there",
        arguments: [(25, 0), (50, 1), (10, 2), (170, 3), (400, 4)] as [(Int64, UInt64)])
    func share(percent: Int64, seed: UInt64) throws {
        var pair = try Pair(.accounting, .percent(percent), seed: seed)
        var (refusals, checks, beyond, worst) = (0, 0, 0, 0)
        for _ in 0..<600 {
            try pair.step()
            refusals += pair.whole.books.available < .mebibytes(1) ? 1 : 0
            for slot in 0..<3 {
                let here = pair.model.books(of: MemorySlot(slot)).footprint
                let share = pair.whole.books(of: MemorySlot(slot)).footprint * pair.model.scale
                let difference = abs((here - share).bytes)
                checks += 1
                beyond += difference > Self.page ? 1 : 0
                worst = max(worst, difference)
            }
            #expect(pair.model.books.resident <= pair.model.books.ceiling)
        }
        #expect(refusals > 0)
        #expect(beyond * 50 <= checks, "\(percent) %: \(beyond) of \(checks) differ by more than a page")
        #expect(worst <= 32 * Self.page, "\(percent) %: \(worst) bytes at most")
    }

    @Test(
        "with a compressor each process also holds its share of the frames, and of the store on flash",
        arguments: [(25, 0), (50, 1), (170, 2)] as [(Int64, UInt64)])
    func frames(percent: Int64, seed: UInt64) throws {
        var pair = try Pair(.accounting, .percent(percent), seed: seed, compresses: true)
        var (most, mostSwapped, checks, beyond, worst) = (ByteCount.zero, ByteCount.zero, 0, 0, 0)
        var beyondInStore = 0
        for _ in 0..<600 {
            try pair.step()
            most = max(most, pair.model.books.compressed + pair.model.books.swapped)
            mostSwapped = max(mostSwapped, pair.model.books.swapped)
            for slot in pair.slots {
                let books = pair.model.books(of: slot)
                #expect(books.compressed >= .zero && books.resident >= .zero)
                let swapped = pair.whole.books(of: slot).swapped * pair.model.scale
                beyondInStore += abs((books.swapped - swapped).bytes) > Self.page ? 1 : 0
                let here = pair.model.books(of: slot).resident
                let share = pair.whole.books(of: slot).resident * pair.model.scale
                let difference = abs((here - share).bytes)
                checks += 1
                beyond += difference > Self.page ? 1 : 0
                worst = max(worst, difference)
            }
            let books = pair.model.books
            #expect(books.resident <= books.ceiling && books.frames == books.resident)
            let figures = try #require(pair.model.compressor?.figures)
            #expect(figures.stored <= figures.pool && figures.repeated <= figures.compressed)
            #expect(figures.swapped == books.swapped && figures.onStorage <= figures.swapped)
            let parts = pair.slots.map { pair.model.books(of: $0) }
            #expect(parts.map(\.swapped).reduce(.zero, +) == books.swapped)
            #expect(parts.map(\.compressed).reduce(.zero, +) == books.compressed)
            let pool = pair.whole.books.compressor * pair.model.scale
            #expect(abs((books.compressor - pool).bytes) <= Self.page)
        }
        #expect(most > ByteCount.mebibytes(8) * pair.model.scale)
        #expect(mostSwapped > ByteCount.mebibytes(1) * pair.model.scale)
        #expect(beyondInStore * 20 <= checks, "\(percent) %: \(beyondInStore) of \(checks) in the store")
        #expect(beyond * 20 <= checks, "\(percent) %: \(beyond) of \(checks) differ by more than a page")
        #expect(worst <= 2 * Self.page, "\(percent) %: \(worst) bytes at most")
    }

    /// A quarter of few pages may be less than the pages that the model has: pages of processes would be compressed.
    @Test("pages of files are never compressed", arguments: MemoryBackend.allCases)
    func files(backend: MemoryBackend) throws {
        let ceiling = ByteCount.mebibytes(16)
        let model = try makeDeviceMemory(
            backend, ceiling: ceiling, reserved: .zero, scale: .percent(25),
            compressor: CompressorLimits(pool: ceiling, input: ceiling))
        let slot = try model.makeProcess()
        model.holdsFiles(slot)
        let pool = model.makePool(in: slot)
        func check() {
            #expect(model.books.compressed == .zero && model.books(of: slot).compressed == .zero)
            #expect(model.books(of: slot).resident == model.books.files)
        }
        let page = [Self.page]
        for _ in 0..<3 {
            for _ in 0..<40 {
                #expect(model.allocate(page.span, in: pool, limit: nil).objects == 1)
                check()
            }
            for _ in 0..<40 {
                #expect(model.release(ByteCount(Self.page), from: pool, order: .oldestFirst).objects == 1)
                check()
            }
        }
        try model.audit()
    }

    @Test(
        "on real memory the model's books agree with jemalloc, and nothing is left at the end",
        arguments: [false, true])
    func real(compresses: Bool) throws {
        var pair = try Pair(.jemalloc, .percent(25), seed: 7, compresses: compresses)
        for _ in 0..<200 {
            try pair.step()
            try pair.model.audit()
        }
        for slot in pair.slots { _ = try pair.model.endProcess(slot) }
        #expect(pair.model.books.resident == pair.model.books.reserved + pair.model.books.compressor)
        #expect(pair.model.books.compressed == .zero && pair.model.books.swapped == .zero)
        try pair.model.audit()
    }

    @Test("an ended pool leaves nothing behind, and its memory can be asked for again")
    func pools() throws {
        let model = try makeDeviceMemory(.accounting, ceiling: .mebibytes(16), reserved: .zero, scale: .percent(25))
        let slot = try model.makeProcess()
        let pool = model.makePool(in: slot)
        let sizes = Array(repeating: 1_000, count: 10_000)
        #expect(model.allocate(sizes.span, in: pool, limit: nil).requested == ByteCount(10_000_000))
        #expect(abs(model.books(of: slot).footprint.bytes - 10_240_000 / 4) < 10 * Self.page)
        #expect(model.endPool(pool).objects == 10_000)
        #expect(model.books(of: slot).active == .zero)
        #expect(model.requested(in: model.makePool(in: slot)) == .zero)
    }
}
