import Memory
import Plan
import Quantities

/// The pages of files that the device has in memory: code, libraries, resources, maps.
///
/// They are clean, so the system drops them whenever it needs memory, and reads them from storage when an app uses them
/// again. They belong to no process: pages stay in memory when the process that used them ends. The cache holds them as
/// real pages in a slot of its own, one pool for each app.
///
/// Which of an app's pages are used is not simulated. If a share of the app's file pages is in memory, the same share
/// of its uses finds its page there. Pages are dropped in the order in which their apps last used files. Storage serves
/// one read after the other.
///
/// The system has files of its own: code and resources that its processes share. They are there when the run begins,
/// are dropped like those of an app, and come back into memory that is free, at a rate, with nobody waiting for them.
///
/// Everything here is in pages of the device that is meant, unless it says otherwise.
final class FileCache {
    /// The file pages of one app.
    private struct Holding {
        let pool: PoolID
        /// All of the app's file pages.
        let size: Int
        /// Those that have been in memory since the run began: if one is missing, it was dropped.
        var known = 0
        /// Bytes used that do not yet add up to a page.
        var used = 0
        /// What is left over of the division that counts missing pages.
        var rest = 0
        var lastUse = Instant.zero
    }

    private static let page = 4_096
    /// The sizes of one allocation.
    private static let chunk = [Int](repeating: page, count: 512)

    private let settings: FileCacheSettings
    /// Free memory that is no room for files, in bytes of this device. With XNU's pageout, what is read takes pages
    /// like everybody, so that the daemon begins: half-way between its beginning and the reserve, a guess.
    private let kept: ByteCount
    private let slot: MemorySlot
    /// By app; nil for an app that uses no files. The last one is the system's.
    private var holdings: [Holding?] = []
    /// When pages of the system's own files last had the chance to come back.
    private var returnedAt = Instant.zero
    private(set) var thrashing = FileThrashing()
    /// Pages read from storage so far.
    private(set) var read = 0
    /// Those of them that had been dropped before.
    private(set) var refaulted = 0
    /// Pages dropped so far.
    private(set) var dropped = 0
    /// Bytes used since they were last asked for, in bytes of the device that is meant.
    private var used = ByteCount.zero
    private let reads: StorageReads
    private let memory: any DeviceMemory
    private let faults: RunFaults

    /// - Parameters:
    ///   - sizes: Of the apps' files, in bytes of the device that is meant.
    ///   - pageout: Its target is what is kept free on a device with a kernel.
    init(
        _ settings: FileCacheSettings, _ sizes: [ByteCount], pageout: PageoutRules?, reads: StorageReads,
        memory: any DeviceMemory, faults: RunFaults
    ) throws(AllocatorError) {
        self.settings = settings
        kept = pageout.map { ($0.begins + $0.reserve) * .percent(50) } ?? memory.books.ceiling * settings.keepFree
        self.reads = reads
        self.memory = memory
        self.faults = faults
        slot = try memory.makeProcess()
        memory.holdsFiles(slot)
        holdings = (sizes + [settings.system.unscaled(by: memory.scale)]).map { size in
            guard size > .zero else { return nil }
            let pages = size.roundedUp(toMultipleOf: FileCache.page).bytes / FileCache.page
            return Holding(pool: memory.makePool(in: slot), size: pages)
        }
    }

    /// What the cache takes of this device's memory.
    var held: ByteCount { memory.books(of: slot).footprint }

    /// The pages of the app that are in memory.
    private func cached(_ holding: Holding) -> Int { memory.requested(in: holding.pool).bytes / FileCache.page }

    /// What the cache takes for one app, in bytes of this device.
    func held(for app: AppID) -> ByteCount {
        guard let holding = holdings[app.index] else { return .zero }
        return memory.requested(in: holding.pool) * memory.scale
    }

    // MARK: Use

    /// An app uses this many bytes of its files.
    ///
    /// - Returns: When storage has delivered what is missing; nil: nothing is missing.
    func use(_ bytes: ByteCount, by process: LiveProcess, at now: Instant) -> Instant? {
        guard var holding = holdings[process.app.index] else { return nil }
        holding.lastUse = now
        used += bytes
        holding.used += bytes.bytes
        let uses = min(holding.used / FileCache.page, holding.size)
        holding.used %= FileCache.page
        let absent = holding.size - cached(holding)
        let missing = (uses * absent + holding.rest) / holding.size
        holding.rest = (uses * absent + holding.rest) % holding.size
        let returning = absent == 0 ? 0 : missing * (holding.known - cached(holding)) / absent
        holdings[process.app.index] = holding
        guard missing > 0 else { return nil }
        load(missing, of: process.app)
        holdings[process.app.index]?.known = min(holding.size, holding.known + missing - returning)
        read += missing
        refaulted += returning
        let time = settings.readRate.time(for: ByteCount(missing * FileCache.page))
        return reads.wait(of: process, for: time, isRefault: returning > 0, at: now)
    }

    // MARK: The system's own files

    /// What stands for the system among the apps.
    private var system: AppID { AppID(holdings.count - 1) }

    /// The run begins: pages of the system's own files are in memory, as far as there is room.
    func begin() {
        guard let holding = holdings[system.index] else { return }
        holdings[system.index]?.known = holding.size
        load(holding.size, of: system)
    }

    /// Pages of the system's own files that were dropped come back, as many as the system uses between two samples, and
    /// only into free memory. They are no refaults: nobody waits for them.
    func returnSystem(at now: Instant) {
        defer { returnedAt = now }
        guard let holding = holdings[system.index] else { return }
        let due = settings.systemReadRate.bytes(in: now - returnedAt)
        used += due
        let wanted = holding.used + due.bytes
        let missing = holding.size - cached(holding)
        // What finds no room is not made up for later.
        holdings[system.index]?.used = missing > 0 ? wanted % FileCache.page : 0
        let count = min(wanted / FileCache.page, missing, room)
        guard count > 0 else { return }
        load(count, of: system)
        read += count
        holdings[system.index]?.lastUse = now
    }

    /// What of the files was used since this was last asked, in bytes of this device.
    func takeUsed() -> ByteCount {
        defer { used = .zero }
        return used * memory.scale
    }

    // MARK: Pages come and go

    /// Puts pages of an app into memory, in place of those that other apps used longest ago. What finds no room is
    /// used and dropped at once: the cache takes nothing from processes.
    private func load(_ pages: Int, of app: AppID) {
        guard let pool = holdings[app.index]?.pool else { return }
        if room < pages { _ = drop(pages - room, sparing: app) }
        var left = min(pages, room)
        while left > 0 {
            let count = min(left, FileCache.chunk.count)
            let made = memory.allocate(FileCache.chunk.span.extracting(first: count), in: pool, limit: nil).objects
            guard made == count else { return }
            left -= made
        }
    }

    /// The pages that the cache may still take.
    private var room: Int {
        max(.zero, memory.available - kept).unscaled(by: memory.scale).bytes / FileCache.page
    }

    /// Drops pages, those first whose apps last used files longest ago. Returns how many.
    ///
    /// - Parameter spared: An app whose pages stay.
    private func drop(_ pages: Int, sparing spared: AppID? = nil) -> Int {
        var left = pages
        let order = holdings.indices.sorted { a, b in
            (holdings[a]?.lastUse ?? .zero, a) < (holdings[b]?.lastUse ?? .zero, b)
        }
        for index in order where left > 0 && index != spared?.index { left -= drop(left, of: AppID(index)) }
        purge()
        return pages - left
    }

    private func drop(_ pages: Int, of app: AppID) -> Int {
        guard let holding = holdings[app.index] else { return 0 }
        let count = min(pages, cached(holding))
        guard count > 0 else { return 0 }
        _ = memory.release(ByteCount(count * FileCache.page), from: holding.pool, order: .oldestFirst)
        dropped += count
        return count
    }

    /// What was dropped goes back to the device.
    private func purge() {
        do throws(AllocatorError) { _ = try memory.purge(slot) } catch { faults.fail("\(error)") }
    }

    /// Drops pages until this much has come back, in bytes of this device. Returns how much has.
    func giveBack(_ bytes: ByteCount) -> ByteCount {
        let before = memory.available
        _ = drop(bytes.unscaled(by: memory.scale).roundedUp(toMultipleOf: FileCache.page).bytes / FileCache.page)
        return memory.available - before
    }

    /// Drops all pages of one app. Returns how much memory has come back, in bytes of this device.
    func giveBack(all app: AppID) -> ByteCount {
        let before = memory.available
        _ = drop(.max, of: app)
        purge()
        return memory.available - before
    }

    /// Drops pages as long as less memory is free than the device keeps free.
    func keepMemoryFree() {
        let lacking = kept - memory.available
        if lacking > .zero { _ = giveBack(lacking) }
    }

    func observeThrashing(at now: Instant) {
        thrashing.observe(refaulted: refaulted, cached: held.unscaled(by: memory.scale).bytes / FileCache.page, at: now)
    }

    /// The measure of thrashing begins anew.
    func beginThrashingAnew(at now: Instant) {
        thrashing.begin(refaulted: refaulted, cached: held.unscaled(by: memory.scale).bytes / FileCache.page, at: now)
    }

    /// The run is over: all pages go back to the device.
    func end() {
        do throws(AllocatorError) { _ = try memory.endProcess(slot) } catch { faults.fail("\(error)") }
    }
}

/// lmkd's measure of thrashing: the file pages that came back within a window, as a share of the file cache at the
/// window's beginning, plus what is left of the window before.
///
/// A window lasts a second. After it, its share is halved for each second that has passed, unless only one has passed
/// and the share is at lmkd's limit, 100 %, or above.
/// Under lmkd it begins anew at each kill; lmkd itself does so at its first look after the kill.
/// Source: AOSP lmkd.cpp (android-13.0.0_r83, lines 2624-2632 and 2680-2706, `THRASHING_RESET_INTERVAL_MS`).
struct FileThrashing {
    private static let window = TimeSpan.seconds(1)
    private static let limit: Int64 = 1_000_000

    private var since = Instant.zero
    /// Pages that had come back when the window began.
    private var before = 0
    /// Pages of the cache when the window began.
    private var base = 0
    private var earlier: Int64 = 0
    /// The present share.
    private(set) var share = Ratio.zero

    /// A new window begins, and nothing of the past counts.
    fileprivate mutating func begin(refaulted: Int, cached: Int, at now: Instant) {
        (since, before, base) = (now, refaulted, cached)
        (earlier, share) = (0, .zero)
    }

    fileprivate mutating func observe(refaulted: Int, cached: Int, at now: Instant) {
        let passed = (now - since).microseconds / FileThrashing.window.microseconds
        let growth = Int64(refaulted - before) * 1_000_000 / Int64(base + 1)
        if passed > 0 {
            earlier = passed == 1 && growth >= FileThrashing.limit ? growth : growth >> min(passed, 62)
            (since, before, base) = (now, refaulted, cached)
            share = Ratio(partsPerMillion: earlier)
        } else {
            share = Ratio(partsPerMillion: earlier + growth)
        }
    }
}
