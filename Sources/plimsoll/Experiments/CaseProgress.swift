import Foundation

/// One line on a terminal's stderr: runs done, how many a second, how long still. Nothing where there is no terminal.
struct CaseProgress {
    private let total: Int
    private let isShown: Bool
    private let began = ContinuousClock.now
    private var drawn: ContinuousClock.Instant?

    init(total: Int, quiet: Bool) {
        self.total = total
        isShown = !quiet && Terminal.showsProgress
    }

    mutating func update(done: Int) {
        guard isShown else { return }
        let clock = ContinuousClock.now
        guard drawn.map({ clock - $0 > .milliseconds(100) }) ?? true else { return }
        drawn = clock
        let rate = Double(done) / max((clock - began) / .seconds(1), 0.001)
        let left = Double(total - done) / rate
        let figures = String(format: " %d of %d runs  %.1f/s  %.0f s left", done, total, rate, left)
        Terminal.drawBar(Double(done) / Double(max(1, total)), figures)
    }

    func finish() {
        guard isShown, drawn != nil else { return }
        Terminal.draw("\r\u{1B}[K")
    }
}
