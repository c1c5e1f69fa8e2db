import Quantities
import Workload

/// Counts a trace's operations line by line without carrying them out, and checks that they can be replayed.
struct TraceSurveyor: Sendable {
    /// The counts of the lines so far.
    private(set) var survey = TraceSurvey()
    /// Names, places and sizes of the live objects.
    private var live = TracePlaces()

    /// Counts the next line's operation and returns its step in a replay.
    @discardableResult
    mutating func note(_ operation: TraceOperation) throws(TraceFault) -> TraceStep {
        survey.lines += 1
        switch operation {
        case .malloc(let id, let size):
            survey.counts.malloc += 1
            return TraceStep(.make, place: try add(id, size), size: size)
        case .calloc(let id, _, _):
            survey.counts.calloc += 1
            return TraceStep(.make, place: try add(id, operation.size), size: operation.size)
        case .memalign(let id, let alignment, let size):
            survey.counts.memalign += 1
            return TraceStep(
                .make, place: try add(id, size), size: size, logAlignment: alignment.trailingZeroBitCount)
        case .realloc(let id, let old, let size):
            survey.counts.realloc += 1
            return try note(realloc: id, old, size)
        case .free(let id):
            survey.counts.free += 1
            guard id == 0 else { return TraceStep(.free, place: try free(id)) }
            survey.counts.freeOfNull += 1
        case .threadDone: survey.counts.threadDone += 1
        }
        return TraceStep(.nothing)
    }

    private mutating func note(realloc id: UInt64, _ old: UInt64, _ size: Int) throws(TraceFault) -> TraceStep {
        switch (old, id) {
        case (0, 0): return TraceStep(.nothing)
        case (0, _): return TraceStep(.make, place: try add(id, size), size: size)
        case (_, 0): return TraceStep(.free, place: try free(old, word: TraceSurveyor.oldPointer))
        default:
            let place = try remove(old, word: TraceSurveyor.oldPointer)
            return TraceStep(.resize, place: try add(id, size, at: place), size: size)
        }
    }

    /// Ends the survey and frees the memory that only the check needed.
    mutating func close() {
        survey.names = live.memory
        live = TracePlaces()
    }

    /// The word of a line, from 0, that holds the operation's own pointer.
    private static let pointer = 2
    /// The word that holds the pointer which `realloc` replaces.
    private static let oldPointer = 3

    private mutating func add(_ id: UInt64, _ size: Int, at place: Int? = nil) throws(TraceFault) -> Int {
        guard let place = live.add(id, size, at: place) else {
            throw TraceFault(
                line: survey.lines, word: TraceSurveyor.pointer,
                message: "0x\(String(id, radix: 16)) is made again, but was not freed")
        }
        survey.objects += 1
        survey.requested += ByteCount(size)
        survey.allocated += ByteCount(size)
        survey.peakObjects = max(survey.peakObjects, survey.objects)
        if survey.requested > survey.peakRequested {
            (survey.peakRequested, survey.peakLine) = (survey.requested, survey.lines)
        }
        return place
    }

    private mutating func free(_ id: UInt64, word: Int = pointer) throws(TraceFault) -> Int {
        let place = try remove(id, word: word)
        live.giveBack(place)
        return place
    }

    private mutating func remove(_ id: UInt64, word: Int) throws(TraceFault) -> Int {
        guard let (place, size) = live.remove(id) else {
            throw TraceFault(line: survey.lines, word: word, message: "0x\(String(id, radix: 16)) is not a live object")
        }
        survey.objects -= 1
        survey.requested -= ByteCount(size)
        return place
    }
}
