import Quantities

/// A device that forwards every call to a device with a compressor; see `NamedDevice`.
protocol NamedCompressor: NamedDevice {}

extension NamedCompressor {
    var refusal: AllocationRefusal { device.refusal }
    var compressor: CompressorBooks? { device.compressor }
    var broughtBack: ByteCount { device.broughtBack }
    var lastUse: Int { device.lastUse }
    func oldestUse(by slot: MemorySlot) -> Int? { device.oldestUse(by: slot) }

    func declare(_ compressibility: Compressibility, of slot: MemorySlot) { device.declare(compressibility, of: slot) }

    func compress(_ slot: MemorySlot, atMost bytes: ByteCount, usedBefore: Int) -> ByteCount {
        device.compress(slot, atMost: bytes, usedBefore: usedBefore)
    }

    func bringBack(_ slot: MemorySlot, atMost bytes: ByteCount) -> ByteCount { device.bringBack(slot, atMost: bytes) }
}

/// A device with real memory and a compressor.
final class CompressingJemallocDevice: NamedCompressor {
    let device: CompressingDevice<PagedJemallocDevice>

    init(_ device: CompressingDevice<PagedJemallocDevice>) { self.device = device }
}

/// A device with a compressor, but without real memory.
final class CompressingAccountingDevice: NamedCompressor {
    let device: CompressingDevice<PagedAccountingDevice>

    init(_ device: CompressingDevice<PagedAccountingDevice>) { self.device = device }
}
