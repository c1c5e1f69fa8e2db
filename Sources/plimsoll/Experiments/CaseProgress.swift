import Foundation

/// One line on a terminal's stderr: runs done, runs per second, remaining time. Without a terminal nothing is drawn.
struct CaseProgress {
    private var total: Int
    private let isShown: Bool
    private let began = ContinuousClock.now
    private var drawn: ContinuousClock.Instant?

    init(total: Int, quiet: Bool) {
        self.total = total
        isShown = !quiet && Terminal.showsProgress
    }

    /// - Parameter total: The runs in all, if that is known better than before.
    mutating func update(done: Int, total: Int? = nil) {
        self.total = total ?? self.total
        guard isShown else { return }
        let clock = ContinuousClock.now
        guard drawn.map({ clock - $0 > .milliseconds(100) }) ?? true else { return }
        drawn = clock
        let elapsed = (clock - began) / .seconds(1)
        let rate = Double(done) / max(elapsed, 0.001)
        let left = done > 0 ? String(format: "%.1f/s  %.0f s left", rate, Double(self.total - done) / rate) : ""
        let figures = String(format: " %d of %d runs  %.0f s  %@", done, self.total, elapsed, left)
        Terminal.drawBar(Double(done) / Double(max(1, self.total)), figures)
    }

    func finish() {
        guard isShown, drawn != nil else { return }
        Terminal.draw("\r\u{1B}[K")
    }
}
