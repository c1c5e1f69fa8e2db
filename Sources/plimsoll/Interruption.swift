import Foundation
import Synchronization

/// Ctrl-C, SIGTERM, and SIGHUP of a terminal that is closed: noted by the handler, asked for at every sample.
enum Interruption {
    /// Lock-free and initialised before the handler is installed, so that the handler may write it.
    private static let received = Atomic<Int32>(0)

    static func install() {
        received.store(0, ordering: .relaxed)
        var numbers = [SIGINT, SIGTERM]
        // Who runs us under nohup wants us to go on without a terminal.
        if !isIgnored(SIGHUP) { numbers.append(SIGHUP) }
        for number in numbers {
            signal(number) { Interruption.received.store($0, ordering: .relaxed) }
        }
        // Whoever started us may have blocked them.
        var wanted = sigset_t()
        sigemptyset(&wanted)
        for number in numbers { sigaddset(&wanted, number) }
        pthread_sigmask(SIG_UNBLOCK, &wanted, nil)
        // A closed pipe and a file at its limit are errors of write(), not deaths.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        // What stands there for "ignored" is no function: its bits are compared, and it is never called.
        return withUnsafeBytes(of: action.__sigaction_handler.sa_handler) { found in
            withUnsafeBytes(of: SIG_IGN) { found.elementsEqual($0) }
        }
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
