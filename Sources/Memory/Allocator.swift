import CJemalloc
import Glibc
import Quantities

/// The allocator of this process, as a run's manifest states it.
public struct AllocatorDescription: Hashable, Sendable {
    /// One option in force, as text.
    public struct Option: Hashable, Sendable {
        /// The name without `opt.`, such as `narenas`.
        public let name: String
        /// The value as text.
        public let value: String
    }

    /// jemalloc's version with its commit, for example `5.3.0-0-g54ea…`.
    public let version: String
    /// jemalloc's page.
    public let pageSize: ByteCount
    /// The options that are compiled into this program.
    public let compiledOptions: String
    /// The options that jemalloc was configured with when it was built.
    public let builtInOptions: String
    /// The options in force that can change a result, in a fixed order.
    public let options: [Option]
    /// The environment's `MALLOC_CONF`, if set; it may change results, so it causes a measurement warning.
    public let foreignEnvironment: String?
    /// The target of the symbolic link `/etc/malloc.conf`, if it exists; it causes the same warning.
    public let foreignFile: String?

    /// Reads everything from jemalloc, the environment and `/etc/malloc.conf`.
    public init() throws(AllocatorError) {
        version = try AllocatorDescription.text("version")
        pageSize = ByteCount(try readControl("arenas.page", into: 0))
        compiledOptions = String(cString: plimsoll_compiled_options)
        builtInOptions = try AllocatorDescription.text("config.malloc_conf")
        var options: [Option] = []
        for (name, kind) in AllocatorDescription.shown {
            let value = try AllocatorDescription.value("opt." + name, kind)
            if let value { options.append(Option(name: name, value: value)) }
        }
        self.options = options
        foreignEnvironment = getenv("MALLOC_CONF").map { String(cString: $0) }
        foreignFile = AllocatorDescription.link("/etc/malloc.conf")
    }

    /// Stops watching `MALLOC_CONF`; the watch begins before jemalloc's first allocation. Call it once, when the
    /// program starts.
    ///
    /// - Returns: jemalloc's message about a rejected option if `abort_conf:true` demands that the program ends;
    ///   otherwise nil.
    public static func refusedOption() -> String? {
        guard let said = plimsoll_settle_options() else { return nil }
        let text = String(cString: said).split(separator: "\n").first.map(String.init) ?? ""
        return text.hasPrefix("<jemalloc>: ") ? String(text.dropFirst(12)) : text
    }

    private enum Kind {
        case flag, count, unsigned, signed, text
    }

    /// jemalloc's own names and types (its manual, "opt.").
    private static let shown: [(String, Kind)] = [
        ("retain", .flag), ("cache_oblivious", .flag), ("background_thread", .flag), ("narenas", .unsigned),
        ("percpu_arena", .text), ("dirty_decay_ms", .signed), ("muzzy_decay_ms", .signed),
        ("lg_extent_max_active_fit", .count), ("oversize_threshold", .count), ("metadata_thp", .text), ("thp", .text),
        ("dss", .text), ("hpa", .flag), ("prof", .flag),
        ("junk", .text), ("zero", .flag), ("tcache", .flag), ("abort_conf", .flag),
    ]

    /// Options that can make the books differ from jemalloc's pages, and the values that the books need.
    private static let needed = [("retain", "false"), ("prof", "false"), ("hpa", "false")]

    static let oldestVersion = "5.3.0"

    /// Throws if the books could not be exact with this allocator.
    public func check() throws(DeviceMemoryFailure) {
        guard AllocatorDescription.isRecent(version) else {
            throw .allocatorTooOld(version: version, oldest: AllocatorDescription.oldestVersion)
        }
        guard pageSize.bytes == DeviceRegion.pageSize else {
            throw .pageSize(found: pageSize.bytes, needed: DeviceRegion.pageSize)
        }
        try AllocatorDescription.check(options)
    }

    static func check(_ options: [Option]) throws(DeviceMemoryFailure) {
        for (name, value) in needed {
            // A jemalloc that lacks the option does not have its effect, either.
            guard let option = options.first(where: { $0.name == name }) else { continue }
            guard option.value == value else { throw .option(name: name, found: option.value, needed: value) }
        }
    }

    /// Whether a version text begins with 5.3.0 or a later version.
    static func isRecent(_ version: String) -> Bool {
        let numbers = version.split(separator: "-")[0].split(separator: ".").map { Int($0) ?? 0 }
        return !numbers.lexicographicallyPrecedes([5, 3, 0])
    }

    private static func text(_ name: String) throws(AllocatorError) -> String {
        let pointer = try readControl(name, into: UnsafePointer<CChar>?.none)
        return pointer.map { String(cString: $0) } ?? ""
    }

    /// The value as text; nil when this jemalloc has no such option.
    private static func value(_ name: String, _ kind: Kind) throws(AllocatorError) -> String? {
        do throws(AllocatorError) {
            return switch kind {
            case .flag: "\(try readControl(name, into: false))"
            case .count: "\(try readControl(name, into: UInt(0)))"
            case .unsigned: "\(try readControl(name, into: UInt32(0)))"
            case .signed: "\(try readControl(name, into: 0))"
            case .text: try text(name)
            }
        } catch {
            guard error.code == ENOENT else { throw error }
            return nil
        }
    }

    /// The target of a symbolic link; jemalloc reads its options from the link itself.
    private static func link(_ path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let length = readlink(path, &buffer, buffer.count)
        return length < 0 ? nil : String(decoding: buffer[..<length], as: UTF8.self)
    }
}
