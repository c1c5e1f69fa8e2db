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
    static var none: ObjectHandle { ObjectHandle(unit: -1, requested: 0, usable: 0) }
    var isLive: Bool { unit >= 0 }
}

/// What a batch has changed so far, and the most that was live.
///
/// Objects have fewer than 2^32 bytes, and live ones fit into memory, so no sum overflows.
struct BoardSums {
    var objects: Int
    var requested: Int
    var usable = 0
    private(set) var peakObjects: Int
    private(set) var peakRequested: Int
    /// Whether the present operation has made an object, so that the process may have crossed its limit.
    var placed = false

    init(_ board: ObjectBoard) {
        (objects, requested) = (board.objects, board.requested.bytes)
        (peakObjects, peakRequested) = (board.peakObjects, board.peakRequested.bytes)
    }

    @inline(__always)
    mutating func exchange(_ old: ObjectHandle, for new: ObjectHandle) {
        requested &+= Int(new.requested) &- Int(old.requested)
        usable &+= Int(new.usable) &- Int(old.usable)
    }

    @inline(__always)
    mutating func notePeaks() {
        if objects > peakObjects { peakObjects = objects }
        if requested > peakRequested { peakRequested = requested }
    }
}

extension ObjectBoard {
    fileprivate mutating func take(_ sums: BoardSums) {
        (objects, requested) = (sums.objects, ByteCount(sums.requested))
        (peakObjects, peakRequested) = (sums.peakObjects, ByteCount(sums.peakRequested))
    }
}

extension ProcessHeaps where Self: ~Copyable {
    /// The loop is inside this module, because a call per object from another module costs as much as the allocation.
    mutating func play(
        _ steps: borrowing Span<ObjectStep>, _ board: inout ObjectBoard, _ slot: Int, pageLimit: Int,
        _ sums: inout BoardSums
    ) -> PlayedSteps {
        var played = PlayedSteps(steps: 0, operations: 0, refusal: nil)
        beginBatch()
        while played.steps < steps.count, played.refusal == nil {
            board.grow(to: Int(steps[played.steps].object) + 1)
            var handles = board.handles.mutableSpan
            goOn(steps, &handles, slot, pageLimit, &sums, &played)
        }
        return played
    }

    /// Plays up to the first step that is refused, or whose object has no handle yet.
    private mutating func goOn(
        _ steps: borrowing Span<ObjectStep>, _ handles: inout MutableSpan<ObjectHandle>, _ slot: Int, _ pageLimit: Int,
        _ out: inout BoardSums, _ played: inout PlayedSteps
    ) {
        // Local, so that they may stay in registers.
        var (sums, index, operations) = (out, played.steps, played.operations)
        defer { (out, played.steps, played.operations) = (sums, index, operations) }
        while index < steps.count {
            let step = steps[index]
            let object = Int(step.object)
            guard object < handles.count else { return }
            switch step.kind {
            case .free:
                // What frees raises no peak and crosses no limit.
                free(&handles[object], slot, &sums)
                index &+= 1
                if step.endsOperation { operations &+= 1 }
                continue
            case .make:
                guard make(step, &handles[object], slot, &sums) else {
                    played.refusal = refusal
                    return
                }
            case .resize:
                guard resize(step, &handles[object], slot, &sums) else {
                    played.refusal = refusal
                    return
                }
            case .nothing: break
            }
            index &+= 1
            guard step.endsOperation else { continue }
            operations &+= 1
            sums.notePeaks()
            guard sums.placed else { continue }
            sums.placed = false
            guard pages(slot) > pageLimit else { continue }
            played.refusal = .limitCrossed(footprint: pageBytes(pages(slot)))
            return
        }
    }

    @inline(__always)
    private mutating func free(_ handle: inout ObjectHandle, _ slot: Int, _ sums: inout BoardSums) {
        guard handle.isLive else { return }
        free(handle, slot)
        sums.objects &-= 1
        sums.exchange(handle, for: .none)
        handle = .none
    }

    /// False if there is no room; then nothing is done.
    @inline(__always)
    private mutating func make(
        _ step: ObjectStep, _ handle: inout ObjectHandle, _ slot: Int, _ sums: inout BoardSums
    ) -> Bool {
        guard !handle.isLive else { return true }
        guard let made = makeObject(step, slot) else { return false }
        sums.objects &+= 1
        sums.exchange(handle, for: made)
        sums.placed = true
        handle = made
        return true
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

    /// Resizes like `BookedDevice.resizeObject`; false if there is no room.
    private mutating func resize(
        _ step: ObjectStep, _ handle: inout ObjectHandle, _ slot: Int, _ sums: inout BoardSums
    ) -> Bool {
        guard handle.isLive else { return true }
        let (before, size) = (Int(handle.requested), Int(step.size))
        if usable(max(1, size)) == Int(handle.usable) {
            if size > before {
                let entry = ObjectTable.Entry(unit: handle.unit, size: size)
                guard write(entry, from: before, count: size - before) else { return false }
            }
            let resized = ObjectHandle(unit: handle.unit, requested: step.size, usable: handle.usable)
            sums.exchange(handle, for: resized)
            handle = resized
            return true
        }
        guard let made = makeObject(step, slot) else { return false }
        free(handle, slot)
        sums.exchange(handle, for: made)
        sums.placed = true
        handle = made
        return true
    }
}

extension BookedDevice where Heaps: ~Copyable {
    func play(
        _ steps: borrowing Span<ObjectStep>, on board: inout ObjectBoard, in slot: MemorySlot, limit: ByteCount?
    ) -> PlayedSteps {
        defer { tidy() }
        let index = live(slot)
        let before = BoardSums(board)
        var sums = before
        let pageLimit = limit.map { $0.bytes / DeviceRegion.pageSize } ?? Int.max
        let played = heaps.play(steps, &board, index, pageLimit: pageLimit, &sums)
        board.take(sums)
        book(
            index, objects: sums.objects - before.objects, requested: sums.requested - before.requested,
            usable: sums.usable)
        return played
    }
}
