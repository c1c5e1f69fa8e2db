import Quantities

/// The machine's memory in a kernel's OOM report (`Mem-Info`). A figure that the report lacks is nil. Counts are in
/// pages.
public struct KernelMemory: Hashable, Sendable {
    /// A zone: a part of a node's RAM that some requests may not use. Sizes are in KiB.
    public struct Zone: Hashable, Sendable {
        /// The node's number, and the zone's name: `DMA`, `DMA32`, `Normal`, `HighMem`, `Movable`.
        public var node: Int
        public var name: String
        /// What is free, and the least that ordinary requests leave free.
        public var freeKiB, minKiB: Int
        /// The zone's RAM, with what the kernel took for itself at boot.
        public var presentKiB: Int
        /// What requests that could use a higher zone leave free beyond `min`, in pages, by the highest zone they may
        /// use (`lowmem_reserve`).
        public var reserve: [Int] = []
    }

    public var activeAnonymous, inactiveAnonymous, activeFile, inactiveFile, unevictable: Int?
    public var slabReclaimable, slabUnreclaimable, mapped, shared, pageTables, free, dirty: Int?
    /// All RAM, and what of it the kernel keeps for itself.
    public var ram, reserved: Int?
    public var swapTotalKiB, swapFreeKiB: Int?
    public var kernelStackKiB: Int?
    /// All pages of the page cache.
    public var cache: Int?
    /// Pages of huge-page pools, in KiB: reserved whether used or not.
    public var hugeKiB = 0
    public var zones: [Zone] = []

    /// The RAM that processes can have, in pages.
    public var usable: Int? { ram.map { max(0, $0 - (reserved ?? 0)) } }
    /// Memory without a file, shared memory included.
    public var anonymous: Int? { activeAnonymous.map { $0 + (inactiveAnonymous ?? 0) } }
    /// Pages of files that could be dropped or written.
    public var file: Int? { activeFile.map { $0 + (inactiveFile ?? 0) } }
    /// Whether the report has a part about the machine's memory beyond the size of RAM.
    public var isTold: Bool { free != nil || activeAnonymous != nil }
}

extension KernelMemory {
    /// A figure that cannot be negative; nil if it is, or is none.
    static func size(_ text: KernelText) -> Int? { text.number.flatMap { $0 < 0 ? nil : $0 } }

    /// Keeps the first figure of its kind.
    mutating func keep(_ count: Int, _ figure: WritableKeyPath<KernelMemory, Int?>) {
        if self[keyPath: figure] == nil { self[keyPath: figure] = count }
    }

    /// Reads a line of counts in pages, such as ` active_file:29 inactive_file:186 isolated_file:0`.
    mutating func readCounts(_ line: KernelText) {
        func keep(_ value: inout Int?, _ key: StaticString) {
            if value == nil, let number = line.number(of: key), number >= 0 { value = number }
        }
        keep(&activeAnonymous, "active_anon:")
        keep(&inactiveAnonymous, "inactive_anon:")
        keep(&activeFile, "active_file:")
        keep(&inactiveFile, "inactive_file:")
        keep(&unevictable, "unevictable:")
        keep(&slabReclaimable, "slab_reclaimable:")
        keep(&slabUnreclaimable, "slab_unreclaimable:")
        keep(&mapped, "mapped:")
        keep(&shared, "shmem:")
        keep(&pageTables, "pagetables:")
        keep(&free, "free:")
        keep(&dirty, "dirty:")
    }

    /// Reads a line that begins with `Node`: a node, a zone, its blocks or its pools of huge pages.
    mutating func readNode(_ line: KernelText) {
        guard let node = KernelText(line.bytes.dropFirst(4)).leadingNumber else { return }
        let rest = KernelText(line.bytes[node.end...])
        if let total = rest.number(of: "hugepages_total=") {
            let size = rest.number(of: "hugepages_size=") ?? 2_048
            hugeKiB = min(KernelText.mostNumber, hugeKiB + min(max(0, total), 1 << 30) * min(max(0, size), 1 << 24))
            return
        }
        if let stack = rest.number(of: "kernel_stack:") {
            kernelStackKiB = min(KernelText.mostNumber, (kernelStackKiB ?? 0) + max(0, stack))
        }
        guard let free = rest.number(of: "free:"), let min = rest.number(of: "min:"), zones.count < 4_096 else {
            return
        }
        zones.append(
            Zone(
                node: node.value, name: rest.before("free:").trimmed.string, freeKiB: max(0, free),
                minKiB: max(0, min), presentKiB: max(0, rest.number(of: "present:") ?? 0)))
    }

    /// Reads `lowmem_reserve[]: 0 3191 15659 15659`, which belongs to the zone of the line before.
    mutating func readReserve(_ line: KernelText) {
        guard !zones.isEmpty, zones[zones.count - 1].reserve.isEmpty, var rest = line.after(":") else { return }
        while let next = rest.leadingNumber, zones[zones.count - 1].reserve.count < 8 {
            zones[zones.count - 1].reserve.append(max(0, next.value))
            rest = KernelText(rest.bytes[next.end...])
        }
    }

    /// How much of its free memory a zone gives to a request, in KiB; negative if it is short.
    ///
    /// - Parameters:
    ///   - mask: The request's flags.
    ///   - page: The size of a page, in KiB.
    func room(in zone: Zone, for mask: Int, page: Int) -> Int {
        let reserve = zone.reserve.isEmpty ? 0 : zone.reserve[min(highest(mask), zone.reserve.count - 1)]
        return zone.freeKiB - zone.minKiB - reserve * page
    }

    /// The zones that a request may use. The lowest four bits of its flags say which: DMA, HIGHMEM, DMA32, MOVABLE, in
    /// all releases from 3.2 to 6.12.
    func zones(for mask: Int) -> [Zone] {
        zones.filter { zone in
            if mask & 0x1 != 0 { return zone.name == "DMA" }
            if mask & 0x4 != 0 { return zone.name == "DMA32" || zone.name == "DMA" }
            if zone.name == "Movable" { return mask & 0xa == 0xa }
            return mask & 0x2 != 0 || zone.name != "HighMem"
        }
    }

    /// The place of the highest zone in `lowmem_reserve`.
    private func highest(_ mask: Int) -> Int {
        if mask & 0x1 != 0 { return 0 }
        if mask & 0x4 != 0 { return 1 }
        if mask & 0x2 != 0 { return Int.max }
        return zones.contains { $0.name == "HighMem" } ? 1 : 2
    }
}
