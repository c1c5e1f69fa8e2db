import Foundation
import Synchronization

/// Ctrl-C and SIGTERM: noted by the handler, asked for at every sample.
enum Interruption {
    /// Lock-free and initialised before the handler is installed, so that the handler may write it.
    private static let received = Atomic<Int32>(0)

    static func install() {
        received.store(0, ordering: .relaxed)
        for number in [SIGINT, SIGTERM] {
            signal(number) { Interruption.received.store($0, ordering: .relaxed) }
        }
        // Whoever started us may have blocked them.
        var wanted = sigset_t()
        sigemptyset(&wanted)
        for number in [SIGINT, SIGTERM] { sigaddset(&wanted, number) }
        pthread_sigmask(SIG_UNBLOCK, &wanted, nil)
        // A closed pipe and a file at its limit are errors of write(), not deaths.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
    }

    /// The signal that came; 0 when none did.
    static var signalNumber: Int32 { received.load(ordering: .relaxed) }

    /// Whether to end now: a signal came, or the lifeline was let go, which counts as SIGTERM.
    static func isAsked(lifeline: Bool) -> Bool {
        if lifeline && isAbandoned { received.store(SIGTERM, ordering: .relaxed) }
        return signalNumber != 0
    }

    /// Standard input is a pipe that nobody writes to; it ends when its other end is closed.
    static var isAbandoned: Bool {
        var pipe = pollfd(fd: 0, events: 0, revents: 0)
        return poll(&pipe, 1, 0) > 0 && pipe.revents & Int16(POLLHUP | POLLERR) != 0
    }
}
