import CJemalloc

/// How many bytes an object of some size really gets; the small ones are looked up in a table that fits the cache.
struct SizeClasses {
    private static let highestLookedUp = 16 << 10
    private let small: [UInt16]

    init() {
        small = (0...(SizeClasses.highestLookedUp >> 3)).map { UInt16(nallocx(max($0 << 3, 1), 0)) }
    }

    /// The same for an object at a multiple of 2 to the power of `logAlignment` (`MALLOCX_LG_ALIGN`).
    func usable(_ size: Int, logAlignment: Int) -> Int { nallocx(size, Int32(logAlignment)) }

    func usable(_ size: Int) -> Int {
        size <= SizeClasses.highestLookedUp ? Int(small[(size + 7) >> 3]) : nallocx(size, 0)
    }
}
