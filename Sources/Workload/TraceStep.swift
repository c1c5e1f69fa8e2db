/// One operation of a trace, as a replay needs it: a place in a table replaces the object's name.
///
/// Places are dense; the place that became free last is used next.
public struct TraceStep: Hashable, Sendable {
    /// What an operation does.
    public enum Kind: UInt8, Sendable {
        case make
        case resize
        case free
        /// A line that does nothing to memory.
        case nothing
    }

    /// The object's place, from 0.
    public let place: UInt32
    /// The object's size in bytes.
    public let size: UInt32
    /// What the operation does.
    public let kind: Kind
    /// The alignment is 2 to this power; 0 for the allocator's own.
    public let logAlignment: UInt8

    /// - Parameters:
    ///   - place: The object's place, from 0.
    ///   - size: The object's size in bytes.
    ///   - logAlignment: The alignment is 2 to this power; 0 for the allocator's own.
    @inlinable
    public init(_ kind: Kind, place: Int = 0, size: Int = 0, logAlignment: Int = 0) {
        self.kind = kind
        self.place = UInt32(truncatingIfNeeded: place)
        self.size = UInt32(truncatingIfNeeded: size)
        self.logAlignment = UInt8(truncatingIfNeeded: logAlignment)
    }
}
