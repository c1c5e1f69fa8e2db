import Memory
import Quantities

/// Seeded random use of a device: up to twenty processes whose pools are created, filled, released, touched, read,
/// purged and ended, and single objects that are created, resized and freed. The same seed gives the same calls on
/// every device that gives the same answers.
struct RandomOperations {
    let device: any DeviceMemory
    private var random: SeededGenerator
    private(set) var live: [(slot: MemorySlot, pools: [PoolID], objects: [ObjectHandle])] = []
    /// The highest number of processes alive at the same time.
    private(set) var mostLive = 0
    private(set) var refusals: [AllocationRefusal] = []
    private let sampler: SizeSampler
    private let mostProcesses: Int
    /// The most bytes of one batch of allocations.
    private let batch: Int
    /// Whether the run also creates many single objects, at alignments of up to 2 MiB.
    private let isWide: Bool

    init(
        _ device: any DeviceMemory, seed: UInt64, mostProcesses: Int = 20, batch: Int = 128 << 10,
        sizes: SizeDistribution? = nil, wide: Bool = false
    ) {
        isWide = wide
        self.device = device
        self.mostProcesses = mostProcesses
        self.batch = batch
        random = SeededGenerator(seed: seed, stream: "memory-tests")
        let choices: [SizeDistribution] = [
            .logNormal(median: ByteCount(96), sigma: .percent(180), highest: ByteCount(1 << 20)),
            .logNormal(median: ByteCount(2_000), sigma: .percent(150), highest: ByteCount(1 << 20)),
            .uniform(lowest: ByteCount(1), highest: ByteCount(40_000)),
            .constant(ByteCount(20_481)),
        ]
        sampler = SizeSampler(sizes ?? choices[Int(seed % UInt64(choices.count))])
    }

    /// Makes one random call.
    mutating func step() throws {
        if live.isEmpty { try launch() }
        let chosen = Int(random.below(UInt64(live.count)))
        let (slot, pools) = (live[chosen].slot, live[chosen].pools)
        let pool = pools[Int(random.below(UInt64(pools.count)))]
        if isWide { for _ in 0..<3 { useObject(chosen) } }
        switch random.below(100) {
        case 0..<6 where live.count < mostProcesses: try launch()
        case 6..<8: try end(chosen)
        case 8..<12: live[chosen].pools.append(device.makePool(in: slot))
        case 12..<15 where pools.count > 1: endPool(chosen)
        case 15..<20: _ = try device.purge(slot)
        case 20..<24: _ = device.touch(ByteCount(random.number(in: 1...100_000)), in: pool)
        case 24..<27: _ = device.read(ByteCount(random.number(in: 1...100_000)), in: pool)
        case 27..<30: useObject(chosen)
        case 30..<62: release(pool)
        default: allocate(pool)
        }
    }

    mutating func launch() throws {
        let slot = try device.makeProcess()
        live.append((slot, [device.makePool(in: slot)], []))
        mostLive = max(mostLive, live.count)
    }

    /// Creates, resizes or frees an object, sometimes under a limit.
    private mutating func useObject(_ chosen: Int) {
        let slot = live[chosen].slot
        let size = ByteCount(random.below(4) == 0 ? random.number(in: 0...60_000) : random.number(in: 0...600))
        let limit = random.below(4) == 0 ? ByteCount(random.number(in: 0...1 << 20)) : nil
        let count = live[chosen].objects.count
        let position = count == 0 ? 0 : Int(random.below(UInt64(count)))
        switch random.below(3) {
        case 0 where count > 0: device.freeObject(live[chosen].objects.remove(at: position), in: slot)
        case 1 where count > 0:
            let result = device.resizeObject(live[chosen].objects[position], to: size, in: slot, limit: limit)
            if let object = result.object { live[chosen].objects[position] = object }
        default:
            let alignment = ByteCount(1 << Int(random.below(isWide ? 22 : 10)))
            let result = device.makeObject(
                isWide ? size + ByteCount(random.number(in: 0...200_000)) : size, alignment: alignment, in: slot,
                limit: limit)
            if isWide, let refusal = result.refusal, case .noRoom = refusal { refusals.append(refusal) }
            if let object = result.object { live[chosen].objects.append(object) }
        }
    }

    mutating func end(_ position: Int) throws {
        _ = try device.endProcess(live.remove(at: position).slot)
    }

    mutating func endAll() throws {
        while !live.isEmpty { try end(Int(random.below(UInt64(live.count)))) }
    }

    private mutating func endPool(_ chosen: Int) {
        let pool = live[chosen].pools.remove(at: Int(random.below(UInt64(live[chosen].pools.count))))
        _ = device.endPool(pool)
    }

    private mutating func allocate(_ pool: PoolID) {
        var sizes: [Int] = []
        sampler.fill(&sizes, with: ByteCount(random.number(in: 1...batch)), using: &random)
        let result = device.allocate(sizes.span, in: pool, limit: nil)
        if let refusal = result.refusal { refusals.append(refusal) }
    }

    private mutating func release(_ pool: PoolID) {
        let order = random.below(3)
        let bytes = ByteCount(random.number(in: 1...batch * 3 / 2))
        switch order {
        case 0: _ = device.release(bytes, from: pool, order: .oldestFirst)
        case 1: _ = device.release(bytes, from: pool, order: .newestFirst)
        default: _ = device.releaseScattered(bytes, from: pool, using: &random)
        }
    }
}
