import Quantities
import Testing

@testable import Simulation

@Suite("what went back lately")
struct RecentReclaimTests {
    private func at(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

    @Test("a purge counts for 1 s, its end included, and several add up")
    func window() {
        var recent = RecentReclaim()
        #expect(recent.bytes(at: at(0)) == .zero)
        recent.add(.mebibytes(4), at: at(1_000))
        recent.add(.zero, at: at(1_100))
        recent.add(.mebibytes(2), at: at(1_500))
        #expect(recent.bytes(at: at(1_500)) == .mebibytes(6))
        #expect(recent.bytes(at: at(2_000)) == .mebibytes(6))
        #expect(recent.bytes(at: at(2_001)) == .mebibytes(2))
        #expect(recent.bytes(at: at(2_500)) == .mebibytes(2))
        #expect(recent.bytes(at: at(2_501)) == .zero)
        recent.add(.mebibytes(1), at: at(6_000))
        #expect(recent.bytes(at: at(6_000)) == .mebibytes(1))
    }
}
