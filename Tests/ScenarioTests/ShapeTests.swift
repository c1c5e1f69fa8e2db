import Foundation
import Memory
import Metrics
import Quantities
import Scenario
import Simulation
import TestSupport
import Testing

/// Scenarios made for plots have the promised shapes; the tests read the CSV that the plots show.
@Suite("the shapes of a leak, a burst and a saw-tooth", .serialized)
struct ShapeTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Scenarios")

    private struct Point {
        let time: Double
        let pid: String
        let mebibytes: Double
    }

    /// The footprints of the scenario's only app, on real memory.
    private func footprints(_ scenario: String) throws -> [Point] {
        let plan = try ScenarioLoader.load(path: Self.folder.appending(path: "\(scenario).yaml").path()).get()
        let memory = try makeDeviceMemory(plan.backend, ceiling: plan.device.ceiling, reserved: plan.device.reserved)
        let apps = MemorySink()
        let sinks = RunSinks { $0.name == "apps" ? apps : MemorySink() }
        #expect(try Simulation(plan, memory: memory, sinks: sinks).run() == .completed)
        return try TableRow.all(in: apps.bytes).map { row in
            Point(
                time: try #require(row.number("time_s")), pid: row["pid"],
                mebibytes: try #require(row.number("footprint_bytes")) / 1_048_576)
        }
    }

    @Test("a leak is a straight line up to the limit of 64 MiB; then it begins anew")
    func leak() throws {
        let all = try footprints("leak")
        let first = try #require(all.first).pid
        #expect(Set(all.map(\.pid)).count == 2)
        let line = all.filter { $0.pid == first && $0.time >= 3 }
        let (start, end) = (try #require(line.first), try #require(line.last))
        #expect(end.mebibytes > 63 && end.mebibytes < 64.1)
        let slope = (end.mebibytes - start.mebibytes) / (end.time - start.time)
        // The app requests 1 MiB/s; size classes and pages add to that.
        #expect(slope > 1 && slope < 1.25, "\(slope) MiB/s")
        for (before, after) in zip(line, line.dropFirst()) {
            #expect(after.mebibytes >= before.mebibytes, "it falls at \(after.time) s")
        }
        for point in line {
            let expected = start.mebibytes + slope * (point.time - start.time)
            #expect(abs(point.mebibytes - expected) < 1, "\(point.mebibytes) MiB at \(point.time) s")
        }
        let second = all.filter { $0.pid != first && $0.time >= 90 }
        let (early, late) = (try #require(second.first), try #require(second.last))
        #expect(early.mebibytes < 26)
        #expect(late.mebibytes > early.mebibytes + 25)
    }

    @Test("two bursts are two plateaus with steep sides, as long as they are held, and nothing is left of them")
    func burst() throws {
        let rows = try footprints("burst").filter { $0.time > 5 }
        let level = try #require(rows.first).mebibytes
        var plateaus: [(start: Double, end: Double)] = []
        var isHigh = false
        for row in rows {
            if row.mebibytes > level + 40 {
                if !isHigh { plateaus.append((row.time, row.time)) }
                plateaus[plateaus.count - 1].end = row.time
                isHigh = true
            } else {
                isHigh = false
            }
        }
        // Unused pages remain for one more second.
        #expect(plateaus.count == 2)
        let (first, last) = (try #require(plateaus.first), try #require(plateaus.last))
        #expect(abs(first.end - first.start - 7) < 0.8 && abs(last.end - last.start - 13) < 0.8)
        #expect(abs(last.start - first.start - 20) < 0.5)
        let between = rows.filter { row in !plateaus.contains { row.time > $0.start - 1 && row.time < $0.end + 1 } }
        for row in between { #expect(abs(row.mebibytes - level) < 2, "\(row.mebibytes) MiB at \(row.time) s") }
    }

    @Test("a saw-tooth rises evenly for ten seconds and falls at once, again and again")
    func sawTooth() throws {
        let rows = try footprints("saw-tooth").filter { $0.time > 3 }
        var falls: [Int] = []
        for index in rows.indices.dropFirst() where rows[index].mebibytes < rows[index - 1].mebibytes - 20 {
            falls.append(index)
        }
        #expect(falls.count >= 5)
        for (fall, next) in zip(falls, falls.dropFirst()) {
            #expect(abs(rows[next].time - rows[fall].time - 10) < 0.4)
            let tooth = rows[fall..<next]
            let low = try #require(tooth.first).mebibytes
            let high = try #require(tooth.map(\.mebibytes).max())
            #expect(high - low > 30)
            for (before, after) in zip(tooth, tooth.dropFirst()) {
                #expect(after.mebibytes > before.mebibytes - 1, "it falls at \(after.time) s")
            }
        }
    }
}
