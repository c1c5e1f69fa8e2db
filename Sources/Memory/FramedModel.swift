import Quantities

/// The memory of a scale model with a compressor: its pages lose their frames and get them back as the model says.
///
/// It keeps no contents. The pool is a slot of its own, in which the model makes pages: its share of the pool on the
/// device that is meant.
final class FramedModel<Device: PagingDevice>: NamedDevice {
    let device: Device
    /// The pool's slot; no process gets it.
    let own: MemorySlot

    init(_ device: Device) throws(DeviceMemoryFailure) {
        self.device = device
        do throws(AllocatorError) { own = try device.makeProcess() } catch { throw .allocator(error) }
    }

    var books: DeviceBooks { device.books(poolIn: own) }

    func compress(_ slot: MemorySlot, atMost bytes: ByteCount, usedBefore: Int) -> ByteCount {
        let most = bytes.bytes / DeviceRegion.pageSize
        return pageBytes(device.compress(slot, most: most, usedBefore: usedBefore, stores: false) { _ in 0 })
    }

    func bringBack(_ slot: MemorySlot, atMost bytes: ByteCount) -> ByteCount {
        pageBytes(device.restore(slot, most: bytes.bytes / DeviceRegion.pageSize))
    }

    func takeChanges(into slots: inout [Int]) {
        device.takeChanges(into: &slots)
        slots.removeAll { $0 == own.index }
    }
}
