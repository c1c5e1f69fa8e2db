import Plan
import Quantities
import Reclaim

/// When XNU's pageout daemon works, and what it takes: pages of files, pages of processes, or both. It looks at *free*
/// pages alone; no share of available memory is kept.
///
/// Source: xnu-11417.101.15, osfmk/vm/vm_pageout.c; lines are given below.
struct PageoutRules: Hashable {
    /// It begins with less free memory (`vm_page_free_min`, :245, :253, :3860: the reserve, 10 pages and a 200th of the
    /// rest, at most 1500).
    let begins: ByteCount
    /// It ends with so much free memory (`vm_page_free_target`, :231, :254, :3867: the reserve, 15 pages and a 100th of
    /// the rest, at most 2000).
    let ends: ByteCount
    /// Free memory that no process gets (`vm_page_free_reserved`, :252, :3846: 100 pages, and 128 for the compressor).
    let reserve: ByteCount
    /// With more pages of files than this, and than `leastFiles`, nothing else is taken: 2.5 times jetsam's critical
    /// threshold (:350, :2635-2642).
    let filesAlone: ByteCount

    /// What is taken.
    enum Source: Hashable, CaseIterable {
        case files
        /// Two pages of processes for one of files (`ANONS_GRABBED_LIMIT`, :1602).
        case both
        case processes
    }

    /// The rules of a device.
    ///
    /// - Parameter ceiling: The RAM of the run's device.
    init(_ device: Device, ceiling: ByteCount, kernel: JetsamKernel) {
        let page = device.page.size
        let pages = device.meantCeiling.bytes / page.bytes
        func size(_ count: Int) -> ByteCount { page * count * device.scale }
        let reserved = 100 + 128
        let rest = max(0, pages - reserved)
        let least = min(1_500, reserved + 10 + rest / 200)
        (reserve, begins) = (size(reserved), size(least))
        ends = size(max(least + 5, min(2_000, reserved + 15 + rest / 100)))
        filesAlone = ceiling * device.size(ofRAM: ceiling).thresholds(in: kernel).critical * .percent(250)
    }

    /// The least pages of files that are left (`vm_page_filecache_min`, :2187-2219: a seventh of what is neither wired
    /// nor compressed; none while the compressor is low on space).
    func leastFiles(ofPageable pageable: ByteCount, isLowOnSpace: Bool) -> ByteCount {
        isLowOnSpace ? .zero : ByteCount(pageable.bytes / 7)
    }

    /// What is taken next.
    ///
    /// - Parameters:
    ///   - files: The pages of files in memory.
    ///   - inactive: Those of them on the inactive queue. While they are fewer than half (:2597), pages of processes
    ///     are taken.
    ///   - pageable: What is neither wired nor compressed.
    ///   - isLowOnSpace: Whether the compressor is low on space.
    func source(files: ByteCount, inactive: ByteCount, pageable: ByteCount, isLowOnSpace: Bool) -> Source {
        guard files > leastFiles(ofPageable: pageable, isLowOnSpace: isLowOnSpace), inactive * 2 >= files else {
            return .processes
        }
        return files > filesAlone ? .files : .both
    }

    /// The most pages of files that are taken before pages of processes: until the source is another.
    func filesFirst(files: ByteCount, inactive: ByteCount, pageable: ByteCount, isLowOnSpace: Bool) -> ByteCount {
        guard source(files: files, inactive: inactive, pageable: pageable, isLowOnSpace: isLowOnSpace) == .files else {
            return .zero
        }
        let least = max(filesAlone, leastFiles(ofPageable: pageable, isLowOnSpace: isLowOnSpace))
        // With one page more, fewer than half of the rest are inactive.
        return min(files - least, inactive * 2 - files + .kibibytes(4))
    }
}

/// How many pages of files and of processes are on the active queues. A page that is new or used is active; the pageout
/// daemon moves active pages to the inactive queues, in the order in which they became active, whoever has them, until
/// half of all are inactive. It takes inactive pages only.
///
/// Which page stands where is not simulated: files and processes lose active pages in proportion to what they have.
///
/// Source: xnu-11417.101.15, osfmk/vm/vm_pageout.c:221 (`VM_PAGE_INACTIVE_TARGET`), 2928-2990
/// (`vm_page_balance_inactive`).
struct PageQueues: Hashable {
    private(set) var activeFiles = ByteCount.zero
    private(set) var activeProcesses = ByteCount.zero
    private var files = ByteCount.zero
    private var processes = ByteCount.zero

    /// A device that has run for long: half of its pages are inactive.
    init(files: ByteCount, processes: ByteCount) {
        (self.files, self.processes) = (files, processes)
        (activeFiles, activeProcesses) = (files * .percent(50), processes * .percent(50))
    }

    /// The pages of files on the inactive queue.
    var inactiveFiles: ByteCount { files - activeFiles }

    /// Counts the pages anew: those that came are active, those that went were inactive as far as there were such.
    ///
    /// - Parameter used: Pages of files that were used since the last count, whether they came or had been there.
    mutating func count(files: ByteCount, used: ByteCount, processes: ByteCount) {
        activeFiles = min(files, activeFiles + max(used, files - self.files))
        activeProcesses = min(processes, activeProcesses + max(.zero, processes - self.processes))
        (self.files, self.processes) = (files, processes)
    }

    /// Moves pages to the inactive queues until half of all are there.
    mutating func balance() {
        let active = activeFiles + activeProcesses
        let surplus = active - (files + processes) * .percent(50)
        guard surplus > .zero, active > .zero else { return }
        let share = scaled(Int64(surplus.bytes), by: Int64(activeFiles.bytes), over: Int64(active.bytes))
        activeFiles -= ByteCount(Int(share))
        activeProcesses -= surplus - ByteCount(Int(share))
    }
}

/// XNU's measure of a compressor that thrashes: pages go and come at a high rate, and what comes back is young enough
/// to be one working set, smaller than what the compressor holds.
///
/// Source: xnu-11417.101.15, osfmk/vm/vm_compressor.c:2534-2640, 5344.
struct CompressorSample {
    /// How often it looks.
    static let window = TimeSpan.milliseconds(250)
    /// How long a sample lasts before it counts, and when a new one begins
    /// (`compressor_sample_min_in_msecs`, `compressor_sample_max_in_msecs`).
    static let least = TimeSpan.milliseconds(500)
    static let most = TimeSpan.seconds(10)
    /// Pages per 10 ms that must be compressed and decompressed in each window, and those decompressed above which the
    /// sample is one of thrashing (`compressor_thrashing_min_per_10msecs`,
    /// `compressor_thrashing_threshold_per_10msecs`).
    static let leastPages = 20
    static let mostPages = 50
    /// Pages that were compressed so long ago are in no working set (`DECOMPRESSION_SAMPLE_MAX_AGE`).
    static let oldest = TimeSpan.minutes(30)

    /// What came back, by the whole seconds that it had been compressed.
    private struct Aged {
        let seconds: Int64
        var bytes: ByteCount
    }

    private let page: ByteCount
    private var began = Instant.zero
    private var windowBegan = Instant.zero
    private var compressed = ByteCount.zero
    private var decompressed = ByteCount.zero
    /// In the whole sample.
    private var all = ByteCount.zero
    /// By rising age.
    private var ages: [Aged] = []
    private(set) var isThrashing = false
    /// What came back in the last window, and the most that is no thrashing.
    private(set) var refaulted = ByteCount.zero
    private(set) var tolerated = ByteCount.zero

    /// - Parameter page: A page of the kernel, in bytes of this device.
    init(page: ByteCount) { self.page = page }

    /// Pages were compressed.
    mutating func compress(_ bytes: ByteCount) { compressed += bytes }

    /// Pages came back that had been compressed for this long.
    mutating func bringBack(_ bytes: ByteCount, age: TimeSpan) {
        decompressed += bytes
        let seconds = max(1, age.microseconds / 1_000_000)
        guard bytes > .zero, age.microseconds < CompressorSample.oldest.microseconds else { return }
        let place = ages.firstIndex { $0.seconds >= seconds } ?? ages.endIndex
        if place < ages.endIndex, ages[place].seconds == seconds {
            ages[place].bytes += bytes
        } else {
            ages.insert(Aged(seconds: seconds, bytes: bytes), at: place)
        }
    }

    /// Looks, if a window is over. What it found holds until a window is quiet or another sample says otherwise.
    ///
    /// - Parameter held: All pages that are compressed.
    mutating func look(at now: Instant, held: ByteCount) {
        let passed = now - windowBegan
        guard passed >= CompressorSample.window else { return }
        let least = pages(CompressorSample.leastPages, in: passed)
        all += decompressed
        (refaulted, tolerated) = (decompressed, pages(CompressorSample.mostPages, in: passed))
        let isQuiet = compressed < least || decompressed < least
        (windowBegan, compressed, decompressed) = (now, .zero, .zero)
        guard !isQuiet, now - began < CompressorSample.most else {
            isThrashing = isThrashing && !isQuiet
            return begin(at: now)
        }
        guard now - began >= CompressorSample.least,
            all > pages(CompressorSample.mostPages, in: now - began)
        else { return }
        isThrashing = isOneWorkingSet(at: now, held: held)
        begin(at: now)
    }

    private mutating func begin(at now: Instant) {
        (began, all) = (now, .zero)
        ages.removeAll(keepingCapacity: true)
    }

    /// Whether 95 % of what came back, the youngest first, would fit into the compressor as a working set: by Little's
    /// law, the pages per second times the seconds that each stays away.
    private func isOneWorkingSet(at now: Instant, held: ByteCount) -> Bool {
        let wanted = all * .percent(95)
        let span = max(1, (now - began).microseconds)
        var (counted, pageSeconds) = (ByteCount.zero, Int64(0))
        for aged in ages {
            counted += aged.bytes
            pageSeconds += aged.seconds * Int64(aged.bytes.bytes / 4_096)
            if counted >= wanted {
                return scaled(pageSeconds, by: 1_000_000, over: span) < Int64(held.bytes / 4_096)
            }
        }
        return false
    }

    private func pages(_ count: Int, in span: TimeSpan) -> ByteCount {
        ByteCount(Int(scaled(Int64((page * count).bytes), by: span.microseconds, over: 10_000)))
    }
}

/// When each process's compressed pages were compressed, the oldest first, to know how old those are that come back:
/// they come back in the order of a stack, which is a guess for pages that are used, and the rule of `bringBack`.
struct CompressionAges {
    private struct Entry {
        let second: Int64
        var bytes: ByteCount
    }

    private var entries: [Entry] = []

    /// Pages of the process were compressed.
    mutating func push(_ bytes: ByteCount, at now: Instant) {
        let second = now.microseconds / 1_000_000
        if entries.last?.second == second {
            entries[entries.count - 1].bytes += bytes
        } else if bytes > .zero {
            entries.append(Entry(second: second, bytes: bytes))
        }
    }

    /// Pages of the process came back: gives them to the sample, with their ages.
    mutating func pop(_ bytes: ByteCount, at now: Instant, into sample: inout CompressorSample) {
        var left = bytes
        while left > .zero, let last = entries.last {
            let part = min(left, last.bytes)
            let age = TimeSpan(microseconds: max(0, now.microseconds - last.second * 1_000_000))
            sample.bringBack(part, age: age)
            left -= part
            if part == last.bytes { entries.removeLast() } else { entries[entries.count - 1].bytes -= part }
        }
        // What is left was compressed before the run, or ended with objects of the process.
        if left > .zero { sample.bringBack(left, age: CompressorSample.oldest) }
    }
}
