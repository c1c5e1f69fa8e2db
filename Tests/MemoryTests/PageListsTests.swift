import Quantities
import Testing

@testable import Memory

/// Pages in runs, compared with a list of single pages.
@Suite("Lists of pages")
struct PageListsTests {
    /// What the lists mean: page by page, the one used longest ago first.
    private struct Plain {
        var pages: [Int] = []
        var uses: [Int: UInt32] = [:]

        mutating func use(_ range: Range<Int>, in stamp: UInt32) {
            for page in range where uses[page] != stamp {
                pages.removeAll { $0 == page }
                append(page, stamp)
            }
        }

        mutating func append(_ page: Int, _ stamp: UInt32) {
            pages.append(page)
            uses[page] = stamp
        }

        mutating func remove(_ range: Range<Int>) {
            pages.removeAll { range.contains($0) }
            for page in range { uses[page] = nil }
        }
    }

    /// One list, and what it shows of itself.
    private final class Book {
        private let lists = PageLists(pages: 400)
        private var list = PageLists.List()
        private var frameless = PageLists.List()

        var pages: [Int] {
            var pages: [Int] = []
            var next = lists.oldest(in: list)
            while let run = next {
                pages += lists.start(run)...run
                next = lists.next(run)
            }
            return pages
        }

        var count: Int { list.count }
        var oldest: Int? { lists.oldest(in: list).map { lists.start($0) } }
        var newest: Int? { lists.newest(in: list) }
        func use(of page: Int) -> UInt32 { lists.use(of: page) }
        func hasFrame(_ page: Int) -> Bool { lists[page].stamp != 0 }
        func isRun(_ range: Range<Int>) -> Bool { lists.isRun(range.lowerBound, range.upperBound) }
        func areOne(_ range: Range<Int>, usedIn stamp: UInt32) -> Bool {
            lists.areOne(range.lowerBound, range.upperBound, usedIn: stamp)
        }
        func append(_ range: Range<Int>, usedIn stamp: UInt32) { lists.append(range, to: &list, usedIn: stamp) }
        func remove(_ range: Range<Int>) { lists.remove(range, from: &list) }
        func use(_ range: Range<Int>, in stamp: UInt32) { lists.use(range, of: &list, in: stamp) }
        func useRun(_ range: Range<Int>, in stamp: UInt32) { lists.useRun(range.upperBound - 1, of: &list, in: stamp) }
        func compress(_ page: Int) {
            lists.remove(page..<page + 1, from: &list)
            lists.append(page..<page + 1, to: &frameless, usedIn: 0)
        }
    }

    @Test("after any uses and removals the order is that of single pages", arguments: 1...40 as ClosedRange<UInt64>)
    func order(seed: UInt64) {
        var generator = SeededGenerator(seed: seed, stream: "pages")
        let (count, book) = (400, Book())
        var (plain, stamp) = (Plain(), UInt32(1))
        for _ in 0..<600 {
            let first = Int(generator.below(UInt64(count)))
            let longest: UInt64 = generator.below(4) == 0 ? 150 : 9
            let range = first..<min(count, first + 1 + Int(generator.below(longest)))
            if generator.below(3) > 0 { stamp += 1 }
            let present = range.count { plain.uses[$0] != nil }
            switch generator.below(8) {
            case 0 where present == range.count:
                book.remove(range)
                plain.remove(range)
            case 1 where present == 0, 2 where present == 0:
                book.append(range, usedIn: stamp)
                for page in range { plain.append(page, stamp) }
            case 3:
                // The oldest page, as the compressor takes it.
                guard let page = book.oldest else { continue }
                book.remove(page..<page + 1)
                plain.remove(page..<page + 1)
            case 4... where present == range.count:
                if book.isRun(range), plain.uses[first] != stamp {
                    book.useRun(range, in: stamp)
                } else {
                    book.use(range, in: stamp)
                }
                plain.use(range, in: stamp)
            default: continue
            }
            #expect(book.pages == plain.pages)
            #expect(book.count == plain.pages.count && book.newest == plain.pages.last)
            #expect(plain.pages.allSatisfy { book.use(of: $0) == plain.uses[$0] && book.hasFrame($0) })
        }
    }

    @Test("pages that are used together become one run, which is used as a whole")
    func runs() {
        let book = Book()
        for page in 10..<20 { book.append(page..<page + 1, usedIn: 1) }
        #expect(!book.isRun(10..<20))
        book.use(10..<20, in: 2)
        #expect(book.isRun(10..<20) && book.areOne(10..<20, usedIn: 2) && book.areOne(13..<20, usedIn: 2))
        #expect(!book.areOne(10..<20, usedIn: 3))
        book.use(12..<14, in: 3)
        #expect(book.pages == [10, 11] + Array(14..<20) + [12, 13])
    }

    @Test("a page without a frame has the use 0, and its neighbours keep theirs")
    func frameless() {
        let book = Book()
        book.append(0..<6, usedIn: 7)
        book.compress(0)
        #expect(!book.hasFrame(0) && book.use(of: 0) == 0 && !book.isRun(0..<1))
        #expect((1..<6).allSatisfy { book.hasFrame($0) && book.use(of: $0) == 7 })
        #expect(book.pages == Array(1..<6) && book.count == 5)
    }
}
