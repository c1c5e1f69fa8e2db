import Foundation
import Memory

extension HostMachine {
    /// Reading the most deeply nested text takes 1.2 MiB in a debug build.
    private static let leastStack: rlim_t = 2 << 20

    /// Refuses a stack so small that deep calls would overflow it and end the program by a signal. Runs first and
    /// makes only system calls.
    package static func refuseSmallStack() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_STACK.rawValue), &limit) == 0, limit.rlim_cur < leastStack else {
            return
        }
        let line: StaticString =
            "plimsoll: the stack is limited to less than 2 MiB (ulimit -s); raise the limit\n"
        _ = write(2, line.utf8Start, line.utf8CodeUnitCount)
        _exit(ExitStatus.hostRefuses.rawValue)
    }

    /// Refuses options that jemalloc rejects, and words on the command line that are not UTF-8.
    package static func refuseEnvironment() throws {
        if let said = AllocatorDescription.refusedOption() {
            throw Failure(.hostRefuses, "jemalloc rejects MALLOC_CONF: \(said); unset or correct it")
        }
        // The standard library replaces bytes that are not UTF-8, so a file would get another name than the given
        // one.
        for (number, argument) in CommandLine.arguments.enumerated() {
            guard let bytes = CommandLine.unsafeArgv[number], String(validatingCString: bytes) == nil else { continue }
            throw Failure(.wrongUsage, "argument \(number), '\(argument.shortened())', is not UTF-8")
        }
    }
}
