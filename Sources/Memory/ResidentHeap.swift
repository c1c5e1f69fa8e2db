import CJemalloc
import Quantities

/// What jemalloc holds for the whole process right now: pages and its own bookkeeping (`stats.resident`), the pages of
/// live devices included. For the manifest; not a function of the run.
public func residentHeap() throws(AllocatorError) -> ByteCount {
    try refreshStatistics()
    return ByteCount(Int(try readControl("stats.resident", into: UInt(0))))
}
