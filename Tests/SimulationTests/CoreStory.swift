import Lifecycle
import Plan
import Quantities

@testable import Simulation

/// A fraction in lowest terms.
struct Fraction: Equatable {
    let top: Int
    let bottom: Int

    init(_ top: Int, over bottom: Int = 1) {
        var (a, b) = (abs(top), bottom)
        while b != 0 { (a, b) = (b, a % b) }
        (self.top, self.bottom) = (top / max(a, 1), bottom / max(a, 1))
    }

    static func - (a: Fraction, b: Fraction) -> Fraction {
        Fraction(a.top * b.bottom - b.top * a.bottom, over: a.bottom * b.bottom)
    }
}

/// What happens to pieces of work, instant by instant.
struct CoreStory {
    enum Change {
        case begin(Int, lasting: Int, ServiceClass)
        case withdraw(Int)
        /// Nil suspends it.
        case classify(Int, ServiceClass?)
    }

    var performance = 1
    var efficiency = 0
    /// Of a slow core, in parts per million.
    var speed = 1_000_000
    /// In the order of the instants, which are whole microseconds.
    var changes: [(at: Int, Change)] = []

    /// When each piece is done, by the component under test.
    func played() -> [Int: Int] {
        var cores = SharedCores<Int>(
            performance: performance, efficiency: efficiency, speed: Ratio(partsPerMillion: Int64(speed)))
        var classes: [Int: ServiceClass] = [:]
        var done: [Int: Int] = [:]
        func take(until limit: Instant) {
            while let next = cores.nextDone(), next <= limit {
                for piece in cores.finish(at: next) { done[piece.tag] = Int(next.microseconds) }
            }
        }
        for (at, change) in changes {
            let now = Instant(microseconds: Int64(at))
            take(until: now)
            switch change {
            case .begin(let piece, let span, let service):
                classes[piece] = service
                cores.begin(piece, lasting: TimeSpan(microseconds: Int64(span)), as: service, at: now)
            case .withdraw(let piece): _ = cores.withdraw(at: now) { $0 == piece }
            case .classify(let piece, let service):
                classes[piece] = service
                cores.classify(at: now) { classes[$0] }
            }
        }
        take(until: .never)
        return done
    }

    /// The same by brute force: in each microsecond, cores are given out one by one and each share is a fraction.
    func reckoned(for end: Int) -> [Int: Int] {
        let slow = Array(repeating: speed, count: efficiency)
        let speeds = Array(repeating: 1_000_000, count: performance) + slow
        var pieces: [(name: Int, service: ServiceClass?, rest: Fraction)] = []
        var done: [Int: Int] = [:]
        var left = changes[...]
        for now in 0...end {
            func takeDone() {
                for piece in pieces where piece.rest.top <= 0 { done[piece.name] = now }
                pieces.removeAll { $0.rest.top <= 0 }
            }
            takeDone()
            while let (at, change) = left.first, at == now {
                left.removeFirst()
                switch change {
                case .begin(let name, let span, let service):
                    pieces.append((name, service, Fraction(span * 1_000_000)))
                case .withdraw(let name): pieces.removeAll { $0.name == name }
                case .classify(let name, let service):
                    for index in pieces.indices where pieces[index].name == name { pieces[index].service = service }
                }
                takeDone()
            }
            if pieces.isEmpty && left.isEmpty { break }
            var free = Array(speeds.indices)
            for service in ServiceClass.allCases {
                let mine = pieces.indices.filter { pieces[$0].service == service }
                let usable = free.filter { service != .background || efficiency == 0 || $0 >= performance }
                let taken = usable.prefix(mine.count)
                free.removeAll { taken.contains($0) }
                let sum = taken.reduce(0) { $0 + speeds[$1] }
                for index in mine {
                    pieces[index].rest = pieces[index].rest - Fraction(sum, over: mine.count)
                }
            }
        }
        return done
    }
}

extension SharedCores {
    /// Fast cores, and slow ones of this speed.
    init(performance: Int, efficiency: Int, speed: Ratio) {
        let slow = efficiency > 0 ? [CoreLayout.Cluster(count: efficiency, speed: speed)] : []
        self.init([CoreLayout.Cluster(count: performance, speed: .one)] + slow)
    }
}
