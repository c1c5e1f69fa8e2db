import Quantities

/// What a run's compressor held at most, and its time on the cores.
public struct CompressorTally: Sendable {
    /// The most compressed pages that a sample found, before compression.
    public private(set) var mostCompressed = ByteCount.zero
    /// What the pool took then.
    public private(set) var pool = ByteCount.zero
    /// The time of a fast core for compressing.
    public private(set) var compressing = TimeSpan.zero
    /// The time of a fast core for bringing pages back.
    public private(set) var decompressing = TimeSpan.zero

    /// A compressor that has done nothing yet.
    public init() {}

    /// Adds a sample: what is compressed, what the pool takes, and the times since the last sample.
    public mutating func add(
        compressed: ByteCount, pool: ByteCount, compressing: TimeSpan, decompressing: TimeSpan
    ) {
        if compressed > mostCompressed { (mostCompressed, self.pool) = (compressed, pool) }
        self.compressing += compressing
        self.decompressing += decompressing
    }
}
