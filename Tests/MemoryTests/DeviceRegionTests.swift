import Glibc
import Quantities
import Testing

@testable import Memory

@Suite("The device's region")
struct DeviceRegionTests {
    /// The number of the region's pages that the host has backed with memory.
    private func backedByHost(_ region: DeviceRegion) -> Int {
        let addresses = region.state.pointee.pages.runs.pages
        var present = [UInt8](repeating: 0, count: addresses)
        let code = mincore(region.state.pointee.base, addresses * DeviceRegion.pageSize, &present)
        precondition(code == 0)
        return present.count { $0 & 1 == 1 }
    }

    @Test(
        "the host never backs more pages than the ceiling has, however far they spread", arguments: 0..<10,
        [true, false])
    func backing(seed: Int, mayMove: Bool) throws {
        let region = try DeviceRegion(
            try DevicePages(ceiling: .mebibytes(16), reserved: .mebibytes(1)), mayMove: mayMove)
        let state = region.state
        var random = SeededGenerator(seed: UInt64(seed), stream: "region")
        var taken: [(at: UnsafeMutableRawPointer, count: Int)] = []
        var refusals = 0
        for step in 0..<4_000 {
            let count = random.below(8) == 0 ? random.number(in: 100...900) : random.number(in: 1...8)
            if let run = state.pointee.handOut(count, alignedTo: DeviceRegion.pageSize) {
                memset(run, 1, count * DeviceRegion.pageSize)
                taken.append((run, count))
            } else {
                // A refusal means that fewer pages are free in total than requested.
                #expect(state.pointee.pages.free < count, "seed \(seed), step \(step)")
                refusals += 1
                for _ in 0..<taken.count / 2 {
                    let run = taken.remove(at: Int(random.below(UInt64(taken.count))))
                    state.pointee.takeBack(run.count, at: run.at)
                }
            }
            guard step % 200 == 0 else { continue }
            #expect(backedByHost(region) == state.pointee.backing.count, "seed \(seed), step \(step)")
        }
        #expect(refusals > 5)
        #expect(state.pointee.backing.peak == state.pointee.pages.ceiling)
        #expect(backedByHost(region) <= state.pointee.pages.ceiling)
        for run in taken { state.pointee.takeBack(run.count, at: run.at) }
        #expect(state.pointee.pages.longestRun == state.pointee.pages.ceiling - state.pointee.pages.reserved)
    }

    @Test("pages keep what was written, although others are moved or given back", arguments: [true, false])
    func contents(mayMove: Bool) throws {
        let region = try DeviceRegion(try DevicePages(ceiling: .mebibytes(8), reserved: .zero), mayMove: mayMove)
        let state = region.state
        var runs: [UnsafeMutableRawPointer] = []
        while let run = state.pointee.handOut(1, alignedTo: DeviceRegion.pageSize) {
            run.storeBytes(of: runs.count, as: Int.self)
            runs.append(run)
        }
        for number in stride(from: 0, to: runs.count, by: 2) { state.pointee.takeBack(1, at: runs[number]) }
        let run = state.pointee.handOut(runs.count / 2, alignedTo: DeviceRegion.pageSize)
        let large = try #require(run)
        memset(large, 0xff, runs.count / 2 * DeviceRegion.pageSize)
        for number in stride(from: 1, to: runs.count, by: 2) {
            #expect(runs[number].load(as: Int.self) == number)
        }
    }

    /// The page faults of this thread so far, those of populated pages included.
    private func faults() -> Int {
        var usage = rusage()
        precondition(getrusage(1, &usage) == 0)  // RUSAGE_THREAD
        return usage.ru_minflt
    }

    /// Hands out half of the ceiling, takes the frames of every second run of pages, and hands out as many pages again.
    private func exchange(mayMove: Bool) throws -> (region: DeviceRegion, pages: [Int], faults: Int) {
        let region = try DeviceRegion(
            try DevicePages(ceiling: .mebibytes(64), reserved: .mebibytes(1), isFramed: true), mayMove: mayMove)
        let state = region.state
        var pages: [Int] = []
        func handOut(_ count: Int, _ value: UInt8) throws {
            let handedOut = state.pointee.handOut(count, alignedTo: DeviceRegion.pageSize)
            let run = try #require(handedOut)
            memset(run, Int32(value), count * DeviceRegion.pageSize)
            pages.append((run - state.pointee.base) / DeviceRegion.pageSize)
        }
        for _ in 0..<1_000 { try handOut(8, 1) }
        for page in stride(from: pages[0], to: pages[0] + 8_000, by: 20) { state.pointee.drop(page..<page + 10) }
        let before = faults()
        for _ in 0..<500 { try handOut(8, 2) }
        return (region, pages, faults() - before)
    }

    @Test("pages that are handed out get the memory of those that lost their frames, without a fault")
    func exchange() throws {
        let (moving, still) = (try exchange(mayMove: true), try exchange(mayMove: false))
        #expect(moving.pages == still.pages)
        #expect(still.faults >= 4_000)
        for (region, _, _) in [moving, still] {
            #expect(backedByHost(region) == region.state.pointee.backing.count)
            // A full granule may have been backed at the end of the pages.
            #expect((256 + 8_000...256 + 8_016).contains(region.state.pointee.backing.count))
        }
        // The first ten of twenty pages lost their frames.
        let state = moving.region.state.pointee.base
        for page in moving.pages[0]..<moving.pages[0] + 8_000 where (page - moving.pages[0]) % 20 >= 10 {
            #expect(state.load(fromByteOffset: page * DeviceRegion.pageSize, as: UInt8.self) == 1)
        }
        for page in moving.pages[1_000]..<moving.pages[1_000] + 4_000 {
            #expect(state.load(fromByteOffset: page * DeviceRegion.pageSize, as: UInt8.self) == 2)
        }
        // A host that moves no memory does as without.
        if moving.region.state.pointee.backing.moves { #expect(moving.faults < 100) }
    }
}

@Suite("Bits of pages")
struct PageBitsTests {
    @Test("runs are found as in a plain array", arguments: 0..<20)
    func runs(seed: Int) {
        let count = 700
        var random = SeededGenerator(seed: UInt64(seed), stream: "bits")
        var bits = PageBits(pages: count)
        var plain = Array(repeating: false, count: count)
        for _ in 0..<300 {
            let first = random.number(in: 0...count - 1)
            let range = first..<random.number(in: first...min(count, first + 150))
            let value = random.below(2) == 0
            let found = (
                bits.count(in: range), bits.first(value, in: range), bits.endOfLast(value, in: range)
            )
            #expect(found.0 == plain[range].count { $0 })
            #expect(found.1 == plain[range].firstIndex(of: value) ?? range.upperBound)
            #expect(found.2 == plain[range].lastIndex(of: value).map { $0 + 1 } ?? range.lowerBound)
            #expect(bits.set(range, value) == plain[range].count { $0 != value })
            for page in range { plain[page] = value }
        }
    }
}
