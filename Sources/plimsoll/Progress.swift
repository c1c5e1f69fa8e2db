import Explanation
import Foundation
import Quantities
import RunFolders
import Synchronization

/// One line on a terminal's stderr, redrawn in place. The work draws it when there is news, at most ten times a second,
/// and a thread twice a second, because a single step may take long. Without a terminal nothing is drawn.
final class StatusLine: Sendable {
    private struct State {
        var text: (@Sendable (Double) -> String)?
        /// The work draws nothing before this instant.
        var due: ContinuousClock.Instant
        var hasDrawn = false
    }

    let isShown: Bool
    private let began = ContinuousClock.now
    private let state: Mutex<State>

    /// - Parameter delay: The time until the line appears, so that a short command shows none.
    init(quiet: Bool = false, after delay: Duration = .zero) {
        isShown = !quiet && Terminal.showsProgress
        state = Mutex(State(due: ContinuousClock.now + delay))
        guard isShown else { return }
        // Without a thread, only the work draws.
        _ = Threads.begin { [weak self] in
            repeat { usleep(500_000) } while self?.redraw() != nil
        }
    }

    deinit { clear() }

    /// - Parameter text: Makes the text, without a line break, from the seconds since the line was made.
    func show(_ text: @escaping @Sendable (_ elapsed: Double) -> String) {
        guard isShown else { return }
        state.withLock { state in
            state.text = text
            if ContinuousClock.now >= state.due { draw(&state) }
        }
    }

    /// Removes the line until the next text.
    func clear() {
        state.withLock { state in
            if state.hasDrawn { Terminal.draw("\r\u{1B}[K") }
            (state.text, state.hasDrawn) = (nil, false)
        }
    }

    private func redraw() { state.withLock { draw(&$0) } }

    private func draw(_ state: inout State) {
        guard let text = state.text else { return }
        let now = ContinuousClock.now
        (state.due, state.hasDrawn) = (now + .milliseconds(100), true)
        Terminal.draw("\r\(text((now - began) / .seconds(1)).prefix(max(10, Terminal.width - 1)))\u{1B}[K")
    }
}

/// The line of a run: how far it is, its speed, the elapsed and the remaining time.
struct Progress {
    private let total: TimeSpan
    private let line: StatusLine

    init(total: TimeSpan, quiet: Bool) {
        self.total = total
        line = StatusLine(quiet: quiet, after: .milliseconds(100))
        update(.zero)
    }

    func update(_ now: Instant) {
        line.show { [total] elapsed in
            let share = Double(now.microseconds) / Double(max(1, total.microseconds))
            let rate = Double(now.microseconds) / 1_000_000 / max(elapsed, 0.001)
            let left = share > 0 ? String(format: ", %.0f s left", elapsed / share - elapsed) : ""
            let figures = String(
                format: " %3.0f%%  %@ of %@  %.0fx  %.0f s%@", share * 100, Progress.clock(now - .zero),
                Progress.clock(total), rate, elapsed, left)
            return Terminal.bar(share, figures)
        }
    }

    func finish() { line.clear() }

    /// `12:34` or `1:02:03`.
    static func clock(_ span: TimeSpan) -> String { span.clockText }
}
