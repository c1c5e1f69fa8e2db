import Glibc

/// The host refuses memory in the middle of a run, for books that the run cannot do without. Nothing can go on, and no
/// caller could do anything about it: the program says it in one line and ends, as a machine that is too small does.
enum HostRefusal {
    /// The exit status for a machine that refuses a run.
    private static let status: Int32 = 71

    static func end(_ what: String) -> Never {
        let code = errno
        let line = "plimsoll: the host \(what): \(String(cString: strerror(code)))\n"
        _ = line.utf8.withContiguousStorageIfAvailable { write(2, $0.baseAddress, $0.count) }
        // No destructor runs: other threads may still use what they would destroy.
        _exit(status)
    }
}
