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

    @Test("the host never backs more pages than the ceiling has, however far they spread", arguments: 0..<20)
    func backing(seed: Int) throws {
        let region = try DeviceRegion(try DevicePages(ceiling: .mebibytes(16), reserved: .mebibytes(1)))
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

    @Test("pages keep what was written, although others are given back to the host")
    func contents() throws {
        let region = try DeviceRegion(try DevicePages(ceiling: .mebibytes(8), reserved: .zero))
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
}
