/// Estimates how long the rest of an experiment takes: from the runs that have ended, and from those under way.
///
/// It takes each run that waits for as long as the mean of the others. So it errs while the runs that are made first
/// differ from the rest, as the runs of one policy may differ from those of the next. What is shown approaches a new
/// estimate within seconds and does not jump to it. Instants are seconds of any clock that only goes forward.
public struct RemainingTime: Sendable {
    private struct Run {
        let index: Int
        let began: Double
        /// The part of the run that is done, from 0 to 1; nil if unknown.
        var share: Double?
    }

    /// The time in which what is shown makes up 63 % of its distance from the estimate.
    private static let patience = 2.0
    /// A run's length is estimated once this part of it is done. A run begins with launches, which cost more than what
    /// follows: after a tenth of evening-commute the estimate was half as long again as the run, from a fifth on it was
    /// at most 40 % off.
    private static let leastShare = 0.2

    private let total: Int
    private var underWay: [Run] = []
    private var ended = 0
    /// The lengths of the ended runs, in seconds.
    private var lengths = 0.0
    /// The most runs at a time so far.
    private var atOnce = 1
    private var shown: (left: Double, at: Double)?

    /// - Parameter total: The number of runs to make.
    public init(total: Int) { self.total = total }

    /// A run begins.
    public mutating func begin(_ index: Int, at now: Double) {
        underWay.append(Run(index: index, began: now))
        atOnce = max(atOnce, underWay.count)
    }

    /// This part of a run is done.
    public mutating func advance(_ index: Int, to share: Double) {
        guard let place = underWay.firstIndex(where: { $0.index == index }) else { return }
        underWay[place].share = share
    }

    /// A run has ended.
    public mutating func end(_ index: Int, at now: Double) {
        guard let place = underWay.firstIndex(where: { $0.index == index }) else { return }
        lengths += now - underWay.remove(at: place).began
        ended += 1
    }

    /// The seconds to show; nil while nothing is known about the length of any run.
    public mutating func seconds(at now: Double) -> Double? {
        guard let left = estimate(at: now) else { return nil }
        guard let last = shown else {
            shown = (left, now)
            return left
        }
        // 1 - e^-x, to the second order, and never more than all of it.
        let ratio = (now - last.at) / RemainingTime.patience
        let weight = min(1, ratio / (1 + ratio / 2))
        let expected = max(0, last.left - (now - last.at))
        let next = expected + weight * (left - expected)
        shown = (next, now)
        return next
    }

    private func estimate(at now: Double) -> Double? {
        let known = underWay.compactMap { run in length(of: run, at: now) }
        guard ended + known.count > 0 else { return nil }
        let mean = (lengths + known.reduce(0, +)) / Double(ended + known.count)
        let rests = underWay.map { run in max(0, (length(of: run, at: now) ?? mean) - (now - run.began)) }
        let waiting = Double(max(0, total - ended - underWay.count))
        let work = waiting * mean + rests.reduce(0, +)
        return max(work / Double(atOnce), rests.max() ?? 0)
    }

    /// How long a run takes in all, by the part of it that is done.
    private func length(of run: Run, at now: Double) -> Double? {
        guard let share = run.share, share >= RemainingTime.leastShare else { return nil }
        return (now - run.began) / share
    }
}

extension RemainingTime {
    /// Seconds in words, rounded as an estimate is: `40 s`, `1 min 20 s`, `25 min`, `2 h 10 min`.
    public static func words(_ seconds: Double) -> String {
        let unit: Double =
            switch seconds {
            case ..<10: 1
            case ..<60: 5
            case ..<600: 10
            case ..<3600: 60
            default: 600
            }
        // At most a hundred years, which an Int holds.
        let whole = Int((min(seconds, 3.2e9) / unit).rounded() * unit)
        let parts = [(whole / 3600, "h"), (whole / 60 % 60, "min"), (whole % 60, "s")].filter { $0.0 > 0 }
        return parts.isEmpty ? "1 s" : parts.map { "\($0.0) \($0.1)" }.joined(separator: " ")
    }
}
