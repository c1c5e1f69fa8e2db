import Foundation

/// A process of the host that the program waits for, and kills when it takes too long.
struct Child {
    enum Ending: Hashable {
        case exited(Int32)
        case signalled(Int32)
        /// It exceeded its time limit.
        case hung
        case notStarted(Int32)
    }

    let ending: Ending
    let errors: String

    /// - Parameters:
    ///   - program: A path.
    ///   - arguments: The arguments without the program's name.
    ///   - log: The file for the process's output; it is overwritten.
    ///   - seconds: The limit for time on a core. By the clock the limit is ten times as long, because the host may be
    ///     busy.
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
                // Decodes the status as <sys/wait.h> does.
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

    /// The CPU time used so far, as the kernel counts it; zero if that cannot be read.
    private static func cpuSeconds(of identifier: pid_t) -> Double {
        // Skips the name, which is in parentheses and may contain spaces. User and system time are fields 14 and 15.
        let text = (try? String(contentsOfFile: "/proc/\(identifier)/stat", encoding: .utf8)) ?? ""
        let fields = (text.split(separator: ")").last ?? "").split(separator: " ")
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return 0 }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}
