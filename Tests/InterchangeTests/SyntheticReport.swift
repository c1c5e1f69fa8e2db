import Foundation

/// A JetsamEvent report made by hand whose figures add up: processes, what is compressed, and the system's pages.
struct SyntheticReport {
    struct Process {
        var name: String
        /// In MiB, as all sizes here.
        var footprint: Double
        var resident: Double
        var band: Int?
        var states: [String]
        var reason: String?
        var endedAfter: Int?
        var generation: Int?
        /// The part of the footprint that is wired memory, which no count of the process contains.
        var wired = 0.0

        init(
            _ name: String, _ footprint: Double, _ band: Int?, _ states: String, resident: Double = 1,
            reason: String? = nil, endedAfter: Int? = nil, generation: Int? = nil, wired: Double = 0
        ) {
            (self.name, self.footprint, self.resident, self.band) = (name, footprint, resident, band)
            self.states = states.split(separator: " ").map(String.init)
            (self.reason, self.endedAfter, self.generation, self.wired) = (reason, endedAfter, generation, wired)
        }
    }

    var processes: [Process]
    var product = "iPhone12,1"
    var system = "iPhone OS 14.2 (18B5061e)"
    var pageSize = 16_384
    var wired = 700.0
    var fileBacked = 500.0
    var free = 90.0
    /// Compressed memory that no process shows.
    var unshown = 1_500.0
    /// Whether the report has the counts of each process.
    var hasCounts = true
    var hasCompressor = true

    func pages(_ mebibytes: Double) -> Int { Int(mebibytes * 1_048_576) / pageSize }

    private func counts(of process: Process) -> (resident: Int, compressed: Int) {
        let resident = min(pages(process.resident), pages(process.footprint))
        return (resident, max(0, pages(process.footprint) - resident - pages(process.wired)))
    }

    /// The processes that the system's sums count: those of the report's moment.
    private var counted: [Process] { processes.filter { ($0.generation ?? 0) == 0 } }
    var resident: Int { counted.reduce(0) { $0 + counts(of: $1).resident } }
    var compressed: Int { counted.reduce(pages(unshown)) { $0 + counts(of: $1).compressed } }
    /// What the compressor takes: 2.6 : 1.
    var compressor: Int { hasCompressor ? compressed * 10 / 26 : 0 }
    var all: Int {
        let wired = processes.reduce(wired) { $0 + $1.wired }
        return resident + pages(fileBacked) + pages(free) + pages(wired) + compressor
    }

    var bytes: [UInt8] { Array(text.utf8) }

    var text: String {
        let wired = processes.reduce(wired) { $0 + $1.wired }
        let used = resident + pages(fileBacked)
        let list = processes.enumerated().map { entry($1, pid: 300 + $0) }.joined(separator: ",\n")
        return """
            {"bug_type":"298","timestamp":"2019-01-01 12:00:00.00 +0100","os_version":"\(system)"}
            { "product": "\(product)", "memoryStatus": { "pageSize": \(pageSize), "compressorSize": \(compressor),
              "uncompressed": \(hasCompressor ? compressed : 0), "memoryPages": { "active": \(used - used / 3),
              "inactive": \(used / 3), "speculative": 0, "throttled": 0, "free": \(pages(free)),
              "wired": \(pages(wired)), "fileBacked": \(pages(fileBacked)), "anonymous": \(resident) } },
              "processes": [
            \(list)
            ] }

            """
    }

    private func entry(_ process: Process, pid: Int) -> String {
        let counts = counts(of: process)
        var facts = [
            "\"name\": \"\(process.name)\"", "\"pid\": \(pid)", "\"rpages\": \(pages(process.footprint))",
            "\"states\": [\(process.states.map { "\"\($0)\"" }.joined(separator: ", "))]", "\"age\": 86400000000",
        ]
        if let band = process.band { facts.append("\"priority\": \(band)") }
        if hasCounts {
            facts.append("\"physicalPages\": { \"internal\": [\(counts.resident), \(counts.compressed)] }")
        }
        if let reason = process.reason { facts.append("\"reason\": \"\(reason)\"") }
        if let time = process.endedAfter { facts.append("\"killDelta\": \(time)") }
        if let generation = process.generation { facts.append("\"genCount\": \(generation)") }
        return "{ \(facts.joined(separator: ", ")) }"
    }
}

extension SyntheticReport {
    /// A phone of iOS 12 without bands and counts, as old systems write them: one process holds 2 GiB of wired memory,
    /// and 63 of the first 75 processes were ended, most of them daemons.
    static var shortage: SyntheticReport {
        var list = (0..<75).map { place in
            let reason = place < 63 ? "vm-pageshortage" : nil
            return place % 9 == 4
                ? Process("App\(place)", Double(30 + place % 4 * 25), nil, "suspended", reason: reason)
                : Process("idled\(place)", Double(2 + place % 7), nil, "daemon idle", reason: reason)
        }
        list += (0..<20).map { Process("workd\($0)", Double(3 + $0 % 5), nil, "daemon", resident: 2) }
        list.append(Process("Chat", 180, nil, "frontmost", resident: 120))
        list += (0..<12).map { Process("systemd\($0)", Double(3 + $0 % 9), nil, "daemon", resident: 2) }
        list.append(Process("SpringBoard", 140, nil, "", resident: 80))
        list.append(Process("backboardd", 2_040, nil, "daemon", resident: 80, wired: 1_940))
        list += (0..<8).map { Process("cored\($0)", 5, nil, "daemon", resident: 4) }
        return SyntheticReport(
            processes: list, product: "iPhone11,6", system: "iPhone OS 12.4 (16G77)", wired: 600, fileBacked: 163,
            free: 41, unshown: 600, hasCounts: false)
    }

    /// A phone of iOS 18.5: victims in several bands, for several reasons, one of them launched later.
    static var mixture: SyntheticReport {
        var list = [Process("oldd", 3, 0, "daemon idle", reason: "long-idle-exit", endedAfter: 10)]
        list += (0..<40).map {
            Process(
                "idled\($0)", 4, 0, "daemon idle", reason: $0 < 20 ? "idle-exit" : nil,
                endedAfter: $0 < 20 ? 100 + $0 : nil)
        }
        list += (0..<20).map { Process("App\($0)", 80, 0, "suspended", resident: 3) }
        list.append(Process("ageingd", 8, 10, "daemon idle", resident: 6, reason: "highwater", endedAfter: 50))
        list += (0..<20).map { Process("workd\($0)", 9, 30, "daemon", resident: 4) }
        list.append(Process("fatd", 60, 30, "daemon", resident: 50, reason: "per-process-limit", endedAfter: 20))
        list += [
            Process("Way", 150, 40, "background", resident: 100),
            Process("Game", 1_400, 100, "frontmost", resident: 1_000),
            Process(
                "com.apple.WebKit.WebContent", 300, 100, "frontmost", resident: 250, reason: "per-process-limit",
                endedAfter: 30),
            Process("Music", 90, 120, "background", resident: 60),
            Process("SpringBoard", 200, 160, "frontmost", resident: 120),
            Process("backboardd", 120, 170, "daemon", resident: 90),
        ]
        list += (0..<30).map { Process("cored\($0)", 12, 180, "daemon", resident: 8) }
        list.append(Process("launchd", 20, 190, "daemon", resident: 18))
        list.append(Process("lated", 10, 0, "daemon idle", reason: "idle-exit", endedAfter: 600, generation: 1))
        return SyntheticReport(
            processes: list, product: "iPhone14,7", system: "iPhone OS 18.5 (22F76)", wired: 1_040, fileBacked: 900,
            free: 60, unshown: 1_700)
    }
}
