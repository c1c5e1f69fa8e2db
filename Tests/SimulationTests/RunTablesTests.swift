import Lifecycle
import Metrics
import Pressure
import Quantities
import Reclaim
import Testing

@testable import Simulation

@Suite("the tables of a run")
struct RunTablesTests {
    @Test("names are snake_case and unique, keys and references name columns that exist")
    func schemasAreSound() {
        for table in RunTables.known {
            let names = table.columns.map(\.name)
            #expect(Set(names).count == names.count, "\(table.file) names a column twice")
            for column in table.columns {
                let isSnake = column.name.utf8.allSatisfy {
                    (97...122).contains($0) || (48...57).contains($0) || $0 == 95
                }
                #expect(isSnake, "\(table.file): \(column.name)")
                #expect(!column.meaning.isEmpty, "\(table.file): \(column.name) says nothing")
            }
            for name in table.primaryKey {
                #expect(table.columns.contains { $0.name == name && !$0.isOptional }, "\(table.file): key \(name)")
            }
            for key in table.foreignKeys {
                let other = RunTables.known.first { $0.name == key.table }
                for name in key.columns {
                    #expect(names.contains(name) && other?.columns.contains { $0.name == name } == true)
                }
            }
        }
    }

    @Test("a name that ends with a unit has that unit")
    func units() {
        let suffixes: [(String, ColumnUnit)] = [
            ("_s", .seconds), ("_ms", .milliseconds), ("_bytes", .bytes), ("_ratio", .share),
        ]
        for table in RunTables.known {
            for column in table.columns {
                guard let (_, unit) = suffixes.first(where: { column.name.hasSuffix($0.0) }) else { continue }
                #expect(column.unit == unit, "\(table.file): \(column.name)")
            }
        }
    }

    /// The header of every table. New columns come last, and `datapackage.json` describes them.
    @Test("the columns are a contract", arguments: RunTables.known.map(\.name))
    func headers(table: String) throws {
        let schema = try #require(RunTables.known.first { $0.name == table })
        #expect(schema.columns.map(\.name).joined(separator: ",") == Self.headers[table] ?? schema.name)
    }

    private static let headers = [
        "samples":
            "time_s,ceiling_bytes,resident_bytes,active_bytes,dirty_bytes,metadata_bytes,available_bytes,"
            + "pressure_level,processes,scenes_connected,apps_foreground,apps_background,apps_suspended,"
            + "reserved_bytes,peak_resident_bytes,psi_some_avg10,psi_some_avg60,psi_some_avg300,psi_full_avg10,"
            + "psi_full_avg60,psi_full_avg300",
        "apps":
            "time_s,app,pid,state,band,footprint_bytes,active_bytes,dirty_bytes,requested_bytes,usable_bytes,"
            + "cache_bytes,objects,metadata_bytes",
        "events":
            "time_s,event,app,pid,scene,detail,reason,state,level,action,exit_reason,cause,measure,observed,threshold,"
            + "duration_ms",
        "launches":
            "app,kind,tapped_s,ready_s,latency_ms,pid,declared_ms,fill_ms,memory_wait_ms,cpu_wait_ms,outcome,"
            + "warning_ms,resumed_from,earlier_work_ms,screen_wait_ms",
        "cores":
            "time_s,busy_ratio,given_user_interactive_ms,given_user_initiated_ms,given_default_ms,given_utility_ms,"
            + "given_background_ms,waited_user_interactive_ms,waited_user_initiated_ms,waited_default_ms,"
            + "waited_utility_ms,waited_background_ms,psi_cpu_some_avg10,psi_cpu_some_avg60,psi_cpu_some_avg300",
        "pages":
            "time_s,resident_bytes,compressed_bytes,repeated_bytes,stored_bytes,pool_bytes,free_bytes,segments,"
            + "sparse_segments,newly_compressed_bytes,refaulted_bytes,resumed_bytes,compacted_bytes,compress_ms,"
            + "decompress_ms,is_full,is_thrashing,file_backed_bytes,purgeable_bytes,file_read_bytes,"
            + "file_refaulted_bytes,file_dropped_bytes,purged_bytes,file_thrashing",
        "limits": "time_s,app,pid,limit,limit_bytes,is_fatal,footprint_bytes,headroom_bytes",
        "app_summary":
            "app,launches_hot,launches_warm,launches_cold,launches_unfinished,launches_by_system,"
            + "launch_latency_p50_ms,launch_latency_p95_ms,launch_latency_p99_ms,launch_latency_max_ms,survived,"
            + "terminations,terminations_foreground,terminations_perceived,terminations_felt,ends_normal_app,"
            + "ends_abnormal,ends_app_watchdog,ends_cpu_resource_limit,ends_memory_resource_limit,"
            + "ends_memory_pressure,ends_suspended_with_locked_file,ends_background_task_assertion_timeout,"
            + "ends_user_terminated,processes,processes_at_end,peak_footprint_bytes,time_active_s,time_inactive_s,"
            + "time_background_s,time_suspended_s,time_not_running_s,warnings,suspensions,scenes_disconnected,stalls,"
            + "stall_time_s,others_ended,others_ended_allocation,others_ended_launch,others_ended_front,"
            + "others_ended_felt,others_ended_bytes,data_lost",
        "exits": "app,payload,counter,exit_reason,count,codes,note",
        "decisions":
            "time_s,decision,action,app,pid,rank,chosen,reason,observed,threshold,demand,scene,score,measure,band,"
            + "cause,outcome,rule",
        "summary": SummaryMetrics.all.map(\.name).joined(separator: ","),
    ]

    @Test("no cause of an event is two things at once")
    func causes() {
        #expect(Set(EventCause.names).count == EventCause.names.count)
    }

    @Test(
        "a stall says why: too little is free, or it is scattered, or meant for others",
        arguments: [(8, 4, 0, StallCause.noRoom), (8, 8, 0, .fragmented), (8, 4, 4, .keptBack), (8, 0, 4, .noRoom)])
    func stalls(wanted: Int, free: Int, keptBack: Int, cause: StallCause) {
        let found = StallCause(
            wanted: ByteCount(wanted), free: ByteCount(free), keptBack: ByteCount(keptBack))
        #expect(found == cause)
    }
}
