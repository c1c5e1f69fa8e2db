/// One operation of a trace with its object's name replaced by a place in a table: what is left for a replay to do.
///
/// Places are dense; the place that became free last is used next.
public struct TraceStep: Hashable, Sendable {
    public enum Kind: UInt8, Sendable {
        case make
        case resize
        case free
        /// A line that does nothing to memory.
        case nothing
    }

    public let place: UInt32
    public let size: UInt32
    public let kind: Kind
    /// The alignment is 2 to this power; 0 for the allocator's own.
    public let logAlignment: UInt8

    /// - Parameters:
    ///   - place: Of the object, from 0.
    ///   - size: In bytes.
    ///   - logAlignment: The alignment is 2 to this power; 0 for the allocator's own.
    @inlinable
    public init(_ kind: Kind, place: Int = 0, size: Int = 0, logAlignment: Int = 0) {
        self.kind = kind
        self.place = UInt32(truncatingIfNeeded: place)
        self.size = UInt32(truncatingIfNeeded: size)
        self.logAlignment = UInt8(truncatingIfNeeded: logAlignment)
    }
}
