import Foundation

/// A process of the host that is waited for, and killed when it takes too long.
struct Child {
    enum Ending: Hashable {
        case exited(Int32)
        case signalled(Int32)
        /// It took longer than it may.
        case hung
        case notStarted(Int32)
    }

    let ending: Ending
    let errors: String

    /// - Parameters:
    ///   - program: A path.
    ///   - arguments: Without the program's name.
    ///   - log: The file that its outputs go to; it is replaced.
    ///   - seconds: It may take so much time on a core, and ten times as much by the clock: the host may be busy.
    init(_ program: String, _ arguments: [String], log: String, seconds: Double) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 2, log, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        var words = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var identifier: pid_t = 0
        let code = posix_spawn(&identifier, program, &actions, nil, &words, environ)
        guard code == 0 else {
            (ending, errors) = (.notStarted(code), String(cString: strerror(code)))
            return
        }
        ending = Child.wait(for: identifier, seconds: seconds)
        errors = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
    }

    private static func wait(for identifier: pid_t, seconds: Double) -> Ending {
        let clock = ContinuousClock.now
        var status: Int32 = 0
        var pause: UInt32 = 500
        while true {
            let found = waitpid(identifier, &status, WNOHANG)
            if found == identifier {
                // As <sys/wait.h> takes it apart.
                let signal = status & 0x7f
                return signal == 0 ? .exited((status >> 8) & 0xff) : .signalled(signal)
            }
            if found < 0 && errno != EINTR { return .notStarted(errno) }
            let passed = (ContinuousClock.now - clock) / .seconds(1)
            if passed > seconds, passed > seconds * 10 || cpuSeconds(of: identifier) > seconds {
                kill(identifier, SIGKILL)
                while waitpid(identifier, &status, 0) < 0 && errno == EINTR {}
                return .hung
            }
            usleep(pause)
            pause = min(pause * 5 / 4, 10_000)
        }
    }

    /// What it has used so far, as the kernel counts it; zero when that cannot be read.
    private static func cpuSeconds(of identifier: pid_t) -> Double {
        // Behind the name, which may hold blanks, in parentheses; user and system time are the fields 14 and 15.
        let text = (try? String(contentsOfFile: "/proc/\(identifier)/stat", encoding: .utf8)) ?? ""
        let fields = (text.split(separator: ")").last ?? "").split(separator: " ")
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return 0 }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}
