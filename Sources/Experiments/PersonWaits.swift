import Metrics
import Quantities

/// What a person waited for in a run, and what vanished from the screen. It follows the row of `summary.csv` in the
/// ledger of an experiment, behind a tab, so that two runs under one seed can be compared tap by tap.
package struct PersonWaits: Hashable, Sendable {
    /// A tap that began a launch.
    package struct Tap: Hashable, Sendable {
        /// The app's place in the scenario.
        package let app: Int
        /// When the user tapped, in microseconds.
        package let at: Int64
        /// From the tap to the first frame, in microseconds; nil if the frame never came.
        package let latency: Int64?
    }

    /// How many apps the system ended in front.
    package let endsInFront: Int
    /// The time that what was active waited for memory.
    package let front: TimeSpan
    /// The taps, in their order.
    package let taps: [Tap]

    /// What the tally of a run says.
    package init(_ tally: RunTally) {
        let names = tally.apps.map(\.name)
        var places: [String: Int] = [:]
        for (place, name) in names.enumerated() where places[name] == nil { places[name] = place }
        endsInFront = tally.terminations.count(where: \.wasForeground)
        front = tally.activeStallTime
        taps = tally.launches.map { launch in
            Tap(
                app: places[launch.app] ?? -1, at: (launch.tapped - Instant.zero).microseconds,
                latency: launch.latency?.microseconds)
        }
    }

    // MARK: In the ledger

    /// One word: `ENDS,FRONT` and, for each tap, `;APP,AT,LATENCY`.
    package var text: String {
        let taps = taps.map { ";\($0.app),\($0.at),\($0.latency.map { "\($0)" } ?? "")" }
        return "\(endsInFront),\(front.microseconds)" + taps.joined()
    }

    /// No run lasts so long, in microseconds.
    private static let most = Int64(1) << 50

    /// Nil if the text is not a `text` of a run.
    package init?(parsing text: some StringProtocol) {
        let parts = text.split(separator: ";", omittingEmptySubsequences: false)
            .map { $0.split(separator: ",", omittingEmptySubsequences: false) }
        guard parts[0].count == 2, let ends = Int(parts[0][0]), let front = Int64(parts[0][1]) else { return nil }
        guard (0..<1 << 20).contains(ends), (0..<PersonWaits.most).contains(front) else { return nil }
        var taps: [Tap] = []
        for part in parts.dropFirst() {
            guard part.count == 3, let app = Int(part[0]), let at = Int64(part[1]) else { return nil }
            let latency = Int64(part[2])
            guard latency.map({ (0..<PersonWaits.most).contains($0) }) ?? part[2].isEmpty else { return nil }
            taps.append(Tap(app: app, at: at, latency: latency))
        }
        (endsInFront, self.front, self.taps) = (ends, TimeSpan(microseconds: front), taps)
    }

    // MARK: What is lost

    /// What a person is taken to lose by what has no time of its own. Assumptions: nobody has measured them.
    package struct Prices: Hashable, Sendable {
        /// For an app that the system ends in front.
        package let end: TimeSpan
        /// For a launch whose first frame never comes.
        package let launch: TimeSpan

        /// The largest price that a command takes.
        package static let largest = TimeSpan.hours(1)

        package init(end: TimeSpan = .seconds(10), launch: TimeSpan = .seconds(5)) {
            (self.end, self.launch) = (end, launch)
        }
    }

    /// The time that the person lost against another run under the same seed: latencies beyond those of the same taps,
    /// waits for memory of what was active, and prices for ends in front and for launches without a frame. Negative
    /// for a gain. A tap that the other run lacks counts nothing, unless its frame never came.
    package func lost(against other: PersonWaits, _ prices: Prices) -> TimeSpan {
        var latencies: [Tap: Int64] = [:]
        for tap in other.taps { if let latency = tap.latency { latencies[tap.place] = latency } }
        var lost = Int64(0)
        for tap in taps {
            guard let latency = tap.latency, let usual = latencies[tap.place] else { continue }
            lost += latency - usual
        }
        return TimeSpan(microseconds: lost + own(prices) - other.own(prices))
    }

    private func own(_ prices: Prices) -> Int64 {
        let vanished = Int64(endsInFront) * prices.end.microseconds
        return front.microseconds + vanished + Int64(taps.count { $0.latency == nil }) * prices.launch.microseconds
    }
}

extension PersonWaits.Tap {
    /// The same tap of any run.
    fileprivate var place: Self { Self(app: app, at: at, latency: nil) }
}

/// The row of a run as the ledger has it: the row of `summary.csv` and what the person waited for.
package struct RunRow: Sendable {
    /// The row of `summary.csv`.
    package let summary: String
    /// Nil in the ledger of an older build.
    package let waits: PersonWaits?

    /// A row of a ledger.
    package init(_ text: String) {
        guard let tab = text.lastIndex(of: "\t"), let waits = PersonWaits(parsing: text[text.index(after: tab)...])
        else {
            (summary, waits) = (text, nil)
            return
        }
        (summary, self.waits) = (String(text[..<tab]), waits)
    }

    /// The row of a run that was made.
    package init(summary: String, of tally: RunTally) { (self.summary, waits) = (summary, PersonWaits(tally)) }

    /// As the ledger has it.
    package var text: String { summary + (waits.map { "\t\($0.text)" } ?? "") }
}

extension SummaryMetric {
    /// A metric of a comparison only: a run alone has no yardstick.
    package static let secondsLost = SummaryMetric(
        "seconds_lost", .number, unit: .seconds,
        "What the person lost against unbounded under the same seed: longer launches, waits for memory of what was in "
            + "front, and a price for each end in front and each launch whose frame never came",
        title: "seconds lost", better: .lower, optional: true
    ) { _ in .absent }
}
