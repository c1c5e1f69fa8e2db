extension UnsafeMutablePointer {
    /// Memory for elements that are half a cache line long, or a multiple of one: none lies in more than it must.
    static func cacheLines(_ count: Int) -> UnsafeMutablePointer {
        let line = 64
        return UnsafeMutableRawPointer.allocate(byteCount: count * MemoryLayout<Pointee>.stride, alignment: line)
            .bindMemory(to: Pointee.self, capacity: count)
    }
}
