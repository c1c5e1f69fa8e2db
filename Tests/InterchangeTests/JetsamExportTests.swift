import Foundation
import Lifecycle
import Quantities
import Reclaim
import Scenario
import Simulation
import Testing

@testable import Interchange

@Suite("a run's kills as JetsamEvent reports")
struct JetsamExportTests {
    // MARK: When there is a report

    @Test("every kill but those of idle-only sessions is in one report, and the reports are taken before the kills")
    func everyKill() throws {
        for policy in ["jetsam", "lmkd-minfree", "ladder"] {
            let output = try JetsamExportFixture.play(try JetsamExportFixture.plan("evening-commute", policy: policy))
            let idle: [KillCause] = [.idleExit, .longIdleExit]
            let ended = output.reports.flatMap { report in report.processes.compactMap(\.kill) }
            let counted = output.kills.cells.filter { !idle.contains($0.cause) }.reduce(0) { $0 + $1.count }
            #expect(counted > 5 && ended.count { !idle.contains($0.cause) } == counted, "\(policy)")
            for report in output.reports {
                let kills = report.processes.compactMap(\.kill?.at)
                #expect(kills.min() == report.at && kills.allSatisfy { $0 <= report.closed })
                #expect(report.processes.contains { $0.kill.map { !idle.contains($0.cause) } ?? false })
            }
            #expect(output.reports.map(\.number) == Array(1...output.reports.count))
            #expect(zip(output.reports, output.reports.dropFirst()).allSatisfy { $0.closed <= $1.at })
        }
    }

    @Test("a fatal limit that is crossed with ample memory free has a report of its own")
    func fatalLimit() throws {
        let output = try JetsamExportFixture.play(try JetsamExportFixture.plan("leak", policy: "none"))
        let report = try #require(output.reports.first)
        #expect(report.at == report.closed)
        #expect(report.processes.compactMap(\.kill).map(\.cause) == [.perProcessLimit])
        #expect(String(decoding: output.texts[0], as: UTF8.self).contains("\"reason\" : \"per-process-limit\""))
    }

    @Test("a device with pages of 16 KiB counts in them, and the report names the device")
    func pages() throws {
        var plan = try JetsamExportFixture.plan("leak", policy: "none")
        let small = try JetsamExportFixture.play(plan)
        plan.device.page = .large
        (plan.device.name, plan.device.os) = ("iPhone 13", "iOS 18.4")
        let large = try JetsamExportFixture.play(plan)
        let texts = [small, large].map { String(decoding: $0.texts[0], as: UTF8.self) }
        #expect(texts[0].contains("\"pageSize\" : 4096") && texts[1].contains("\"pageSize\" : 16384"))
        #expect(texts[1].contains(", device iPhone 13, iOS 18.4\"") && !texts[0].contains(", device"))
        let counts = texts.map { text in
            text.split(separator: "\"rpages\" : ").dropFirst().compactMap { Int($0.prefix { $0.isNumber }) }
        }
        #expect(counts[0].count == counts[1].count && !counts[0].isEmpty)
        for (few, many) in zip(counts[1], counts[0]) { #expect(few == many / 4) }
    }

    @Test("whoever is launched later and ended in the same session is added at the end")
    func late() throws {
        // The app in front leaves too little memory for the others, and the kill session does not end.
        let text = """
            plimsoll: 1
            name: late
            duration: 60s
            device: { ceiling: 256MiB, reserved: 16MiB }
            policy: { name: jetsam, parameters: { kernel: 11215, idle: 1% } }
            apps:
              - { name: big, memory: { base: 160MiB, scene: 72MiB, objects: { constant: 4KiB } } }
              - { name: late, background_modes: [fetch], memory: { base: 2MiB, scene: 0B } }
              - { name: later, background_modes: [fetch], memory: { base: 2MiB, scene: 0B } }
            user:
              [ { at: 0s, launch: big }, { at: 30s, background_refresh: late }, { at: 40s, background_refresh: later } ]
            """
        let output = try JetsamExportFixture.play(try JetsamEventTests.load(text))
        let report = try #require(output.reports.first)
        #expect(output.reports.count == 1 && report.at == Instant(microseconds: 30_000_000))
        #expect(report.processes.map(\.state.name) == ["late", "big", "later"])
        #expect(report.processes.map(\.generation) == [0, 0, 1])
        #expect(report.processes.map { $0.kill != nil } == [true, false, true])
        #expect(report.closed == Instant(microseconds: 60_000_000), "the run ended first")
        let body = try Body(output.texts[0])
        #expect(body.report["genCounter"] as? Int == 2 && body.report["timeDelta"] as? Int == 30)
        let killed = (body.report["processes"] as? [[String: Any]])?.last
        #expect(killed?["killDelta"] as? Int == 240_000_000 && killed?["genCount"] as? Int == 1)
    }

    @Test("reports change nothing in the run, and one that cannot be written ends it")
    func aside() throws {
        for (scenario, policy) in [("evening-commute", "jetsam"), ("leak", "ladder")] {
            let plan = try JetsamExportFixture.plan(scenario, policy: policy)
            let (with, without) = (
                try JetsamExportFixture.play(plan), try JetsamExportFixture.playAnew(plan, keepingReports: false)
            )
            #expect(with.tables == without.tables && !with.reports.isEmpty)
            #expect(try JetsamExportFixture.playAnew(plan).texts == with.texts)
        }
        let plan = try JetsamExportFixture.plan("evening-commute", policy: "jetsam")
        #expect {
            try JetsamExportFixture.playAnew(plan, refusing: 2)
        } throws: { error in
            guard case RunFailure.output(let failure) = error else { return false }
            return "\(failure)".hasPrefix("cannot write report.ips: ")
        }
    }

    // MARK: What is in it

    @Test("a report is read back as it was: names, order, bands, states, pages, victims, and all pages make the device")
    func readBack() throws {
        let output = try JetsamExportFixture.play(try JetsamExportFixture.plan("evening-commute", policy: "jetsam"))
        for (report, text) in zip(output.reports, output.texts) {
            let read = try JetsamReport(text, file: "r.ips")
            #expect(read.processes.map(\.name) == report.processes.map(\.state.name))
            #expect(read.processes.map(\.priority) == report.processes.map(\.state.band.number))
            #expect(read.processes.map(\.pid) == report.processes.map(\.state.pid.number))
            #expect(read.processes.map { $0.pages * 4_096 } == report.processes.map(\.state.footprint.bytes))
            #expect(read.processes.map(\.reason) == report.processes.map(\.kill?.cause.rawValue))
            #expect(read.processes.allSatisfy { $0.pages <= $0.lifetimeMaximum ?? 0 })
            #expect(!read.hasOldBands && read.pageSize == 4_096)
            #expect(read.pages.all * read.pageSize == report.ceiling.bytes)
            #expect(read.pages.available * read.pageSize == report.available.bytes)
            #expect(read.pages.wired * read.pageSize == report.reserved.bytes)
        }
    }

    @Test("dates are virtual time since the beginning of 2001, whatever the clock says")
    func dates() {
        func date(_ seconds: Int64, _ micros: Int64 = 0) -> VirtualDate {
            VirtualDate(Instant(microseconds: seconds * 1_000_000 + micros))
        }
        #expect(date(0).timestamp == "2001-01-01 00:00:00.00 +0000")
        #expect(date(524, 799_999).timestamp == "2001-01-01 00:08:44.79 +0000")
        #expect(date(524).stamp == "2001-01-01-000844")
        #expect(date(58 * 86_400 + 86_399).stamp == "2001-02-28-235959")
        #expect(date(59 * 86_400).stamp == "2001-03-01-000000")
        #expect(date(365 * 86_400).stamp == "2002-01-01-000000")
        #expect(date((3 * 365 + 59) * 86_400).stamp == "2004-02-29-000000")
        #expect(date((4 * 365 + 1) * 86_400).stamp == "2005-01-01-000000")
    }

    @Test("identifiers come from the seed, and no two reports share one")
    func identifiers() throws {
        func incidents(_ policy: String, _ seed: UInt64) throws -> [String] {
            let plan = try JetsamExportFixture.plan("evening-commute", policy: policy, seed: seed)
            return try JetsamExportFixture.play(plan).texts.map { text in
                let body = try Body(text)
                #expect(body.report["incident"] as? String == body.header["incident_id"] as? String)
                return try #require(body.report["incident"] as? String)
            }
        }
        let all = try incidents("jetsam", 1) + incidents("jetsam", 2) + incidents("lru", 1)
        #expect(Set(all).count == all.count)
        #expect(all.allSatisfy { UUID(uuidString: $0) != nil && $0 == $0.uppercased() })
        #expect(try incidents("jetsam", 1) == Array(all.prefix(try incidents("jetsam", 1).count)))
    }

    @Test("a report has the keys of the real ones, with values of the same kinds")
    func form() throws {
        let output = try JetsamExportFixture.play(try JetsamExportFixture.plan("evening-commute", policy: "jetsam"))
        for text in output.texts {
            let body = try Body(text)
            #expect(body.kinds == Self.form.merging(body.ended ? Self.formOfVictims : [:]) { first, _ in first })
        }
    }

    /// The keys that reports of iOS 10.1 and 14.2 share, and the bands and physical pages of the latter.
    private static let form = [
        "bug_type": "text", "incident_id": "text", "os_version": "text", "timestamp": "text",
        "report.build": "text", "report.crashReporterKey": "text", "report.date": "text",
        "report.genCounter": "number", "report.incident": "text", "report.kernel": "text",
        "report.largestProcess": "text", "report.product": "text", "report.timeDelta": "number",
        "report.memoryStatus.compressions": "number", "report.memoryStatus.compressorSize": "number",
        "report.memoryStatus.decompressions": "number", "report.memoryStatus.pageSize": "number",
        "report.memoryStatus.uncompressed": "number", "report.memoryStatus.memoryPages.active": "number",
        "report.memoryStatus.memoryPages.anonymous": "number", "report.memoryStatus.memoryPages.fileBacked": "number",
        "report.memoryStatus.memoryPages.free": "number", "report.memoryStatus.memoryPages.inactive": "number",
        "report.memoryStatus.memoryPages.purgeable": "number", "report.memoryStatus.memoryPages.speculative": "number",
        "report.memoryStatus.memoryPages.throttled": "number", "report.memoryStatus.memoryPages.wired": "number",
        "report.processes.age": "number", "report.processes.coalition": "number",
        "report.processes.cpuTime": "number", "report.processes.fds": "number",
        "report.processes.lifetimeMax": "number", "report.processes.name": "text",
        "report.processes.physicalPages.internal": "number", "report.processes.pid": "number",
        "report.processes.priority": "number", "report.processes.purgeable": "number",
        "report.processes.rpages": "number", "report.processes.states": "text", "report.processes.uuid": "text",
    ]

    private static let formOfVictims = [
        "report.processes.genCount": "number", "report.processes.killDelta": "number",
        "report.processes.reason": "text",
    ]

    @Test(
        "real reports have every key that ours have, of the same kinds",
        .enabled(if: !RealReports.files.isEmpty, "data: the shared reports are not beside the checkout"),
        arguments: RealReports.files)
    func realForm(file: URL) throws {
        let kinds = try Body(Array(try Data(contentsOf: file))).kinds
        let ours = Self.form.merging(Self.formOfVictims) { first, _ in first }
        let newer: Set = ["report.processes.priority", "report.processes.physicalPages.internal"]
        let lacking = Set(ours.keys).subtracting(kinds.keys)
        #expect(lacking.isEmpty || lacking == newer)
        for (key, kind) in kinds where ours[key] != nil { #expect(ours[key] == kind, "\(key)") }
    }

    // MARK: There and back

    @Test("imported again, a report of an evening is a scenario that comes to its state")
    func evening() throws {
        let plan = try JetsamExportFixture.plan("evening-commute", policy: "ladder")
        for (index, text) in try JetsamExportFixture.play(plan).texts.enumerated() where index % 3 == 0 {
            try JetsamEventTests.checkState(String(decoding: text, as: UTF8.self))
        }
    }

    @Test("a report, its replay's report and that one's have the same apps, bands, order, footprints and device")
    func roundTrip() throws {
        let recorded = JetsamFixture.report(JetsamFixture.modern)
        let event = try JetsamEventImport(Array(recorded.utf8), file: "r.ips")
        // Without the idle step a page shortage causes the first kill, so all apps are still alive.
        let first = try JetsamExportFixture.play(try JetsamExportFixture.shortage(of: event))
        let text = try #require(first.texts.first)
        try JetsamEventTests.checkState(String(decoding: text, as: UTF8.self))
        let again = try JetsamEventImport(text, file: "r.ips")
        #expect(again.apps.map(\.name) == event.apps.map(\.name))
        #expect(again.apps.map(\.band) == event.apps.map(\.band))
        #expect(again.device.ceiling == event.device.ceiling)
        #expect(again.device.reserved + again.device.spared == event.device.reserved)
        let suspended = event.apps.filter { $0.standing == .suspended }
        #expect(again.apps.prefix(suspended.count).map(\.footprint) == suspended.map(\.footprint))
        #expect(again.victims.map(\.name).first == suspended.first?.name)

        let second = try JetsamExportFixture.play(try JetsamExportFixture.shortage(of: again))
        let last = try JetsamEventImport(try #require(second.texts.first), file: "r.ips")
        #expect(last.apps.map(\.name) == again.apps.map(\.name) && last.apps.map(\.band) == again.apps.map(\.band))
        #expect(last.apps.prefix(suspended.count).map(\.footprint) == suspended.map(\.footprint))
        #expect(last.victims.map(\.name).first == again.victims.map(\.name).first)
    }
}

/// A report as Foundation parses it.
private struct Body {
    let header, report: [String: Any]

    init(_ bytes: [UInt8]) throws {
        let parts = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1)
        func object(_ part: ArraySlice<UInt8>) throws -> [String: Any] {
            try #require(try JSONSerialization.jsonObject(with: Data(part)) as? [String: Any])
        }
        (header, report) = (try object(parts[0]), try object(parts[1]))
    }

    var ended: Bool { kinds["report.processes.reason"] != nil }

    /// Every key's path with the kind of its values. Elements of a list share the list's path.
    var kinds: [String: String] {
        var kinds: [String: String] = [:]
        func note(_ value: Any, _ path: String) {
            switch value {
            case let object as [String: Any]: for (key, value) in object { note(value, "\(path).\(key)") }
            case let list as [Any]: for value in list { note(value, path) }
            case is String: kinds[path] = "text"
            case is NSNumber: kinds[path] = "number"
            default: kinds[path] = "something else"
            }
        }
        for (key, value) in header { note(value, key) }
        note(report, "report")
        return kinds
    }
}
