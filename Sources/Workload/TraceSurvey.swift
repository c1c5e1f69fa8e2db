import Quantities

/// Counts of a trace's operations, made without carrying them out. Counting them also checks that the trace can be
/// replayed.
public struct TraceSurvey: Sendable {
    /// How often each operation occurs.
    public struct Counts: Hashable, Sendable {
        /// Lines with `malloc`.
        public var malloc = 0
        /// Lines with `calloc`.
        public var calloc = 0
        /// Lines with `realloc`.
        public var realloc = 0
        /// Lines with `memalign`.
        public var memalign = 0
        /// Lines with `free`.
        public var free = 0
        /// How many of the frees are of null.
        public var freeOfNull = 0
        /// Lines with `thread_done`.
        public var threadDone = 0

        /// All counts zero.
        public init() {}
    }

    /// The number of lines; each has one operation.
    public var lines = 0
    /// How often each operation occurs.
    public var counts = Counts()
    /// Live objects at the end.
    public var objects = 0
    /// The bytes that these objects requested.
    public var requested = ByteCount.zero
    /// The most objects that were live at one time.
    public var peakObjects = 0
    /// The most requested bytes that were live at one time.
    public var peakRequested = ByteCount.zero
    /// The line after which the most bytes were live; the first such line.
    public var peakLine = 0
    /// All bytes that were ever requested.
    public var allocated = ByteCount.zero
    /// The host memory taken by the names of the objects; known once the survey is closed.
    public var names = ByteCount.zero

    /// A survey of no lines.
    public init() {}
}

/// What is wrong with a line of a trace.
public struct TraceFault: Error, Hashable, Sendable {
    /// The line, from 1; 0: the fault is not about a line.
    public var line: Int
    /// The column, from 1; the beginning of the line if the word was not located.
    public var column: Int
    /// The index of the word in the line, from 0, if the fault was found without the line's text; see
    /// `TraceOperation.column`.
    public var word: Int?
    /// What is wrong, for people.
    public var message: String

    /// A fault; by default about the whole line.
    public init(line: Int, column: Int = 1, word: Int? = nil, message: String) {
        self.line = line
        self.column = column
        self.word = word
        self.message = message
    }
}
