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
}
