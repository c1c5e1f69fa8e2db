import Foundation
import Quantities
import Simulation
import Testing
import Workload

/// Compares the seeded person with the literature. `PLIMSOLL_RECORD=1` rewrites the documentation's table.
@Suite("the user model")
struct UserModelTests {
    private static let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Sources/Workload/Workload.docc/UserModel.md")

    /// One session: its length, its number of switches, its apps.
    private struct Session {
        var start: Double
        var length = 0.0
        var switches = 0
        var ranks: [Int]
    }

    private static func sessions(of seed: UInt64) -> [Session] {
        let deeds = UserModel.everyday.deeds(
            from: .zero, until: .zero + .hours(24), apps: 30, seed: seed, stream: "user/0")
        var sessions: [Session] = []
        for deed in deeds {
            let time = Double(deed.at.microseconds) / 1_000_000
            switch deed.kind {
            case .open(let rank): sessions.append(Session(start: time, ranks: [rank]))
            case .change(let rank):
                sessions[sessions.count - 1].switches += 1
                sessions[sessions.count - 1].ranks.append(rank)
            case .putAway: sessions[sessions.count - 1].length = time - sessions[sessions.count - 1].start
            }
        }
        return sessions
    }

    @Test("the hours are those of the run, whenever the person begins")
    func hours() {
        func hours(from start: TimeSpan) -> [Int] {
            var counts = Array(repeating: 0, count: 24)
            let deeds = UserModel.everyday.deeds(
                from: .zero + start, until: .zero + .hours(24 * 60), apps: 10, seed: 1, stream: "user/0")
            for deed in deeds {
                guard case .open = deed.kind else { continue }
                counts[Int(deed.at.microseconds / TimeSpan.hours(1).microseconds % 24)] += 1
            }
            return counts
        }
        for start in [0, 8, 15] as [Int64] {
            let counts = hours(from: .hours(start))
            // Night is from 2 to 6 h, whatever the hour at which the model starts.
            let (night, noon) = (counts[2..<6].reduce(0, +), counts[10..<14].reduce(0, +))
            #expect(night * 4 < noon, "from \(start) h: \(counts)")
        }
    }

    private static func mean(_ values: [Double]) -> Double { values.reduce(0, +) / Double(values.count) }

    private static func deviation(_ values: [Double]) -> Double {
        let mean = mean(values)
        return Self.mean(values.map { ($0 - mean) * ($0 - mean) }).squareRoot()
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    /// The figures over 200 days: name, wanted, found.
    private static func figures() -> [(name: String, wanted: Double, found: Double)] {
        let days = (1...200 as ClosedRange<UInt64>).map(sessions(of:))
        let all = days.flatMap { $0 }
        let lengths = all.map(\.length)
        let switches = all.map { Double($0.switches) }
        let distinct = all.map { Double(Set($0.ranks).count) }
        var opened = Array(repeating: 0.0, count: 30)
        for rank in all.flatMap(\.ranks) { opened[rank] += 1 }
        opened.sort(by: >)
        func share(_ count: Int) -> Double { 100 * opened.prefix(count).reduce(0, +) / opened.reduce(0, +) }
        var hours = Array(repeating: 0.0, count: 24)
        for session in all { hours[Int(session.start / 3_600) % 24] += 1 }
        return [
            ("session length, median (s)", 106, median(lengths)), ("session length, mean (s)", 326, mean(lengths)),
            ("session length, deviation (s)", 569, deviation(lengths)),
            ("apps per session, median", 2, median(distinct)), ("apps per session, mean", 2.18, mean(distinct)),
            ("switches per session, median", 2, median(switches)), ("switches per session, mean", 5.46, mean(switches)),
            ("switches per session, deviation", 11.2, deviation(switches)),
            ("sessions per day", 17.4, Double(all.count) / 200),
            ("popularity, top 1 (%)", 37, share(1)), ("popularity, top 5 (%)", 70, share(5)),
            ("popularity, top 10 (%)", 86, share(10)),
            ("peaks (11, 12, 18 h) over trough (4 h)", 13.3, (hours[11] + hours[12] + hours[18]) / 3 / hours[4]),
        ]
    }

    private static func text(_ value: Double) -> String { String(format: "%.2f", value) }

    @Test("over 200 seeded days every figure is within 15 % of the literature, and the page shows them")
    func literature() throws {
        let figures = Self.figures()
        for figure in figures {
            let error = abs(figure.found / figure.wanted - 1)
            #expect(error <= 0.15, "\(figure.name): \(figure.found) instead of \(figure.wanted)")
        }
        let rows = figures.map { "| \($0.name) | \(Self.text($0.wanted)) | \(Self.text($0.found)) |" }
        let table = (["| figure | literature | 200 days |", "|---|---|---|"] + rows).joined(separator: "\n")
        var text = try String(contentsOf: Self.page, encoding: .utf8)
        if ProcessInfo.processInfo.environment["PLIMSOLL_RECORD"] == "1" {
            let head = text.components(separatedBy: "\n\n").filter {
                !$0.hasPrefix("| figure") && !$0.hasPrefix("TABLE")
            }
            let joined = head.joined(separator: "\n\n").trimmingCharacters(in: .newlines)
            text = joined + "\n\n" + table + "\n"
            try text.write(to: Self.page, atomically: true, encoding: .utf8)
        }
        #expect(text.contains(table))
    }

    @Test("the same seed gives the same day, another seed another one")
    func determinism() {
        func deeds(_ seed: UInt64) -> [UserDeed] {
            UserModel.commuter.deeds(from: .zero, until: .zero + .minutes(90), apps: 5, seed: seed, stream: "user/0")
        }
        #expect(deeds(1) == deeds(1) && deeds(1) != deeds(2))
    }

    @Test("deeds are in order, within their time, and every session ends at the home screen")
    func order() {
        for seed in 0..<100 as Range<UInt64> {
            for model in UserModel.allCases {
                let end = Instant.zero + .hours(8)
                let deeds = model.deeds(from: .zero + .hours(1), until: end, apps: 3, seed: seed, stream: "user/1")
                #expect(zip(deeds, deeds.dropFirst()).allSatisfy { $0.at <= $1.at }, "seed \(seed)")
                #expect(deeds.allSatisfy { $0.at >= .zero + .hours(1) && $0.at <= end }, "seed \(seed)")
                #expect(deeds.isEmpty || deeds.last?.kind == .putAway, "seed \(seed)")
            }
        }
    }

    @Test("with a single app on the phone there are sessions, and nobody switches", arguments: UserModel.allCases)
    func singleApp(model: UserModel) {
        for seed in 0..<50 as Range<UInt64> {
            func deeds(apps: Int) -> [UserDeed] {
                model.deeds(from: .zero, until: .zero + .hours(24), apps: apps, seed: seed, stream: "user/0")
            }
            let kinds = deeds(apps: 1).map(\.kind)
            #expect(!kinds.isEmpty, "seed \(seed)")
            for (index, kind) in kinds.enumerated() {
                #expect(kind == (index.isMultiple(of: 2) ? .open(rank: 0) : .putAway), "seed \(seed)")
            }
            // With two apps every session with a switch uses both.
            let changes = deeds(apps: 2).contains { $0.kind == .change(rank: 1) }
            #expect(changes, "seed \(seed)")
        }
    }

    @Test("a model in a scenario becomes launches, switches and home, and none is refused for being unknown")
    func run() throws {
        let apps = (0..<6).map { testApp("app\($0)") }
        let end = Instant.zero + .minutes(30)
        let run = try live(apps, seconds: 1_800, []) { $0.user = [.model(.commuter, from: .zero, until: end)] }
        let actions = Set(run.eventRows.filter { $0.event == "user" }.map(\.detail))
        #expect(actions.isSuperset(of: ["launch", "switch", "home"]))
        #expect(run.tally.launches.count > 2)
        #expect(!run.eventRows.contains { $0.event == "refused" && $0.reason.contains("switcher") })
    }
}
