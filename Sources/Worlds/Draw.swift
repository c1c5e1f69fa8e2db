import Quantities
import Scenario

/// The draws of one part of a world. Each part has its own stream, so a new draw in one leaves the others as they are.
struct Draw {
    private var generator: SeededGenerator

    init(_ seed: UInt64, _ stream: String) {
        generator = SeededGenerator(seed: seed, stream: "world/\(stream)")
    }

    /// True in this percentage of cases.
    mutating func chance(_ percent: Int64) -> Bool { generator.chance(.percent(percent)) }

    mutating func number(_ lowest: Int, _ highest: Int) -> Int { generator.number(in: lowest...highest) }

    /// Random bits.
    mutating func bits() -> UInt64 { generator.next() }

    /// A number between two bounds, with each order of magnitude equally likely.
    mutating func magnitude(_ lowest: Int, _ highest: Int) -> Int {
        guard lowest < highest else { return lowest }
        if lowest < 0 { return number(lowest, highest) }
        if lowest == 0 && chance(8) { return 0 }
        let exponents = (from: max(1, lowest).bitWidthInUse, to: max(1, highest).bitWidthInUse)
        let least = 1 << (number(exponents.from, exponents.to) - 1)
        return min(max(number(least, least * 2 - 1), lowest), highest)
    }

    /// Like `magnitude`, but seldom less than a four-thousandth of the highest number.
    private mutating func wide(_ lowest: Int, _ highest: Int) -> Int {
        if chance(8) { return magnitude(lowest, highest) }
        return magnitude(max(lowest, highest / 4_000), highest)
    }

    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[number(0, elements.count - 1)] }

    /// One of the elements, with a probability in proportion to its weight.
    mutating func pick<Element>(_ weighted: [(weight: Int, element: Element)]) -> Element {
        var rest = number(0, weighted.reduce(0) { $0 + $1.weight } - 1)
        for (weight, element) in weighted {
            rest -= weight
            if rest < 0 { return element }
        }
        return weighted[weighted.count - 1].element
    }

    /// A selection of the elements in their order; each is chosen with this probability.
    mutating func some<Element>(of elements: [Element], _ percent: Int64) -> [Element] {
        var chosen: [Element] = []
        for element in elements where chance(percent) { chosen.append(element) }
        return chosen
    }

    mutating func shuffle<Element>(_ elements: inout [Element]) {
        for index in elements.indices.reversed() { elements.swapAt(index, number(0, index)) }
    }
}

// Quantities, in the form in which scenarios write them.
extension Draw {
    /// A size, in most cases a round one.
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

    /// A share. Often it is the lowest or the highest value, because 0 % and 100 % are special cases.
    mutating func share(_ lowest: Int = 0, _ highest: Int = 100) -> Tree {
        let share = pick([(2, lowest), (1, highest), (3, number(lowest, highest))])
        return .plain("\(Ratio.percent(Int64(share)))")
    }

    mutating func flag(_ percent: Int64 = 50) -> Tree { .plain(chance(percent) ? "true" : "false") }

    /// A value as the key's field says; one in five is the word for no value, if there is one.
    mutating func value(of key: FormatKey) -> Tree {
        guard let drawn = key.drawn else { preconditionFailure("no range for \(key.name) of \(key.record)") }
        if let none = key.none, chance(20) { return .plain(none) }
        return switch drawn {
        case .sizes(let lowest, let highest): size(lowest, highest)
        case .rates(let lowest, let highest): rate(lowest, highest)
        case .times(let lowest, let highest): time(lowest, highest)
        case .shares(let lowest, let highest): share(lowest, highest)
        case .numbers(let lowest, let highest): .plain("\(number(lowest, highest))")
        case .flag(let percent): flag(percent)
        case .names(let names): .plain(pick(names))
        }
    }
}

extension Int {
    /// The number of binary digits.
    fileprivate var bitWidthInUse: Int { Int.bitWidth - leadingZeroBitCount }
}

/// A mapping under construction. Its keys keep the order in which they are added.
struct Record {
    private(set) var entries: [(String, Tree)] = []
    /// Its path in the format, for keys whose fields say what is drawn.
    var path = ""

    var isEmpty: Bool { entries.isEmpty }
    var tree: Tree { .record(entries) }

    mutating func put(_ key: String, _ value: Tree) { entries.append((key, value)) }

    /// The record with this key, and without the other.
    func putting(_ key: String, _ text: String, without other: String? = nil) -> Record {
        var record = self
        record.entries = entries.filter { $0.0 != other } + [(key, .plain(text))]
        return record
    }

    /// Adds those of the keys that chance selects, each with its percentage, with values as their fields say.
    mutating func put(_ chances: KeyValuePairs<String, Int64>, _ draw: inout Draw) {
        for (key, percent) in chances where draw.chance(percent) {
            guard let field = FormatKey.byPath["\(path).\(key)"] else { preconditionFailure("\(path) has no \(key)") }
            put(key, draw.value(of: field))
        }
    }

    /// The same from a stream of its own.
    mutating func put(_ chances: KeyValuePairs<String, Int64>, from draw: Draw) {
        var draw = draw
        put(chances, &draw)
    }

    /// Adds the record under the key unless it is empty.
    mutating func put(_ key: String, _ record: Record) {
        if !record.isEmpty { put(key, record.tree) }
    }
}

extension Tree {
    /// The document with some of the keys whose fields say how often they are drawn. Each draws from a stream of its
    /// own, so a new key leaves the rest of the world as it is.
    func extended(by keys: [FormatKey], _ seed: UInt64, at path: String = "", _ place: String = "world") -> Tree {
        if let elements {
            return .list(
                elements.enumerated().map { $1.extended(by: keys, seed, at: path + "[]", "\(place)[\($0)]") })
        }
        guard let entries else { return self }
        var record = Record()
        for entry in entries {
            let inner = FormatKey.path(entry.key, in: path)
            record.put(entry.key, entry.value.extended(by: keys, seed, at: inner, "\(place).\(entry.key)"))
        }
        for key in keys where key.record == path {
            var draw = Draw(seed, "\(place).\(key.name)")
            if let percent = key.chance, draw.chance(percent) { record.put(key.name, draw.value(of: key)) }
        }
        return record.tree
    }
}
