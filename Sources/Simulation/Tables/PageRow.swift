import Memory
import Metrics
import Quantities

/// One row of `pages.csv`: where the processes' pages are, and what the compressor did since the last sample.
struct PageRow {
    let at: Instant
    let device: DeviceBooks
    let books: CompressorBooks
    /// The compressor's figures at the last sample.
    let before: CompressorBooks
    let compressing: TimeSpan
    let decompressing: TimeSpan
    let atResumes: ByteCount
    let isThrashing: Bool

    private var resident: ByteCount { device.active + device.dirty - device.compressed }

    static let table = RowTable<PageRow>(
        "pages", "One row per monitor sample of a device with a compressor: where the processes' pages are",
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
                $0.books.compressedInAll - $0.before.compressedInAll
            },
            .bytes("refaulted_bytes", "Pages that came back since the last sample, at resumes too") {
                $0.books.broughtBack - $0.before.broughtBack
            },
            .bytes("resumed_bytes", "The part of refaulted_bytes that came back at resumes") { $0.atResumes },
            .bytes("compacted_bytes", "Contents that compaction moved since the last sample") {
                $0.books.compacted - $0.before.compacted
            },
            .milliseconds("compress_ms", "Time of a fast core ordered for compressing since the last sample") {
                $0.compressing
            },
            .milliseconds("decompress_ms", "Time of a fast core ordered for decompressing since the last sample") {
                $0.decompressing
            },
            .flag("is_full", "Whether the pool has reached a limit, or has no frame for another segment") {
                $0.books.isFull
            },
            .flag(
                "is_thrashing",
                "Whether more than 50 pages of 16 KiB in 10 ms came back since the last sample, resumes aside"
            ) { $0.isThrashing },
        ])
}

extension RunTables {
    /// The schema of `pages.csv`, which only runs with a compressor write.
    public static var pages: TableSchema { PageRow.table.schema }
}
