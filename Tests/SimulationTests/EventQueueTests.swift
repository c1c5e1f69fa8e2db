import Quantities
import Testing

@testable import Simulation

@Suite("the queue")
struct EventQueueTests {
    /// Events for the queue's lanes and for its heap. Most come in the order of their kind, and some before others of
    /// it.
    private func event(_ kind: Int, _ number: Int) -> SimulationEvent {
        let reference = ProcessReference(slot: number, pid: ProcessID(number))
        return switch kind {
        case 0: .due(reference, .tick(serial: number))
        case 1: .due(reference, .decay)
        case 2: .userEvent(index: number)
        default: .due(reference, .assertionEnds(id: number))
        }
    }

    private func number(of event: SimulationEvent) -> Int? {
        switch event {
        case .due(let reference, _): reference.slot
        case .userEvent(let index): index
        default: nil
        }
    }

    @Test("events leave by instant, ties in the order in which they came", arguments: 1...50 as ClosedRange<UInt64>)
    func order(seed: UInt64) {
        var random = SeededGenerator(seed: seed, stream: "queue")
        var queue = EventQueue()
        var waiting: [(at: Instant, number: Int)] = []
        var now = Instant.zero
        for number in 0..<2_000 {
            if random.chance(.percent(60)) || waiting.isEmpty {
                let kind = random.number(in: 0...3)
                // Usually an interval later, often at the instant of another event, sometimes earlier.
                let span = random.chance(.percent(80)) ? 100 * (kind + 1) : random.number(in: 0...500)
                let at = now + .milliseconds(Int64(span / 50 * 50))
                queue.schedule(event(kind, number), at: at)
                waiting.append((at, number))
                continue
            }
            let limit = now + .milliseconds(Int64(random.number(in: 0...200)))
            let first = waiting.min { ($0.at, $0.number) < ($1.at, $1.number) }
            let next = queue.next(upTo: limit)
            guard let first, first.at <= limit else {
                #expect(next == nil, "seed \(seed), event \(number)")
                continue
            }
            #expect(next?.at == first.at, "seed \(seed), event \(number)")
            #expect(next.flatMap { self.number(of: $0.event) } == first.number, "seed \(seed), event \(number)")
            waiting.removeAll { $0.number == first.number }
            now = first.at
        }
        while let next = queue.next(upTo: .never) {
            let first = waiting.min { ($0.at, $0.number) < ($1.at, $1.number) }
            #expect(number(of: next.event) == first?.number, "seed \(seed)")
            waiting.removeAll { $0.number == first?.number }
        }
        #expect(waiting.isEmpty, "seed \(seed)")
    }
}
