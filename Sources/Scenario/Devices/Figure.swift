/// Where a figure comes from, and how far to trust it.
public enum Confidence: String, CaseIterable, Sendable {
    /// A log or a report of a real device.
    case measured
    /// Apple's or Android's documentation, or the source code of a kernel or a system.
    case documented
    /// A forum, the press, or the word of one developer.
    case reported
    /// Ours, with its reasoning.
    case guess
    /// Derived from the very evidence that a run is compared with, so the comparison cannot confirm it.
    case assumption

    /// One sentence for lists.
    public var meaning: String {
        switch self {
        case .measured: "from a log or a report of a real device"
        case .documented: "from documentation or source code of the system"
        case .reported: "from a forum, the press, or one developer's word"
        case .guess: "ours; nothing was found"
        case .assumption: "derived from a report that runs are compared with; the comparison cannot confirm it"
        }
    }
}

/// A value with its origin.
public struct Figure<Value: Sendable>: Sendable {
    public var value: Value
    public var confidence: Confidence
    /// Where the value comes from, in a few words.
    public var source: String

    init(_ value: Value, _ confidence: Confidence, _ source: String) {
        (self.value, self.confidence, self.source) = (value, confidence, source)
    }

    /// The same figure in another form.
    func map<Other>(_ form: (Value) -> Other) -> Figure<Other> { Figure<Other>(form(value), confidence, source) }
}

extension Figure: Equatable where Value: Equatable {}
