import Explanation
import Foundation
import Quantities
import Synchronization

/// One line on a terminal's stderr: progress, speed, elapsed and remaining time. A thread redraws it every second,
/// because a policy may compute for long between two samples. Without a terminal nothing is drawn.
struct Progress {
    private let line: ProgressLine
    private let isShown: Bool

    init(total: TimeSpan, quiet: Bool) {
        let line = ProgressLine(total: total)
        self.line = line
        isShown = !quiet && Terminal.showsProgress
        guard isShown else { return }
        // Without a thread, only the run itself draws.
        _ = Threads.begin {
            while !line.isOver {
                sleep(1)
                line.draw(at: nil)
            }
        }
    }

    func update(_ now: Instant) {
        if isShown { line.draw(at: now) }
    }

    func finish() { line.finish() }

    /// `12:34` or `1:02:03`.
    static func clock(_ span: TimeSpan) -> String {
        let seconds = span.microseconds / 1_000_000
        let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60)
        return hours > 0
            ? String(format: "%d:%02d:%02d", hours, minutes, rest) : String(format: "%d:%02d", minutes, rest)
    }
}

/// The state of the progress line. Both the run and the thread draw it.
private final class ProgressLine: Sendable {
    private struct State {
        var now = Instant.zero
        var drawn: ContinuousClock.Instant?
        var isOver = false
    }

    private let total: TimeSpan
    private let began = ContinuousClock.now
    private let state = Mutex(State())

    init(total: TimeSpan) { self.total = total }

    var isOver: Bool { state.withLock(\.isOver) }

    /// - Parameter now: The run's present instant; nil if it is unchanged.
    func draw(at now: Instant?) {
        let clock = ContinuousClock.now
        state.withLock { state in
            if let now { state.now = now }
            guard !state.isOver, clock - (state.drawn ?? began) > .milliseconds(100) else { return }
            state.drawn = clock
            let share = Double(state.now.microseconds) / Double(max(1, total.microseconds))
            Terminal.drawBar(share, figures(at: state.now, share, elapsed: (clock - began) / .seconds(1)))
        }
    }

    private func figures(at now: Instant, _ share: Double, elapsed: Double) -> String {
        let rate = Double(now.microseconds) / 1_000_000 / max(elapsed, 0.001)
        let left = share > 0 ? String(format: ", %.0f s left", elapsed / share - elapsed) : ""
        return String(
            format: " %3.0f%%  %@ of %@  %.0fx  %.0f s%@", share * 100, Progress.clock(now - .zero),
            Progress.clock(total), rate, elapsed, left)
    }

    /// Removes the line; later calls draw nothing.
    func finish() {
        state.withLock { state in
            state.isOver = true
            if state.drawn != nil { Terminal.draw("\r\u{1B}[K") }
        }
    }
}
