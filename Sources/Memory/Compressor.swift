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
    /// The slots of Linux's swap, in bytes of pages. Each page that is compressed or in the store takes one, and pages
    /// of one repeated word count against `input`, too. Nil: the device has no such swap.
    public var slots: ByteCount?

    /// Limits with these values.
    public init(pool: ByteCount, input: ByteCount, recipe: PageRecipe? = nil, slots: ByteCount? = nil) {
        self.pool = pool
        self.input = input
        self.recipe = recipe
        self.slots = slots
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
    /// Pages of all processes whose contents are in the store on flash; not part of `compressed`.
    public var swapped: ByteCount
    /// The bytes of their contents there.
    public var onStorage: ByteCount
    /// Pages that went to the store so far.
    public var swappedInAll: ByteCount
    /// The bytes of contents written to the store so far.
    public var writtenInAll: ByteCount
    /// Pages that came back from the store so far; part of `broughtBack`.
    public var swappedBack: ByteCount
    /// The bytes of contents read from the store so far, for `swappedBack`.
    public var readInAll: ByteCount
    /// Contents moved by compaction so far.
    public var compacted: ByteCount
    /// Whether the last attempt to compress ended because a limit is reached or no frame is left for another segment.
    public var isFull: Bool
    /// How much of its limits is used: the greater share of the pool's and of the input's.
    public var use: Ratio

    /// The figures of a device without a compressor.
    public static let none = CompressorBooks(
        compressed: .zero, repeated: .zero, stored: .zero, pool: .zero, segments: 0, sparseSegments: 0,
        compressedInAll: .zero, broughtBack: .zero, repeatedBroughtBack: .zero, swapped: .zero, onStorage: .zero,
        swappedInAll: .zero, writtenInAll: .zero, swappedBack: .zero, readInAll: .zero, compacted: .zero,
        isFull: false, use: .zero)
}

/// What went from the compressor's pool to the store on flash.
public struct SwappedPages: Hashable, Sendable {
    /// The pages, in bytes before compression.
    public var pages: ByteCount
    /// The bytes of their compressed contents, which are written.
    public var written: ByteCount

    /// These many pages with these many bytes of contents.
    public init(pages: ByteCount, written: ByteCount) {
        self.pages = pages
        self.written = written
    }
}

/// The pages that a device's compressor holds, and the ways there and back.
public protocol CompressedPages: AnyObject {
    /// The compressor's figures.
    var figures: CompressorBooks { get }

    /// `figures.use` by itself.
    var use: Ratio { get }

    /// `figures.broughtBack` by itself, which is known at once.
    var broughtBack: ByteCount { get }

    /// The slot that holds the memory of the pool; no process gets it.
    var poolSlot: MemorySlot { get }

    /// Declares how well a process's pages compress.
    func declare(_ compressibility: Compressibility, of slot: MemorySlot)

    /// When the process last used the page that it used longest ago, among its pages with a frame: a number that grows
    /// from call to call, comparable between processes. Nil for a process without such pages.
    func oldestUse(by slot: MemorySlot) -> Int?

    /// The number that a use has now; see `oldestUse`.
    var lastUse: Int { get }

    /// Compresses the process's pages that were used longest ago.
    ///
    /// - Parameters:
    ///   - bytes: At most this much, in whole pages.
    ///   - usedBefore: Only pages whose last use has a lower number (`oldestUse`).
    /// - Returns: How much was compressed; less if the process has no more such pages, or if the pool is full.
    func compress(_ slot: MemorySlot, atMost bytes: ByteCount, usedBefore: Int) -> ByteCount

    /// Brings pages of the process back: first those that were compressed last, then those that were swapped last.
    ///
    /// - Returns: How much came back; less if the process has no more pages without frames, or if there is no room.
    func bringBack(_ slot: MemorySlot, atMost bytes: ByteCount) -> ByteCount

    /// Moves contents of the process's compressed pages from the pool to the store on flash, oldest first, and gives
    /// segments without contents back. Pages of one repeated word take no room and stay. The store has no limits of its
    /// own. Not on a device whose compressor keeps real contents (`CompressorLimits.recipe`).
    ///
    /// - Parameters:
    ///   - bytes: The most bytes of contents that are written. The first page whose contents would be too much ends it.
    ///   - pages: The most pages, in bytes before compression; nil: any number.
    func swapOut(_ slot: MemorySlot, atMost bytes: ByteCount, pages: ByteCount?) -> SwappedPages

    /// Moves the process's pages that were used longest ago to the store as they are, past the pool. Not on a device
    /// whose compressor keeps real contents.
    ///
    /// - Parameters:
    ///   - bytes: At most this much, in whole pages.
    ///   - usedBefore: Only pages whose last use has a lower number (`oldestUse`).
    /// - Returns: How much was moved.
    func pageOut(_ slot: MemorySlot, atMost bytes: ByteCount, usedBefore: Int) -> ByteCount
}

extension CompressedPages {
    /// A device that forwards its calls may know it without the other figures.
    public var use: Ratio { figures.use }

    /// Compresses pages of any age.
    public func compress(_ slot: MemorySlot, atMost bytes: ByteCount) -> ByteCount {
        compress(slot, atMost: bytes, usedBefore: .max)
    }

    /// Moves any number of pages whose contents are at most so many bytes.
    public func swapOut(_ slot: MemorySlot, atMost bytes: ByteCount) -> SwappedPages {
        swapOut(slot, atMost: bytes, pages: nil)
    }
}

/// How a device's compressor keeps pages.
enum PageKeeping {
    /// Their contents take room in segments, within these limits.
    case segments(CompressorLimits)
    /// The device is a scale model, which loses and regains frames as its original says. It keeps no contents; its pool
    /// consists of the pages that the model makes in the pool's slot.
    case model

    var limits: CompressorLimits? {
        guard case .segments(let limits) = self else { return nil }
        return limits
    }
}

/// The pool of a device's compressor: what it may take, and the segments that it has.
///
/// A segment is a real allocation in an arena of the compressor's own. The compressor always keeps one empty segment,
/// so that it can work when no memory is free. A page of it that is filled sets more frames free than the next segment
/// takes, unless the contents do not compress.
struct CompressorPool {
    /// The slot of its arena.
    let slot: MemorySlot
    let frames: UnsafeMutablePointer<FrameTable>
    let keeping: PageKeeping
    /// The allocations of the segments.
    var handles: [ObjectHandle?]
    /// By slot.
    var compressibilities: [Compressibility] = []
    var generator: SeededGenerator
    var compressedInAll = 0
    var compacted = 0
    /// Whether the last attempt to compress ended because of the pool.
    var isFull = false

    init(in slot: MemorySlot, _ frames: UnsafeMutablePointer<FrameTable>, _ keeping: PageKeeping, seed: UInt64) {
        self.slot = slot
        self.frames = frames
        self.keeping = keeping
        generator = SeededGenerator(seed: seed, stream: "compressor")
        handles = Array(repeating: nil, count: frames.pointee.segments.most)
    }

    /// How many more pages the limit of the input and the slots of swap allow. Against the input, pages in the store do
    /// not count (`freezer_incore_cseg_acct` in `vm_compressor.c`, xnu-11417.101.15).
    var mayStill: Int {
        guard let limits = keeping.limits else { return .max }
        let mayStill = limits.input.bytes / DeviceRegion.pageSize - counted
        guard let slots = limits.slots else { return mayStill }
        return min(mayStill, slots.bytes / DeviceRegion.pageSize - frames.pointee.frameless)
    }

    /// The pages that count against the limit of the input.
    private var counted: Int {
        frames.pointee.compressed - (keeping.limits?.slots == nil ? frames.pointee.words : 0)
    }

    /// How much of the limits is used, if the pool has this size.
    func use(of pool: ByteCount) -> Ratio {
        guard let limits = keeping.limits else { return .zero }
        let input = pageBytes(counted)
        return max(share(input, of: limits.input), share(pool, of: limits.pool))
    }

    private func share(_ part: ByteCount, of limit: ByteCount) -> Ratio {
        limit > .zero ? part.share(of: limit) : .one
    }

    /// A process gets this slot.
    mutating func begin(_ slot: MemorySlot) {
        while compressibilities.count <= slot.index { compressibilities.append(.typical) }
        compressibilities[slot.index] = .typical
    }

    /// The bytes that the contents of a page of this slot take.
    mutating func size(of page: Int, in slot: MemorySlot) -> Int {
        let drawn = compressibilities[slot.index].draw(page: DeviceRegion.pageSize, &generator)
        return frames.pointee.contents?.compress(page, drawn: drawn) ?? drawn
    }

    mutating func takeHandle(_ segment: Int) -> ObjectHandle {
        guard let handle = handles[segment] else { preconditionFailure("segment \(segment) has no memory") }
        handles[segment] = nil
        return handle
    }

    /// The pages that a segment takes: XNU's also take one page more than their contents.
    static var segmentFootprint: ByteCount { ByteCount(SegmentTable.bytes + DeviceRegion.pageSize) }
}

// MARK: - The device

extension BookedDevice where Heaps: ~Copyable {
    /// Gives segments without contents back. Every call that uses objects may bring pages back, and so leave some.
    @inline(__always)
    func tidy() {
        guard let frames = pool?.frames, frames.pointee.segments.empty > 0 else { return }
        giveSegmentsBack(frames)
    }

    @inline(never)
    private func giveSegmentsBack(_ frames: UnsafeMutablePointer<FrameTable>) {
        guard let slot = pool?.slot else { return }
        while let segment = frames.pointee.segments.takeEmpty() {
            if let handle = pool?.takeHandle(segment) { freeObject(handle, in: slot) }
        }
        do throws(AllocatorError) { _ = try purgePages(of: slot.index) } catch {
            preconditionFailure("the compressor's pages were not purged: \(error)")
        }
    }
}

extension BookedDevice where Heaps: CompressingHeaps & ~Copyable {
    /// A device with a compressor.
    ///
    /// - Parameters:
    ///   - keeping: How it keeps pages.
    ///   - seed: The seed of what compressed pages contain, and of the sizes that they take.
    convenience init(
        ceiling: ByteCount, reserved: ByteCount, promised: ByteCount? = nil, keeping: PageKeeping,
        rewrite: RewriteExtent = .line, seed: UInt64
    ) throws(DeviceMemoryFailure) {
        try self.init(ceiling: ceiling, reserved: reserved, promised: promised, isFramed: true, rewrite: rewrite)
        let slot: MemorySlot
        do throws(AllocatorError) { slot = try makeProcess() } catch { throw .allocator(error) }
        if let recipe = keeping.limits?.recipe { heaps.keepContents(recipe, seed: seed) }
        pool = CompressorPool(in: slot, heaps.frames, keeping, seed: seed)
        makeSpare()
    }

    /// The compressor's pool, which `init` has made.
    private var store: CompressorPool {
        _read {
            guard let pool else { preconditionFailure("a device with a compressor has no pool") }
            yield pool
        }
    }

    /// Makes sure that the compressor has an empty segment, if its limit and the free memory allow it.
    private func makeSpare() {
        let frames = heaps.frames
        guard frames.pointee.segments.spare < 0, let limits = pool?.keeping.limits, let slot = pool?.slot else {
            return
        }
        compact()
        guard frames.pointee.segments.spare < 0, let segment = frames.pointee.segments.unused else { return }
        let held = books(of: slot)
        guard held.dirty > .zero || held.footprint + CompressorPool.segmentFootprint <= limits.pool else { return }
        let made = make(ByteCount(SegmentTable.bytes), alignment: nil, in: slot, limit: nil)
        guard let handle = made.object else { return }
        pool?.handles[segment] = handle
        frames.pointee.segments.add(segment)
        frames.pointee.contents?.begin(segment, at: handle.unit)
    }

    /// Moves sparse segments into the one that is filled, while it has room, so that they can be given back.
    private func compact() {
        let frames = heaps.frames
        while let segment = frames.pointee.segments.sparsest {
            let moved = frames.pointee.compact(segment)
            pool?.compacted += moved
            guard moved > 0 else { return }
            tidy()
        }
    }
}

extension BookedDevice: CompressedPages where Heaps: CompressingHeaps & ~Copyable {
    var poolSlot: MemorySlot { store.slot }
    var broughtBack: ByteCount { pageBytes(heaps.frames.pointee.refaulted) }
    var lastUse: Int { heaps.frames.pointee.lastUse }

    var use: Ratio { store.use(of: poolFootprint) }

    private var poolFootprint: ByteCount { pageBytes(heaps.pages(live(store.slot))) }

    var figures: CompressorBooks {
        guard let store = pool else { preconditionFailure("a device with a compressor has no pool") }
        let (frames, pool) = (heaps.frames, poolFootprint)
        let (segments, stored) = (frames.pointee.segments.count, frames.pointee.store)
        return CompressorBooks(
            compressed: pageBytes(frames.pointee.compressed), repeated: pageBytes(frames.pointee.words),
            stored: ByteCount(frames.pointee.segments.used), pool: pool, segments: segments,
            sparseSegments: frames.pointee.segments.sparse, compressedInAll: pageBytes(store.compressedInAll),
            broughtBack: broughtBack, repeatedBroughtBack: pageBytes(frames.pointee.refaultedWords),
            swapped: pageBytes(stored.swapped), onStorage: ByteCount(stored.onStorage),
            swappedInAll: pageBytes(stored.swappedInAll), writtenInAll: ByteCount(stored.writtenInAll),
            swappedBack: pageBytes(stored.swappedBack), readInAll: ByteCount(stored.readInAll),
            compacted: ByteCount(store.compacted), isFull: store.isFull, use: store.use(of: pool))
    }

    func declare(_ compressibility: Compressibility, of slot: MemorySlot) {
        pool?.compressibilities[slot.index] = compressibility
    }

    func oldestUse(by slot: MemorySlot) -> Int? { heaps.frames.pointee.oldestUse(by: slot.index) }

    func compress(_ slot: MemorySlot, atMost bytes: ByteCount, usedBefore: Int) -> ByteCount {
        let wanted = bytes.bytes / DeviceRegion.pageSize
        guard store.keeping.limits != nil else {
            noteChange(slot.index)
            return pageBytes(heaps.compress(slot.index, most: wanted, usedBefore: usedBefore, stores: false) { _ in 0 })
        }
        let done = compressIntoSegments(slot, wanted, usedBefore)
        pool?.compressedInAll += done
        return pageBytes(done)
    }

    private func compressIntoSegments(_ slot: MemorySlot, _ wanted: Int, _ usedBefore: Int) -> Int {
        var done = 0
        pool?.isFull = false
        while done < wanted {
            tidy()
            makeSpare()
            let allowed = min(wanted - done, store.mayStill)
            guard allowed > 0 else {
                pool?.isFull = true
                break
            }
            noteChange(slot.index)
            let more = heaps.compress(slot.index, most: allowed, usedBefore: usedBefore, stores: true) { page in
                pool?.size(of: page, in: slot) ?? 0
            }
            guard more > 0 else {
                pool?.isFull = !heaps.frames.pointee.segments.hasRoom(for: DeviceRegion.pageSize)
                break
            }
            done += more
        }
        // What these pages set free goes to the next segment first, or waiting processes leave nothing for it.
        if store.keeping.limits?.slots != nil { makeSpare() }
        return done
    }

    func bringBack(_ slot: MemorySlot, atMost bytes: ByteCount) -> ByteCount {
        defer { tidy() }
        noteChange(slot.index)
        return pageBytes(heaps.restore(slot.index, most: bytes.bytes / DeviceRegion.pageSize))
    }

    func swapOut(_ slot: MemorySlot, atMost bytes: ByteCount, pages: ByteCount?) -> SwappedPages {
        precondition(store.keeping.limits != nil, "a scale model's store is its original's")
        defer { tidy() }
        noteChange(slot.index)
        return heaps.frames.pointee.swapOut(
            slot.index, atMost: bytes.bytes, pages: pages.map { $0.bytes / DeviceRegion.pageSize } ?? .max)
    }
    func pageOut(_ slot: MemorySlot, atMost bytes: ByteCount, usedBefore: Int) -> ByteCount {
        precondition(store.keeping.limits != nil, "a scale model's store is its original's")
        noteChange(slot.index)
        let most = bytes.bytes / DeviceRegion.pageSize
        return pageBytes(heaps.pageOut(slot.index, most: most, usedBefore: usedBefore))
    }
}
