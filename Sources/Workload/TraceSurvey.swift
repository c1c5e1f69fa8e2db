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
    /// The sizes of the live objects; looked up, never iterated.
    private var live: [UInt64: Int] = [:]

    public init() {}

    /// Counts the next line's operation.
    public mutating func note(_ operation: TraceOperation) throws(TraceFault) {
        lines += 1
        switch operation {
        case .malloc(let id, let size):
            counts.malloc += 1
            try add(id, size)
        case .calloc(let id, _, _):
            counts.calloc += 1
            try add(id, operation.size)
        case .memalign(let id, _, let size):
            counts.memalign += 1
            try add(id, size)
        case .realloc(let id, let old, let size):
            counts.realloc += 1
            if old != 0 { try remove(old) }
            if id != 0 { try add(id, size) }
        case .free(let id):
            counts.free += 1
            if id == 0 { counts.freeOfNull += 1 } else { try remove(id) }
        case .threadDone: counts.threadDone += 1
        }
    }

    /// Nothing more will come: what was only needed for the check goes.
    public mutating func close() { live = [:] }

    private mutating func add(_ id: UInt64, _ size: Int) throws(TraceFault) {
        guard live.updateValue(size, forKey: id) == nil else {
            throw TraceFault(
                line: lines, message: "0x\(String(id, radix: 16)) is made again, but was not freed")
        }
        objects += 1
        requested += ByteCount(size)
        allocated += ByteCount(size)
        peakObjects = max(peakObjects, objects)
        if requested > peakRequested { (peakRequested, peakLine) = (requested, lines) }
    }

    private mutating func remove(_ id: UInt64) throws(TraceFault) {
        guard let size = live.removeValue(forKey: id) else {
            throw TraceFault(line: lines, message: "0x\(String(id, radix: 16)) is not a live object")
        }
        objects -= 1
        requested -= ByteCount(size)
    }
}
