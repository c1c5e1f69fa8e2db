import Quantities

/// The host memory that a device's books take in addition to its pages, to estimate before a run what it needs.
///
/// Measured with jemalloc 5.3.0 on 64-bit Linux; `Scripts/tests/check_host.py` compares estimates with runs.
public struct BookCosts: Sendable {
    /// One object of a pool: its entry in the pool's table. Exact; see `ObjectTable`.
    public static let object = ByteCount(MemoryLayout<ObjectTable.Entry>.stride)
    /// One object made by name: its handle on the board.
    public static let namedObject = ByteCount(MemoryLayout<ObjectHandle>.stride)

    private let sizeClasses = SizeClasses()

    /// Looks up jemalloc's size classes.
    public init() {}

    /// One run of pages, a slab of small objects or a large object: its description (jemalloc's `edata_t`, or
    /// `ExtentTable.Extent` with room for a table that grows) and the marks of its ends in the page books.
    public static func extent(_ backend: MemoryBackend) -> ByteCount {
        switch backend {
        case .jemalloc: ByteCount(150)
        case .accounting: ByteCount(104)
        }
    }

    /// One page handed out: its entries in jemalloc's page tree and in the page books.
    public static let page = ByteCount(10)

    /// One page of a device with a compressor: its place and age.
    public static let frame = ByteCount(36)

    /// One page whose contents LZ4 compressed: where they are, and their sum.
    public static let contents = ByteCount(16)

    /// One process: its arena and Plimsoll's records of it.
    public static func process(_ backend: MemoryBackend) -> ByteCount {
        switch backend {
        case .jemalloc: .kibibytes(142)
        case .accounting: .kibibytes(16)
        }
    }

    /// The bytes of pages that an object of this size takes, at least 8. A small object takes its share of a full
    /// slab.
    public func room(of size: Int) -> Int {
        let usable = sizeClasses.usable(max(1, size))
        // From 16 KiB on, an object has pages of its own and one more (`opt.cache_oblivious`).
        return usable < 16 << 10 ? usable : usable + DeviceRegion.pageSize
    }

    /// The most runs of pages that an object with this room takes: its share of a one-page slab, at most one.
    public func extents(ofRoom room: Int) -> Double { min(1, Double(room) / Double(DeviceRegion.pageSize)) }
}
