import Memory
import Quantities
import Testing

/// jemalloc's books are the process's: one after another, so that a failure points at one test.
@Suite("The device with real memory", .serialized)
struct JemallocDeviceTests {
    static let mebibyte = ByteCount.mebibytes(1)

    @Test("the books agree with jemalloc to the byte, whatever is done", arguments: 0..<200)
    func booksAgree(seed: Int) throws {
        let device = try JemallocDevice(ceiling: .mebibytes(24), reserved: .mebibytes(1))
        var operations = RandomOperations(device, seed: UInt64(seed))
        for step in 0..<120 {
            try operations.step()
            if step % 12 == 11 { try device.audit() }
            #expect(device.books.peakResident <= device.books.ceiling, "seed \(seed), step \(step)")
        }
        try operations.endAll()
        try device.audit()
        expectNothingLeft(device, seed: seed)
    }
}

/// After the last process ended, only the system's share is taken, and the rest is one run.
func expectNothingLeft(_ device: any DeviceMemory, seed: Int = 0) {
    let books = device.books
    #expect(books.resident == books.reserved, "seed \(seed)")
    #expect(books.active == .zero && books.dirty == .zero && books.metadata == .zero, "seed \(seed)")
    #expect(device.longestFreeRun == books.ceiling - books.reserved, "seed \(seed)")
}
