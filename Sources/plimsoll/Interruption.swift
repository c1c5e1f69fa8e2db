import Foundation
import Synchronization

/// Ctrl-C, SIGTERM, and SIGHUP of a closed terminal: the handler records the signal, and the run asks at every sample.
enum Interruption {
    /// Lock-free, and initialised before the handler is installed, so that the handler may write it.
    private static let received = Atomic<Int32>(0)

    static func install() {
        received.store(0, ordering: .relaxed)
        var numbers = [SIGINT, SIGTERM]
        // Under nohup the program continues without a terminal.
        if !isIgnored(SIGHUP) { numbers.append(SIGHUP) }
        for number in numbers {
            signal(number) { Interruption.received.store($0, ordering: .relaxed) }
        }
        // The parent process may have blocked them.
        var wanted = sigset_t()
        sigemptyset(&wanted)
        for number in numbers { sigaddset(&wanted, number) }
        pthread_sigmask(SIG_UNBLOCK, &wanted, nil)
        // With these ignored, a closed pipe and a file at its size limit are errors of write().
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        // SIG_IGN is not a function: its bits are compared, and it is never called.
        return withUnsafeBytes(of: action.__sigaction_handler.sa_handler) { found in
            withUnsafeBytes(of: SIG_IGN) { found.elementsEqual($0) }
        }
    }

    /// The last signal; 0 if there was none.
    static var signalNumber: Int32 { received.load(ordering: .relaxed) }

    /// Whether to end now: after a signal, or when the lifeline closed, which counts as SIGTERM.
    static func isAsked(lifeline: Bool) -> Bool {
        if lifeline && isAbandoned { received.store(SIGTERM, ordering: .relaxed) }
        return signalNumber != 0
    }

    /// Whether the other end of standard input, a pipe without data, is closed.
    static var isAbandoned: Bool {
        var pipe = pollfd(fd: 0, events: 0, revents: 0)
        return poll(&pipe, 1, 0) > 0 && pipe.revents & Int16(POLLHUP | POLLERR) != 0
    }
}
