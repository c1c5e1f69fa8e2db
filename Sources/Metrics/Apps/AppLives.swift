extension AppMetric {
    /// The app's processes.
    static let processes: [AppMetric] = [
        count("processes", "Processes that were made for the app") { $0.tally.processes },
        count("processes_at_end", "Of these, alive at the end of the run: 1 or 0") { $0.tally.processesAtEnd },
        bytes("peak_footprint_bytes", "The largest footprint of any of them, between samples, too") {
            $0.tally.peakFootprint
        },
    ]

    /// The time in each state; together the length of the run.
    static let states: [AppMetric] = [
        seconds("time_active_s", "Time in front, with events") { $0.tally.time(in: .active) },
        seconds("time_inactive_s", "Time in front, without events: on the way in and out, or interrupted") {
            $0.tally.time(in: .inactive)
        },
        seconds("time_background_s", "Time off screen, running code") { $0.tally.time(in: .background) },
        seconds("time_suspended_s", "Time in memory, suspended") { $0.tally.time(in: .suspended) },
        seconds("time_not_running_s", "Time without a process") { $0.tally.time(in: .notRunning) },
    ]

    /// What the monitor, the policy and scarce memory did to it.
    static let reclaim: [AppMetric] = [
        count("warnings", "Memory warnings sent to it") { $0.tally.warnings },
        count("suspensions", "Times that one of its processes was suspended") { $0.tally.suspensions },
        count("scenes_disconnected", "Scenes that the system disconnected") { $0.tally.scenesDisconnected },
        count("stalls", "Times that an allocation found no room") { $0.tally.stalls },
        seconds("stall_time_s", "Time that its processes waited for memory") { $0.tally.stallTime },
    ]
}
