import Memory
import Quantities
import Workload

/// A process in the middle of its trace: which objects are alive, and which operations are due.
///
/// Objects go by the trace's identifiers, each with as many copies as the profile asks for. Limits: an operation is
/// played whole or not at all, so one that found no room is tried again later with all of its copies that are missing.
final class TracePlayback {
    let profile: TraceProfile
    let survey: TraceSurvey
    /// How many operations there are in one round.
    var length: Int { survey.lines }
    /// How many are due and not yet played.
    var due = 0
    private(set) var played = 0
    private(set) var isOver = false
    private(set) var peakRequested = ByteCount.zero
    private(set) var peakObjects = 0

    private let reader: any TraceReader
    /// The place of a live identifier among the handles; looked up, never iterated.
    private var places: [UInt64: Int] = [:]
    /// `stride` handles per place; a thinned copy is nil.
    private var handles: [ObjectHandle?] = []
    private var idlePlaces: [Int] = []
    private let stride: Int
    /// How many objects were made in this round: it decides which of them get one copy more.
    private var ordinal: Int64 = 0
    private var objects = 0
    private var requested = ByteCount.zero
    /// An operation that found no room.
    private var stuck: TraceOperation?

    init(_ profile: TraceProfile, _ library: any TraceLibrary) throws(TraceFault) {
        self.profile = profile
        survey = library.survey(of: profile)
        reader = try library.open(profile)
        stride = max(1, Int((profile.copies.partsPerMillion + 999_999) / 1_000_000))
    }

    /// Plays what is due. Answers why it stopped before that was done, and how much was wanted.
    func play(
        on memory: any DeviceMemory, _ slot: MemorySlot, limit: ByteCount?
    ) throws(TraceFault) -> AllocationRefusal? {
        while due > 0, !isOver {
            guard let operation = try nextOperation() else { continue }
            if let refusal = perform(operation, memory, slot, limit) {
                if case .noRoom = refusal {
                    stuck = operation
                    return refusal
                }
                finishOperation(memory, slot)
                return refusal
            }
            finishOperation(memory, slot)
        }
        due = 0
        return nil
    }

    private func nextOperation() throws(TraceFault) -> TraceOperation? {
        if let operation = stuck {
            stuck = nil
            return operation
        }
        if played > 0, played % length == 0 { try reader.rewind() }
        guard let operation = try reader.next() else {
            throw TraceFault(line: played % length, message: "\(profile.file) has become shorter since the run began")
        }
        return operation
    }

    private func finishOperation(_ memory: any DeviceMemory, _ slot: MemorySlot) {
        due -= 1
        played += 1
        peakRequested = max(peakRequested, requested)
        peakObjects = max(peakObjects, objects)
        guard played % length == 0 else { return }
        switch profile.ends {
        case .loop: freeAll(memory, slot)
        case .hold, .exit: isOver = true
        }
    }

    // MARK: Operations

    private func perform(
        _ operation: TraceOperation, _ memory: any DeviceMemory, _ slot: MemorySlot, _ limit: ByteCount?
    ) -> AllocationRefusal? {
        switch operation {
        case .malloc(let id, _), .calloc(let id, _, _):
            return make(id, ByteCount(operation.size), nil, memory, slot, limit)
        case .memalign(let id, let alignment, let size):
            return make(id, ByteCount(size), ByteCount(alignment), memory, slot, limit)
        case .realloc(let id, let old, let size):
            if old == 0 { return id == 0 ? nil : make(id, ByteCount(size), nil, memory, slot, limit) }
            if id == 0 {
                free(old, memory, slot)
                return nil
            }
            return resize(old, to: ByteCount(size), as: id, memory, slot, limit)
        case .free(let id):
            if id != 0 { free(id, memory, slot) }
            return nil
        case .threadDone: return nil
        }
    }

    private func make(
        _ id: UInt64, _ size: ByteCount, _ alignment: ByteCount?, _ memory: any DeviceMemory, _ slot: MemorySlot,
        _ limit: ByteCount?
    ) -> AllocationRefusal? {
        let first = place(of: id)
        var crossed: AllocationRefusal?
        for copy in first..<first + copies(of: ordinal) where handles[copy] == nil {
            let result = memory.makeObject(size, alignment: alignment, in: slot, limit: limit)
            guard let object = result.object else { return result.refusal }
            handles[copy] = object
            objects += 1
            requested += size
            crossed = crossed ?? result.refusal
        }
        ordinal += 1
        return crossed
    }

    private func resize(
        _ old: UInt64, to size: ByteCount, as id: UInt64, _ memory: any DeviceMemory, _ slot: MemorySlot,
        _ limit: ByteCount?
    ) -> AllocationRefusal? {
        guard let first = places[old] else { return nil }
        var crossed: AllocationRefusal?
        for copy in first..<first + stride {
            guard let object = handles[copy] else { continue }
            let result = memory.resizeObject(object, to: size, in: slot, limit: limit)
            guard let resized = result.object else { return result.refusal }
            handles[copy] = resized
            requested += size - object.size
            crossed = crossed ?? result.refusal
        }
        if id != old {
            places[old] = nil
            places[id] = first
        }
        return crossed
    }

    private func free(_ id: UInt64, _ memory: any DeviceMemory, _ slot: MemorySlot) {
        guard let first = places.removeValue(forKey: id) else { return }
        release(first, memory, slot)
        idlePlaces.append(first)
    }

    private func release(_ first: Int, _ memory: any DeviceMemory, _ slot: MemorySlot) {
        for copy in first..<first + stride {
            guard let object = handles[copy] else { continue }
            memory.freeObject(object, in: slot)
            handles[copy] = nil
            objects -= 1
            requested -= object.size
        }
    }

    /// The round is over: what is live goes, in the order of the table.
    private func freeAll(_ memory: any DeviceMemory, _ slot: MemorySlot) {
        for first in Swift.stride(from: 0, to: handles.count, by: stride) { release(first, memory, slot) }
        places.removeAll(keepingCapacity: true)
        handles.removeAll(keepingCapacity: true)
        idlePlaces.removeAll(keepingCapacity: true)
        ordinal = 0
    }

    /// The place of an object that is being made; it keeps it over a wait.
    private func place(of id: UInt64) -> Int {
        if let place = places[id] { return place }
        let place: Int
        if let idle = idlePlaces.popLast() {
            place = idle
        } else {
            place = handles.count
            for _ in 0..<stride { handles.append(nil) }
        }
        places[id] = place
        return place
    }

    /// The error of rounding is carried on, so 0.25 copies keep every fourth object and 2.5 are two and three in turn.
    private func copies(of ordinal: Int64) -> Int {
        let share = profile.copies.partsPerMillion
        return Int((ordinal + 1) * share / 1_000_000 - ordinal * share / 1_000_000)
    }
}
