import CJemalloc

/// The bytes that an object of a given size really gets (`nallocx`). Small sizes are looked up in a table that fits the
/// cache; large sizes have four classes per doubling (`sz_s2u_compute` of 5.3).
struct SizeClasses {
    private static let highestLookedUp = 16 << 10
    private let small: [UInt16]

    init() {
        small = (0...(SizeClasses.highestLookedUp >> 3)).map { UInt16(nallocx(max($0 << 3, 1), 0)) }
    }

    /// The bytes of an object at a multiple of 2 to the power of `logAlignment` (`MALLOCX_LG_ALIGN`).
    func usable(_ size: Int, logAlignment: Int) -> Int { nallocx(size, Int32(logAlignment)) }

    func usable(_ size: Int) -> Int {
        if size <= SizeClasses.highestLookedUp { return Int(small[(size + 7) >> 3]) }
        let delta = 1 << ((2 * size - 1).bitWidth - (2 * size - 1).leadingZeroBitCount - 4)
        return (size + delta - 1) & ~(delta - 1)
    }
}
