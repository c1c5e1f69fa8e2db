import Lifecycle
import Pressure
import Quantities
import Testing

@testable import Reclaim

/// One case: another value of a parameter, and a snapshot at which it makes a difference.
struct ParameterCase {
    let value: ParameterValue
    let snapshot: SystemSnapshot

    init(_ value: ParameterValue, _ snapshot: SystemSnapshot) {
        self.value = value
        self.snapshot = snapshot
    }
}

@Suite("every parameter of every policy matters")
struct ParameterTests {
    private static let idle = [banded(1, 0, position: 2), banded(2, 0, position: 1)]
    private static let running = [banded(1, 30), banded(2, 40)]
    private static let apps = [
        process(1, .active, idle: 0, size: 10), process(2, size: 80), process(3, .background, size: 300),
    ]
    private static let returning = (1...5).map { number in
        banded(number, 0) { $0.relaunchIntervals = [.seconds(1)] }
    }

    private static func killed(
        _ milliseconds: Int64, _ cause: KillCause? = nil, count: Int = 1
    ) -> [ReclaimHistory.Kill] {
        (0..<count).map { _ in
            .init(
                at: now - .milliseconds(milliseconds), pid: ProcessID(70), band: .idle, cause: cause, footprint: .zero)
        }
    }

    // MARK: jetsam

    private static func sustained(kills: Int, ago: Int64 = 2_000) -> SystemSnapshot {
        device(300, idle) {
            $0.history.notNormalSince = now - .minutes(11)
            $0.history.idleAtSustained = kills == 0 ? nil : 1
            $0.history.kills = killed(ago, .sustainedPressure, count: kills)
            $0.history.sustainedKills = kills
        }
    }

    private static let jetsamCommon: [String: ParameterCase] = [
        "critical": .init(.ratio(.percent(6)), device(55, running)),
        "soft": .init(
            .ratio(.percent(20)),
            device(180, [banded(1, 30, size: 60) { $0.limit = MemoryLimit(bytes: .mebibytes(50), isFatal: false) }])),
        "ram": .init(.bytes(.gibibytes(8)), device(45, running)),
        "ballast": .init(
            .ratio(.percent(5)),
            device(180, [banded(1, 30, size: 60) { $0.limit = MemoryLimit(bytes: .mebibytes(50), isFatal: false) }])),
        "aggressive_available": .init(.ratio(.percent(3)), device(40, returning)),
        "aggressive_candidates": .init(.count(6), device(40, returning)),
        "aggressive_window": .init(
            .time(.seconds(60)),
            device(40, returning + [banded(6, 80)]) { $0.history.kills = killed(7_000, .processThrashing, count: 2) }),
        "sustained_after": .init(.time(.minutes(12)), sustained(kills: 0)),
        "sustained_spacing": .init(.time(.seconds(3)), sustained(kills: 1)),
        "sustained_factor": .init(.count(3), sustained(kills: 2)),
        "purge_first": .init(.flag(false), device(10, [banded(1, 0) { $0.dirty = .mebibytes(1) }])),
    ]

    private static let jetsamClassic = jetsamCommon.merging([
        "idle": .init(.ratio(.percent(14)), device(120, idle))
    ]) { $1 }

    private static let jetsam = jetsamClassic.merging([
        "kernel": .init(.choice("10063"), device(80, idle)),
        "reaper": .init(.ratio(.percent(25)), device(220, [banded(1, 0, position: -600)])),
        "reaper_idle": .init(.time(.hours(1)), device(190, [banded(1, 0, position: -600)])),
    ]) { $1 }

    // MARK: Android

    private static func phone(
        _ free: Int, ram: ByteCount = .gibibytes(1), _ change: (inout SystemSnapshot) -> Void = { _ in }
    ) -> SystemSnapshot {
        let processes = [
            process(1, .active, idle: 0), process(2, .background, size: 20, modes: [.location]),
            process(3, .background, size: 30, modes: [.voip]), process(4, idle: 10), process(5, idle: 60),
            process(6, idle: 70), process(7, idle: 80), process(8, idle: 90), process(9, idle: 99),
            process(10, idle: 98),
        ]
        var snapshot = device(0, processes)
        snapshot.ceiling = ram
        snapshot.available = .kibibytes(free)
        snapshot.measures.someLost = .milliseconds(100)
        change(&snapshot)
        return snapshot
    }

    /// Each row raised above the free memory that no row of the table is above.
    private static let minfree: [String: ParameterCase] = [
        "minfree_0": .init(.bytes(.mebibytes(500)), phone(400_000)),
        "minfree_100": .init(.bytes(.mebibytes(500)), phone(400_000)),
        "minfree_200": .init(.bytes(.mebibytes(500)), phone(400_000)),
        "minfree_250": .init(.bytes(.mebibytes(500)), phone(400_000)),
        "minfree_900": .init(.bytes(.mebibytes(500)), phone(400_000)),
        "minfree_950": .init(.bytes(.mebibytes(500)), phone(400_000)),
        "is_64_bit": .init(.flag(false), phone(200_000)),
        "small_below": .init(.bytes(.gibibytes(2)), phone(100_000)),
        "heaviest_at": .init(.count(0), phone(1_000)),
    ]

    private static func swapLow(_ snapshot: inout SystemSnapshot) {
        snapshot.measures.swapTotal = .mebibytes(100)
        snapshot.measures.swapFree = .mebibytes(9)
    }

    private static func thrashing(_ percent: Int64) -> (inout SystemSnapshot) -> Void {
        {
            $0.measures.thrashing = .percent(percent)
            $0.measures.directReclaim = true
        }
    }

    private static let lmkd: [String: ParameterCase] = [
        "partial_stall": .init(.time(.milliseconds(200)), phone(500_000, thrashing(150))),
        "complete_stall": .init(
            .time(.milliseconds(100)), phone(500_000) { $0.measures.fullLost = .milliseconds(300) }),
        "poll_window": .init(
            .time(.seconds(5)),
            phone(5_000) {
                $0.measures.someLost = .zero
                $0.history.kills = killed(2_000)
                $0.history.lastAction = now - .seconds(2)
            }),
        "kill_wait": .init(
            .time(.zero),
            phone(500_000) {
                thrashing(150)(&$0)
                $0.history.kills = killed(50)
            }),
        "swap_low": .init(.ratio(.percent(5)), phone(20_000, swapLow)),
        "thrashing": .init(.ratio(.percent(300)), phone(500_000, thrashing(150))),
        "thrashing_decay": .init(
            .ratio(.percent(90)),
            phone(500_000) {
                thrashing(50)(&$0)
                $0.history.kills = killed(500)
            }),
        "thrashing_critical": .init(
            .count(10),
            phone(500_000) {
                thrashing(250)(&$0)
                swapLow(&$0)
            }),
        "file_cache_low": .init(
            .ratio(.zero), phone(500_000) { $0.history.kills = killed(500, .fileCacheThrashing) }),
        "watermark_min": .init(.ratio(.percent(2)), phone(20_000) { $0.history.kills = killed(500) }),
        "watermark_low": .init(.ratio(.percent(1)), phone(20_000, swapLow)),
        "heaviest_at": .init(.count(0), phone(500_000) { $0.measures.fullLost = .seconds(1) }),
        "low_watermark_alone": .init(.flag(true), phone(20_000)),
    ]

    // MARK: Linux

    private static func swap(_ free: Int) -> (inout SystemSnapshot) -> Void {
        {
            $0.measures.swapTotal = .mebibytes(1_000)
            $0.measures.swapFree = .mebibytes(free)
        }
    }

    private static let earlyoom: [String: ParameterCase] = [
        "terminate": .init(.ratio(.percent(20)), device(150, apps)),
        "kill": .init(.ratio(.percent(8)), device(80, apps)),
        "swap_terminate": .init(.ratio(.percent(20)), device(90, apps, swap(150))),
        "swap_kill": .init(.ratio(.percent(8)), device(40, apps, swap(80))),
        "poll_fastest": .init(.time(.milliseconds(200)), device(110, apps)),
        "poll_slowest": .init(.time(.seconds(9)), device(90_000, apps)),
        "fill_rate": .init(.bytes(.gibibytes(1)), device(600, apps)),
        "wait": .init(
            .time(.seconds(1)),
            device(90, [process(1, .background) { $0.isEnding = true }]) { $0.history.kills = killed(2_000) }),
        "prefer": .init(.names(["app2"]), device(100, apps)),
        "avoid": .init(.names(["app3"]), device(100, apps)),
    ]

    private static func stalled(_ percent: Int64, _ seconds: Int64) -> (inout SystemSnapshot) -> Void {
        { snapshot in
            let share = StallAverages(avg10: .percent(percent))
            snapshot.measures.full = share
            for second in stride(from: seconds, through: 0, by: -2) {
                snapshot.measures.stallUpdates.append(.init(at: now - .seconds(second), some: share, full: share))
            }
        }
    }

    private static let oomd: [String: ParameterCase] = [
        "used": .init(.ratio(.percent(80)), device(150, apps, swap(150))),
        "pressure": .init(.ratio(.percent(40)), device(0, apps, stalled(50, 30))),
        "duration": .init(.time(.seconds(10)), device(0, apps, stalled(61, 12))),
        "pause": .init(
            .time(.seconds(1)),
            device(0, apps) {
                stalled(61, 30)(&$0)
                $0.history.lastAction = now - .seconds(5)
            }),
    ]

    // MARK: Others

    private static let ladder: [String: ParameterCase] = [
        "warning_grace": .init(
            .time(.milliseconds(100)),
            snapshot([
                process(1) {
                    $0.warnedAt = now - .milliseconds(500)
                    $0.answersWarning = true
                }
            ])),
        "purge_minimum_running": .init(
            .bytes(.mebibytes(2)), snapshot([process(1, .active, dirty: 4)], level: .warning)),
        "purge_minimum": .init(.bytes(.mebibytes(5)), snapshot([process(1, dirty: 2)])),
        "disconnect_idle": .init(.time(.seconds(90)), snapshot([process(1, scene: .suspended)])),
        "terminate_at_warning": .init(.flag(true), snapshot([process(1)], level: .warning)),
        "terminate_after": .init(.time(.seconds(3)), held(.seconds(2))),
        "terminate_below": .init(.ratio(.percent(40)), snapshot([process(1)])),
        "size_weight": .init(.ratio(.percent(60)), snapshot([process(1, idle: 90, size: 20), process(2, size: 80)])),
        "relaunch_weight": .init(
            .ratio(.percent(50)), snapshot([process(1, idle: 90) { $0.relaunchCost = .seconds(9) }, process(2)])),
        "spare_recent": .init(.time(.seconds(80)), snapshot([process(1, idle: 70), process(2, idle: 90)])),
    ]

    /// The critical level has held for so long.
    private static func held(_ span: TimeSpan) -> SystemSnapshot {
        var found = snapshot([process(1)])
        found.history.levelSince = now - span
        return found
    }

    private static let critical = ["only_when_critical": ParameterCase(.flag(false), snapshot(apps, level: .warning))]

    private static let cheapest = critical.merging([
        "minimum_idle": .init(.time(.seconds(30)), snapshot([process(1, idle: 10, size: 90), process(2, size: 50)]))
    ]) { $1 }

    private static let foresight: [String: ParameterCase] = [
        "futures": .init(
            .count(0),
            device(
                0,
                // The latest wanted would not do alone; the one wanted soonest does, at a lower price than two.
                [process(0, size: 20), process(1, size: 20), process(2, size: 60)],
                demand: .allocation(by: ProcessID(99), wanted: .mebibytes(40))
            ) {
                $0.oracle = Oracle(nextLaunch: [900, 800, 10].map { now + .seconds($0) })
            })
    ]

    static let cases: [String: [String: ParameterCase]] = [
        "ladder": ladder, "jetsam": jetsam, "jetsam-classic": jetsamClassic, "lmkd": lmkd, "lmkd-minfree": minfree,
        "earlyoom": earlyoom, "systemd-oomd": oomd, "lru": critical,
        "largest-first": ["floor": .init(.ratio(.percent(5)), device(30, apps))],
        "cheapest-relaunch": cheapest, "foresight": foresight,
    ]

    /// Every parameter in the code, as `policy.parameter`.
    static let all: [String] = PolicyCatalogue.all.flatMap { type in
        type.parameters.map { "\(type.name).\($0.name)" }
    }

    @Test("another value of a parameter changes a decision; a parameter without a case fails", arguments: all)
    func matters(name: String) throws {
        let parts = name.split(separator: ".").map(String.init)
        let found = try #require(Self.cases[parts[0]]?[parts[1]], "\(name) has no case")
        let other = [PolicySettings.Assignment(name: parts[1], value: found.value)]
        let standard = try policy(parts[0]).decide(found.snapshot)
        #expect(try policy(parts[0], other).decide(found.snapshot) != standard, "\(name) changes nothing")
    }

    @Test("no case speaks of a parameter that is gone")
    func noneIsStale() {
        for (name, cases) in Self.cases {
            for parameter in cases.keys { #expect(Self.all.contains("\(name).\(parameter)")) }
        }
    }
}
