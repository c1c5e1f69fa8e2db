import Lifecycle
import Pressure
import Quantities
import Testing

@Suite("the pressure monitor")
struct PressureMonitorTests {
    private let ceiling = ByteCount.mebibytes(1000)

    private func settings(_ change: (inout MonitorSettings) -> Void = { _ in }) -> MonitorSettings {
        var settings = MonitorSettings.ios
        settings.warning = LevelThresholds(enter: .percent(20), leave: .percent(25))
        settings.critical = LevelThresholds(enter: .percent(10), leave: .percent(12))
        change(&settings)
        return settings
    }

    private func at(_ milliseconds: Int64) -> Instant { Instant(microseconds: milliseconds * 1000) }

    /// The levels after samples with these available amounts in MiB, one sample per second.
    private func levels(_ available: [Int], _ settings: MonitorSettings) -> [PressureLevel] {
        var monitor = PressureMonitor(settings, ceiling: ceiling)
        return available.enumerated().map { second, free in
            _ = monitor.sample(at: at(Int64(second) * 1000), available: .mebibytes(free))
            return monitor.level
        }
    }

    @Test("a level is met while an observation would make it begin, not while hysteresis or hold alone keep it")
    func met() {
        var monitor = PressureMonitor(settings { $0.hold = .seconds(5) }, ceiling: ceiling)
        func observed(_ free: Int) -> PressureObservation { PressureObservation(available: .mebibytes(free)) }
        #expect(monitor.isMet(observed(500)))
        _ = monitor.sample(at: at(7_000), observed(90))
        #expect(monitor.level == .critical && monitor.levelSince == at(7_000))
        #expect(monitor.isMet(observed(99)) && !monitor.isMet(observed(110)))
        // Far above the threshold, the level holds for another five seconds.
        _ = monitor.sample(at: at(8_000), observed(500))
        #expect(monitor.level == .critical && !monitor.isMet(observed(500)))
    }

    @Test("a level is entered below one threshold and left above another")
    func hysteresis() {
        let quick = settings { $0.hold = .zero }
        #expect(levels([200, 199, 250, 251], quick) == [.normal, .warning, .warning, .normal])
        #expect(levels([99, 120, 121, 250, 251], quick) == [.critical, .critical, .warning, .warning, .normal])
        #expect(levels([50, 300], quick) == [.critical, .normal])
    }

    @Test("a falling level must hold before it counts, a rising one counts at once")
    func hold() {
        let slow = settings { $0.hold = .seconds(3) }
        #expect(
            levels([150, 300, 300, 300, 300], slow) == [.warning, .warning, .warning, .warning, .normal])
        #expect(levels([150, 300, 300, 190, 300, 50], slow).last == .critical)
        #expect(levels([150, 300, 300, 190, 300, 300, 300, 300], slow).last == .normal)
    }

    private func process(_ number: Int, _ phase: ProcessPhase, _ band: JetsamBand, _ size: Int) -> WarningCandidate {
        WarningCandidate(pid: ProcessID(number), phase: phase, band: band, footprint: .mebibytes(size))
    }

    @Test(
        "the lowest band is told first, ties largest first, one at a time with spacing; suspended and small ones never")
    func order() {
        var monitor = PressureMonitor(settings(), ceiling: ceiling)
        _ = monitor.sample(at: .zero, available: .mebibytes(150))
        let candidates = [
            process(1, .active, .foreground, 200), process(2, .background, .background, 50),
            process(3, .background, .background, 80), process(4, .suspended, .idle, 300),
            process(5, .background, .background, 2),
        ]
        var told: [Int] = []
        var times: [Int64] = []
        while let due = monitor.nextWarning {
            if let next = monitor.warn(candidates, at: due).next {
                told.append(next.number)
                times.append(due.microseconds / 1000)
            }
        }
        #expect(told == [3, 2, 1])
        #expect(times == [0, 250, 500])
    }

    @Test("a level rests after its round, and is told again only when it sticks")
    func rest() {
        var monitor = PressureMonitor(
            settings {
                $0.hold = .zero
                $0.warningRepeat = .seconds(60)
            }, ceiling: ceiling)
        let all = [process(1, .active, .foreground, 200)]
        func drain() -> Int {
            var count = 0
            while let due = monitor.nextWarning { if monitor.warn(all, at: due).next != nil { count += 1 } }
            return count
        }
        _ = monitor.sample(at: at(0), available: .mebibytes(150))
        #expect(drain() == 1)
        _ = monitor.sample(at: at(2000), available: .mebibytes(300))
        _ = monitor.sample(at: at(3000), available: .mebibytes(150))
        #expect(drain() == 0, "within the rest of 25 s")
        _ = monitor.sample(at: at(24_000), available: .mebibytes(150))
        #expect(drain() == 0, "the rest is not over")
        _ = monitor.sample(at: at(26_000), available: .mebibytes(150))
        #expect(drain() == 1, "the rest is over, and the level still holds")
        _ = monitor.sample(at: at(80_000), available: .mebibytes(150))
        #expect(drain() == 0, "told, and not yet due again")
        _ = monitor.sample(at: at(87_000), available: .mebibytes(150))
        #expect(drain() == 1, "stuck for the repetition time")
    }

    /// The seconds at which an app is warned, with the level and the app's number. `available` gives the available MiB
    /// from a second on; there is one sample per second.
    private func told(_ available: [(from: Int, free: Int)], until end: Int, _ settings: MonitorSettings) -> [String] {
        var monitor = PressureMonitor(settings, ceiling: ceiling)
        let all = [process(1, .active, .foreground, 200), process(2, .background, .background, 50)]
        var told: [String] = []
        for second in 0...end {
            let free = available.last { $0.from <= second }?.free ?? 0
            _ = monitor.sample(at: at(Int64(second) * 1000), available: .mebibytes(free))
            while let due = monitor.nextWarning, due < at(Int64(second + 1) * 1000) {
                guard let next = monitor.warn(all, at: due).next else { continue }
                told.append("\(second) \(monitor.level) \(next.number)")
            }
        }
        return told
    }

    @Test("a level that sticks is told again, also after a worse one, and when it was only fallen to")
    func sticksAfterWorse() {
        let quick = settings {
            $0.hold = .zero
            $0.warningRest = .seconds(5)
            $0.warningRepeat = .seconds(20)
        }
        #expect(
            told([(0, 150), (10, 50), (15, 150)], until: 40, quick) == [
                "0 warning 2", "0 warning 1", "10 critical 2", "10 critical 1", "35 warning 2", "35 warning 1",
            ])
        #expect(
            told([(0, 50), (15, 150)], until: 40, quick) == [
                "0 critical 2", "0 critical 1", "35 warning 2", "35 warning 1",
            ])
        // A falling level warns no app, however long ago the level was last told.
        #expect(
            told([(0, 150), (5, 300), (50, 50), (60, 150)], until: 79, quick) == [
                "0 warning 2", "0 warning 1", "50 critical 2", "50 critical 1",
            ])
    }

    @Test("a round that is cut short rests as a whole one does")
    func cutRoundRests() {
        let slow = settings {
            $0.hold = .zero
            $0.warningSpacing = .seconds(2)
            $0.warningRest = .seconds(25)
        }
        // At second 1 only one of the two apps has been told.
        #expect(
            told([(0, 150), (1, 50), (10, 300), (12, 150)], until: 30, slow) == [
                "0 warning 2", "1 critical 2", "3 critical 1", "26 warning 2", "28 warning 1",
            ])
        // A round ends with its level, and a worse level that rests is not told early instead.
        #expect(
            told([(0, 50), (5, 300), (7, 150), (8, 50)], until: 20, slow) == [
                "0 critical 2", "2 critical 1", "7 warning 2",
            ])
    }

    @Test("what must become available follows the level that is really left")
    func demand() {
        var monitor = PressureMonitor(settings { $0.hold = .seconds(5) }, ceiling: ceiling)
        #expect(monitor.demand(available: .mebibytes(10)) == nil, "no level, no demand")
        _ = monitor.sample(at: .zero, available: .mebibytes(50))
        #expect(monitor.demand(available: .mebibytes(50))?.level == .critical)
        #expect(monitor.demand(available: .mebibytes(121))?.level == .warning)
        #expect(monitor.demand(available: .mebibytes(121))?.deficit == .mebibytes(129))
        #expect(monitor.demand(available: .mebibytes(251)) == nil, "above warning's own threshold nothing is missing")
    }
}
