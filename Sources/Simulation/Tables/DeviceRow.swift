import Memory
import Metrics
import Pressure
import Quantities

/// One row of `samples.csv`.
struct DeviceRow {
    let at: Instant
    let books: DeviceBooks
    let device: SampledDevice

    static let table = RowTable<DeviceRow>(
        "samples", "One row per monitor sample of the device", key: ["time_s"],
        [
            .seconds("time_s", "Virtual time since the start of the run") { $0.at },
            .bytes("ceiling_bytes", "The device's RAM: not one page beyond it is handed out") { $0.books.ceiling },
            .bytes("resident_bytes", "Pages handed out to processes plus what the system keeps for itself") {
                $0.books.resident
            },
            .bytes("active_bytes", "Pages in use by processes (jemalloc's pactive)") { $0.books.active },
            .bytes("dirty_bytes", "Unused pages not yet given back by processes (jemalloc's pdirty)") {
                $0.books.dirty
            },
            .bytes(
                "metadata_bytes",
                "jemalloc's bookkeeping for the processes' arenas, outside the ceiling; as of the last audit"
            ) { $0.books.metadata },
            .bytes("available_bytes", "The ceiling minus resident_bytes") { $0.books.available },
        ],
        // These stay the same while only memory moves and sets no new peak.
        tail: [
            .choice("pressure_level", "The monitor's level") { $0.device.level },
            .integer("processes", "Live processes") { $0.device.processes },
            .integer("scenes_connected", "Scenes that are not unattached") { $0.device.counts.connectedScenes },
            .integer("apps_foreground", "Processes that are active or inactive") { $0.device.counts.foreground },
            .integer("apps_background", "Processes that run off screen") { $0.device.counts.background },
            .integer("apps_suspended", "Processes in memory that run no code, suspended or prewarmed") {
                $0.device.counts.suspended
            },
            .bytes("reserved_bytes", "What the system keeps for itself; part of resident_bytes") { $0.books.reserved },
            .bytes("peak_resident_bytes", "The largest resident_bytes so far, tracked at every hand-out of pages") {
                $0.books.peakResident
            },
        ] + stalls("some", "a process waited") { $0.device.some }
            + stalls("full", "all processes that could run waited") { $0.device.full })

    /// Columns of pressure stall information, averaged over three spans of time.
    private static func stalls(
        _ kind: String, _ what: String, _ averages: @escaping @Sendable (DeviceRow) -> StallAverages
    ) -> [RowColumn<DeviceRow>] {
        func meaning(_ seconds: Int) -> String {
            "Share of time in which \(what) for memory, averaged over \(seconds) s"
        }
        return [
            .share("psi_\(kind)_avg10", meaning(10)) { averages($0).avg10 },
            .share("psi_\(kind)_avg60", meaning(60)) { averages($0).avg60 },
            .share("psi_\(kind)_avg300", meaning(300)) { averages($0).avg300 },
        ]
    }
}

extension RunRecorder {
    /// - Parameter isSteady: Whether the cells from the level on equal those of the last row.
    func sample(_ row: DeviceRow, isSteady: Bool, as memo: RowMemo) {
        guard samples.isRead else { return samples.skipRow() }
        let start = checksRows ? samples.position : 0
        DeviceRow.table.write(row, to: samples, memo, tailIsSame: isSteady)
        if checksRows { samples.check(row, of: DeviceRow.table, from: start) }
    }

    /// Writes a row in which only the time has changed.
    func repeatSample(_ row: DeviceRow, as memo: RowMemo) {
        let start = checksRows ? samples.position : 0
        samples.repeatRow(memo, at: row.at)
        if checksRows { samples.check(row, of: DeviceRow.table, from: start) }
    }
}
