import Quantities

/// What a device's books take of the host beside its pages: how the need of a run is estimated before it begins.
///
/// Measured with jemalloc 5.3.0 on 64-bit Linux; `Scripts/tests/check_host.py` compares estimates with runs.
public struct BookCosts: Sendable {
    /// An object of a pool: its entry in the pool's table. Exact, see `ObjectTable`.
    public static let object = ByteCount(MemoryLayout<ObjectTable.Entry>.stride)
    /// An object made by name: its handle on the board.
    public static let namedObject = ByteCount(MemoryLayout<ObjectHandle>.stride)

    private let sizeClasses = SizeClasses()

    public init() {}

    /// A run of pages, which is a slab of small objects or a large one (jemalloc's `edata_t`, or `ExtentTable.Extent`
    /// with room for a table that grows), and what the books of the pages say of its ends.
    public static func extent(_ backend: MemoryBackend) -> ByteCount {
        switch backend {
        case .jemalloc: ByteCount(150)
        case .accounting: ByteCount(104)
        }
    }

    /// A page that is handed out, in jemalloc's tree of pages and in the books of them.
    public static let page = ByteCount(10)

    /// A process: its arena, and what the harness notes of it.
    public static func process(_ backend: MemoryBackend) -> ByteCount {
        switch backend {
        case .jemalloc: .kibibytes(142)
        case .accounting: .kibibytes(16)
        }
    }

    /// The bytes of pages that an object of this size takes, its share of a slab that is full: at least 8.
    public func room(of size: Int) -> Int {
        let usable = sizeClasses.usable(max(1, size))
        // From 16 KiB on an object has pages of its own and one more (`opt.cache_oblivious`).
        return usable < 16 << 10 ? usable : usable + DeviceRegion.pageSize
    }

    /// How many runs of pages an object of so much room is at most: a share of a slab of one page, or one.
    public func extents(ofRoom room: Int) -> Double { min(1, Double(room) / Double(DeviceRegion.pageSize)) }
}
