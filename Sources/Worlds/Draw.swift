import Quantities
import Scenario

/// One concern's draws. Each has a stream of its own, so that a new draw in one leaves the others as they are.
struct Draw {
    private var generator: SeededGenerator

    init(_ seed: UInt64, _ stream: String) {
        generator = SeededGenerator(seed: seed, stream: "world/\(stream)")
    }

    /// True so often of a hundred times.
    mutating func chance(_ percent: Int64) -> Bool { generator.chance(.percent(percent)) }

    mutating func number(_ lowest: Int, _ highest: Int) -> Int { generator.number(in: lowest...highest) }

    /// Any bits.
    mutating func bits() -> UInt64 { generator.next() }

    /// A number between two others, each order of magnitude as likely as any other.
    mutating func magnitude(_ lowest: Int, _ highest: Int) -> Int {
        guard lowest < highest else { return lowest }
        if lowest < 0 { return number(lowest, highest) }
        if lowest == 0 && chance(8) { return 0 }
        let exponents = (from: max(1, lowest).bitWidthInUse, to: max(1, highest).bitWidthInUse)
        let least = 1 << (number(exponents.from, exponents.to) - 1)
        return min(max(number(least, least * 2 - 1), lowest), highest)
    }

    /// The same, but seldom less than a four-thousandth of the highest.
    private mutating func wide(_ lowest: Int, _ highest: Int) -> Int {
        if chance(8) { return magnitude(lowest, highest) }
        return magnitude(max(lowest, highest / 4_000), highest)
    }

    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[number(0, elements.count - 1)] }

    /// One of the elements, each as likely as its weight says.
    mutating func pick<Element>(_ weighted: [(weight: Int, element: Element)]) -> Element {
        var rest = number(0, weighted.reduce(0) { $0 + $1.weight } - 1)
        for (weight, element) in weighted {
            rest -= weight
            if rest < 0 { return element }
        }
        return weighted[weighted.count - 1].element
    }

    /// Those of the elements that a chance takes, in their order.
    mutating func some<Element>(of elements: [Element], _ percent: Int64) -> [Element] {
        var chosen: [Element] = []
        for element in elements where chance(percent) { chosen.append(element) }
        return chosen
    }

    mutating func shuffle<Element>(_ elements: inout [Element]) {
        for index in elements.indices.reversed() { elements.swapAt(index, number(0, index)) }
    }
}

// Quantities, as scenarios write them.
extension Draw {
    /// Mostly a round one.
    mutating func bytes(_ lowest: ByteCount, _ highest: ByteCount) -> ByteCount {
        let bytes = wide(lowest.bytes, highest.bytes)
        let unit = pick([(5, 1 << 20), (4, 1 << 12), (1, 1)])
        let rounded = bytes / unit * unit
        return ByteCount(rounded >= lowest.bytes && rounded > 0 ? rounded : bytes)
    }

    mutating func size(_ lowest: ByteCount, _ highest: ByteCount) -> Tree { .plain("\(bytes(lowest, highest))") }

    mutating func rate(_ lowest: ByteCount, _ highest: ByteCount) -> Tree {
        .plain("\(ByteRate(bytesPerSecond: bytes(lowest, highest).bytes))")
    }

    mutating func span(_ lowest: TimeSpan, _ highest: TimeSpan) -> TimeSpan {
        let span = wide(Int(lowest.microseconds), Int(highest.microseconds))
        let unit = span >= 10_000_000 ? 1_000_000 : span >= 1_000 ? 1_000 : 1
        return TimeSpan(microseconds: Int64(max(span / unit * unit, Int(lowest.microseconds))))
    }

    mutating func time(_ lowest: TimeSpan, _ highest: TimeSpan) -> Tree { .plain("\(span(lowest, highest))") }

    /// Often an end of the range: nothing and all are cases of their own.
    mutating func share(_ lowest: Int = 0, _ highest: Int = 100) -> Tree {
        let share = pick([(2, lowest), (1, highest), (3, number(lowest, highest))])
        return .plain("\(Ratio.percent(Int64(share)))")
    }

    mutating func flag(_ percent: Int64 = 50) -> Tree { .plain(chance(percent) ? "true" : "false") }
}

extension Int {
    /// How many binary digits it has.
    fileprivate var bitWidthInUse: Int { Int.bitWidth - leadingZeroBitCount }
}

/// A mapping under construction, in the order in which its keys are put.
struct Record {
    private(set) var entries: [(String, Tree)] = []

    var isEmpty: Bool { entries.isEmpty }
    var tree: Tree { .record(entries) }

    mutating func put(_ key: String, _ value: Tree) { entries.append((key, value)) }

    /// Puts what there is to put.
    mutating func put(_ key: String, _ record: Record) {
        if !record.isEmpty { put(key, record.tree) }
    }
}
