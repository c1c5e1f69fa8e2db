import Quantities

// Objects made and freed one by one, booked like those of pools.
extension BookedDevice where Heaps: ~Copyable {
    func makeObject(
        _ size: ByteCount, alignment: ByteCount?, in slot: MemorySlot, limit: ByteCount?
    ) -> ObjectAllocation {
        defer { tidy() }
        return make(size, alignment: alignment, in: slot, limit: limit)
    }

    /// `makeObject`, but for segments without contents.
    func make(
        _ size: ByteCount, alignment: ByteCount?, in slot: MemorySlot, limit: ByteCount?
    ) -> ObjectAllocation {
        precondition(size.bytes >= 0 && size <= MemoryLimits.largestObject, "an object of \(size)")
        guard let object = place(max(1, size.bytes), alignment, slot, requested: size.bytes) else {
            return ObjectAllocation(object: nil, refusal: heaps.refusal)
        }
        book(slot.index, objects: 1, requested: size.bytes, usable: Int(object.usable))
        return ObjectAllocation(object: object, refusal: crossing(limit, slot))
    }

    func resizeObject(
        _ object: ObjectHandle, to size: ByteCount, in slot: MemorySlot, limit: ByteCount?
    ) -> ObjectAllocation {
        defer { tidy() }
        let before = Int(object.requested)
        if heaps.usable(max(1, size.bytes)) == Int(object.usable) {
            if size.bytes > before {
                let entry = ObjectTable.Entry(unit: object.unit, size: size.bytes)
                guard heaps.write(entry, from: before, count: size.bytes - before) else {
                    return ObjectAllocation(object: nil, refusal: heaps.refusal)
                }
            }
            book(slot.index, objects: 0, requested: size.bytes - before, usable: 0)
            let resized = ObjectHandle(unit: object.unit, requested: UInt32(size.bytes), usable: object.usable)
            return ObjectAllocation(object: resized, refusal: nil)
        }
        let made = make(size, alignment: nil, in: slot, limit: limit)
        if made.object != nil { freeObject(object, in: slot) }
        return made
    }

    func freeObject(_ object: ObjectHandle, in slot: MemorySlot) {
        heaps.free(object, live(slot))
        book(slot.index, objects: -1, requested: -Int(object.requested), usable: -Int(object.usable))
    }

    private func place(_ size: Int, _ alignment: ByteCount?, _ slot: MemorySlot, requested: Int) -> ObjectHandle? {
        let index = live(slot)
        guard let alignment, alignment.bytes > 1 else {
            return heaps.make(size, index).map { ObjectHandle($0, requested: requested) }
        }
        precondition(alignment.bytes.nonzeroBitCount == 1, "an alignment of \(alignment)")
        let logarithm = alignment.bytes.trailingZeroBitCount
        return heaps.make(size, logAlignment: logarithm, index).map { ObjectHandle($0, requested: requested) }
    }

    private func crossing(_ limit: ByteCount?, _ slot: MemorySlot) -> AllocationRefusal? {
        guard let limit else { return nil }
        let footprint = pageBytes(heaps.pages(slot.index))
        return footprint > limit ? .limitCrossed(footprint: footprint) : nil
    }
}
