import Quantities

/// A device with real memory that represents a larger or smaller device, the original, and keeps the original's
/// books.
///
/// Slabs and pages do not scale: a process has the same number of partly empty slabs at every scale, and no object
/// takes a quarter of a page. A device that merely made a quarter of the objects would hold up to 1 % too much and
/// release up to 2 % too little, and so would warn and end other processes. Therefore the accounting backend books
/// the apps' requests at full size, and it decides when there is no room and when a limit is crossed. The model
/// follows it: each process holds, as real objects, its share of the original's pages in use and dirty pages, to the
/// page. These objects are a sample of the small objects, drawn separately from each size class (three of each object
/// at 400 %), and page runs for the rest.
///
/// With a compressor, the accounting device also decides how much is compressed and what comes back. The model takes
/// frames away until each process has its share of pages with frames, and holds its share of the pool in pages. Only
/// the original knows which of the pages without frames are in the store on flash. The model's books show its share.
///
/// Requests to pools, and the answer of `requested(in:)`, are in the original's bytes, so that an app asks for the same
/// at every scale and no rounding moves its objects. Everything else is the model's own: its ceiling, limits, pages,
/// refusals and `books`.
///
/// Limits: for objects made by name (`makeObject`, `play`) the model holds only page runs. Pools release only from
/// either end. The original has at most the highest ceiling. Some calls that cannot fail on other devices may need a
/// purge here. If jemalloc refuses the purge, the next call that can fail reports it, at the latest the next audit.
final class ScaleModel: DeviceMemory {
    private let device: any DeviceMemory
    /// The original device, without memory.
    private let original: any DeviceMemory
    private let geometry: AllocatorGeometry
    /// The pages of the compressors of both devices; nil without a compressor.
    private let pages: (model: any CompressedPages, original: any CompressedPages)?
    /// The slot of the file cache, on both devices.
    private var files: MemorySlot?
    /// The slot of the wired memory that comes and goes, on both devices.
    private var wired: MemorySlot?
    /// The sum of the samples' `swapped`.
    private var swapped = ByteCount.zero
    private var samples: [ProcessSample] = []
    let scale: Ratio
    /// The first purge that jemalloc refused. After it, a process may no longer hold exactly its share of pages.
    private var refused: AllocatorError?

    /// The longest run in pages; runs are short because a whole run is freed even for a few excess pages.
    private static let longestRunMade = 64

    /// - Parameters:
    ///   - device: The model's own memory.
    ///   - limits: The limits of the model's compressor; nil for a device without one.
    ///   - seed: The seed of the sizes that compressed pages take.
    init(
        _ device: any DeviceMemory, scale: Ratio, _ limits: CompressorLimits? = nil, seed: UInt64 = 0
    ) throws(DeviceMemoryFailure) {
        precondition(scale > .zero, "a scale of \(scale)")
        let size = try DevicePages(ceiling: device.books.ceiling, reserved: device.books.reserved).meant(at: scale)
        let meant = limits.map {
            CompressorLimits(
                pool: $0.pool.unscaled(by: scale), input: $0.input.unscaled(by: scale),
                slots: $0.slots?.unscaled(by: scale))
        }
        self.device = device
        self.scale = scale
        let original = try makeDeviceMemory(
            .accounting, ceiling: size.ceiling, reserved: size.reserved, compressor: meant, seed: seed)
        self.original = original
        pages = device.compressor.flatMap { model in original.compressor.map { (model: model, original: $0) } }
        do throws(AllocatorError) { geometry = try AllocatorGeometry() } catch { throw .allocator(error) }
        guard let pages else { return }
        let pool = pages.model.poolSlot
        precondition(pages.original.poolSlot == pool, "the pools of a model and its original are in different slots")
        samples.append(ProcessSample(geometry, scale, runs: device.makePool(in: pool)))
        followPool()
    }

    /// The slot of the compressor's pool, on both devices; nil without a compressor.
    private var pool: MemorySlot? { pages?.model.poolSlot }

    // MARK: Processes and pools

    func makeProcess() throws(AllocatorError) -> MemorySlot {
        try checkFollowing()
        let slot = try device.makeProcess()
        let same = try original.makeProcess()
        precondition(same == slot, "slot \(slot.index) is \(same.index) on the device that is meant")
        _ = original.makePool(in: slot)
        let sample = ProcessSample(geometry, scale, runs: device.makePool(in: slot))
        if slot.index < samples.count { samples[slot.index] = sample } else { samples.append(sample) }
        return slot
    }

    func endProcess(_ slot: MemorySlot) throws(AllocatorError) -> ByteCount {
        try checkFollowing()
        _ = try original.endProcess(slot)
        if slot == files { files = nil }
        if slot == wired { wired = nil }
        note(swapped: .zero, of: slot)
        defer { followPool() }
        return try device.endProcess(slot)
    }

    func makePool(in slot: MemorySlot) -> PoolID {
        let pool = device.makePool(in: slot)
        let same = original.makePool(in: slot)
        precondition(same == pool, "pool \(pool.index) is \(same.index) on the device that is meant")
        samples[slot.index].makePool(pool.index)
        return pool
    }

    func endPool(_ pool: PoolID) -> ReleaseResult {
        samples[pool.slot.index].endPool(pool.index)
        let gone = original.endPool(pool)
        _ = device.endPool(pool)
        follow(pool.slot)
        return gone
    }

    func requested(in pool: PoolID) -> ByteCount { original.requested(in: pool) }

    func purge(_ slot: MemorySlot) throws(AllocatorError) -> ByteCount {
        try checkFollowing()
        _ = try original.purge(slot)
        let gone = try device.purge(slot)
        try balance(slot)
        followPool()
        return gone
    }

    // MARK: Objects

    func allocate(_ sizes: Span<Int>, in pool: PoolID, limit: ByteCount?) -> AllocationResult {
        let isExcessive = isAboveShare(pool.slot)
        let booked = original.allocate(sizes, in: pool, limit: limit?.unscaled(by: scale))
        var copies: [Int] = []
        var drawn: [Int] = []
        for index in 0..<booked.objects {
            // A process that already has too many pages makes no small objects.
            copies.append(isExcessive ? 0 : samples[pool.slot.index].copies(of: sizes[index]))
            drawn.append(contentsOf: repeatElement(sizes[index], count: copies[index]))
        }
        // If the model has no room, the process's objects are made later, when there is room.
        var made = device.allocate(drawn.span, in: pool, limit: nil).objects
        for index in 0..<booked.objects {
            let count = min(copies[index], made)
            made -= count
            samples[pool.slot.index].note(sizes[index], copies: count, pool.index)
        }
        follow(pool.slot)
        return AllocationResult(
            objects: booked.objects, requested: booked.requested, refusal: booked.refusal.map(scaled))
    }

    private func scaled(_ refusal: AllocationRefusal) -> AllocationRefusal {
        switch refusal {
        case .noRoom(let wanted, let free, let longestRun):
            .noRoom(wanted: wanted * scale, free: free * scale, longestRun: longestRun * scale)
        case .limitCrossed(let footprint):
            // Rounded up, so that a footprint above the limit on the original is above it in the model, too.
            .limitCrossed(footprint: (footprint * scale + ByteCount(1)).roundedUp(toMultipleOf: DeviceRegion.pageSize))
        }
    }

    func release(_ bytes: ByteCount, from pool: PoolID, order: ReleaseOrder) -> ReleaseResult {
        let gone = original.release(bytes, from: pool, order: order)
        let made = samples[pool.slot.index].release(gone.objects, pool.index, order)
        if made > 0 { _ = device.release(ByteCount(made), from: pool, order: order) }
        follow(pool.slot)
        return gone
    }

    func releaseScattered(
        _ bytes: ByteCount, from pool: PoolID, using generator: inout SeededGenerator
    ) -> ReleaseResult {
        preconditionFailure("a scale model's pools release from either end")
    }

    // MARK: Pages

    private func share(_ bytes: ByteCount) -> Int {
        let pages = Int64(bytes.bytes / DeviceRegion.pageSize)
        return Int((pages * scale.partsPerMillion + 500_000) / 1_000_000)
    }

    /// How many pages in use, and how many dirty pages, the process lacks from its share. A negative number means that
    /// it has too many.
    private func owed(_ slot: MemorySlot) -> (active: Int, dirty: Int) {
        let (meant, real) = (original.books(of: slot), device.books(of: slot))
        return (
            share(meant.active) - real.active.bytes / DeviceRegion.pageSize,
            share(meant.footprint) - share(meant.active) - real.dirty.bytes / DeviceRegion.pageSize
        )
    }

    /// Whether the process has too many pages in use but no run left to free.
    private func isAboveShare(_ slot: MemorySlot) -> Bool {
        device.requested(in: samples[slot.index].runs) == .zero && owed(slot).active < 0
    }

    private func follow(_ slot: MemorySlot) {
        guard refused == nil else { return }
        do throws(AllocatorError) {
            // What the pool gives back may be what the process needs.
            if let pool, owed(pool).active < 0 { try balance(pool) }
            try balance(slot)
        } catch { refused = error }
        followPool()
    }

    private func followPool() {
        guard refused == nil, let pool else { return }
        do throws(AllocatorError) { try balance(pool) } catch { refused = error }
    }

    private func checkFollowing() throws(AllocatorError) {
        if let refused { throw refused }
    }

    /// Makes and frees page runs until the process has its share of the pages.
    private func balance(_ slot: MemorySlot) throws(AllocatorError) {
        while owed(slot).active < 0, device.requested(in: samples[slot.index].runs) > .zero { freeRun(slot) }
        if owed(slot).dirty < 0 { _ = try device.purge(slot) }
        // Room for new runs comes first. A new run has frames, so only afterwards is it known how many are lacking.
        followFrames(slot, compressesOnly: true)
        defer { followFrames(slot) }
        while case let owed = owed(slot).active, owed > 0, makeRun(owed, slot) > 0 {}
        guard owed(slot).dirty != 0 else { return }
        // New runs would reuse the dirty pages. So the dirty pages are purged first; then the missing number of pages
        // is made and freed.
        _ = try device.purge(slot)
        var due = owed(slot).dirty
        var runs = 0
        while due > 0, case let made = makeRun(due, slot), made > 0 {
            due -= made
            runs += 1
        }
        for _ in 0..<runs { freeRun(slot) }
    }

    /// Compresses pages, or brings some back, until the process has its share of the frames. Pages of files and wired
    /// pages are never compressed; if the model has too many, it keeps them until it can free a run.
    private func followFrames(_ slot: MemorySlot, compressesOnly: Bool = false) {
        guard let pages = pages?.model, slot != pool, slot != files, slot != wired else { return }
        let whole = original.books(of: slot)
        let meant = pageBytes(share(whole.resident))
        let real = device.books(of: slot).resident
        if real > meant {
            _ = pages.compress(slot, atMost: real - meant)
        } else if real < meant && !compressesOnly {
            _ = pages.bringBack(slot, atMost: meant - real)
        }
        guard !compressesOnly, whole.swapped > .zero || samples[slot.index].swapped > .zero else { return }
        note(swapped: min(pageBytes(share(whole.swapped)), device.books(of: slot).compressed), of: slot)
    }

    private func note(swapped now: ByteCount, of slot: MemorySlot) {
        swapped += now - samples[slot.index].swapped
        samples[slot.index].swapped = now
    }

    /// Makes the longest run of at most this many pages for which there is room; returns its pages.
    private func makeRun(_ pages: Int, _ slot: MemorySlot) -> Int {
        var pages = pages
        while pages > 0 {
            let made = tryRun(pages, slot)
            if made > 0 { return made }
            pages = min(pages, ScaleModel.longestRunMade) / 2
        }
        return 0
    }

    private func tryRun(_ pages: Int, _ slot: MemorySlot) -> Int {
        let longest = min(pages - geometry.largePad, ScaleModel.longestRunMade)
        // A short run is made of objects of one page each, whose slabs hold only one object.
        let isLong = longest * DeviceRegion.pageSize > geometry.largestSmall
        let whole = isLong ? AllocatorGeometry.pages(ofRunClass: AllocatorGeometry.runClass(longest + 1) - 1) : 1
        let sizes = [whole * DeviceRegion.pageSize]
        let made = device.allocate(sizes.span, in: samples[slot.index].runs, limit: nil)
        return made.objects == 1 ? whole + (isLong ? geometry.largePad : 0) : 0
    }

    private func freeRun(_ slot: MemorySlot) {
        _ = device.release(ByteCount(1), from: samples[slot.index].runs, order: .newestFirst)
    }

    // MARK: Use

    func touch(_ bytes: ByteCount, in pool: PoolID) -> ByteCount {
        use(bytes, in: pool) { $0.touch($1, in: $2) }
    }

    func read(_ bytes: ByteCount, in pool: PoolID) -> ByteCount {
        use(bytes, in: pool) { $0.read($1, in: $2) }
    }

    /// Only with a compressor does use change the original's books: pages come back.
    private func use(
        _ bytes: ByteCount, in pool: PoolID, _ visit: (any DeviceMemory, ByteCount, PoolID) -> ByteCount
    ) -> ByteCount {
        guard self.pool != nil else { return useModel(bytes, in: pool, visit) }
        let done = visit(original, bytes, pool)
        // The use brings back pages of the model, too: what is lacking is known afterwards.
        _ = useModel(done, in: pool, visit)
        follow(pool.slot)
        return done
    }

    private func useModel(
        _ bytes: ByteCount, in pool: PoolID, _ visit: (any DeviceMemory, ByteCount, PoolID) -> ByteCount
    ) -> ByteCount {
        let share = min(bytes, requested(in: pool)) * scale
        let done = visit(device, share, pool)
        return done < share ? done + visit(device, share - done, samples[pool.slot.index].runs) : done
    }

    // MARK: Compression

    func declare(hot: Ratio, of slot: MemorySlot) {
        original.declare(hot: hot, of: slot)
        device.declare(hot: hot, of: slot)
    }

    var compressor: (any CompressedPages)? { pages == nil ? nil : self }

    var refusal: AllocationRefusal { scaled(original.refusal) }

    // MARK: Objects by name

    // These objects exist only on the original, and the handles are the original's. The model holds pages for them.

    func makeObject(
        _ size: ByteCount, alignment: ByteCount?, in slot: MemorySlot, limit: ByteCount?
    ) -> ObjectAllocation {
        defer { follow(slot) }
        return scaled(original.makeObject(size, alignment: alignment, in: slot, limit: limit?.unscaled(by: scale)))
    }

    func resizeObject(
        _ object: ObjectHandle, to size: ByteCount, in slot: MemorySlot, limit: ByteCount?
    ) -> ObjectAllocation {
        defer { follow(slot) }
        return scaled(original.resizeObject(object, to: size, in: slot, limit: limit?.unscaled(by: scale)))
    }

    private func scaled(_ made: ObjectAllocation) -> ObjectAllocation {
        ObjectAllocation(object: made.object, refusal: made.refusal.map(scaled))
    }

    func freeObject(_ object: ObjectHandle, in slot: MemorySlot) {
        original.freeObject(object, in: slot)
        follow(slot)
    }

    func play(
        _ steps: Span<ObjectStep>, on board: inout ObjectBoard, in slot: MemorySlot, limit: ByteCount?
    ) -> PlayedSteps {
        var played = original.play(steps, on: &board, in: slot, limit: limit?.unscaled(by: scale))
        played.refusal = played.refusal.map(scaled)
        follow(slot)
        return played
    }

    // MARK: Passed on

    func holdsFiles(_ slot: MemorySlot) {
        files = slot
        original.holdsFiles(slot)
        device.holdsFiles(slot)
    }

    func holdsWired(_ slot: MemorySlot) {
        wired = slot
        original.holdsWired(slot)
        device.holdsWired(slot)
    }

    /// The model's device counts swapped pages as compressed ones.
    var books: DeviceBooks {
        var books = device.books
        books.swapped = swapped
        books.compressed -= swapped
        return books
    }

    var available: ByteCount { device.available }
    var longestFreeRun: ByteCount { original.longestFreeRun * scale }
    var touchedBytes: ByteCount { device.touchedBytes }
    var allocatorMetadata: ByteCount { device.allocatorMetadata }
    func hasDirtyPages(_ slot: MemorySlot) -> Bool {
        original.books(of: slot).dirty > .zero || device.books(of: slot).dirty > .zero
    }

    func books(of slot: MemorySlot) -> ProcessBooks {
        var books = device.books(of: slot)
        books.swapped = samples[slot.index].swapped
        books.compressed -= books.swapped
        return books
    }

    func peakFootprint(of slot: MemorySlot) -> ByteCount { device.peakFootprint(of: slot) }

    /// Includes the original's changes: a pool's contents may change while the model's memory does not.
    func takeChanges(into slots: inout [Int]) {
        device.takeChanges(into: &slots)
        var meant: [Int] = []
        original.takeChanges(into: &meant)
        slots += meant
    }

    /// Only the original refuses requests, so only it withholds memory.
    func keepBack(_ bytes: ByteCount) { original.keepBack(bytes.unscaled(by: scale)) }

    func audit(refreshingMetadata: Bool) throws(AuditFailure) {
        do throws(AllocatorError) { try checkFollowing() } catch { throw .allocator(error) }
        try device.audit(refreshingMetadata: refreshingMetadata)
    }
}

extension ScaleModel: CompressedPages {
    private var both: (model: any CompressedPages, original: any CompressedPages) {
        guard let pages else { preconditionFailure("the model's device has no compressor") }
        return pages
    }

    var poolSlot: MemorySlot { both.model.poolSlot }
    var lastUse: Int { both.original.lastUse }
    var broughtBack: ByteCount { both.original.broughtBack * scale }
    func oldestUse(by slot: MemorySlot) -> Int? { both.original.oldestUse(by: slot) }

    func declare(_ compressibility: Compressibility, of slot: MemorySlot) {
        both.original.declare(compressibility, of: slot)
    }

    func compress(_ slot: MemorySlot, atMost bytes: ByteCount, usedBefore: Int) -> ByteCount {
        let done = both.original.compress(slot, atMost: bytes.unscaled(by: scale), usedBefore: usedBefore)
        follow(slot)
        return done * scale
    }

    func bringBack(_ slot: MemorySlot, atMost bytes: ByteCount) -> ByteCount {
        let done = both.original.bringBack(slot, atMost: bytes.unscaled(by: scale))
        follow(slot)
        return done * scale
    }

    func swapOut(_ slot: MemorySlot, atMost bytes: ByteCount, pages: ByteCount?) -> SwappedPages {
        let done = both.original.swapOut(
            slot, atMost: bytes.unscaled(by: scale), pages: pages?.unscaled(by: scale))
        follow(slot)
        return SwappedPages(pages: done.pages * scale, written: min(done.written * scale, bytes))
    }

    func pageOut(_ slot: MemorySlot, atMost bytes: ByteCount, usedBefore: Int) -> ByteCount {
        let done = both.original.pageOut(slot, atMost: bytes.unscaled(by: scale), usedBefore: usedBefore)
        follow(slot)
        return done * scale
    }

    /// The original's figures at the model's scale, but for what the model itself holds. Segments are the original's.
    var figures: CompressorBooks {
        var books = both.original.figures
        books.compressed = self.books.compressed
        books.swapped = swapped
        books.pool = device.books.compressor
        for figure in [
            \CompressorBooks.repeated, \.stored, \.compressedInAll, \.broughtBack, \.repeatedBroughtBack, \.onStorage,
            \.swappedInAll, \.writtenInAll, \.swappedBack, \.readInAll, \.compacted,
        ] {
            books[keyPath: figure] = books[keyPath: figure] * scale
        }
        // Its pool and its compressed pages are rounded to pages: what they contain is rounded down to them.
        books.stored = min(books.stored, books.pool)
        books.repeated = min(books.repeated, books.compressed)
        books.onStorage = min(books.onStorage, books.swapped)
        return books
    }
}
