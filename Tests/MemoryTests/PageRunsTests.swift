import Quantities
import Testing

@testable import Memory

/// The simplest model of free runs: one flag per page.
private struct Model {
    var free: [Bool]

    func runs() -> [(start: Int, length: Int)] {
        var runs: [(start: Int, length: Int)] = []
        var page = 0
        while page < free.count {
            let start = page
            while page < free.count && free[page] { page += 1 }
            if page > start { runs.append((start, page - start)) }
            page += 1
        }
        return runs
    }

    func first(_ count: Int, alignment: Int, offset: Int) -> Int? {
        for run in runs() {
            let start = (run.start + offset + alignment - 1) / alignment * alignment - offset
            if start + count <= run.start + run.length { return start }
        }
        return nil
    }

    mutating func set(_ start: Int, _ count: Int, _ value: Bool) {
        for page in start..<start + count { free[page] = value }
    }
}

@Suite("Runs of free pages")
struct PageRunsTests {
    @Test("whatever is taken and given back, a simple model agrees", arguments: 0..<60)
    func agreesWithModel(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed), stream: "page-runs")
        let pages = [1, 7, 8, 9, 63, 64, 65, 200, 513, 700][seed % 10]
        var runs = PageRuns(pages: pages)
        runs.give(pages, at: 0)
        var model = Model(free: Array(repeating: true, count: pages))
        var taken: [(start: Int, count: Int)] = []
        for step in 0..<250 {
            let count = Int(random.below(UInt64(random.below(4) == 0 ? pages : min(pages, 12)))) + 1
            switch random.below(10) {
            case 0..<4:
                let expected = model.first(count, alignment: 1, offset: 0)
                let start = runs.take(count)
                #expect(start == expected, "seed \(seed), step \(step)")
                if let start { take(start, count) }
            case 4:
                let alignment = 1 << Int(random.below(5))
                let offset = Int(random.below(8))
                let start = runs.take(count, alignment: alignment, offset: offset)
                #expect(start == model.first(count, alignment: alignment, offset: offset), "seed \(seed), step \(step)")
                if let start { take(start, count) }
            case 5:
                let start = Int(random.below(UInt64(pages)))
                let fits = model.runs().contains { $0.start == start && $0.length >= count }
                #expect(runs.take(count, startingAt: start) == fits, "seed \(seed), step \(step)")
                if fits { take(start, count) }
            default:
                guard !taken.isEmpty else { continue }
                giveSome()
            }
            let before = Int(random.below(UInt64(pages))) + 1
            let last = model.runs().last { $0.start < before }
            let found = runs.lastRun(before: before)
            #expect(found == last.map { $0.start..<$0.start + $0.length }, "seed \(seed), step \(step)")
            #expect(runs.freePages == model.free.count { $0 }, "seed \(seed), step \(step)")
            #expect(runs.longestRun == model.runs().map(\.length).max() ?? 0, "seed \(seed), step \(step)")
        }
        for run in taken { runs.give(run.count, at: run.start) }
        #expect(runs.longestRun == pages && runs.freePages == pages, "seed \(seed)")

        func take(_ start: Int, _ count: Int) {
            model.set(start, count, false)
            taken.append((start, count))
        }

        /// Gives back a part of a run, because jemalloc splits and merges its extents.
        func giveSome() {
            let position = Int(random.below(UInt64(taken.count)))
            let (start, count) = taken.remove(at: position)
            let part = Int(random.below(UInt64(count))) + 1
            runs.give(part, at: start)
            model.set(start, part, true)
            if part < count { taken.append((start + part, count - part)) }
        }
    }

    @Test("the lowest run that is long enough is taken, not the first that was given back")
    func lowestFirst() {
        var runs = PageRuns(pages: 100)
        runs.give(10, at: 50)
        runs.give(10, at: 20)
        runs.give(3, at: 5)
        #expect(runs.take(4) == 20)
        #expect(runs.take(3) == 5)
        #expect(runs.take(10) == 50)
        #expect(runs.take(7) == nil)
        #expect(runs.longestRun == 6)
    }

    @Test("neighbours on both sides join")
    func coalescing() {
        var runs = PageRuns(pages: 30)
        runs.give(10, at: 0)
        runs.give(10, at: 20)
        #expect(runs.longestRun == 10)
        runs.give(10, at: 10)
        #expect(runs.longestRun == 30)
    }
}
