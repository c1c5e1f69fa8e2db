import Quantities

/// What a compressor may take (`device.compressor`).
public struct CompressorLimits: Hashable, Sendable {
    /// The most memory of the pool. On iOS all of the RAM (XNU's `vm_compressor.c`).
    public var pool: ByteCount
    /// The most that may be compressed at once, in bytes before compression. Pages of one repeated word do not count.
    /// On iOS the size of the RAM.
    public var input: ByteCount
    /// What pages contain that LZ4 really compresses; nil: the sizes of the contents are drawn, and none exist.
    public var recipe: PageRecipe?

    /// Limits with these values.
    public init(pool: ByteCount, input: ByteCount, recipe: PageRecipe? = nil) {
        self.pool = pool
        self.input = input
        self.recipe = recipe
    }
}

/// The compressor's figures. They are exact at every moment.
public struct CompressorBooks: Hashable, Sendable {
    /// Pages of all processes that are compressed.
    public var compressed: ByteCount
    /// Those of them that are one repeated word.
    public var repeated: ByteCount
    /// The bytes of the compressed contents.
    public var stored: ByteCount
    /// The memory that the compressor's pool takes: its arena's pages in use and its dirty pages.
    public var pool: ByteCount
    /// Segments in the pool.
    public var segments: Int
    /// Full segments at most half full.
    public var sparseSegments: Int
    /// Pages compressed so far.
    public var compressedInAll: ByteCount
    /// Pages brought back so far, because they were used or by `bringBack`.
    public var broughtBack: ByteCount
    /// Those of them that were one repeated word.
    public var repeatedBroughtBack: ByteCount
    /// Contents moved by compaction so far.
    public var compacted: ByteCount
    /// Whether the last attempt to compress ended because a limit is reached or no frame is left for another segment.
    public var isFull: Bool
    /// How much of its limits is used: the greater share of the pool's and of the input's.
    public var use: Ratio

    /// The figures of a device without a compressor.
    public static let none = CompressorBooks(
        compressed: .zero, repeated: .zero, stored: .zero, pool: .zero, segments: 0, sparseSegments: 0,
        compressedInAll: .zero, broughtBack: .zero, repeatedBroughtBack: .zero, compacted: .zero, isFull: false,
        use: .zero)
}

/// A device whose pages can be compressed.
protocol PagingDevice: DeviceMemory {
    /// The pages without a frame, and the segments that keep their contents.
    var frames: UnsafeMutablePointer<FrameTable> { get }
    /// The free frames that an allocation can get.
    var obtainable: ByteCount { get }
    /// See `PagedHeaps.compress`.
    func compress(_ slot: MemorySlot, most: Int, usedBefore: Int, stores: Bool, size: (Int) -> Int) -> Int
    func restore(_ slot: MemorySlot, most: Int) -> Int
}

extension PagingDevice {
    /// The books of the device whose compressor's pool is in slot `own`.
    func books(poolIn own: MemorySlot) -> DeviceBooks {
        let (mine, all) = (books(of: own), books)
        var books = all
        books.active = all.active - mine.active
        books.dirty = all.dirty - mine.dirty
        books.requested = all.requested - mine.requested
        books.usable = all.usable - mine.usable
        books.metadata = all.metadata - mine.metadata
        books.compressed = pageBytes(frames.pointee.compressed)
        books.compressor = mine.footprint
        return books
    }
}

/// A device with a compressor: the contents of compressed pages take room in segments, which are real allocations in an
/// arena of the compressor's own.
///
/// The compressor always keeps one empty segment, so that it can work when no memory is free. A page of it that is
/// filled sets more frames free than the next segment takes, unless the contents do not compress.
final class CompressingDevice<Device: PagingDevice>: NamedDevice {
    let device: Device
    private let limits: CompressorLimits
    /// The compressor's own slot; no process gets it.
    let own: MemorySlot
    /// The allocations of the segments.
    private var handles: [ObjectHandle?]
    /// By slot.
    private var compressibilities: [Compressibility] = []
    private var generator: SeededGenerator
    private var compressedInAll = 0
    private var restored = 0
    private var compacted = 0
    /// Whether the last attempt to compress ended because of the pool.
    private var isFull = false

    init(_ device: Device, _ limits: CompressorLimits, seed: UInt64) throws(DeviceMemoryFailure) {
        self.device = device
        self.limits = limits
        generator = SeededGenerator(seed: seed, stream: "compressor")
        handles = Array(repeating: nil, count: device.frames.pointee.segments.most)
        do throws(AllocatorError) { own = try device.makeProcess() } catch { throw .allocator(error) }
        makeSpare()
    }

    private var frames: UnsafeMutablePointer<FrameTable> { device.frames }

    var books: DeviceBooks { device.books(poolIn: own) }

    var refusal: AllocationRefusal { device.refusal }

    var compressor: CompressorBooks? {
        let segments = frames.pointee.segments.count
        return CompressorBooks(
            compressed: pageBytes(frames.pointee.compressed), repeated: pageBytes(frames.pointee.words),
            stored: ByteCount(frames.pointee.segments.used), pool: device.books(of: own).footprint,
            segments: segments, sparseSegments: frames.pointee.segments.sparse,
            compressedInAll: pageBytes(compressedInAll), broughtBack: pageBytes(frames.pointee.refaulted),
            repeatedBroughtBack: pageBytes(frames.pointee.refaultedWords), compacted: ByteCount(compacted),
            isFull: isFull, use: use)
    }

    var broughtBack: ByteCount { pageBytes(frames.pointee.refaulted) }

    private var use: Ratio {
        let input = pageBytes(frames.pointee.compressed - frames.pointee.words)
        return max(share(input, of: limits.input), share(device.books(of: own).footprint, of: limits.pool))
    }

    private func share(_ part: ByteCount, of limit: ByteCount) -> Ratio {
        limit > .zero ? part.share(of: limit) : .one
    }

    // MARK: Processes

    func makeProcess() throws(AllocatorError) -> MemorySlot {
        let slot = try device.makeProcess()
        while compressibilities.count <= slot.index { compressibilities.append(.typical) }
        compressibilities[slot.index] = .typical
        return slot
    }

    func endProcess(_ slot: MemorySlot) throws(AllocatorError) -> ByteCount {
        defer { tidy() }
        return try device.endProcess(slot)
    }

    func purge(_ slot: MemorySlot) throws(AllocatorError) -> ByteCount {
        defer { tidy() }
        return try device.purge(slot)
    }

    func declare(_ compressibility: Compressibility, of slot: MemorySlot) {
        compressibilities[slot.index] = compressibility
    }

    func takeChanges(into slots: inout [Int]) {
        device.takeChanges(into: &slots)
        slots.removeAll { $0 == own.index }
    }

    // MARK: Compression

    func oldestUse(by slot: MemorySlot) -> Int? { frames.pointee.oldestUse(by: slot.index) }

    var lastUse: Int { frames.pointee.lastUse }

    func compress(_ slot: MemorySlot, atMost bytes: ByteCount, usedBefore: Int) -> ByteCount {
        let wanted = bytes.bytes / DeviceRegion.pageSize
        let compressibility = compressibilities[slot.index]
        let contents = frames.pointee.contents
        var done = 0
        isFull = false
        while done < wanted {
            tidy()
            makeSpare()
            let allowed = min(wanted - done, mayStill)
            guard allowed > 0 else {
                isFull = true
                break
            }
            let more = device.compress(slot, most: allowed, usedBefore: usedBefore, stores: true) { page in
                let drawn = compressibility.draw(page: DeviceRegion.pageSize, &generator)
                return contents?.compress(page, drawn: drawn) ?? drawn
            }
            guard more > 0 else {
                isFull = !frames.pointee.segments.hasRoom(for: DeviceRegion.pageSize)
                break
            }
            done += more
        }
        compressedInAll += done
        return pageBytes(done)
    }

    /// How many more pages the limit of the input allows.
    private var mayStill: Int {
        limits.input.bytes / DeviceRegion.pageSize - (frames.pointee.compressed - frames.pointee.words)
    }

    func bringBack(_ slot: MemorySlot, atMost bytes: ByteCount) -> ByteCount {
        defer { tidy() }
        return pageBytes(device.restore(slot, most: bytes.bytes / DeviceRegion.pageSize))
    }

    // MARK: Segments

    /// The pages that a segment takes: XNU's also take one page more than their contents.
    private static var segmentFootprint: ByteCount { ByteCount(SegmentTable.bytes + DeviceRegion.pageSize) }

    /// Makes sure that the compressor has an empty segment, if its limit and the free memory allow it.
    private func makeSpare() {
        guard frames.pointee.segments.spare < 0 else { return }
        compact()
        guard frames.pointee.segments.spare < 0, let segment = frames.pointee.segments.unused else { return }
        let pool = device.books(of: own).footprint
        guard device.books(of: own).dirty > .zero || pool + CompressingDevice.segmentFootprint <= limits.pool else {
            return
        }
        let made = device.makeObject(ByteCount(SegmentTable.bytes), alignment: nil, in: own, limit: nil)
        guard let handle = made.object else { return }
        handles[segment] = handle
        frames.pointee.segments.add(segment)
        frames.pointee.contents?.begin(segment, at: handle.unit)
    }

    /// Moves sparse segments into the one that is filled, while it has room, so that they can be given back.
    private func compact() {
        while let segment = frames.pointee.segments.sparsest {
            let moved = frames.pointee.compact(segment)
            compacted += moved
            guard moved > 0 else { return }
            tidy()
        }
    }

    /// Gives segments without contents back.
    private func tidy() {
        guard frames.pointee.segments.empty > 0 else { return }
        while let segment = frames.pointee.segments.takeEmpty() {
            guard let handle = handles[segment] else { preconditionFailure("segment \(segment) has no memory") }
            handles[segment] = nil
            device.freeObject(handle, in: own)
        }
        do throws(AllocatorError) { _ = try device.purge(own) } catch {
            preconditionFailure("the compressor's pages were not purged: \(error)")
        }
    }
}

extension CompressingDevice {
    // Every call that uses objects may bring pages back, and so leave segments without contents.

    func endPool(_ pool: PoolID) -> ReleaseResult {
        defer { tidy() }
        return device.endPool(pool)
    }

    func touch(_ bytes: ByteCount, in pool: PoolID) -> ByteCount {
        defer { tidy() }
        return device.touch(bytes, in: pool)
    }

    func read(_ bytes: ByteCount, in pool: PoolID) -> ByteCount {
        defer { tidy() }
        return device.read(bytes, in: pool)
    }

    func allocate(_ sizes: Span<Int>, in pool: PoolID, limit: ByteCount?) -> AllocationResult {
        defer { tidy() }
        return device.allocate(sizes, in: pool, limit: limit)
    }

    func makeObject(
        _ size: ByteCount, alignment: ByteCount?, in slot: MemorySlot, limit: ByteCount?
    ) -> ObjectAllocation {
        defer { tidy() }
        return device.makeObject(size, alignment: alignment, in: slot, limit: limit)
    }

    func resizeObject(
        _ object: ObjectHandle, to size: ByteCount, in slot: MemorySlot, limit: ByteCount?
    ) -> ObjectAllocation {
        defer { tidy() }
        return device.resizeObject(object, to: size, in: slot, limit: limit)
    }

    func play(
        _ steps: Span<ObjectStep>, on board: inout ObjectBoard, in slot: MemorySlot, limit: ByteCount?
    ) -> PlayedSteps {
        defer { tidy() }
        return device.play(steps, on: &board, in: slot, limit: limit)
    }
}

extension BookedDevice where Heaps: ~Copyable {
    var refusal: AllocationRefusal { heaps.refusal }
}

/// The device with real memory, whose pages can be compressed.
final class PagedJemallocDevice: NamedDevice, PagingDevice {
    let device: BookedDevice<PagedHeaps<JemallocHeaps>>

    /// See `BookedDevice`.
    ///
    /// - Parameters:
    ///   - recipe: What pages contain that LZ4 compresses; nil: no contents are kept.
    ///   - seed: The seed of these contents.
    init(
        ceiling: ByteCount, reserved: ByteCount, promised: ByteCount? = nil, recipe: PageRecipe? = nil,
        seed: UInt64 = 0
    ) throws(DeviceMemoryFailure) {
        device = try BookedDevice(ceiling: ceiling, reserved: reserved, promised: promised, isFramed: true)
        if let recipe { device.heaps.base.keepContents(recipe, seed: seed) }
    }

    var frames: UnsafeMutablePointer<FrameTable> { device.heaps.frames }
    var obtainable: ByteCount { pageBytes(device.heaps.obtainablePages) }
    var refusal: AllocationRefusal { device.refusal }

    func compress(_ slot: MemorySlot, most: Int, usedBefore: Int, stores: Bool, size: (Int) -> Int) -> Int {
        device.noteChange(slot.index)
        return device.heaps.compress(slot.index, most: most, usedBefore: usedBefore, stores: stores, size: size)
    }

    func restore(_ slot: MemorySlot, most: Int) -> Int {
        device.noteChange(slot.index)
        return device.heaps.restore(slot.index, most: most)
    }
}

/// The device without real memory, whose pages can be compressed.
final class PagedAccountingDevice: NamedDevice, PagingDevice {
    let device: BookedDevice<PagedHeaps<AccountingHeaps>>

    /// See `BookedDevice`.
    init(ceiling: ByteCount, reserved: ByteCount) throws(DeviceMemoryFailure) {
        device = try BookedDevice(ceiling: ceiling, reserved: reserved, isFramed: true)
    }

    var frames: UnsafeMutablePointer<FrameTable> { device.heaps.frames }
    var obtainable: ByteCount { pageBytes(device.heaps.obtainablePages) }
    var refusal: AllocationRefusal { device.refusal }

    func compress(_ slot: MemorySlot, most: Int, usedBefore: Int, stores: Bool, size: (Int) -> Int) -> Int {
        device.noteChange(slot.index)
        return device.heaps.compress(slot.index, most: most, usedBefore: usedBefore, stores: stores, size: size)
    }

    func restore(_ slot: MemorySlot, most: Int) -> Int {
        device.noteChange(slot.index)
        return device.heaps.restore(slot.index, most: most)
    }
}
