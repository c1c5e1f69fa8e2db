import Quantities

/// The places of live objects by name. It uses open addressing, because hashing with a dictionary cost more than the
/// replay itself.
///
/// A name keeps its slot after a free, because recorded addresses recur. The table is looked up, never iterated, so the
/// order of its slots affects nothing.
struct TracePlaces: Sendable {
    private struct Slot {
        /// 0 marks an empty slot.
        var name: UInt64 = 0
        var place: Int32 = -1
        var size: UInt32 = 0
    }

    private var slots = Array(repeating: Slot(), count: 1 << 10)
    private var used = 0
    private var count = 0
    private var idle: [Int32] = []

    /// The memory of the table.
    var memory: ByteCount { ByteCount(slots.count * MemoryLayout<Slot>.stride) }

    private func slot(of name: UInt64) -> Int {
        let mask = slots.count - 1
        var index = Int(truncatingIfNeeded: (name &* 0x9e37_79b9_7f4a_7c15) >> 20) & mask
        while slots[index].name != 0 && slots[index].name != name { index = (index + 1) & mask }
        return index
    }

    /// Gives a new object a place, or returns nil if the name is already live. For an object that only changes its
    /// name, pass the object's `place`.
    mutating func add(_ name: UInt64, _ size: Int, at place: Int? = nil) -> Int? {
        if used * 2 > slots.count { grow() }
        let index = slot(of: name)
        guard slots[index].place < 0 else { return nil }
        if slots[index].name == 0 { used += 1 }
        let chosen = place.map { Int32(truncatingIfNeeded: $0) } ?? idle.popLast() ?? fresh()
        slots[index] = Slot(name: name, place: chosen, size: UInt32(truncatingIfNeeded: size))
        return Int(chosen)
    }

    private mutating func fresh() -> Int32 {
        count += 1
        return Int32(truncatingIfNeeded: count - 1)
    }

    /// Removes a name and returns nil if it is not live. The place becomes idle only after `giveBack`.
    mutating func remove(_ name: UInt64) -> (place: Int, size: Int)? {
        let index = slot(of: name)
        guard slots[index].place >= 0 else { return nil }
        defer { slots[index].place = -1 }
        return (Int(slots[index].place), Int(slots[index].size))
    }

    mutating func giveBack(_ place: Int) { idle.append(Int32(truncatingIfNeeded: place)) }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: Slot(), count: old.count * 2)
        used = 0
        for entry in old where entry.place >= 0 {
            slots[slot(of: entry.name)] = entry
            used += 1
        }
    }
}
