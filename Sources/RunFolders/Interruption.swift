import Foundation
import Synchronization

/// Handles Ctrl-C, SIGTERM, and the SIGHUP of a closed terminal. The handler records the signal; the run checks at
/// every sample whether there was one.
package enum Interruption {
    /// Lock-free and initialised before the handler is installed, so the handler may write it.
    private static let received = Atomic<Int32>(0)

    /// - Parameter endingAtSecondCtrlC: Whether a second Ctrl-C ends the program at once. Only for a command that may
    ///   be killed at any moment without loss. A second SIGHUP or SIGTERM does nothing: a closed terminal and job
    ///   schedulers send several.
    package static func install(endingAtSecondCtrlC: Bool = false) {
        received.store(0, ordering: .relaxed)
        var numbers = [SIGINT, SIGTERM]
        // Under nohup the program continues without a terminal.
        if !isIgnored(SIGHUP) { numbers.append(SIGHUP) }
        for number in numbers {
            signal(number) { Interruption.received.store($0, ordering: .relaxed) }
        }
        if endingAtSecondCtrlC {
            signal(SIGINT) { number in
                // _exit(2) may be called in a handler.
                if Interruption.received.exchange(number, ordering: .relaxed) != 0 { _exit(128 + number) }
            }
        }
        // The parent process may have blocked these signals; the block is inherited.
        var wanted = sigset_t()
        sigemptyset(&wanted)
        for number in numbers { sigaddset(&wanted, number) }
        pthread_sigmask(SIG_UNBLOCK, &wanted, nil)
        // Ignored, these signals do not end the program: write() reports a closed pipe or a file at its size limit as
        // an error.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        // SIG_IGN is not a callable function, so only its bits are compared.
        return withUnsafeBytes(of: action.__sigaction_handler.sa_handler) { found in
            withUnsafeBytes(of: SIG_IGN) { found.elementsEqual($0) }
        }
    }

    /// The last signal; 0 if there was none.
    package static var signalNumber: Int32 { received.load(ordering: .relaxed) }

    /// Whether to end now: a signal arrived, or the lifeline (standard input) closed, which counts as SIGTERM.
    package static func isAsked(lifeline: Bool) -> Bool {
        if lifeline && isAbandoned { received.store(SIGTERM, ordering: .relaxed) }
        return signalNumber != 0
    }

    /// Whether standard input is a pipe without data whose other end is closed.
    package static var isAbandoned: Bool {
        var pipe = pollfd(fd: 0, events: 0, revents: 0)
        return poll(&pipe, 1, 0) > 0 && pipe.revents & Int16(POLLHUP | POLLERR) != 0
    }
}
