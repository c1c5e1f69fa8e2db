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
        // A closed pipe is an error of write(), not a death.
        signal(SIGPIPE, SIG_IGN)
    }

    /// The signal that came; 0 when none did.
    static var signalNumber: Int32 { received.load(ordering: .relaxed) }
}
