/// Some things are drawn from a finite number of them, none twice: how many of those drawn are marked?
///
/// The hypergeometric distribution. With it, the seeds that have run say something about all seeds of a question: if so
/// many of all were marked, how likely would be what was seen? Source of the intervals that follow from it:
/// Buonaccorsi, "A note on confidence intervals for proportions in finite populations", The American Statistician 41
/// (1987).
public struct FiniteDraw: Hashable, Sendable {
    /// All things, those of them that are marked, and those that are drawn.
    public let all, marked, drawn: Int

    /// - Parameters:
    ///   - marked: From 0 to `all`.
    ///   - drawn: From 0 to `all`.
    public init(_ drawn: Int, of all: Int, marked: Int) {
        precondition(marked >= 0 && marked <= all, "\(marked) of \(all) are marked")
        precondition(drawn >= 0 && drawn <= all, "\(drawn) of \(all) are drawn")
        (self.all, self.marked, self.drawn) = (all, marked, drawn)
    }

    /// The chance that at most `most` of those drawn are marked.
    public func chance(ofAtMost most: Int) -> Double { chance { $0 <= most } }

    /// The chance that at least `least` of those drawn are marked.
    public func chance(ofAtLeast least: Int) -> Double { chance { $0 >= least } }

    /// Adds up the terms as multiples of the largest one, so that no number of things makes them too small.
    private func chance(_ counts: (Int) -> Bool) -> Double {
        let (low, high) = (max(0, drawn - (all - marked)), min(drawn, marked))
        let top = min(max((drawn + 1) * (marked + 1) / (all + 2), low), high)
        var (sum, part) = (1.0, counts(top) ? 1.0 : 0)
        var term = 1.0
        for count in top..<high {
            term *= above(count)
            (sum, part) = (sum + term, part + (counts(count + 1) ? term : 0))
        }
        term = 1
        for count in stride(from: top, to: low, by: -1) {
            term /= above(count - 1)
            (sum, part) = (sum + term, part + (counts(count - 1) ? term : 0))
        }
        return part / sum
    }

    /// The term of one more, in multiples of the term of `count`.
    private func above(_ count: Int) -> Double {
        Double((marked - count) * (drawn - count)) / Double((count + 1) * (all - marked - drawn + count + 1))
    }
}
