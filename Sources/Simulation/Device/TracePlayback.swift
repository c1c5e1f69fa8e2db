import Memory
import Quantities
import Workload

/// A process's position in its trace: which objects are alive, and which operations are due.
///
/// Objects are identified by places in a table, each with as many copies as the profile asks for. An operation that
/// found no room is tried again later, with all of its missing copies.
final class TracePlayback {
    let profile: TraceProfile
    let survey: TraceSurvey
    /// The number of operations in one round.
    var length: Int { survey.lines }
    /// How many operations are due and not yet played.
    private var due = 0
    private(set) var played = 0
    private(set) var isOver = false
    private let reader: any TraceReader
    /// Objects by place, `stride` of them at each; a thinned-out copy is not live.
    private var board: ObjectBoard
    private let stride: Int
    /// The number of objects made in this round; it decides which objects get one copy more.
    private var ordinal: Int64 = 0
    /// The operations read last, as steps, and how many of the steps are done.
    private var steps: [ObjectStep] = []
    private var position = 0
    private var lines: [TraceStep] = []

    var peakRequested: ByteCount { board.peakRequested }
    var peakObjects: Int { board.peakObjects }

    /// The most operations that are played in one call.
    private static let batch = 4_096

    init(_ profile: TraceProfile, _ library: any TraceLibrary) throws(TraceFault) {
        self.profile = profile
        survey = library.survey(of: profile)
        reader = try library.open(profile)
        stride = profile.copiesOfEach
        board = ObjectBoard(places: survey.peakObjects * stride)
    }

    /// Makes this many more operations due.
    func expect(_ operations: Int) { due += operations }

    /// Plays what is due. Returns why it stopped early, and how much memory was wanted; nil when all is played.
    func play(
        on memory: any DeviceMemory, _ slot: MemorySlot, limit: ByteCount?
    ) throws(TraceFault) -> AllocationRefusal? {
        while due > 0, !isOver {
            if position == steps.count { try readOn() }
            let batch = steps
            let result = memory.play(
                batch.span.extracting(position..<batch.count), on: &board, in: slot, limit: limit)
            position += result.steps
            due -= result.operations
            played += result.operations
            if result.operations > 0 && played % length == 0 { endRound(memory, slot) }
            if let refusal = result.refusal { return refusal }
        }
        due = 0
        return nil
    }

    /// Reads the next operations, at most to the end of the round.
    private func readOn() throws(TraceFault) {
        let done = played % length
        if played > 0 && done == 0 { try reader.rewind() }
        try reader.read(min(due, length - done, TracePlayback.batch), into: &lines)
        guard !lines.isEmpty else {
            throw TraceFault(line: done, message: "\(profile.file) has become shorter since the run began")
        }
        position = 0
        guard profile.copies != .one else {
            // The common case: one step for each line, without handling copies.
            return TracePlayback.translate(lines, into: &steps)
        }
        steps.removeAll(keepingCapacity: true)
        for line in lines { add(line) }
    }

    /// The steps are overwritten, because batches are mostly equally long.
    private static func translate(_ lines: [TraceStep], into steps: inout [ObjectStep]) {
        if steps.count != lines.count {
            steps = Array(repeating: ObjectStep(.nothing, object: 0), count: lines.count)
        }
        var places = steps.mutableSpan
        for index in places.indices { places[index] = ObjectStep(lines[index]) }
    }

    private func endRound(_ memory: any DeviceMemory, _ slot: MemorySlot) {
        switch profile.ends {
        case .loop: freeAll(memory, slot)
        case .hold, .exit: isOver = true
        }
    }

    /// The round is over: frees all live objects, in the order of the table.
    private func freeAll(_ memory: any DeviceMemory, _ slot: MemorySlot) {
        let live = (0..<board.count).filter(board.isLive).map { ObjectStep(.free, object: $0) }
        _ = memory.play(live.span, on: &board, in: slot, limit: nil)
        ordinal = 0
    }

    // MARK: Operations

    /// Adds one step for each copy of the operation's object; the last step ends the operation.
    private func add(_ line: TraceStep) {
        let first = Int(line.place) * stride
        let count =
            switch line.kind {
            case .make: nextCopies()
            case .resize, .free: stride
            case .nothing: 0
            }
        for copy in 0..<count {
            steps.append(
                ObjectStep(
                    .init(line.kind), object: first + copy, size: Int(line.size), logAlignment: line.logAlignment,
                    endsOperation: copy == count - 1))
        }
        if count == 0 { steps.append(ObjectStep(.nothing, object: first)) }
    }

    /// Carries the rounding error on: 0.25 copies keep every fourth object, 2.5 copies alternate between two and three.
    private func nextCopies() -> Int {
        let share = profile.copies.partsPerMillion
        defer { ordinal += 1 }
        return Int((ordinal + 1) * share / 1_000_000 - ordinal * share / 1_000_000)
    }
}

extension ObjectStep {
    /// A step for an operation whose object has one copy.
    @inline(__always)
    fileprivate init(_ line: TraceStep) {
        self.init(
            Kind(line.kind), object: Int(line.place), size: Int(line.size), logAlignment: line.logAlignment)
    }
}

extension ObjectStep.Kind {
    @inline(__always)
    fileprivate init(_ kind: TraceStep.Kind) {
        self =
            switch kind {
            case .make: .make
            case .resize: .resize
            case .free: .free
            case .nothing: .nothing
            }
    }
}
