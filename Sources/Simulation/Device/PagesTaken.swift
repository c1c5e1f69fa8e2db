import Plan
import Quantities

/// How much each app took from free memory in the last seconds, beyond what it gave back in the same piece of work.
final class PagesTaken {
    /// How far back it looks, to the whole second before: ten seconds, as the pictures of a run always did. No system
    /// records it, so the span is an assumption.
    static let span = 10
    /// Who took less than this, on a device of full size, wanted nothing that would be worth a process.
    static let least = ByteCount.mebibytes(1)

    /// What was taken within one second of the run.
    private struct Share {
        var second: Int64 = -1
        var bytes = ByteCount.zero
    }

    /// For each app in turn, its last seconds with a share, the place being the second's remainder.
    private var shares: [Share]
    private static let places = span + 1

    /// The least that counts on this device.
    private let least: ByteCount

    init(apps: Int, scale: Ratio = .one) {
        shares = Array(repeating: Share(), count: apps * PagesTaken.places)
        least = PagesTaken.least * scale
    }

    /// The app's resident pages changed by this much; only growth counts.
    func note(_ growth: ByteCount, by app: AppID, at now: Instant) {
        guard growth > .zero else { return }
        let second = now.microseconds / 1_000_000
        let place = app.index * PagesTaken.places + Int(second % Int64(PagesTaken.places))
        if shares[place].second != second { shares[place] = Share(second: second) }
        shares[place].bytes += growth
    }

    /// What the app took since the second that began ten seconds ago.
    func lately(by app: AppID, at now: Instant) -> ByteCount {
        let first = now.microseconds / 1_000_000 - Int64(PagesTaken.span)
        let start = app.index * PagesTaken.places
        return shares[start..<start + PagesTaken.places].reduce(ByteCount.zero) { sum, share in
            share.second >= max(0, first) ? sum + share.bytes : sum
        }
    }

    /// The live process, apart from those of one app, whose app took most lately, and how much; of several the one
    /// with the lowest number. Nil if none took enough to matter.
    func most(
        of processes: some Sequence<LiveProcess>, besides app: AppID, at now: Instant
    ) -> (process: LiveProcess, bytes: ByteCount)? {
        var most: (process: LiveProcess, bytes: ByteCount)?
        for process in processes where process.app != app {
            let bytes = lately(by: process.app, at: now)
            if bytes >= max(least, (most?.bytes ?? .zero) + ByteCount(1)) { most = (process, bytes) }
        }
        return most
    }
}
