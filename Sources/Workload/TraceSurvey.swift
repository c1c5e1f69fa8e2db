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
    public private(set) var lines = 0
    public private(set) var counts = Counts()
    /// Live objects, and what they asked for.
    public private(set) var objects = 0
    public private(set) var requested = ByteCount.zero
    public private(set) var peakObjects = 0
    public private(set) var peakRequested = ByteCount.zero
    /// The line after which the most bytes were live, the first of them.
    public private(set) var peakLine = 0
    /// All that was ever asked for.
    public private(set) var allocated = ByteCount.zero
    /// What the names of the objects took of the host, once the survey is closed.
    public private(set) var names = ByteCount.zero
    /// Names, places and sizes of the live objects.
    private var live = TracePlaces()

    public init() {}

    /// Counts the next line's operation, and says what it means for a replay.
    @discardableResult
    public mutating func note(_ operation: TraceOperation) throws(TraceFault) -> TraceStep {
        lines += 1
        switch operation {
        case .malloc(let id, let size):
            counts.malloc += 1
            return TraceStep(.make, place: try add(id, size), size: size)
        case .calloc(let id, _, _):
            counts.calloc += 1
            return TraceStep(.make, place: try add(id, operation.size), size: operation.size)
        case .memalign(let id, let alignment, let size):
            counts.memalign += 1
            return TraceStep(
                .make, place: try add(id, size), size: size, logAlignment: alignment.trailingZeroBitCount)
        case .realloc(let id, let old, let size):
            counts.realloc += 1
            return try note(realloc: id, old, size)
        case .free(let id):
            counts.free += 1
            guard id == 0 else { return TraceStep(.free, place: try free(id)) }
            counts.freeOfNull += 1
        case .threadDone: counts.threadDone += 1
        }
        return TraceStep(.nothing)
    }

    private mutating func note(realloc id: UInt64, _ old: UInt64, _ size: Int) throws(TraceFault) -> TraceStep {
        switch (old, id) {
        case (0, 0): return TraceStep(.nothing)
        case (0, _): return TraceStep(.make, place: try add(id, size), size: size)
        case (_, 0): return TraceStep(.free, place: try free(old, word: TraceSurvey.oldPointer))
        default:
            let place = try remove(old, word: TraceSurvey.oldPointer)
            return TraceStep(.resize, place: try add(id, size, at: place), size: size)
        }
    }

    /// Nothing more will come: what was only needed for the check goes.
    public mutating func close() {
        names = live.memory
        live = TracePlaces()
    }

    /// Where pointers stand in a line, as words from 0: the operation's own, and the one that `realloc` takes the place
    /// of.
    private static let pointer = 2
    private static let oldPointer = 3

    private mutating func add(_ id: UInt64, _ size: Int, at place: Int? = nil) throws(TraceFault) -> Int {
        guard let place = live.add(id, size, at: place) else {
            throw TraceFault(
                line: lines, word: TraceSurvey.pointer,
                message: "0x\(String(id, radix: 16)) is made again, but was not freed")
        }
        objects += 1
        requested += ByteCount(size)
        allocated += ByteCount(size)
        peakObjects = max(peakObjects, objects)
        if requested > peakRequested { (peakRequested, peakLine) = (requested, lines) }
        return place
    }

    private mutating func free(_ id: UInt64, word: Int = pointer) throws(TraceFault) -> Int {
        let place = try remove(id, word: word)
        live.giveBack(place)
        return place
    }

    private mutating func remove(_ id: UInt64, word: Int) throws(TraceFault) -> Int {
        guard let (place, size) = live.remove(id) else {
            throw TraceFault(line: lines, word: word, message: "0x\(String(id, radix: 16)) is not a live object")
        }
        objects -= 1
        requested -= ByteCount(size)
        return place
    }
}
