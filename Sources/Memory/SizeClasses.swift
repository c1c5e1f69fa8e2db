import CJemalloc

/// How many bytes an object of some size really gets; the small ones are looked up in a table that fits the cache.
struct SizeClasses {
    private static let highestLookedUp = 4096
    private let small: [UInt16]

    init() {
        small = (0...(SizeClasses.highestLookedUp >> 3)).map { UInt16(nallocx(max($0 << 3, 1), 0)) }
    }

    func usable(_ size: Int) -> Int {
        size <= SizeClasses.highestLookedUp ? Int(small[(size + 7) >> 3]) : nallocx(size, 0)
    }
}
