/// How well the contents of memory compress, page by page.
public struct Compressibility: Hashable, Sendable {
    /// The pages that compress are on average this many times as large as their compressed contents: at least 1.
    public var ratio: Ratio
    /// The share of pages that are one repeated word and take no room.
    public var repeated: Ratio
    /// The share of pages that do not compress.
    public var incompressible: Ratio

    /// Compressibility with these values; the shares are together at most 1.
    public init(ratio: Ratio, repeated: Ratio, incompressible: Ratio) {
        self.ratio = ratio
        self.repeated = repeated
        self.incompressible = incompressible
    }

    /// 2.7 : 1 over all pages, the median of nine JetsamEvent reports. The shares are our own guess.
    public static let typical = Compressibility(
        ratio: .percent(296), repeated: .percent(10), incompressible: .percent(10))

    /// The same with another share of pages that do not compress. The other pages keep their proportions.
    public func with(incompressible share: Ratio) -> Compressibility {
        let (rest, before) = (Ratio.one - share, max(Ratio(partsPerMillion: 1), Ratio.one - incompressible))
        var other = self
        other.incompressible = share
        other.repeated = Ratio(
            partsPerMillion: repeated.partsPerMillion * rest.partsPerMillion / before.partsPerMillion)
        return other
    }

    /// The share of compressed pages that their contents take, as a mean.
    public var kept: Ratio {
        let whole = Ratio.one.partsPerMillion
        let others = max(0, whole - repeated.partsPerMillion - incompressible.partsPerMillion)
        return Ratio(
            partsPerMillion: incompressible.partsPerMillion + others * whole / max(whole, ratio.partsPerMillion))
    }

    /// The bytes that a page's contents take, drawn for each page. Pages that compress take between half and one and a
    /// half times the mean, rounded up to 16 bytes, as XNU does.
    public func draw(page: Int, _ generator: inout SeededGenerator) -> Int {
        let lot = Int64(generator.below(1_000_000))
        if lot < repeated.partsPerMillion { return 0 }
        if lot < repeated.partsPerMillion + incompressible.partsPerMillion { return page }
        let mean = Int64(page) * 1_000_000 / max(1_000_000, ratio.partsPerMillion)
        let size = Int(mean / 2) + Int(generator.below(UInt64(mean + 1)))
        return min(page, max(16, (size + 15) / 16 * 16))
    }
}
