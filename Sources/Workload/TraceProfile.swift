import Quantities

/// An allocation trace as an app's workload: played while the app is active in front, or at work off screen for a
/// background mode, a task or an event. Each process plays it from the beginning.
///
/// A trace has no clock, so the pace is ours to choose. The sizes of its objects are the recorded ones, whatever the
/// scale; `copies` is what a scaled run changes.
public struct TraceProfile: Hashable, Sendable {
    /// Plain text, one operation per line.
    public var file: String
    /// Operations per second; nil: `over` decides.
    public var pace: Int?
    /// The trace is stretched over this time; nil: `pace` decides.
    public var over: TimeSpan?
    /// How many copies of every object are kept; 0.25 keeps every fourth object.
    public var copies: Ratio
    /// What happens after the last line.
    public var ends: TraceEnding
    /// Plays the file to this line only.
    public var lastLine: Int?

    public static let ordinaryPace = 20_000

    /// Traces of up to so many operations are kept in memory, at 12 bytes each: 48 MiB. Longer ones are read again by
    /// each process.
    public static let longestKept = 4 << 20

    public init(
        file: String, pace: Int? = TraceProfile.ordinaryPace, over: TimeSpan? = nil, copies: Ratio = .one,
        ends: TraceEnding = .hold, lastLine: Int? = nil
    ) {
        self.file = file
        self.pace = pace
        self.over = over
        self.copies = copies
        self.ends = ends
        self.lastLine = lastLine
    }

    /// The copies of one object at most: those that are asked for, rounded up, at least 1.
    public var copiesOfEach: Int { max(1, Int((copies.partsPerMillion + 999_999) / 1_000_000)) }

    /// How many operations are due after so much running time, if the trace has `length` of them.
    func operations(after time: TimeSpan, length: Int) -> Int {
        let (rate, span) = over.map { (Int64(length), $0.microseconds) } ?? (Int64(pace ?? 0), 1_000_000)
        let rounds = time.microseconds / span
        let rest = rate.multipliedFullWidth(by: time.microseconds % span)
        let due = Int(rounds) * Int(rate) + Int(span.dividingFullWidth(rest).quotient)
        return ends == .loop ? due : min(due, length)
    }
}

/// What happens after the last line of a trace.
public enum TraceEnding: String, CaseIterable, Sendable {
    /// What is live is freed, and the trace begins again.
    case loop
    /// What is live stays as it is.
    case hold
    /// The app ends by itself.
    case exit
}

/// A trace that is being read, some operations at a time.
public protocol TraceReader: AnyObject {
    /// Replaces `steps` by the next operations, one per line, at most so many; none after the last one.
    func read(_ most: Int, into steps: inout [TraceStep]) throws(TraceFault)
    /// Back to the first line.
    func rewind() throws(TraceFault)
}

/// Where the traces of a run come from. They were surveyed before the run, so they can be replayed.
public protocol TraceLibrary {
    /// What the trace does, to the line at which it ends.
    func survey(of trace: TraceProfile) -> TraceSurvey
    func open(_ trace: TraceProfile) throws(TraceFault) -> any TraceReader
}

/// A library for runs whose apps play no trace.
public struct NoTraces: TraceLibrary {
    public init() {}

    public func survey(of trace: TraceProfile) -> TraceSurvey { TraceSurvey() }

    public func open(_ trace: TraceProfile) throws(TraceFault) -> any TraceReader {
        throw TraceFault(line: 0, message: "\(trace.file) was not opened before the run")
    }
}
