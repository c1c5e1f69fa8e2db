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

    @discardableResult
    private func compare(
        _ seed: Int, ceiling: ByteCount, steps: Int, batch: Int, sizes: SizeDistribution?
    ) throws -> Int {
        let real = try JemallocDevice(ceiling: ceiling, reserved: .mebibytes(1))
        let counted = try AccountingDevice(ceiling: ceiling, reserved: .mebibytes(1))
        var onReal = RandomOperations(real, seed: UInt64(seed), batch: batch, sizes: sizes)
        var onCounted = RandomOperations(counted, seed: UInt64(seed), batch: batch, sizes: sizes)
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

    /// The most by which a footprint of one device differs from the other's, over all processes and steps.
    @Test("in large devices full of small objects, footprints stay within 3 % of jemalloc's", arguments: 0..<3)
    func largeDevices(seed: Int) throws {
        let real = try JemallocDevice(ceiling: .mebibytes(160), reserved: .mebibytes(1))
        let counted = try AccountingDevice(ceiling: .mebibytes(160), reserved: .mebibytes(1))
        let sizes = SizeDistribution.logNormal(median: ByteCount(256), sigma: .percent(180), highest: .mebibytes(1))
        // The device must not be met by one and missed by the other: refusals would set them apart for good.
        var onReal = RandomOperations(real, seed: UInt64(seed), mostProcesses: 5, batch: 3 << 20, sizes: sizes)
        var onCounted = RandomOperations(counted, seed: UInt64(seed), mostProcesses: 5, batch: 3 << 20, sizes: sizes)
        var worst = Ratio.zero
        for _ in 0..<250 {
            try onReal.step()
            try onCounted.step()
            for (a, b) in zip(onReal.live, onCounted.live) {
                let footprint = real.books(of: a.slot).footprint
                let difference = counted.books(of: b.slot).footprint - footprint
                worst = max(worst, ByteCount(abs(difference.bytes)).share(of: footprint))
            }
        }
        try real.audit()
        print("seed \(seed): footprints differ by at most \(worst.partsPerMillion) ppm")
        #expect(worst <= .percent(3), "seed \(seed)")
        #expect(onReal.refusals == onCounted.refusals, "seed \(seed)")
    }
}
