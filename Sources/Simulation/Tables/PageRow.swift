import Memory
import Metrics
import Quantities

/// One row of `pages.csv`: where the processes' pages are, what the compressor did since the last sample, and what the
/// file cache did.
struct PageRow {
    let at: Instant
    let device: DeviceBooks
    let activity: CompressorActivity
    let supply: SupplyFigures
    /// The supply's figures at the last sample.
    let before: SupplyFigures

    private var resident: ByteCount { device.active + device.dirty - device.compressed - device.swapped }

    private var books: CompressorBooks { activity.books ?? .none }

    /// The compressor's figures at the last sample.
    private var past: CompressorBooks { activity.before ?? .none }

    static let table = RowTable<PageRow>(
        "pages",
        "One row per monitor sample of a device with a compressor, a file cache or purgeable memory: where pages are",
        key: ["time_s"],
        [
            .seconds("time_s", "Virtual time since the start of the run") { $0.at },
            .bytes("resident_bytes", "The processes' active and dirty pages that have a frame") { $0.resident },
            .bytes("compressed_bytes", "The processes' active and dirty pages that are compressed") {
                $0.books.compressed
            },
            .bytes("repeated_bytes", "The part of compressed_bytes that is one repeated word and takes no room") {
                $0.books.repeated
            },
            .bytes("stored_bytes", "What the compressed contents take in the pool") { $0.books.stored },
            .bytes("pool_bytes", "The memory of the compressor's pool, with its holes and its empty segment") {
                $0.books.pool
            },
            .bytes("free_bytes", "Memory that is free") { $0.device.available },
            .integer("segments", "The segments of the pool, of 256 KiB each") { $0.books.segments },
            .integer("sparse_segments", "The full segments that are at most half full") { $0.books.sparseSegments },
            .bytes("newly_compressed_bytes", "Pages compressed since the last sample") {
                $0.books.compressedInAll - $0.past.compressedInAll
            },
            .bytes("refaulted_bytes", "Pages that came back since the last sample, at resumes too") {
                $0.books.broughtBack - $0.past.broughtBack
            },
            .bytes("resumed_bytes", "The part of refaulted_bytes that came back at resumes") { $0.activity.atResumes },
            .bytes("compacted_bytes", "Contents that compaction moved since the last sample") {
                $0.books.compacted - $0.past.compacted
            },
            .milliseconds("compress_ms", "Time of a fast core ordered for compressing since the last sample") {
                $0.activity.compressing
            },
            .milliseconds("decompress_ms", "Time of a fast core ordered for decompressing since the last sample") {
                $0.activity.decompressing
            },
            .flag("is_full", "Whether the pool has reached a limit, or has no frame for another segment") {
                $0.books.isFull
            },
            .flag(
                "is_thrashing",
                "Whether over half a second more than 50 pages of 16 KiB in 10 ms came back to processes that run"
            ) { $0.activity.isThrashing },
        ] + kinds)

    private static let kinds: [RowColumn<PageRow>] = [
        .bytes("file_backed_bytes", "Pages of files in memory: clean, in no process's footprint") {
            $0.supply.fileBacked
        },
        .bytes("purgeable_bytes", "What processes off screen hold that the system may take without asking") {
            $0.supply.purgeable
        },
        .bytes("file_read_bytes", "Pages of files read from storage since the last sample") {
            $0.supply.gained($0.supply.read - $0.before.read)
        },
        .bytes("file_refaulted_bytes", "The part of file_read_bytes that had been in memory before") {
            $0.supply.gained($0.supply.refaulted - $0.before.refaulted)
        },
        .bytes("file_dropped_bytes", "Pages of files dropped since the last sample") {
            $0.supply.gained($0.supply.dropped - $0.before.dropped)
        },
        .bytes("purged_bytes", "Purgeable memory that the system has taken since the last sample") {
            $0.supply.discarded - $0.before.discarded
        },
        .openShare(
            "file_thrashing", "lmkd's measure: pages of files that came back, as a share of the file cache, 1 and more"
        ) { $0.supply.thrashing },
    ]
}

extension PageRow: SampleRow {
    func showsSame(as other: PageRow) -> Bool {
        device == other.device && activity == other.activity && supply == other.supply && before == other.before
    }
}

extension RunTables {
    /// The schema of `pages.csv`, which only runs with a compressor, a file cache or purgeable memory write.
    public static var pages: TableSchema { PageRow.table.schema }
}
