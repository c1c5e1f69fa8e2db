import Memory
import Metrics
import Plan
import Quantities
import Reclaim
import Simulation
import TestSupport
import Testing
import Workload

@Suite("the default limit of a device's apps")
struct AppLimitTests {
    /// An app that grows by 20 MiB a second without end, on a 13's memory.
    private func growing(
        scale: Ratio = .one, limit: Int? = 2_098, limits: ProcessLimits = ProcessLimits()
    ) throws -> RunOutput {
        let app = testApp("grows") {
            $0.memory.leak = ByteRate(bytesPerSecond: 20 << 20)
            $0.memory.cache = CacheProfile(size: .zero, rate: .zero)
            $0.memory.objects = .constant(.kibibytes(64))
            $0.limits = limits
        }
        let plan = testPlan([app], ceiling: .mebibytes(3_700) * scale, seconds: 150, user: [(0, .launch(AppID(0)))]) {
            $0.backend = .accounting
            $0.device.reserved = .mebibytes(590) * scale
            $0.device.scale = scale
            $0.device.appLimit = limit.map { .mebibytes($0) * scale }
            $0.monitor = .ios
        }
        return try runToEnd(plan)
    }

    /// The exit's detail, and the footprint at the first warning before it.
    private func story(_ run: RunOutput) -> (end: EventRow?, warnings: [EventRow]) {
        (run.eventRows.first { $0.event == "exit" }, run.eventRows.filter { $0.event == "warning" })
    }

    private func mebibytes(in text: String) -> Int? {
        text.split(separator: " ").compactMap { Double($0) }.first.map { Int($0) }
    }

    @Test("an app that grows without end is warned at the whole percentage 100 MiB below its limit, and ends by it")
    func grows() throws {
        let (end, warnings) = story(try growing())
        #expect(end?.detail == "memoryResourceLimit")
        #expect(end?.reason.contains("crossed its default limit of 2098MiB") == true, "\(end?.reason ?? "")")
        let warning = try #require(warnings.first)
        #expect(warnings.count == 1 && warning.reason.contains("near its default limit of 2.0 GiB"))
        // 21.25 MiB of pages a second from the warning at 1993.1 MiB to the end at 2098 MiB.
        let (told, ended) = (try #require(Double(warning.time)), try #require(Double(end?.time ?? "")))
        #expect((4.7...5.1).contains(ended - told), "\(told) \(ended)")
    }

    @Test("a quarter of the device ends it at a quarter of the limit, at the same time")
    func scaled() throws {
        let (whole, quarter) = (story(try growing()), story(try growing(scale: .percent(25))))
        let times = [whole.end?.time, quarter.end?.time].compactMap { $0.flatMap(Double.init) }
        #expect(times.count == 2 && abs(times[0] - times[1]) < 0.2, "\(times)")
        #expect(quarter.end?.reason.contains("524.5MiB") == true || quarter.end?.reason.contains("KiB") == true)
        #expect(whole.warnings.count == 1 && quarter.warnings.count == 1)
    }

    @Test("without a limit of the device, and under a larger one of its own, the app lives longer")
    func own() throws {
        #expect(story(try growing(limit: nil)).end?.detail != "memoryResourceLimit")
        let larger = story(try growing(limits: ProcessLimits(active: .mebibytes(2_400))))
        #expect(larger.end?.reason.contains("crossed its active limit of 2400MiB") == true)
        // 80 % of an explicit limit.
        #expect(larger.warnings.first?.reason.contains("1.9 GiB") == true, "\(larger.warnings.map(\.reason))")
    }

    @Test("a soft limit of the default's size is the default, and fatal")
    func soft() throws {
        let run = story(try growing(limits: ProcessLimits(active: .mebibytes(2_098), fatal: false)))
        #expect(run.end?.detail == "memoryResourceLimit")
    }

    @Test("the warning comes at the whole percentage 100 MiB below, 50 MiB below on a small device, never below 80 %")
    func near() {
        func near(_ limit: Int, ceiling: Int) -> ByteCount? {
            var device = Device(ceiling: .mebibytes(ceiling))
            device.appLimit = .mebibytes(limit)
            return device.standardLimit?.near
        }
        #expect(near(2_098, ceiling: 3_700) == .mebibytes(2_098) * .percent(95))
        #expect(near(3_376, ceiling: 7_600) == .mebibytes(3_376) * .percent(97))
        #expect(near(400, ceiling: 1_024) == .mebibytes(320))
        #expect(near(400, ceiling: 512) == .mebibytes(348))
        #expect(near(200, ceiling: 512) == .mebibytes(160))
    }
}

/// `limits.csv`.
@Suite("the room up to a limit")
struct HeadroomTests {
    @Test("the table says the limit that applies and the room below it, once per change")
    func rows() throws {
        let apps = [
            testApp("mail") {
                $0.memory.growth = GrowthProfile(rate: ByteRate(bytesPerSecond: 1 << 20), upTo: .mebibytes(20))
                $0.limits = ProcessLimits(active: .mebibytes(64), inactive: .mebibytes(32))
            },
            testApp("web"),
        ]
        let run = try live(apps, [(1, .launch(AppID(0))), (30, .launch(AppID(1)))])
        let rows = TableRow.all(in: run.limits)
        #expect(rows.allSatisfy { $0["app"] == "mail" })
        for row in rows {
            let (limit, held) = (try #require(row.number("limit_bytes")), try #require(row.number("footprint_bytes")))
            #expect(row.number("headroom_bytes") == max(0, limit - held))
            #expect(limit == Double((row["limit"] == "active" ? 64 : 32) << 20))
        }
        #expect(Set(rows.map { $0["limit"] }) == ["active", "inactive"])
        // Suspended, it changes no more.
        #expect((rows.last?.number("time_s") ?? 0) < 40)
        // The same footprints as in the table of processes.
        let footprints = Dictionary(
            TableRow.all(in: run.apps).filter { $0["app"] == "mail" }.map { ($0["time_s"], $0["footprint_bytes"]) },
            uniquingKeysWith: { first, _ in first })
        #expect(rows.allSatisfy { footprints[$0["time_s"]] == $0["footprint_bytes"] })
    }

    @Test("an extension has the limit of its kind; without a limit there is no table")
    func kinds() throws {
        let run = try live([testApp("mail")], [(1, .launch(AppID(0)))])
        #expect(run.limits.isEmpty)
        let plan = testPlan([testApp("mail")], user: []) { $0.device.appLimit = .mebibytes(100) }
        #expect(RunTables.all(of: plan).contains { $0.name == "limits" })
    }
}
