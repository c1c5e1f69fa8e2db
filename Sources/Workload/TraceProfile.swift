import Quantities

/// An allocation trace as an app's workload. It plays while the app is active in front, or works off screen for a
/// background mode, a task or an event. Each process plays it from the beginning.
///
/// A trace has no clock, so the scenario chooses the pace. Object sizes are as recorded at every scale; scaled runs
/// change `copies`.
public struct TraceProfile: Hashable, Sendable {
    /// The path of a plain text file with one operation per line.
    public var file: String
    /// Operations per second; nil: `over` decides.
    public var pace: Int?
    /// The trace is stretched over this time; nil: `pace` decides.
    public var over: TimeSpan?
    /// How many copies of every object are kept; 0.25 keeps every fourth object.
    public var copies: Ratio
    /// What happens after the last line.
    public var ends: TraceEnding
    /// The last line to play; nil: the whole file.
    public var lastLine: Int?

    /// The default pace in operations per second.
    public static let ordinaryPace = 20_000

    /// Traces of up to this many operations are kept in memory, at 12 bytes each: 48 MiB. Each process reads longer
    /// ones again.
    public static let longestKept = 4 << 20

    /// By default a trace at the ordinary pace that is played once and keeps its objects.
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

    /// The most copies of one object: `copies` rounded up, at least 1.
    public var copiesOfEach: Int { max(1, Int((copies.partsPerMillion + 999_999) / 1_000_000)) }

    /// How many operations are due after this much running time, if the trace has `length` of them.
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
    /// All live objects are freed, and the trace begins again.
    case loop
    /// Live objects stay as they are.
    case hold
    /// The app ends by itself.
    case exit
}

/// A trace that is being read, some operations at a time.
public protocol TraceReader: AnyObject {
    /// Replaces `steps` with the next operations, one per line, at most `most`; none after the last one.
    func read(_ most: Int, into steps: inout [TraceStep]) throws(TraceFault)
    /// Goes back to the first line.
    func rewind() throws(TraceFault)
}

/// The source of a run's traces. They were surveyed before the run, so they can be replayed.
public protocol TraceLibrary: Sendable {
    /// What the trace does, up to the line at which it ends.
    func survey(of trace: TraceProfile) -> TraceSurvey
    /// A reader at the first line. Throws if the file cannot be read.
    func open(_ trace: TraceProfile) throws(TraceFault) -> any TraceReader
}

/// A library for runs whose apps play no trace.
public struct NoTraces: TraceLibrary {
    /// An empty library.
    public init() {}

    /// An empty survey.
    public func survey(of trace: TraceProfile) -> TraceSurvey { TraceSurvey() }

    /// Always throws.
    public func open(_ trace: TraceProfile) throws(TraceFault) -> any TraceReader {
        throw TraceFault(line: 0, message: "\(trace.file) was not opened before the run")
    }
}
