import Experiments
import Testing

@Suite("the time that an experiment still takes")
struct RemainingTimeTests {
    /// What is shown, which must be known.
    private func known(_ time: inout RemainingTime, at now: Double) throws -> Double {
        let seconds = time.seconds(at: now)
        return try #require(seconds, "at \(now)")
    }

    /// Makes runs of equal length on several cores, and returns what is shown, quarter of a second by quarter.
    private func shown(runs: Int, seconds: Double, atOnce: Int) -> [(at: Double, left: Double?)] {
        var time = RemainingTime(total: runs)
        var (ends, next, found) = ([(index: Int, at: Double)](), 0, [(at: Double, left: Double?)]())
        var now = 0.0
        while next < runs || !ends.isEmpty {
            for each in ends where each.at <= now { time.end(each.index, at: now) }
            ends.removeAll { $0.at <= now }
            while next < runs && ends.count < atOnce {
                time.begin(next, at: now)
                ends.append((next, now + seconds))
                next += 1
            }
            found.append((now, time.seconds(at: now)))
            now += 0.25
        }
        return found
    }

    @Test("it is unknown until the first run ends, and right from then on, whatever the number of cores")
    func firstRun() throws {
        for atOnce in [1, 2, 8] {
            let found = shown(runs: 80, seconds: 3, atOnce: atOnce)
            let whole = 80.0 / Double(atOnce) * 3
            #expect(found.filter { $0.at < 3 }.allSatisfy { $0.left == nil })
            for (at, left) in found where at >= 3 {
                let left = try #require(left, "at \(at)")
                #expect(abs(left - (whole - at)) < 1.5, "\(atOnce) at once, at \(at): \(left)")
            }
        }
    }

    @Test("runs under way whose share is known give an estimate before the first run ends")
    func shares() throws {
        var time = RemainingTime(total: 10)
        for index in 0..<2 { time.begin(index, at: 0) }
        let atFirst = time.seconds(at: 1)
        time.advance(0, to: 0.1)
        let early = time.seconds(at: 2)
        #expect(atFirst == nil && early == nil)
        time.advance(0, to: 0.25)
        time.advance(1, to: 0.2)
        // 20 s and 25 s in all, so 15 s and 20 s are left, and eight runs of 22.5 s.
        let left: Double = (15 + 20 + 8 * 22.5) / 2
        let first = try known(&time, at: 5)
        #expect(first == left)
        // A run that nobody began changes nothing.
        time.advance(7, to: 0.9)
        time.end(7, at: 6)
        let second = try known(&time, at: 5)
        #expect(second == left)
    }

    @Test("with fewer runs left than cores, the longest of them decides")
    func end() throws {
        var time = RemainingTime(total: 3)
        for index in 0..<3 { time.begin(index, at: 0) }
        time.end(0, at: 4)
        time.advance(1, to: 0.5)
        let left = try known(&time, at: 4)
        #expect(left == 4)
    }

    @Test("a run that takes longer than the others changes what is shown little by little")
    func noJump() throws {
        var time = RemainingTime(total: 100)
        for index in 0..<10 {
            time.begin(index, at: Double(index))
            time.end(index, at: Double(index) + 1)
        }
        var last = try known(&time, at: 10)
        #expect(last == 90)
        time.begin(10, at: 10)
        last = try known(&time, at: 30)
        #expect(abs(last - 89) < 1, "\(last)")
        for step in 1...80 {
            // It takes a hundred seconds, and the others ten on average.
            let now = 30 + Double(step) * 0.25
            time.advance(10, to: (now - 10) / 100)
            let next = try known(&time, at: now)
            #expect(next > last - 0.3 && next - last < (980 - last) / 8, "from \(last) to \(next)")
            last = next
        }
        #expect(abs(last - 950) < 5, "\(last)")
    }

    @Test(
        "it is said as an estimate is said",
        arguments: [
            (0, "1 s"), (0.2, "1 s"), (7.4, "7 s"), (12, "10 s"), (38, "40 s"), (58, "1 min"), (79, "1 min 20 s"),
            (598, "10 min"), (754, "13 min"), (3590, "1 h"), (7900, "2 h 10 min"), (90_000, "25 h"),
            (.infinity, "888888 h 50 min"),
        ] as [(Double, String)])
    func words(seconds: Double, words: String) { #expect(RemainingTime.words(seconds) == words) }
}
