import Glibc

/// Zeroed tables with an entry per page of a device. The host backs them where they are written: the longest in pieces
/// of 2 MiB, if it has huge pages. With pages of 4 KiB, the threads that make runs at once would spend a fifth of their
/// time waiting for each other in page faults. Shorter tables would mostly waste huge pages.
enum HostTable {
    /// Shorter tables come from Plimsoll's heap.
    private static let long = 4 << 20
    private static let longest = 64 << 20

    static func make<Entry: BitwiseCopyable>(_ count: Int, of entry: Entry.Type) -> UnsafeMutablePointer<Entry> {
        let bytes = count * MemoryLayout<Entry>.stride
        guard bytes >= long else {
            guard let memory = calloc(count, MemoryLayout<Entry>.stride) else { fail(bytes) }
            return memory.bindMemory(to: Entry.self, capacity: count)
        }
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        let memory = mmap(nil, bytes, PROT_READ | PROT_WRITE, flags, -1, 0)
        guard let memory, memory != MAP_FAILED else { fail(bytes) }
        // A host without huge pages refuses; the table works without them, too.
        if bytes >= longest { _ = madvise(memory, bytes, MADV_HUGEPAGE) }
        return memory.bindMemory(to: Entry.self, capacity: count)
    }

    static func free<Entry: BitwiseCopyable>(_ table: UnsafeMutablePointer<Entry>, _ count: Int) {
        let bytes = count * MemoryLayout<Entry>.stride
        guard bytes >= long else { return Glibc.free(table) }
        let code = munmap(table, bytes)
        precondition(code == 0, "a table of \(bytes) bytes refused to be unmapped: errno \(errno)")
    }

    private static func fail(_ bytes: Int) -> Never {
        HostRefusal.end("has no memory for a table of \(bytes) bytes")
    }
}
