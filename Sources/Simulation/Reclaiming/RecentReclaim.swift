import DequeModule
import Quantities

/// The memory that one process recently gave back to the device without ending.
///
/// Holds one entry for each purge within `span`.
struct RecentReclaim {
    /// How long a purge counts, this instant included: since systemd-oomd's last look at pressure. Source: systemd
    /// v261, `MEM_PRESSURE_INTERVAL_USEC` and `oomd_pgscan_rate`.
    static let span = TimeSpan.seconds(1)

    private var entries: Deque<(at: Instant, bytes: ByteCount)> = []
    private var total: ByteCount = .zero

    /// Adds a purge. Instants must not decrease from one call to the next.
    mutating func add(_ bytes: ByteCount, at now: Instant) {
        guard bytes > .zero else { return }
        forget(before: now)
        entries.append((now, bytes))
        total += bytes
    }

    /// The sum of what still counts.
    mutating func bytes(at now: Instant) -> ByteCount {
        forget(before: now)
        return total
    }

    private mutating func forget(before now: Instant) {
        while let oldest = entries.first, now - oldest.at > RecentReclaim.span {
            entries.removeFirst()
            total -= oldest.bytes
        }
    }
}
