import Lifecycle
import Pressure
import Quantities
import Testing

@Suite("the monitor's measures and presets")
struct MonitorPresetTests {
    private let ceiling = ByteCount.mebibytes(1000)

    private func at(_ milliseconds: Int64) -> Instant { Instant(microseconds: milliseconds * 1_000) }

    /// The levels after each observation, at intervals of `spacing` milliseconds.
    private func levels(
        _ settings: MonitorSettings, every spacing: Int64 = 1_000, _ observations: [PressureObservation],
        ceiling: ByteCount? = nil
    ) -> [PressureLevel] {
        var monitor = PressureMonitor(settings, ceiling: ceiling ?? self.ceiling)
        return observations.enumerated().map { index, observation in
            _ = monitor.sample(at: at(Int64(index) * spacing), observation)
            return monitor.level
        }
    }

    private func ratio(_ percent: Int64) -> PressureObservation {
        var observation = PressureObservation(available: .zero)
        observation.uncompressed = .percent(percent)
        return observation
    }

    @Test("A25: lowest band first, ties largest; suspended and below 6 MB never; 250 ms apart, once per level per 25 s")
    func a25() {
        var monitor = PressureMonitor(.iosRatio, ceiling: ceiling)
        func candidate(_ number: Int, _ phase: ProcessPhase, _ band: Int, _ size: Int) -> WarningCandidate {
            WarningCandidate(
                pid: ProcessID(number), phase: phase, band: JetsamBand(band), footprint: ByteCount(size * 1_000_000))
        }
        let all = [
            candidate(1, .active, 100, 200), candidate(2, .background, 30, 50), candidate(3, .background, 30, 80),
            candidate(4, .suspended, 0, 300), candidate(5, .background, 30, 5), candidate(6, .background, 40, 70),
        ]
        func drain() -> [[Int64]] {
            var told: [[Int64]] = []
            while let due = monitor.nextWarning {
                if let next = monitor.warn(all, at: due).next {
                    told.append([Int64(next.number), due.microseconds / 1_000])
                }
            }
            return told
        }
        _ = monitor.sample(at: at(0), ratio(45))
        #expect(drain() == [[3, 0], [2, 250], [6, 500], [1, 750]])
        // The level is normal after the hold and warning again within the rest, so no process is warned twice.
        for second in 2...9 { _ = monitor.sample(at: at(Int64(second) * 1_000), ratio(70)) }
        #expect(monitor.level == .normal)
        _ = monitor.sample(at: at(20_000), ratio(45))
        #expect(drain().isEmpty)
        _ = monitor.sample(at: at(21_000), ratio(25))
        #expect(drain().count == 4, "critical is another level")
        for second in 22...40 { _ = monitor.sample(at: at(Int64(second) * 1_000), ratio(70)) }
        _ = monitor.sample(at: at(60_000), ratio(45))
        #expect(drain().count == 4, "the rest of 25 s is over")
    }

    @Test("A26: levels enter at 0.50 and 0.30, leave at 0.60 and 0.35; a dip that recovers within 5 s emits no normal")
    func a26() {
        var quick = MonitorSettings.iosRatio
        quick.hold = .zero
        #expect(levels(quick, [50, 49, 60, 61].map(ratio)) == [.normal, .warning, .warning, .normal])
        #expect(levels(quick, [29, 35, 36, 60, 61].map(ratio)) == [.critical, .critical, .warning, .warning, .normal])
        #expect(levels(quick, [29, 61].map(ratio)) == [.critical, .normal], "normal at once")
        #expect(levels(.iosRatio, [45, 70, 70, 45].map(ratio)) == [.warning, .warning, .warning, .warning])
        #expect(levels(.iosRatio, [45, 70, 70, 70, 70, 70, 70].map(ratio)).last == .normal, "5 s are over")
    }

    @Test("what a compressor would hold follows from the suspended at 2.7 : 1")
    func compressor() {
        let share = PressureObservation.uncompressedShare(suspended: .mebibytes(730), of: .mebibytes(1000))
        #expect(abs(share.partsPerMillion - 499_600) < 1_000)
        #expect(PressureObservation.uncompressedShare(suspended: .zero, of: .mebibytes(1000)) == .one)
    }

    @Test("android: 70 ms of somebody's waiting in a second warn, 700 ms of everybody's are critical")
    func android() {
        // One process ends before every observation.
        let stalls = [(70, 0), (71, 0), (900, 700), (900, 701)] as [(Int64, Int64)]
        let observations = stalls.enumerated().map { stall($1.0, $1.1, processes: 9 - $0) }
        #expect(
            levels(.android, [stall(0, 0, processes: 10)] + observations)
                == [.normal, .normal, .warning, .warning, .critical])
    }

    @Test(
        "a change of level shows the measure that decided it: full at critical's own bounds, some at warning's",
        arguments: [
            // Successive stalls as some and full, in milliseconds, and the reason for the last level.
            ([(500, 10)], "a process waited for 50% of the last second, warning above 7%"),
            ([(900, 800)], "all processes waited for 80% of the last second, critical above 70%"),
            ([(500, 10), (900, 800)], "all processes waited for 80% of the last second, critical above 70%"),
            ([(900, 800), (500, 10)], "all processes waited for 1% of the last second, critical until 60%"),
            ([(900, 800), (20, 10)], "a process waited for 2% of the last second, warning until 5%"),
            ([(500, 10), (20, 10)], "a process waited for 2% of the last second, warning until 5%"),
        ] as [([(Int64, Int64)], String)])
    func decisiveMeasure(stalls: [(Int64, Int64)], text: String) throws {
        var settings = MonitorSettings.android
        settings.riseNeedsFewerProcesses = false
        settings.hold = .zero
        settings.critical = LevelThresholds(enter: .percent(70), leave: .percent(60))
        settings.warning = LevelThresholds(enter: .percent(7), leave: .percent(5))
        var monitor = PressureMonitor(settings, ceiling: ceiling)
        let changes = stalls.enumerated().map { index, stalled in
            monitor.sample(at: at(Int64(index) * 1_000), stall(stalled.0, stalled.1, processes: 5))
        }
        let last = try #require(changes.last ?? nil)
        #expect(last.reading.text == text)
        #expect(last.reading.column == (text.hasPrefix("all processes") ? "stall_full_ppm" : "stall_some_ppm"))
    }

    @Test("in words a value below a threshold never reads as the threshold, and a level says where it begins and ends")
    func words() throws {
        var settings = MonitorSettings.ios
        settings.measure = .uncompressed
        settings.hold = .zero
        settings.critical = LevelThresholds(enter: .percent(30), leave: .percent(35))
        var monitor = PressureMonitor(settings, ceiling: ceiling)
        func text(_ partsPerMillion: Int64, after seconds: Int64) -> String? {
            var observation = PressureObservation(available: .zero)
            observation.uncompressed = Ratio(partsPerMillion: partsPerMillion)
            return monitor.sample(at: at(seconds * 1_000), observation)?.reading.text
        }
        #expect(text(299_883, after: 0) == "29.9% not compressed, critical below 30%")
        // What is asked for is the end of the level; why it began is another threshold.
        var observation = PressureObservation(available: .zero)
        observation.uncompressed = Ratio(partsPerMillion: 299_883)
        let asked = try #require(monitor.demand(observation)?.reading)
        #expect(asked.text == "29.9% not compressed, critical until 35%")
        #expect(asked.decisive(under: settings, of: ceiling).text == "29.9% not compressed, critical below 30%")
        #expect(text(360_001, after: 1)?.hasPrefix("36% not compressed, ") == true)
        #expect(Ratio(partsPerMillion: 800_001).readable(isAbove: true) == "80.1%")
    }

    @Test("where no process runs, none is said to hold anything of its limit")
    func nobodyRuns() throws {
        var settings = MonitorSettings.webkit
        settings.hold = .zero
        var monitor = PressureMonitor(settings, ceiling: ceiling)
        var observation = PressureObservation(available: .zero)
        observation.process = .percent(90)
        let rise = monitor.sample(at: at(0), observation)
        #expect(try #require(rise).reading.text.hasPrefix("a process holds 90% of its limit, critical above "))
        observation.process = .zero
        let fall = monitor.sample(at: at(1_000), observation)
        let text = try #require(fall).reading.text
        #expect(text.hasPrefix("no running process holds more than 0% of its limit, warning until "))
    }

    private func stall(_ some: Int64, _ full: Int64, processes: Int) -> PressureObservation {
        var observation = PressureObservation(available: .zero)
        observation.some = Ratio(partsPerMillion: some * 1_000)
        observation.full = Ratio(partsPerMillion: full * 1_000)
        observation.processes = processes
        return observation
    }

    /// `AppProfiler.updateLowMemStateLSP`, row by row: the number of processes and the stalls at each observation, and
    /// the resulting level.
    @Test("android: a level worsens only when there are fewer processes than at the last look, and improves freely")
    func androidWorsens() {
        let rows: [(processes: Int, some: Int64, full: Int64, level: PressureLevel)] = [
            (5, 900, 900, .normal),  // The first observation has no earlier count to compare with.
            (5, 900, 900, .normal),  // An equal count keeps the last level, however bad the stall is.
            (6, 900, 900, .normal),  // A higher count.
            (5, 100, 0, .warning),  // One fewer than at the last observation.
            (5, 900, 900, .warning),  // The last observation counts, not the highest count ever.
            (4, 900, 900, .critical),
            (4, 100, 0, .critical),  // The level must hold for a second, then improves without a loss,
            (4, 100, 0, .warning),
            (6, 0, 0, .warning),
            (7, 0, 0, .normal),  // and although the count is higher.
            (3, 0, 0, .normal),
            (3, 900, 900, .normal),  // A loss before the stall no longer counts.
        ]
        #expect(levels(.android, rows.map { stall($0.some, $0.full, processes: $0.processes) }) == rows.map(\.level))
        var free = MonitorSettings.android
        free.riseNeedsFewerProcesses = false
        #expect(levels(free, rows.prefix(1).map { stall($0.some, $0.full, processes: 5) }) == [.critical])
    }

    @Test("fuchsia: 300 MB and 150 MB free, and a state changes only 1 MB beyond its mark")
    func fuchsia() {
        func free(_ megabytes: Int) -> PressureObservation {
            PressureObservation(available: ByteCount(megabytes * 1_000_000))
        }
        #expect(
            levels(.fuchsiaWatermarks, [300, 299, 298, 301, 302].map(free)) == [
                .normal, .normal, .warning, .warning, .normal,
            ]
        )
        #expect(
            levels(.fuchsiaWatermarks, [150, 149, 148, 151, 152].map(free))
                == [.warning, .warning, .critical, .critical, .warning])
    }

    @Test("what is asked for is read in the measure's own terms, at every level")
    func readings() {
        func reading(_ settings: MonitorSettings, _ change: (inout PressureObservation) -> Void) -> [String] {
            var observation = PressureObservation(available: .mebibytes(1000))
            var monitor = PressureMonitor(settings, ceiling: ceiling)
            observation.processes = 2
            _ = monitor.sample(at: at(0), observation)
            observation.processes = 1
            change(&observation)
            _ = monitor.sample(at: at(100), observation)
            let entered = monitor.reading(observation)
            guard let asked = monitor.demand(observation)?.reading else { return [entered.column, "nothing asked"] }
            return [asked.column, "\(asked.observed)", "\(asked.threshold)", "\(entered.threshold)"]
        }
        #expect(
            reading(.ios) { $0.available = .mebibytes(40) }
                == ["available_bytes", "41943040", "\((ceiling * Ratio(partsPerMillion: 58_333)).bytes)", "52428800"])
        #expect(
            reading(.iosRatio) { $0.uncompressed = .percent(45) }
                == ["uncompressed_ppm", "450000", "600000", "500000"])
        #expect(reading(.android) { $0.some = .percent(8) } == ["stall_some_ppm", "80000", "50000", "70000"])
        #expect(reading(.android) { $0.full = .percent(80) } == ["stall_full_ppm", "800000", "500000", "700000"])
        #expect(
            reading(.fuchsiaWatermarks) { $0.available = ByteCount(200_000_000) }
                == ["available_bytes", "200000000", "300000000", "300000000"])
        #expect(
            reading(.webkit) { $0.process = .percent(60) } == ["limit_share_ppm", "nothing asked"],
            "it shrinks by itself: nobody else has to give anything")
    }

    @Test("webkit: who is above its share is told, the others are not")
    func webkit() {
        var monitor = PressureMonitor(.webkit, ceiling: ceiling)
        var observation = PressureObservation(available: .mebibytes(900))
        observation.process = .percent(51)
        _ = monitor.sample(at: .zero, observation)
        #expect(monitor.level == .warning)
        var greedy = WarningCandidate(pid: ProcessID(1), phase: .active, band: .foreground, footprint: .mebibytes(9))
        greedy.limitShare = .percent(51)
        var modest = WarningCandidate(
            pid: ProcessID(2), phase: .background, band: .background, footprint: .mebibytes(90))
        modest.limitShare = .percent(50)
        let (next, verdicts) = monitor.warn([greedy, modest], at: .zero)
        #expect(next == ProcessID(1))
        #expect(verdicts.map(\.1) == [.withinLimit, .told])
    }

    @Test("thresholds may be bytes, and after a fall the cool-down keeps a level from rising")
    func bytesAndCoolDown() {
        var settings = MonitorSettings.ios
        settings.warning = LevelThresholds(enter: .bytes(.mebibytes(200)), leave: .percent(25))
        settings.hold = .zero
        func free(_ mebibytes: Int) -> PressureObservation { PressureObservation(available: .mebibytes(mebibytes)) }
        #expect(levels(settings, [200, 199, 251, 199].map(free)) == [.normal, .warning, .normal, .warning])
        settings.coolDown = .seconds(2)
        #expect(levels(settings, [199, 251, 199, 199].map(free)) == [.warning, .normal, .normal, .warning])
    }
}
