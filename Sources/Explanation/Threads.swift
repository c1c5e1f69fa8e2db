import Glibc

/// Threads of the host, each for one work. They take no descriptor of a file, unlike the queues of Dispatch, which end
/// the program where a process may open few files.
package enum Threads {
    /// A work on its way to its thread.
    private final class Errand {
        let work: @Sendable () -> Void

        init(_ work: @escaping @Sendable () -> Void) { self.work = work }
    }

    /// Begins the work on a thread of its own. Returns false, and begins nothing, if the host gives none.
    package static func begin(_ work: @escaping @Sendable () -> Void) -> Bool {
        let errand = Unmanaged.passRetained(Errand(work))
        var thread = pthread_t()
        // The new thread takes over the only reference to the errand.
        let code = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Errand>.fromOpaque(context).takeRetainedValue().work()
                return nil
            }, errand.toOpaque())
        guard code == 0 else {
            errand.release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    /// Begins the same work on as many threads, or on as many as the host gives; returns their number.
    package static func begin(_ count: Int, _ work: @escaping @Sendable () -> Void) -> Int {
        (0..<count).prefix { _ in begin(work) }.count
    }
}
