import Experiments
import Foundation
import RunFolders

/// One line on a terminal's stderr: the runs done, and about how long the rest takes. Without a terminal nothing is
/// drawn.
struct CaseProgress: CaseListener {
    private var total: Int
    /// Runs that an earlier attempt made.
    private let before: Int
    private let line: StatusLine
    private let began = ContinuousClock.now
    private var remaining: RemainingTime
    /// Whether the beginning and end of each run are told.
    private var isTimed = false

    /// - Parameters:
    ///   - total: The runs in all.
    ///   - before: Those of them that an earlier attempt made.
    init(total: Int, before: Int = 0, quiet: Bool) {
        (self.total, self.before) = (total, before)
        remaining = RemainingTime(total: total - before)
        line = StatusLine(quiet: quiet)
        update(done: 0)
    }

    var isShown: Bool { line.isShown }

    private var elapsed: Double { (ContinuousClock.now - began) / .seconds(1) }

    mutating func begin(_ index: Int) {
        isTimed = true
        remaining.begin(index, at: elapsed)
    }

    mutating func advance(_ index: Int, to share: Double) { remaining.advance(index, to: share) }

    mutating func end(_ index: Int) { remaining.end(index, at: elapsed) }

    mutating func update(done: Int) { update(done: done, total: total) }

    func complain(_ line: String) { Terminal.complain(line) }

    /// - Parameters:
    ///   - done: The runs that are done, those of earlier attempts aside.
    ///   - total: The runs in all, if that is known better than before.
    mutating func update(done: Int, total: Int) {
        self.total = total
        guard isShown else { return }
        // An estimate of the total may be too low.
        let all = before + done
        let most = max(total, all)
        let left = left(done: done).map { ", about \(RemainingTime.words($0)) left" } ?? ""
        line.show { _ in Terminal.bar(Double(all) / Double(max(1, most)), " \(all) of \(most) runs\(left)") }
    }

    /// The seconds until the end; nil while they are unknown.
    private mutating func left(done: Int) -> Double? {
        if isTimed { return remaining.seconds(at: elapsed) }
        return done > 0 ? elapsed / Double(done) * Double(max(0, total - before - done)) : nil
    }

    func finish() { line.clear() }
}
