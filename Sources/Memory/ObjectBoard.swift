import Quantities

/// One operation on one object of a board.
public struct ObjectStep: Hashable, Sendable {
    /// What the step does.
    public enum Kind: UInt8, Sendable {
        case make
        /// Gives the object another size, as `resizeObject` does.
        case resize
        case free
        case nothing
    }

    /// The object's number on the board.
    public let object: UInt32
    /// The bytes to ask for; ignored when freeing.
    public let size: UInt32
    /// What the step does.
    public let kind: Kind
    /// The base-2 logarithm of the alignment; 0 for the allocator's own.
    public let logAlignment: UInt8
    /// Whether the step is the last of its operation, which may take several.
    public let endsOperation: Bool

    /// A step that ends its operation, unless said otherwise; `object` and `size` must fit into 32 bits.
    @inlinable
    public init(_ kind: Kind, object: Int, size: Int = 0, logAlignment: UInt8 = 0, endsOperation: Bool = true) {
        self.kind = kind
        self.object = UInt32(truncatingIfNeeded: object)
        self.size = UInt32(truncatingIfNeeded: size)
        self.logAlignment = logAlignment
        self.endsOperation = endsOperation
    }
}

/// A table of objects that are named by number and made and freed one by one, like those of a trace. Its owner frees
/// them; otherwise the end of the process does.
public struct ObjectBoard {
    var handles: [ObjectHandle] = []
    /// Live objects, as of the last operation.
    public internal(set) var objects = 0
    /// The bytes that the live objects asked for, as of the last operation.
    public internal(set) var requested = ByteCount.zero
    /// The most live objects after any operation.
    public internal(set) var peakObjects = 0
    /// The most requested bytes after any operation.
    public internal(set) var peakRequested = ByteCount.zero

    /// - Parameter places: How many numbers will be used, if known. The table then reserves its memory at once, so that
    ///   it never exists twice while it grows; the host backs only what is written.
    public init(places: Int = 0) { handles.reserveCapacity(places) }

    /// The highest number ever used, plus one.
    public var count: Int { handles.count }

    /// Whether the number names a live object.
    public func isLive(_ object: Int) -> Bool { object < handles.count && handles[object].isLive }

    mutating func grow(to count: Int) {
        while handles.count < count { handles.append(.none) }
    }
}

/// How far a batch of steps came.
public struct PlayedSteps: Hashable, Sendable {
    /// Steps done, from the front.
    public var steps: Int
    /// Operations finished.
    public var operations: Int
    /// Why the batch stopped early. A step without room was not done; the operation that crossed the limit was.
    public var refusal: AllocationRefusal?
}

extension ObjectHandle {
    static let none = ObjectHandle(unit: -1, requested: 0, usable: 0)
    var isLive: Bool { unit >= 0 }
}

/// The outcome of one step.
private enum StepOutcome {
    case done
    /// An object was made, so the process may have crossed its limit.
    case placed
    /// There was no room, and nothing was done.
    case refused
}

/// A batch's changes so far.
struct BoardSums {
    var objects = 0
    var requested = 0
    var usable = 0
}

extension ProcessHeaps where Self: ~Copyable {
    /// The loop is inside this module, because a call per object from another module costs as much as the allocation.
    mutating func play(
        _ steps: borrowing Span<ObjectStep>, _ board: inout ObjectBoard, _ slot: Int, pageLimit: Int,
        _ sums: inout BoardSums
    ) -> PlayedSteps {
        var played = PlayedSteps(steps: 0, operations: 0, refusal: nil)
        var highest = 0
        beginBatch()
        for index in steps.indices { highest = max(highest, Int(steps[index].object)) }
        board.grow(to: highest + 1)
        let (objects, requested) = (board.objects, board.requested.bytes)
        var (peakObjects, peakRequested) = (board.peakObjects, board.peakRequested.bytes)
        var placed = false
        var handles = board.handles.mutableSpan
        for index in steps.indices {
            let step = steps[index]
            switch perform(step, &handles[Int(step.object)], slot, &sums) {
            case .refused: played.refusal = refusal
            case .placed: placed = true
            case .done: break
            }
            if played.refusal != nil { break }
            played.steps = index + 1
            guard step.endsOperation else { continue }
            played.operations += 1
            peakObjects = max(peakObjects, objects + sums.objects)
            peakRequested = max(peakRequested, requested + sums.requested)
            defer { placed = false }
            if placed && pages(slot) > pageLimit {
                played.refusal = .limitCrossed(footprint: pageBytes(pages(slot)))
                break
            }
        }
        (board.peakObjects, board.peakRequested) = (peakObjects, ByteCount(peakRequested))
        (board.objects, board.requested) = (objects + sums.objects, ByteCount(requested + sums.requested))
        return played
    }

    @inline(__always)
    private mutating func perform(
        _ step: ObjectStep, _ handle: inout ObjectHandle, _ slot: Int, _ sums: inout BoardSums
    ) -> StepOutcome {
        switch step.kind {
        case .make:
            guard !handle.isLive else { return .done }
            guard let made = makeObject(step, slot) else { return .refused }
            handle = made
            sums.objects += 1
            sums.requested += Int(made.requested)
            sums.usable += Int(made.usable)
            return .placed
        case .resize: return resize(step, &handle, slot, &sums)
        case .free:
            guard handle.isLive else { return .done }
            free(ObjectTable.Entry(unit: handle.unit, size: Int(handle.usable)), slot)
            sums.objects -= 1
            sums.requested -= Int(handle.requested)
            sums.usable -= Int(handle.usable)
            handle = .none
        case .nothing: break
        }
        return .done
    }

    @inline(__always)
    private mutating func makeObject(_ step: ObjectStep, _ slot: Int) -> ObjectHandle? {
        let size = max(1, Int(step.size))
        let logAlignment = Int(step.logAlignment)
        guard let made = logAlignment == 0 ? make(size, slot) : make(size, logAlignment: logAlignment, slot) else {
            return nil
        }
        return ObjectHandle(made, requested: Int(step.size))
    }

    /// Resizes like `BookedDevice.resizeObject`.
    private mutating func resize(
        _ step: ObjectStep, _ handle: inout ObjectHandle, _ slot: Int, _ sums: inout BoardSums
    ) -> StepOutcome {
        guard handle.isLive else { return .done }
        let before = Int(handle.requested)
        let size = Int(step.size)
        if usable(max(1, size)) == Int(handle.usable) {
            if size > before {
                let entry = ObjectTable.Entry(unit: handle.unit, size: size)
                guard write(entry, from: before, count: size - before) else { return .refused }
            }
            handle = ObjectHandle(unit: handle.unit, requested: step.size, usable: handle.usable)
            sums.requested += size - before
            return .done
        }
        guard let made = makeObject(step, slot) else { return .refused }
        free(ObjectTable.Entry(unit: handle.unit, size: Int(handle.usable)), slot)
        sums.requested += size - before
        sums.usable += Int(made.usable) - Int(handle.usable)
        handle = made
        return .placed
    }
}

extension BookedDevice where Heaps: ~Copyable {
    func play(
        _ steps: borrowing Span<ObjectStep>, on board: inout ObjectBoard, in slot: MemorySlot, limit: ByteCount?
    ) -> PlayedSteps {
        defer { tidy() }
        let index = live(slot)
        var sums = BoardSums()
        let pageLimit = limit.map { $0.bytes / DeviceRegion.pageSize } ?? Int.max
        let played = heaps.play(steps, &board, index, pageLimit: pageLimit, &sums)
        book(index, objects: sums.objects, requested: sums.requested, usable: sums.usable)
        return played
    }
}
