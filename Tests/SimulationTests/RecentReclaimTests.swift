import Quantities
import Testing

@testable import Simulation

@Suite("what went back lately")
struct RecentReclaimTests {
    private func at(_ seconds: Int64) -> Instant { .zero + .seconds(seconds) }

    @Test("a purge counts for 30 s, its end included, and several add up")
    func window() {
        var recent = RecentReclaim()
        #expect(recent.bytes(at: at(0)) == .zero)
        recent.add(.mebibytes(4), at: at(10))
        recent.add(.zero, at: at(11))
        recent.add(.mebibytes(2), at: at(25))
        #expect(recent.bytes(at: at(25)) == .mebibytes(6))
        #expect(recent.bytes(at: at(40)) == .mebibytes(6))
        #expect(recent.bytes(at: at(41)) == .mebibytes(2))
        #expect(recent.bytes(at: at(55)) == .mebibytes(2))
        #expect(recent.bytes(at: at(56)) == .zero)
        recent.add(.mebibytes(1), at: at(60))
        #expect(recent.bytes(at: at(60)) == .mebibytes(1))
    }
}
