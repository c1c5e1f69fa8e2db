import Memory
import Quantities
import Workload

/// The way of a process to a footprint that the scenario states: what its base still lacks of it, or has too much.
///
/// What size classes, slabs and pages add to the bytes that a process asks for is known only once it holds them. So its
/// base is corrected in steps, and the ledger is asked before each.
struct FootprintGoal {
    /// In bytes of this device.
    private let footprint: ByteCount
    /// Whether it is approached from below and met to a page, so that no limit is crossed on the way.
    private let isExact: Bool
    /// How many corrections it may still take.
    private var left: Int
    private var owesPurge: Bool

    /// As near as this counts as there.
    private static let tolerance = ByteCount.kibibytes(4)
    /// The pages of the ledger, and of objects that share no page.
    private static let page = 4_096
    /// If less than this is missing, it comes in whole pages; in bytes of the device that is meant.
    private static let near = ByteCount.kibibytes(128)

    init(_ footprint: ByteCount, isExact: Bool) {
        self.footprint = footprint
        self.isExact = isExact
        left = isExact ? 16 : 6
        owesPurge = isExact
    }

    /// Whether unused pages have to go back before the ledger is asked.
    mutating func takePurge() -> Bool {
        defer { owesPurge = isExact }
        return owesPurge
    }

    /// The next correction; nil: the process is there, or no correction brings it nearer.
    mutating func next(of process: LiveProcess, _ memory: any DeviceMemory) -> MemoryWork? {
        guard left > 0 else { return nil }
        left -= 1
        let held = memory.books(of: process.slot).footprint
        let missing = footprint - held
        if missing >= FootprintGoal.tolerance {
            let wanted = missing.unscaled(by: memory.scale)
            return isExact ? exact(wanted, of: process, holding: held, memory) : .allocate(.base, wanted)
        }
        guard missing <= .zero - FootprintGoal.tolerance else {
            left = 0
            return nil
        }
        owesPurge = true
        let excess = (.zero - missing).unscaled(by: memory.scale)
        return .release(.base, isExact ? excess * density(of: process, holding: held, memory) : excess)
    }

    private func exact(
        _ wanted: ByteCount, of process: LiveProcess, holding held: ByteCount, _ memory: any DeviceMemory
    ) -> MemoryWork? {
        guard wanted < FootprintGoal.near else {
            return .allocate(.base, wanted * density(of: process, holding: held, memory) * .percent(75))
        }
        let pages = wanted.bytes / FootprintGoal.page
        return pages > 0 ? .allocatePages(.base, ByteCount(pages * FootprintGoal.page)) : nil
    }

    /// What the process asked for, as a share of what it holds for it.
    private func density(of process: LiveProcess, holding held: ByteCount, _ memory: any DeviceMemory) -> Ratio {
        let asked = process.allPools.reduce(ByteCount.zero) { $0 + memory.requested(in: $1) }
        guard held > .zero, asked > .zero else { return .one }
        return min(.one, asked.share(of: held.unscaled(by: memory.scale)))
    }
}
