import Lifecycle
import Quantities
import Testing

@testable import Simulation

@Suite("cores that are shared by class")
struct SharedCoresTests {
    /// When pieces of work that all come at the start are done, in microseconds, by the component and by brute force.
    private func ends(
        _ pieces: [(lasting: Int, ServiceClass)], performance: Int, efficiency: Int = 0, speed: Int = 1_000_000
    ) -> [Int?] {
        var story = CoreStory(performance: performance, efficiency: efficiency, speed: speed)
        story.changes = pieces.enumerated().map { (0, .begin($0, lasting: $1.lasting, $1.1)) }
        let played = story.played()
        return pieces.indices.map { played[$0] }
    }

    @Test("two pieces of a class share one core, and one piece never has more than one")
    func two() {
        let pair = [(30_000, ServiceClass.standard), (50_000, .standard)]
        #expect(ends(pair, performance: 1) == [60_000, 80_000])
        #expect(ends(pair, performance: 2) == [30_000, 50_000])
        #expect(ends(pair, performance: 4) == [30_000, 50_000])
        // Both get the mean of a fast and a slow core, 0.65; what is left of the second then has the fast one alone.
        #expect(ends(pair, performance: 1, efficiency: 1, speed: 300_000) == [46_154, 66_154])
    }

    @Test("the more urgent of two pieces goes first, and the other has what is left")
    func strict() {
        let pair = [(30_000, ServiceClass.utility), (50_000, .userInteractive)]
        #expect(ends(pair, performance: 1) == [80_000, 50_000])
        // The urgent one has the fast core for 50 ms; meanwhile the other does 15 ms of its work on the slow one.
        #expect(ends(pair, performance: 1, efficiency: 1, speed: 300_000) == [65_000, 50_000])
    }

    @Test("three pieces go round on as many cores as there are")
    func three() {
        let trio = [(10_000, ServiceClass.userInitiated), (20_000, .userInitiated), (30_000, .userInitiated)]
        #expect(ends(trio, performance: 1) == [30_000, 50_000, 60_000])
        // Each has two thirds of a core; from 15 ms on, two of them have a core each.
        #expect(ends(trio, performance: 2) == [15_000, 25_000, 35_000])
        // Two fast cores and one slow one, (2 + 1/2) / 3 of a core for each.
        let even = Array(repeating: (50_000, ServiceClass.standard), count: 3)
        #expect(ends(even, performance: 2, efficiency: 2, speed: 500_000) == [60_000, 60_000, 60_000])
    }

    @Test("five pieces of three classes on two cores of two speeds")
    func five() {
        let pieces: [(Int, ServiceClass)] = [
            (13_000, .background), (60_000, .standard), (100_000, .userInteractive), (60_000, .standard),
            (13_000, .background),
        ]
        // The urgent one has the fast core for 100 ms; the two behind it have 0.15 each and do 15 ms of work. With both
        // cores they have 0.65 each for the other 45 ms. The background then has 0.15 each of the slow core.
        #expect(
            ends(pieces, performance: 1, efficiency: 1, speed: 300_000) == [
                255_898, 169_231, 100_000, 169_231, 255_898,
            ])
        // With four fast cores only the two in the background share one, until 60 ms.
        #expect(ends(pieces, performance: 4) == [26_000, 60_000, 100_000, 60_000, 26_000])
    }

    @Test("background work keeps to the slow cores, and has the fast ones only where there are no slow ones")
    func clamp() {
        let piece = [(30_000, ServiceClass.background)]
        #expect(ends(piece, performance: 2, efficiency: 4, speed: 300_000) == [100_000])
        #expect(ends(piece, performance: 2) == [30_000])
        #expect(ends([(30_000, ServiceClass.utility)], performance: 2, efficiency: 4, speed: 300_000) == [30_000])
    }

    @Test("urgent work preempts at once, and what is withdrawn or suspended gives its core back at that instant")
    func preemption() {
        var story = CoreStory(performance: 1)
        story.changes = [
            (0, .begin(0, lasting: 50_000, .utility)), (10_000, .begin(1, lasting: 30_000, .userInteractive)),
            (20_000, .begin(2, lasting: 5_000, .utility)), (30_000, .withdraw(1)), (35_000, .classify(0, nil)),
            (60_000, .classify(0, .background)),
        ]
        // 0 has 10 ms before it is preempted, 2.5 ms beside 2, and goes on after its suspension.
        #expect(story.played() == [2: 37_500, 0: 97_500])
        #expect(story.reckoned(for: 100_000) == [2: 37_500, 0: 97_500])
    }

    @Test("each piece's time on cores, and each class's time and waiting, add up")
    func accounts() {
        var cores = SharedCores<Int>(performance: 1, efficiency: 1, speed: .percent(50))
        for piece in 0..<3 { cores.begin(piece, lasting: .milliseconds(30), as: .standard, at: .zero) }
        cores.begin(3, lasting: .milliseconds(10), as: .background, at: .zero)
        // Three pieces have half a core each, and occupy two thirds of one.
        #expect(cores.nextDone() == .zero + .milliseconds(60))
        let keepsWaiting = cores.keepsWaiting
        #expect(keepsWaiting)
        let done = cores.finish(at: .zero + .milliseconds(60))
        #expect(done.map(\.held.rounded) == Array(repeating: .milliseconds(40), count: 3))
        #expect(done.map(\.waited.rounded) == Array(repeating: .milliseconds(20), count: 3))
        #expect(cores.finish(at: .zero + .milliseconds(80)).map(\.held.rounded) == [.milliseconds(20)])
        #expect(cores.isIdle && cores.nextDone() == nil)
        let accounts = cores.accounts(at: .zero + .milliseconds(80))
        let (standard, background) = (ServiceClass.standard.rawValue, ServiceClass.background.rawValue)
        #expect(accounts.given[standard] == .milliseconds(120) && accounts.waited[standard] == .milliseconds(60))
        #expect(accounts.given[background] == .milliseconds(20) && accounts.waited[background] == .milliseconds(60))
    }

    @Test("a thousand pieces of a thousand hours neither overflow nor end early")
    func large() {
        var cores = SharedCores<Int>(performance: 1, efficiency: 1, speed: Ratio(partsPerMillion: 1))
        for piece in 0..<1_000 { cores.begin(piece, lasting: .hours(1_000), as: .utility, at: .zero) }
        // 1,000,000 hours on a little more than one core: 999,999.000001 of them.
        let exact = 3_599_996_400_003_600
        #expect(abs(Int(cores.nextDone()?.microseconds ?? 0) - exact) <= 1)
        #expect(cores.withdraw(at: .zero) { $0 != 7 }.count == 999)
        #expect(cores.nextDone() == .zero + .hours(1_000))
    }

    /// Up to nine pieces that come, are suspended, change their class and are withdrawn at random.
    private func story(_ seed: UInt64) -> CoreStory {
        var draw = SeededGenerator(seed: seed, stream: "cores")
        func service() -> ServiceClass { ServiceClass.allCases[draw.number(in: 0...4)] }
        var story = CoreStory(performance: draw.number(in: 0...4))
        story.efficiency = draw.number(in: (story.performance == 0 ? 1 : 0)...3)
        story.speed = [1_000_000, 300_000, 500_000, 333_333, 250_001][draw.number(in: 0...4)]
        var changes: [(at: Int, CoreStory.Change)] = []
        for piece in 0..<draw.number(in: 1...9) {
            let start = draw.number(in: 0...60)
            changes.append((start, .begin(piece, lasting: draw.number(in: 0...50), service())))
            for _ in 0..<draw.number(in: 0...2) {
                let at = start + draw.number(in: 0...60)
                changes.append((at, .classify(piece, draw.chance(.percent(50)) ? nil : service())))
                changes.append((at + draw.number(in: 0...40), .classify(piece, service())))
            }
            if draw.chance(.percent(20)) { changes.append((start + draw.number(in: 0...100), .withdraw(piece))) }
        }
        story.changes = changes.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
            .map(\.element)
        return story
    }

    @Test("500 random stories end to the microsecond as a brute-force model in fractions says")
    func random() {
        var pieces = 0
        for seed in 0..<500 {
            let story = story(UInt64(seed))
            let (played, reckoned) = (story.played(), story.reckoned(for: 4_000))
            #expect(played == reckoned, "seed \(seed)")
            pieces += reckoned.count
        }
        #expect(pieces > 2_000, "only \(pieces) pieces were ever done: the stories show little")
    }
}
