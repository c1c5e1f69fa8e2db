import CJemalloc

/// Reads a control of jemalloc by name.
func readControl<Value: BitwiseCopyable>(_ name: String, into value: Value) throws(AllocatorError) -> Value {
    var value = value
    var size = MemoryLayout<Value>.size
    let code = mallctl(name, &value, &size, nil, 0)
    guard code == 0 else { throw AllocatorError(control: name, code: code) }
    return value
}

/// Sets a control of jemalloc by name.
func writeControl<Value: BitwiseCopyable>(_ name: String, _ value: Value) throws(AllocatorError) {
    var value = value
    let code = mallctl(name, nil, nil, &value, MemoryLayout<Value>.size)
    guard code == 0 else { throw AllocatorError(control: name, code: code) }
}

/// Refreshes the statistics of every arena; takes about 18 microseconds for each arena of this program.
func refreshStatistics() throws(AllocatorError) {
    try writeControl("epoch", UInt64(1))
}

/// A control that exists once per arena. Its name is looked up once; each call only inserts the arena's index.
struct ArenaControl {
    /// The name, with `<i>` for the arena's index.
    let name: String
    private var path: [Int]
    private let position: Int

    /// - Parameters:
    ///   - group: The part before the index, for example `stats.arenas`.
    ///   - leaf: The part after the index, for example `pactive`.
    init(_ group: String, _ leaf: String) throws(AllocatorError) {
        name = "\(group).<i>.\(leaf)"
        position = group.utf8.count { $0 == UInt8(ascii: ".") } + 1
        path = Array(repeating: 0, count: 8)
        var length = path.count
        // Arena 0 always exists; its index stands for all others.
        let code = mallctlnametomib("\(group).0.\(leaf)", &path, &length)
        guard code == 0 else { throw AllocatorError(control: name, code: code) }
        path.removeLast(path.count - length)
    }

    /// Reads the control of one arena.
    mutating func read<Value: BitwiseCopyable>(_ arena: UInt32, into value: Value) throws(AllocatorError) -> Value {
        var value = value
        var size = MemoryLayout<Value>.size
        path[position] = Int(arena)
        let code = mallctlbymib(path, path.count, &value, &size, nil, 0)
        guard code == 0 else { throw AllocatorError(control: name, code: code) }
        return value
    }

    /// Runs a control that has no value, such as `arena.<i>.purge`.
    mutating func run(_ arena: UInt32) throws(AllocatorError) {
        path[position] = Int(arena)
        let code = mallctlbymib(path, path.count, nil, nil, nil, 0)
        guard code == 0 else { throw AllocatorError(control: name, code: code) }
    }
}

/// The memory of this program itself, as opposed to the devices that it simulates.
public enum HarnessHeap {
    /// Gives the unused pages of the program's own heap, jemalloc's arena 0, back to the host. Most memory used to load
    /// a scenario is not needed again.
    public static func trim() {
        // If jemalloc refuses, it keeps the pages; nothing else depends on this.
        _ = mallctl("arena.0.purge", nil, nil, nil, 0)
    }
}
