extension UnsafeMutablePointer {
    /// Memory for elements half a cache line or whole cache lines long: no element spans more lines than it must.
    static func cacheLines(_ count: Int) -> UnsafeMutablePointer {
        let line = 64
        return UnsafeMutableRawPointer.allocate(byteCount: count * MemoryLayout<Pointee>.stride, alignment: line)
            .bindMemory(to: Pointee.self, capacity: count)
    }
}
