import Quantities

/// The parameters of the distributions with two bounds, for their codecs.
struct UniformSizes: Hashable, Sendable {
    var lowest = ByteCount(16)
    var highest = ByteCount.kibibytes(64)
}

struct LogNormalKeys: Hashable, Sendable {
    var median = ByteCount.kibibytes(2)
    var sigma = Ratio(partsPerMillion: 1_400_000)
    var highest = ByteCount.mebibytes(1)
}

extension Variant where Value == SizeDistribution {
    /// The forms of `objects`.
    static var sizes: [Variant] {
        [
            Variant(
                "constant", .objectSize, { .constant($0) },
                {
                    guard case .constant(let size) = $0 else { return nil }
                    return size
                }, "Every object has this size."),
            Variant(
                "uniform", .uniform, { .uniform(lowest: $0.lowest, highest: $0.highest) },
                {
                    guard case .uniform(let lowest, let highest) = $0 else { return nil }
                    return UniformSizes(lowest: lowest, highest: highest)
                }, "Every size from the lowest to the highest is as likely as any other."),
            Variant(
                "log_normal", .logNormal, { .logNormal(median: $0.median, sigma: $0.sigma, highest: $0.highest) },
                {
                    guard case .logNormal(let median, let sigma, let highest) = $0 else { return nil }
                    return LogNormalKeys(median: median, sigma: sigma, highest: highest)
                }, "A log-normal distribution. Sizes above `highest` become `highest`."),
            Variant(
                "histogram", .histogram, { .histogram($0) },
                {
                    guard case .histogram(let bins) = $0 else { return nil }
                    return bins
                }, "Sizes, and how frequent each is."),
        ]
    }
}

extension Codec where Value == ByteCount {
    /// The size of one object. A gibibyte is far more than an app requests at once.
    fileprivate static var objectSize: Codec { .unscaled(from: ByteCount(1), to: .gibibytes(1)) }
}

extension Codec where Value == UniformSizes {
    fileprivate static var uniform: Codec {
        Codec.record(
            Definition(
                base: UniformSizes(),
                fields: [
                    Field("lowest", \.lowest, .objectSize, required: true, "The smallest object."),
                    Field("highest", \.highest, .objectSize, required: true, "The largest object."),
                ])
        ).checked {
            $0.lowest <= $0.highest ? nil : "the lowest size, \($0.lowest), is above the highest, \($0.highest)"
        }
    }
}

extension Codec where Value == LogNormalKeys {
    fileprivate static var logNormal: Codec {
        Codec.record(
            Definition(
                base: LogNormalKeys(),
                fields: [
                    Field("median", \.median, .objectSize, "Half of the objects are smaller than this."),
                    Field(
                        "sigma", \.sigma, .factor(to: 10),
                        "The standard deviation of the natural logarithm of the size."),
                    Field("highest", \.highest, .objectSize, "Larger objects get this size."),
                ])
        ).checked { $0.median <= $0.highest ? nil : "the median, \($0.median), is above the highest, \($0.highest)" }
    }
}

extension Codec where Value == [SizeDistribution.Bin] {
    fileprivate static var histogram: Codec {
        let bin = Definition(
            base: SizeDistribution.Bin(size: ByteCount(1), weight: 1),
            fields: [
                Field("size", \.size, .objectSize, required: true, "The size of an object."),
                Field(
                    "weight", \.weight, .count(0...1_000_000_000), required: true,
                    "How frequent the size is, relative to the others."),
            ])
        return .list(of: .record(bin), called: "bins", atLeast: 1).checked { bins in
            bins.isEmpty || bins.contains { $0.weight > 0 } ? nil : "a histogram needs at least one weight above 0"
        }
    }
}
