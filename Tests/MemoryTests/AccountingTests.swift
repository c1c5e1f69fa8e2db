import Quantities
import Testing

@testable import Memory

@Suite("The accounting backend", .serialized)
struct AccountingTests {
    @Test("books are those of jemalloc, to the byte, at each step", arguments: 0..<200)
    func sameBooks(seed: Int) throws {
        try compare(seed, ceiling: .mebibytes(24), steps: 150, batch: 128 << 10, sizes: nil)
    }

    @Test("so they are for large objects under a ceiling that is often met", arguments: 0..<20)
    func sameBooksLarge(seed: Int) throws {
        let sizes = SizeDistribution.logNormal(
            median: .kibibytes(40), sigma: .percent(200), highest: .mebibytes(12))
        let refusals = try compare(seed, ceiling: .mebibytes(96), steps: 120, batch: 24 << 20, sizes: sizes)
        #expect(refusals > 0, "seed \(seed)")
    }

    @Test("so they are with objects at alignments of up to 2 MiB, with room and without", arguments: 0..<60)
    func sameBooksAligned(seed: Int) throws {
        let isFull = seed % 2 == 0
        let ceiling = ByteCount.mebibytes(isFull ? 4 : 96)
        let refusals = try compare(seed, ceiling: ceiling, steps: 150, batch: 128 << 10, sizes: nil, wide: true)
        #expect(refusals > 0 || !isFull, "seed \(seed)")
    }

    @discardableResult
    private func compare(
        _ seed: Int, ceiling: ByteCount, steps: Int, batch: Int, sizes: SizeDistribution?, mostProcesses: Int = 20,
        wide: Bool = false
    ) throws -> Int {
        let real = try JemallocDevice(BookedDevice(ceiling: ceiling, reserved: .mebibytes(1)))
        let counted = try AccountingDevice(BookedDevice(ceiling: ceiling, reserved: .mebibytes(1)))
        var onReal = RandomOperations(
            real, seed: UInt64(seed), mostProcesses: mostProcesses, batch: batch, sizes: sizes, wide: wide)
        var onCounted = RandomOperations(
            counted, seed: UInt64(seed), mostProcesses: mostProcesses, batch: batch, sizes: sizes, wide: wide)
        for step in 0..<steps {
            try onReal.step()
            try onCounted.step()
            for (a, b) in zip(onReal.live, onCounted.live) {
                try #require(real.books(of: a.slot) == counted.books(of: b.slot), "seed \(seed), step \(step)")
            }
            try #require(real.longestFreeRun == counted.longestFreeRun, "seed \(seed), step \(step)")
        }
        #expect(onReal.refusals == onCounted.refusals, "seed \(seed)")
        try real.audit()
        try counted.audit()
        #expect(real.books == counted.books, "seed \(seed)")
        try onCounted.endAll()
        try counted.audit()
        expectNothingLeft(counted, seed: seed)
        return onReal.refusals.count
    }

    @Test(
        "so they are in large devices full of small objects, where jemalloc's heaps lose their order", arguments: 0..<6)
    func largeDevices(seed: Int) throws {
        let sizes = SizeDistribution.logNormal(median: ByteCount(256), sigma: .percent(180), highest: .mebibytes(1))
        try compare(seed, ceiling: .mebibytes(160), steps: 300, batch: 3 << 20, sizes: sizes, mostProcesses: 5)
    }
}
