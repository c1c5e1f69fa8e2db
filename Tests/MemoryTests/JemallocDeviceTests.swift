import Quantities
import Testing

@testable import Memory

/// jemalloc's statistics cover the whole process, so tests run one after another and a failure points at one test.
@Suite("The device with real memory", .serialized)
struct JemallocDeviceTests {
    @Test("the books of twenty processes agree with jemalloc to the byte, whatever is done", arguments: 0..<200)
    func booksAgree(seed: Int) throws {
        let device = try JemallocDevice(BookedDevice(ceiling: .mebibytes(24), reserved: .mebibytes(1)))
        var operations = RandomOperations(device, seed: UInt64(seed))
        for _ in 0..<20 { try operations.launch() }
        for step in 0..<240 {
            try operations.step()
            if step % 12 == 11 { try audit(device, "seed \(seed), step \(step)") }
            #expect(device.books.peakResident <= device.books.ceiling, "seed \(seed), step \(step)")
        }
        #expect(operations.mostLive == 20, "seed \(seed)")
        try operations.endAll()
        try device.audit()
        expectNothingLeft(device, seed: seed)
    }

    /// Compares active, dirty and allocated bytes of every arena with Plimsoll's accounting.
    private func audit(_ device: JemallocDevice, _ place: String) throws {
        do {
            try device.audit()
        } catch {
            Issue.record("\(place): \(error)")
            throw error
        }
    }

    @Test("ten processes burst against a full ceiling: it holds, and jemalloc agrees", arguments: 0..<100)
    func burst(seed: Int) throws {
        let ceiling = ByteCount.mebibytes(6)
        let device = try JemallocDevice(BookedDevice(ceiling: ceiling, reserved: .kibibytes(512)))
        var operations = RandomOperations(device, seed: UInt64(seed), mostProcesses: 10, batch: 2 << 20)
        for _ in 0..<10 { try operations.launch() }
        for step in 0..<60 {
            try operations.step()
            #expect(device.books.resident <= device.books.peakResident, "seed \(seed), step \(step)")
            #expect(device.books.peakResident <= ceiling, "seed \(seed), step \(step)")
        }
        #expect(!operations.refusals.isEmpty, "seed \(seed) never met the ceiling")
        #expect(device.touchedBytes <= ceiling, "seed \(seed)")
        try device.audit()
        try operations.endAll()
        try device.audit()
        expectNothingLeft(device, seed: seed)
    }

    @Test("the same calls give the same books at each step, in the second device as in the first")
    func determinism() throws {
        func record() throws -> [String] {
            let device = try JemallocDevice(BookedDevice(ceiling: .mebibytes(12), reserved: .mebibytes(1)))
            var operations = RandomOperations(device, seed: 7)
            var lines: [String] = []
            for step in 0..<1_500 {
                try operations.step()
                if step % 50 == 0 { try device.audit() }
                let each = operations.live.map { "\(device.books(of: $0.slot))" }
                lines.append("\(device.books) \(device.longestFreeRun) \(each)")
            }
            return lines
        }
        let first = try record()
        let second = try record()
        for (step, lines) in zip(first, second).enumerated() {
            try #require(lines.0 == lines.1, "the first difference is at step \(step)")
        }
    }

    @Test("a use by cache line leaves the same books and resident pages as one of every byte", arguments: 0..<30)
    func rewrite(seed: Int) throws {
        func record(_ extent: RewriteExtent, isFramed: Bool) throws -> [String] {
            let booked = try BookedDevice<JemallocHeaps>(
                ceiling: .mebibytes(12), reserved: .mebibytes(1), isFramed: isFramed, rewrite: extent)
            let device = JemallocDevice(booked)
            var operations = RandomOperations(device, seed: UInt64(seed))
            var lines: [String] = []
            for step in 0..<400 {
                try operations.step()
                let backed = step % 10 == 0 ? booked.heaps.backedByHost : 0
                lines.append("\(device.books) \(device.longestFreeRun) \(backed)")
            }
            try device.audit()
            return lines
        }
        let isFramed = seed.isMultiple(of: 2)
        let (byLine, byByte) = (try record(.line, isFramed: isFramed), try record(.bytes, isFramed: isFramed))
        for (step, lines) in zip(byLine, byByte).enumerated() {
            try #require(lines.0 == lines.1, "seed \(seed): the first difference is at step \(step)")
        }
    }

    @Test("a use by cache line writes to each page that is used, and one of bytes to every byte")
    func rewrittenBytes() throws {
        for sizes in [[1 << 20], [200_000, 5_000, 70_001], Array(repeating: 96, count: 500)] {
            let booked = try BookedDevice<JemallocHeaps>(ceiling: .mebibytes(8), reserved: .zero)
            let device = JemallocDevice(booked)
            let pool = device.makePool(in: try device.makeProcess())
            #expect(device.allocate(sizes.span, in: pool, limit: nil).refusal == nil)
            let region = UnsafeRawBufferPointer(start: booked.heaps.start, count: 8 << 20)
            /// How many bytes of the device a use of the objects changes, and in which pages.
            func changed(_ extent: RewriteExtent) -> (bytes: Int, pages: Set<Int>) {
                let before = Array(region)
                booked.heaps.setRewrite(extent)
                #expect(device.touch(.gibibytes(1), in: pool) == ByteCount(sizes.reduce(0, +)))
                let places = region.indices.filter { region[$0] != before[$0] }
                return (places.count, Set(places.map { $0 / DeviceRegion.pageSize }))
            }
            let (byLine, byByte) = (changed(.line), changed(.bytes))
            #expect(byLine.pages == byByte.pages && byByte.bytes == sizes.reduce(0, +), "\(sizes.count)")
            #expect(byLine.bytes >= byLine.pages.count && byLine.bytes < byByte.bytes / 32, "\(byLine)")
        }
    }

    @Test("a hundred thousand launches use no more arenas than live processes")
    func launches() throws {
        let device = try JemallocDevice(BookedDevice(ceiling: .mebibytes(8), reserved: .zero))
        let sizes = [64, 20_000]
        var live: [MemorySlot] = []
        var highest = 0
        var metadata: ByteCount?
        for launch in 0..<100_000 {
            if live.count == 5 { _ = try device.endProcess(live.remove(at: launch % 5)) }
            let slot = try device.makeProcess()
            let result = device.allocate(sizes.span, in: device.makePool(in: slot), limit: nil)
            precondition(result.refusal == nil)
            live.append(slot)
            highest = max(highest, slot.index)
            if launch % 20_000 == 19_999 {
                try device.audit()
                #expect(metadata == nil || metadata == device.books.metadata, "bookkeeping grows with launches")
                metadata = device.books.metadata
            }
        }
        #expect(highest < 8)
        #expect(device.device.heaps.arenaCount <= 8, "arena indices grow with launches")
        for slot in live { _ = try device.endProcess(slot) }
        try device.audit()
        expectNothingLeft(device)
    }

    @Test("devices one after another leave no arena behind")
    func devicesInARow() throws {
        for _ in 0..<60 {
            let device = try JemallocDevice(BookedDevice(ceiling: .mebibytes(4), reserved: .mebibytes(1)))
            // Creates more arenas in total than MALLOCX_ARENA_LIMIT, and leaves processes alive on purpose.
            for _ in 0..<100 {
                let pool = device.makePool(in: try device.makeProcess())
                _ = device.allocate([100, 20_000].span, in: pool, limit: nil)
            }
        }
    }

    @Test("a ceiling that the host cannot map is refused with a reason")
    func hostRefuses() {
        #expect(throws: DeviceMemoryFailure.self) {
            try JemallocDevice(BookedDevice(ceiling: .gibibytes(65), reserved: .zero))
        }
        #expect(throws: DeviceMemoryFailure.nothingLeft(ceiling: .mebibytes(1), reserved: .mebibytes(1))) {
            try JemallocDevice(BookedDevice(ceiling: .mebibytes(1), reserved: .mebibytes(1)))
        }
    }
}

/// Expects that after the last process ended only the system's share is taken, and the rest is one run.
func expectNothingLeft(_ device: any DeviceMemory, seed: Int = 0) {
    let books = device.books
    #expect(books.resident == books.reserved, "seed \(seed)")
    #expect(books.active == .zero && books.dirty == .zero && books.metadata == .zero, "seed \(seed)")
    #expect(device.longestFreeRun == books.ceiling - books.reserved, "seed \(seed)")
}
