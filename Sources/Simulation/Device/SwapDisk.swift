import Memory
import Plan
import Quantities

/// The disk of Linux's swap. When the compressor is full, it takes pages in batches, and storage is at work meanwhile:
/// the compressor's oldest contents, of suspended processes first, the one last seen longest ago first; or what is to
/// be swapped next (`SwapSettings.diskTakes`), which its compressor chooses.
///
/// Pages go there and come back uncompressed; that costs no core. Pages of one repeated word stay, as in zram's
/// writeback (Linux 6.12, drivers/block/zram/zram_drv.c, `scan_slots_for_writeback`).
final class SwapDisk {
    private let settings: SwapSettings
    /// 4 MiB of the device that is meant.
    private let batch: ByteCount
    /// Whether a batch is on its way.
    private(set) var isWriting = false
    private let pages: any CompressedPages
    private let memory: any DeviceMemory
    private let processes: ProcessTable
    private let reads: StorageReads
    private let agenda: Agenda

    /// Nil for a device without a disk.
    init?(
        _ settings: SwapSettings, _ pages: any CompressedPages, _ memory: any DeviceMemory, _ processes: ProcessTable,
        _ reads: StorageReads, _ agenda: Agenda
    ) {
        guard settings.disk > .zero else { return nil }
        self.settings = settings
        self.pages = pages
        self.memory = memory
        self.processes = processes
        self.reads = reads
        self.agenda = agenda
        batch = max(ByteCount.mebibytes(4) * memory.scale, .kibibytes(4))
    }

    /// How many bytes of pages it holds at most.
    var size: ByteCount { settings.disk }

    /// Whether it takes the compressor's oldest contents, and not what is to be swapped next.
    var takesOldest: Bool { settings.diskTakes == .oldest }

    /// What still fits, in whole pages.
    private var left: ByteCount { ByteCount(max(0, (settings.disk - pages.figures.swapped).bytes) & ~0xFFF) }

    /// Begins a batch of the compressor's oldest contents, if there is something to write and room for it.
    func begin() {
        let figures = pages.figures
        begin(atMost: figures.compressed - figures.repeated)
    }

    /// Begins a batch of at most this much.
    func begin(atMost bytes: ByteCount) {
        guard !isWriting else { return }
        let wanted = min(room, bytes)
        guard wanted > .zero else { return }
        isWriting = true
        let time = max(settings.writeRate.time(for: wanted), TimeSpan(microseconds: 1))
        agenda.schedule(.swapWritten, at: reads.occupy(for: time, at: agenda.now))
    }

    /// The most of a batch that still fits.
    private var room: ByteCount { min(batch, left) }

    /// A batch of what is to be swapped next is written.
    ///
    /// - Returns: How much there is room for.
    func finishNewest() -> ByteCount {
        isWriting = false
        return room
    }

    /// A batch is written: its contents leave the compressor.
    ///
    /// - Returns: Whether there were any.
    func finish() -> Bool {
        isWriting = false
        let most = room
        var written = ByteCount.zero
        for process in holders {
            guard written < most else { break }
            written += pages.swapOut(process.slot, atMost: memory.books.ceiling, pages: most - written).pages
        }
        return written > .zero
    }

    /// The processes with compressed pages, in the order in which theirs are written.
    private var holders: [LiveProcess] {
        func key(_ process: LiveProcess) -> (Int, Instant, ProcessID) {
            (process.phase.restsInMemory ? 0 : 1, process.lastForeground ?? process.launch.at, process.pid)
        }
        return processes.live.filter { memory.books(of: $0.slot).compressed > .zero }.sorted { key($0) < key($1) }
    }
}
