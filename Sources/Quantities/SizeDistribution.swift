import BasicContainers

/// How large an app's objects are. Draws are the same on every machine: they use only IEEE basic arithmetic and square
/// roots, which are exactly specified, not the platform's `exp` and `log`.
public enum SizeDistribution: Hashable, Sendable {
    /// Every object has this size.
    case constant(ByteCount)
    /// All sizes from the lowest to the highest are equally likely.
    case uniform(lowest: ByteCount, highest: ByteCount)
    /// The logarithm of the size is normal: `median` splits the objects in halves, and `sigma` is the standard
    /// deviation of the natural logarithm. Sizes above `highest` are cut to it.
    case logNormal(median: ByteCount, sigma: Ratio, highest: ByteCount)
    /// An empirical histogram: sizes and how often each was seen.
    case histogram([Bin])

    /// One size of a histogram.
    public struct Bin: Hashable, Sendable {
        /// The size of the objects.
        public var size: ByteCount
        /// How often the size was seen; at least one weight must be positive.
        public var weight: Int
        /// A size and its weight.
        public init(size: ByteCount, weight: Int) {
            self.size = size
            self.weight = weight
        }
    }
}

/// Draws sizes from one distribution; `init` computes everything that all draws share.
public final class SizeSampler: Sendable {
    private enum Draw: Sendable {
        case constant(Int)
        case uniform(ClosedRange<Int>)
        case logNormal(LogNormalSizes)
        /// A histogram's sizes, and for each the sum of the weights up to it.
        case histogram(sizes: [Int], cumulative: [UInt64])
    }

    /// The distribution that sizes are drawn from.
    public let distribution: SizeDistribution
    private let draw: Draw

    /// Traps on a histogram without a positive weight.
    public init(_ distribution: SizeDistribution) {
        self.distribution = distribution
        switch distribution {
        case .constant(let size): draw = .constant(max(1, size.bytes))
        case .uniform(let lowest, let highest): draw = .uniform(lowest.bytes...highest.bytes)
        case .logNormal(let median, let sigma, let highest):
            draw = .logNormal(LogNormalSizes(median: median, sigma: sigma, highest: highest))
        case .histogram(let bins):
            var sums: [UInt64] = []
            for bin in bins { sums.append((sums.last ?? 0) + UInt64(bin.weight)) }
            precondition((sums.last ?? 0) > 0, "a histogram of sizes needs at least one weight above zero")
            draw = .histogram(sizes: bins.map { max(1, $0.size.bytes) }, cumulative: sums)
        }
    }

    /// The next size in bytes, at least 1.
    public func next(using generator: inout SeededGenerator) -> Int {
        switch draw {
        case .constant(let size): return size
        case .uniform(let range): return max(1, generator.number(in: range))
        case .logNormal(let sizes): return sizes.next(using: &generator)
        case .histogram(let sizes, let cumulative):
            let target = generator.below(cumulative[cumulative.count - 1])
            return sizes[cumulative.partitionPoint { $0 > target }]
        }
    }

    /// Replaces `sizes` by sizes whose sum is exactly `bytes`; the last is cut. Use it with a shared generator; with a
    /// generator of its own, `SizeStream` is faster.
    public func fill(_ sizes: inout [Int], with bytes: ByteCount, using generator: inout SeededGenerator) {
        sizes.removeAll(keepingCapacity: true)
        var remaining = bytes.bytes
        while remaining > 0 {
            sizes.append(min(next(using: &generator), remaining))
            remaining -= sizes[sizes.count - 1]
        }
    }

    /// Draws the next `QuickSizes.count` sizes, in the order in which `next` would draw them.
    fileprivate func draw(into sizes: UnsafeMutableBufferPointer<UInt32>, using generator: inout SeededGenerator) {
        if case .logNormal(let draw) = draw { return draw.draw(into: sizes, using: &generator) }
        for index in sizes.indices { sizes[index] = UInt32(next(using: &generator)) }
    }
}

/// The sizes of objects that are made together. A batch is reused, so it keeps its memory.
public struct SizeBatch: ~Copyable {
    /// The sizes; only the first `count` are valid.
    public private(set) var storage: UniqueArray<Int>
    /// The number of valid sizes.
    public private(set) var count: Int

    /// A batch of these sizes.
    public init(_ sizes: [Int] = []) {
        storage = UniqueArray(copying: sizes)
        count = sizes.count
    }

    /// The sizes from `index` on.
    public func suffix(from index: Int) -> [Int] { (index..<count).map { storage[$0] } }

    /// Adds sizes from `index` on, until there are no more or their sum reaches `bytes`. Returns the index after the
    /// last one used, and the bytes still missing; these are negative if the last size is too large.
    fileprivate mutating func append(
        _ fresh: UnsafeMutableBufferPointer<UInt32>, from index: Int, upTo bytes: Int
    ) -> (used: Int, remaining: Int) {
        while storage.count < count + fresh.count { storage.append(0) }
        var (used, remaining, place) = (index, bytes, count)
        var places = storage.mutableSpan
        while remaining > 0 && used < fresh.count {
            let size = Int(fresh[used])
            places[place] = size
            place += 1
            used += 1
            remaining -= size
        }
        count = place
        return (used, remaining)
    }

    fileprivate mutating func removeAll() { count = 0 }

    fileprivate mutating func cutLast(by bytes: Int) {
        if bytes > 0 { storage[count - 1] -= bytes }
    }
}

/// A stream of sizes from one distribution, with a generator of its own.
///
/// It draws sizes in blocks ahead of their use. This takes a fraction of the time and changes no size.
public struct SizeStream: ~Copyable {
    /// The drawn sizes; nil before the first use.
    private var block: UnsafeMutableBufferPointer<UInt32>?
    /// How many sizes of the block are used.
    private var used = SizeStream.blockSize
    private let sampler: SizeSampler
    private var generator: SeededGenerator

    /// The number of sizes that `QuickSizes` computes at once.
    private static let blockSize = QuickSizes.count

    /// A stream that owns its copy of `generator`.
    public init(_ sampler: SizeSampler, _ generator: SeededGenerator) {
        self.sampler = sampler
        self.generator = generator
    }

    deinit { block?.deallocate() }

    /// Replaces the batch by sizes whose sum is exactly `bytes`; the last is cut.
    public mutating func fill(_ sizes: inout SizeBatch, with bytes: ByteCount) {
        sizes.removeAll()
        var remaining = bytes.bytes
        while remaining > 0 {
            let block = freshBlock()
            (used, remaining) = sizes.append(block, from: used, upTo: remaining)
        }
        // Here `remaining` is zero or negative: minus the excess of the last size.
        sizes.cutLast(by: 0 - remaining)
    }

    /// The current block, drawn anew once all its sizes are used.
    private mutating func freshBlock() -> UnsafeMutableBufferPointer<UInt32> {
        let block = self.block ?? .allocate(capacity: SizeStream.blockSize)
        if used == block.count {
            self.block = block
            sampler.draw(into: block, using: &generator)
            used = 0
        }
        return block
    }
}

/// The natural logarithm of a positive finite number, to about 1e-15 relative: the exponent times ln 2 plus the
/// series of the inverse hyperbolic tangent for the significand.
public func naturalLogarithm(_ x: Double) -> Double {
    precondition(x > 0 && x.isFinite, "the logarithm of \(x) is not defined")
    var exponent = Int(x.exponent)
    var significand = x.significand
    if significand > 1.4142135623730951 {
        significand /= 2
        exponent += 1
    }
    let z = (significand - 1) / (significand + 1)
    let square = z * z
    var term = z
    var sum = 0.0
    var divisor = 1.0
    for _ in 0..<14 {
        sum += term / divisor
        term *= square
        divisor += 2
    }
    return Double(exponent) * 0.6931471805599453 + 2 * sum
}

/// e to the power of `x`, to about 1e-15 relative, for |x| up to 700.
public func exponential(_ x: Double) -> Double {
    precondition(abs(x) <= 700, "e to the power of \(x) is out of range")
    let halvings = (x / 0.6931471805599453).rounded(.toNearestOrEven)
    let rest = x - halvings * 0.6931471805599453
    var term = 1.0
    var sum = 1.0
    for step in 1...18 {
        term *= rest / Double(step)
        sum += term
    }
    return Double(sign: .plus, exponent: Int(halvings), significand: 1) * sum
}
