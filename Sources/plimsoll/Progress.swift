import Foundation
import Quantities

/// One line on a terminal's stderr: how far, how fast, how long still. Nothing where there is no terminal.
struct Progress {
    private let total: TimeSpan
    private let isShown: Bool
    private let began = ContinuousClock.now
    private var drawn = ContinuousClock.now
    private var hasDrawn = false

    init(total: TimeSpan, quiet: Bool) {
        self.total = total
        isShown = !quiet && Terminal.showsProgress
    }

    mutating func update(_ now: Instant) {
        guard isShown else { return }
        let clock = ContinuousClock.now
        guard clock - drawn > .milliseconds(100) else { return }
        drawn = clock
        hasDrawn = true
        let elapsed = (clock - began) / .seconds(1)
        let share = Double(now.microseconds) / Double(max(1, total.microseconds))
        let left = share > 0 ? elapsed / share - elapsed : 0
        let rate = Double(now.microseconds) / 1_000_000 / max(elapsed, 0.001)
        let figures = String(
            format: " %3.0f%%  %@ of %@  %.0fx  %.0f s left", share * 100, Progress.clock(now - .zero),
            Progress.clock(total), rate, left)
        Terminal.drawBar(share, figures)
    }

    func finish() {
        guard isShown, hasDrawn else { return }
        Terminal.draw("\r\u{1B}[K")
    }

    /// `12:34` or `1:02:03`.
    static func clock(_ span: TimeSpan) -> String {
        let seconds = span.microseconds / 1_000_000
        let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60)
        return hours > 0
            ? String(format: "%d:%02d:%02d", hours, minutes, rest) : String(format: "%d:%02d", minutes, rest)
    }
}
