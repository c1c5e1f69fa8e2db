import Pressure
import Quantities
import Testing

@Suite("bands, ageing and assertions")
struct BandMachineTests {
    private func at(_ seconds: Int64) -> Instant { .zero + .seconds(seconds) }

    @Test("A10: a daemon at 80 is 10 when tracked, 0 when aged, 80 when dirty, 10 and then 0 when clean; limits follow")
    func a10() throws {
        var daemon = BandMachine(.daemon, band: .interfaceSupport, at: at(0))
        func state(_ second: Int64) -> [Int] {
            // The row's limits: 6 MB while active, 4 MB while inactive.
            [daemon.band(at: at(second)).number, daemon.hasActiveLimit(at: at(second)) ? 6 : 4]
        }
        daemon.track(at: at(0))
        #expect(state(0) == [10, 6])
        #expect(state(10) == [0, 4])
        try daemon.setDirty(true, at: at(20))
        #expect(state(20) == [80, 6])
        try daemon.setDirty(false, at: at(30))
        #expect(state(30) == [10, 6])
        #expect(state(40) == [0, 4])
    }

    @Test("A11: an app that becomes idle is in band 20 for 2 s, then in 0; one in 0 is not aged again")
    func a11() {
        var app = BandMachine(.app, band: .foreground, at: at(0))
        app.set(.idle, at: at(5))
        #expect(app.band(at: at(5)) == .ageing)
        #expect(app.band(at: at(6)) == .ageing)
        #expect(app.band(at: at(7)) == .idle)
        #expect(app.position(at: at(7)) == at(7), "it came to band 0's tail when its ageing was over")
        app.set(.idle, at: at(9))
        #expect(app.band(at: at(9)) == .idle)
    }

    @Test("A12: a stuck assertion leads to 10, to 15, and after 30 s to 0")
    func a12() throws {
        var daemon = BandMachine(.daemon, band: .interfaceSupport, at: at(0))
        daemon.track(at: at(0))
        try daemon.assert(.foreground, at: at(1))
        daemon.assertionIsStuck(at: at(2))
        #expect([2, 12, 41, 42].map { daemon.band(at: at($0)).number } == [10, 15, 15, 0])
    }

    @Test("A13: an assertion of 100 over a dirty 80 gives 100; lowered to 30 it gives 80; given up and clean, 10")
    func a13() throws {
        var daemon = BandMachine(.daemon, band: .interfaceSupport, at: at(0))
        daemon.track(at: at(0))
        try daemon.setDirty(true, at: at(0))
        try daemon.assert(.foreground, at: at(1))
        #expect(daemon.band(at: at(1)) == .foreground)
        try daemon.assert(.background, at: at(2))
        #expect(daemon.band(at: at(2)) == .interfaceSupport)
        daemon.relinquish(at: at(3))
        try daemon.setDirty(false, at: at(3))
        #expect(daemon.band(at: at(3)) == .daemonAgeing)
    }

    @Test(
        "A14: giving up what is not held and taking the same thing three times change nothing; a bad request is refused"
    )
    func a14() throws {
        var daemon = BandMachine(.daemon, band: .background, at: at(0))
        let before = daemon
        daemon.relinquish(at: at(1))
        #expect(daemon == before)
        try daemon.assert(.foreground, at: at(2))
        let once = daemon
        try daemon.assert(.foreground, at: at(3))
        try daemon.assert(.foreground, at: at(4))
        #expect(daemon == once)
        #expect(throws: BandMachine.Refusal.negativeBand) { try daemon.assert(JetsamBand(-1), at: at(5)) }
        #expect(throws: BandMachine.Refusal.notTracked) { try daemon.setDirty(true, at: at(5)) }
        #expect(daemon == once)
    }

    @Test("A15: bands 1 to 9 without the entitlement become 0", arguments: 1...9)
    func a15(band: Int) {
        #expect(BandMachine(.daemon, band: JetsamBand(band), at: .zero).band(at: .zero) == .idle)
        let entitled = BandMachine(.daemon, band: JetsamBand(band), isEntitled: true, at: .zero)
        #expect(entitled.band(at: .zero).number == band)
    }

    @Test("the old scale of 0 to 21 maps to today's bands")
    func oldScale() {
        #expect(
            [0, 8, 9, 10, 12, 16, 21].map { JetsamBand.band(before16: $0)?.number } == [0, 80, 90, 100, 120, 160, 210])
        #expect(JetsamBand.band(before16: 6) == nil)
    }
}

@Suite("pressure stall information")
struct StallMeterTests {
    private func at(_ milliseconds: Int64) -> Instant { Instant(microseconds: milliseconds * 1_000) }

    @Test("some counts whenever one waits, full only when nobody works")
    func totals() {
        var meter = StallMeter()
        meter.advance(to: at(100), isWaiting: true, isWorking: true)
        meter.advance(to: at(250), isWaiting: true, isWorking: false)
        meter.advance(to: at(900), isWaiting: false, isWorking: true)
        #expect(meter.someTotal == .milliseconds(250) && meter.fullTotal == .milliseconds(150))
    }

    @Test("the averages rise and fall as e^(-t/10 s), e^(-t/60 s) and e^(-t/300 s), updated every 2 s")
    func averages() {
        var meter = StallMeter()
        meter.advance(to: at(1_999), isWaiting: true, isWorking: false)
        #expect(meter.some == StallAverages(), "no update before 2 s")
        meter.advance(to: at(10_000), isWaiting: true, isWorking: false)
        // 1 - e^-1 = 63.2 %, 1 - e^(-1/6) = 15.4 %, 1 - e^(-1/30) = 3.3 %
        #expect(percents(meter.some) == [63, 15, 3])
        meter.advance(to: at(20_000), isWaiting: false, isWorking: true)
        #expect(percents(meter.some) == [23, 12, 3])
        #expect(meter.updates.count == 10)
    }

    @Test("the updates of the last five minutes are kept, and no older ones")
    func updates() {
        var meter = StallMeter()
        for second in 1...2_000 {
            meter.advance(to: at(Int64(second) * 1_000), isWaiting: true, isWorking: true)
            #expect(meter.updates.count == min(StallMeter.remembered, second / 2))
            #expect(meter.updates.last?.at == (second < 2 ? nil : at(Int64(second / 2) * 2_000)))
        }
        #expect(meter.updates.first?.at == at(1_702 * 1_000))
    }

    private func percents(_ averages: StallAverages) -> [Int64] {
        [averages.avg10, averages.avg60, averages.avg300].map { $0.partsPerMillion / 10_000 }
    }

    @Test("a constant stall is reached exactly")
    func saturates() {
        var meter = StallMeter()
        meter.advance(to: at(400_000), isWaiting: true, isWorking: false)
        #expect(meter.full.avg10 == .one)
    }

    @Test("the window of a trigger forgets within a second or two")
    func window() {
        var meter = StallMeter()
        meter.advance(to: at(70), isWaiting: true, isWorking: false)
        #expect(meter.lostWithinWindow.some == .milliseconds(70))
        meter.advance(to: at(1_250), isWaiting: false, isWorking: false)
        #expect(meter.lostWithinWindow.some == TimeSpan(microseconds: 52_500), "three quarters of the window before")
        meter.advance(to: at(1_350), isWaiting: true, isWorking: true)
        #expect(meter.lostWithinWindow.some == TimeSpan(microseconds: 145_500))
        #expect(meter.lostWithinWindow.full == TimeSpan(microseconds: 45_500))
        meter.advance(to: at(6_000), isWaiting: false, isWorking: false)
        #expect(meter.lostWithinWindow.some == .zero)
    }

    @Test("a window is the same however often somebody looks, and in whatever steps time passes")
    func looks() {
        var (one, other) = (StallMeter(), StallMeter())
        for step in 1...400 {
            let isWaiting = step % 7 < 3
            one.advance(to: at(Int64(step) * 130), isWaiting: isWaiting, isWorking: false)
            for part in 1...13 {
                other.advance(to: at(Int64(step - 1) * 130 + Int64(part) * 10), isWaiting: isWaiting, isWorking: false)
                _ = other.lostWithinWindow
            }
            #expect(one == other && one.lostWithinWindow == other.lostWithinWindow)
        }
    }
}
