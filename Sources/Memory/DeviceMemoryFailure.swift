import Quantities

/// Why the host cannot provide the device's memory: exit status 71.
public enum DeviceMemoryFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The host refused to map this much memory.
    case notMapped(ByteCount, code: Int32)
    /// The ceiling is above what the object tables can address.
    case ceilingTooHigh(ByteCount, highest: ByteCount)
    /// The system's share leaves no memory at all.
    case nothingLeft(ceiling: ByteCount, reserved: ByteCount)
    /// jemalloc is older than the version that the books rely on.
    case allocatorTooOld(version: String, oldest: String)
    /// jemalloc was built for another page size.
    case pageSize(found: Int, needed: Int)
    /// A jemalloc option has a value with which the books would not match jemalloc's pages.
    case option(name: String, found: String, needed: String)
    /// jemalloc refused a control.
    case allocator(AllocatorError)

    /// One line that names the cause.
    public var description: String {
        switch self {
        case .notMapped(let size, let code):
            "the host did not map \(size.readable) for the device (errno \(code))"
        case .ceilingTooHigh(let ceiling, let highest):
            "a ceiling of \(ceiling.readable) is above the highest that is supported, \(highest.readable)"
        case .nothingLeft(let ceiling, let reserved):
            "\(reserved.readable) cannot be reserved for the system under a ceiling of \(ceiling.readable)"
        case .allocatorTooOld(let version, let oldest):
            "jemalloc \(version) is too old; \(oldest) or newer is needed"
        case .pageSize(let found, let needed):
            "jemalloc works with pages of \(found) bytes; \(needed) are needed"
        case .option(let name, let found, let needed):
            "jemalloc runs with \(name):\(found), but Plimsoll's accounting needs \(name):\(needed); see MALLOC_CONF"
        case .allocator(let error):
            error.description
        }
    }
}
