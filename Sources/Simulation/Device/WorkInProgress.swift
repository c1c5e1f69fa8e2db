import BasicContainers
import Quantities
import Workload

/// Work on memory that the main thread is in the middle of. Each process has one, used again and again.
struct WorkInProgress: ~Copyable {
    var items = UniqueArray<MemoryWork>()
    var position = 0
    private(set) var isUnderWay = false
    /// Of the current allocation: what is still to be allocated; nil before it begins.
    var remaining: ByteCount?
    /// Sizes that were drawn and found no room: they are tried again as they are, not drawn anew.
    var refused: [Int] = []
    /// Filled and not yet paid for.
    var unpaid: ByteCount = .zero
    /// A slice was allocated up to a limit, and what it costs has still to be settled.
    var isSettling = false
    /// Filling fresh pages takes time; for a tick the time has already passed.
    private(set) var fillsAtDeviceRate = false
    /// A memory warning is being answered: what the cache held before.
    private(set) var answersWarning: ByteCount?

    mutating func begin(_ items: [MemoryWork], fillsAtDeviceRate: Bool, answersWarning: ByteCount? = nil) {
        self.items.removeAll(keepingCapacity: true)
        self.items.append(copying: items)
        begin(fillsAtDeviceRate: fillsAtDeviceRate, answersWarning: answersWarning)
    }

    /// Begins with the items that are there.
    mutating func begin(fillsAtDeviceRate: Bool, answersWarning: ByteCount? = nil) {
        isUnderWay = true
        position = 0
        self.fillsAtDeviceRate = fillsAtDeviceRate
        self.answersWarning = answersWarning
    }

    mutating func end() {
        isUnderWay = false
        items.removeAll(keepingCapacity: true)
        remaining = nil
        if !refused.isEmpty { refused = [] }
        unpaid = .zero
    }

    var nextItem: MemoryWork? { position < items.count ? items[position] : nil }
}
