import Synchronization

/// Makes each value once for all tests of a process that ask for it: runs that several tests read. A test that asks
/// while another one makes the value waits for it.
public final class Memo<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private final class Cell: Sendable {
        let made = Mutex<Result<Value, any Error>?>(nil)
    }

    private let cells = Mutex<[Key: Cell]>([:])

    public init() {}

    /// The value of the key, which the first caller makes; an error is the same for all of them.
    public func value(of key: Key, make: () throws -> Value) throws -> Value {
        let cell = cells.withLock { cells in
            let cell = cells[key] ?? Cell()
            cells[key] = cell
            return cell
        }
        return try cell.made.withLock { made in
            let result = made ?? Result { try make() }
            made = result
            return try result.get()
        }
    }
}
