import Lifecycle
import Metrics
import Quantities

/// One row of `limits.csv`: how much room a process has up to its memory limit.
struct LimitRow {
    let at: Instant
    let app: String
    let pid: ProcessID
    /// `active`, `inactive`, or `default` for the device's.
    let limit: String
    let headroom: Headroom

    static let table = RowTable<LimitRow>(
        "limits",
        "One row per process with a memory limit and monitor sample, if its footprint or its limit is not that of its "
            + "row before",
        key: ["time_s", "pid"],
        [
            .seconds("time_s", "Virtual time since the start of the run") { $0.at },
            .text("app", "The name of the app or of the other process") { $0.app },
            .integer("pid", "The process's number") { $0.pid.number },
            .text("limit", "Which limit applies: active, inactive, or default for the device's") { $0.limit },
            .bytes("limit_bytes", "The limit that applies now") { $0.headroom.limit },
            .flag("is_fatal", "Whether the process ends when it crosses the limit") { $0.headroom.isFatal },
            .bytes("footprint_bytes", "The process's footprint, as its limit counts it") { $0.headroom.footprint },
            .bytes("headroom_bytes", "What the process can still add: os_proc_available_memory. 0 above the limit") {
                $0.headroom.bytes
            },
        ])
}

/// The room of a process up to the limit that applies.
struct Headroom: Equatable {
    let limit: ByteCount
    let isFatal: Bool
    let footprint: ByteCount

    var bytes: ByteCount { max(.zero, limit - footprint) }
}

extension RunTables {
    /// The schema of `limits.csv`, which only runs with a memory limit of a process write.
    public static var limits: TableSchema { LimitRow.table.schema }
}
