import Lifecycle
import Metrics
import Pressure
import Quantities

/// One row of `apps.csv`.
struct AppRow {
    let at: Instant
    let app: String
    let pid: ProcessID
    let facts: SampledProcess

    static let table = RowTable<AppRow>(
        "apps", "One row per process and sample, in the order of process numbers", key: ["time_s", "pid"],
        references: [ForeignKey(["time_s"], in: "samples")],
        stamp: .seconds("time_s", "Virtual time since the start of the run") { $0.at },
        // These stay the same while only the process's memory changes.
        head: [
            .text("app", "The app's name") { $0.app },
            .integer("pid", "The process number; never used twice in a run") { $0.pid.number },
            .choice("state", "The process's state in UIKit's words") { $0.facts.phase },
            .integer("band", "jetsam's priority band, scale of iOS 16 and later") { $0.facts.band.number },
        ],
        [
            .bytes("footprint_bytes", "Pages that the process's arena holds: active plus dirty") {
                $0.facts.books.footprint
            },
            .bytes("active_bytes", "Pages in use") { $0.facts.books.active },
            .bytes("dirty_bytes", "Unused pages not yet given back") { $0.facts.books.dirty },
            .bytes("requested_bytes", "What the app asked for") { $0.facts.books.requested },
            .bytes("usable_bytes", "The size classes that it got (jemalloc's allocated)") { $0.facts.books.usable },
            .bytes("cache_bytes", "Requested bytes in the cache pool") { $0.facts.cache },
            .integer("objects", "Live objects") { $0.facts.books.objects },
            .bytes(
                "metadata_bytes",
                "jemalloc's bookkeeping for the process's arena, outside the ceiling; as of the last audit"
            ) { $0.facts.books.metadata },
        ])
}

extension RunRecorder {
    /// Writes the row of a process as it was last sampled. There is one for every process at every sample, so an
    /// unchanged row is copied as bytes.
    ///
    /// - Parameter keepsRows: Whether an unchanged row may be repeated.
    func app(_ row: SampledRow, at now: Instant, keepsRows: Bool) {
        let start = checksRows ? apps.position : 0
        if let facts = row.takeStale() {
            guard apps.isRead else { return apps.skipRow() }
            write(facts, row, at: now, keepsRows: keepsRows)
        } else {
            apps.repeatRow(row.memo, at: now)
        }
        if checksRows { check(row, at: now, from: start) }
    }

    /// A separate function, so that it is not inlined: samples rarely need it.
    @inline(never)
    private func check(_ row: SampledRow, at now: Instant, from start: Int) {
        guard let facts = row.facts else { return }
        let whole = AppRow(at: now, app: row.name, pid: row.pid, facts: facts)
        apps.check(whole, of: AppRow.table, from: start)
    }

    /// The most frequent rows of a run. Their numbers are written in one go: column by column, `evening-commute` took
    /// 3 % more instructions.
    private func write(_ facts: SampledProcess, _ row: SampledRow, at now: Instant, keepsRows: Bool) {
        apps.seconds(now)
        if row.keepsHead(facts) {
            apps.repeatHead(of: row.memo)
        } else {
            let whole = AppRow(at: now, app: row.name, pid: row.pid, facts: facts)
            AppRow.table.writeHead(whole, to: apps, row.memo)
        }
        let (books, cache) = (facts.books, facts.cache)
        let cells: InlineArray<8, Int> = [
            books.footprint.bytes, books.active.bytes, books.dirty.bytes, books.requested.bytes, books.usable.bytes,
            cache.bytes, books.objects, books.metadata.bytes,
        ]
        apps.integers(cells.span)
        if keepsRows { apps.endRow(keeping: row.memo) } else { apps.endRow() }
    }
}
