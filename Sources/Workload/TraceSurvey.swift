import Quantities

/// What a trace does, counted without doing it; also the check that it can be replayed.
public struct TraceSurvey: Sendable {
    /// How often each operation occurs.
    public struct Counts: Hashable, Sendable {
        public var malloc = 0
        public var calloc = 0
        public var realloc = 0
        public var memalign = 0
        public var free = 0
        /// Of the frees: those of null.
        public var freeOfNull = 0
        public var threadDone = 0

        public init() {}
    }

    /// One operation per line.
    public var lines = 0
    public var counts = Counts()
    /// Live objects, and what they asked for.
    public var objects = 0
    public var requested = ByteCount.zero
    public var peakObjects = 0
    public var peakRequested = ByteCount.zero
    /// The line after which the most bytes were live, the first of them.
    public var peakLine = 0
    /// All that was ever asked for.
    public var allocated = ByteCount.zero
    /// What the names of the objects took of the host, once the survey is closed.
    public var names = ByteCount.zero

    public init() {}
}

/// What is wrong with a line of a trace.
public struct TraceFault: Error, Hashable, Sendable {
    /// From 1.
    public var line: Int
    /// From 1; where nobody has looked for the word, the beginning of the line.
    public var column: Int
    /// Which word of the line, from 0, where the fault was found without its text; see `TraceOperation.column`.
    public var word: Int?
    public var message: String

    public init(line: Int, column: Int = 1, word: Int? = nil, message: String) {
        self.line = line
        self.column = column
        self.word = word
        self.message = message
    }
}
