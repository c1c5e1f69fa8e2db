import Foundation

/// Owns a process of the host, and kills it if the owner is released first.
final class ChildProcess {
    /// The result of a process that ended.
    package struct Ending {
        /// The exit status; 128 plus the signal's number if a signal ended the process.
        var status: Int32
        var output: [UInt8]
        var errors: [UInt8]
        /// User and system CPU time.
        var cpuSeconds: Double
        /// The peak resident memory, from the kernel.
        var peakKibibytes: Int
    }

    /// Descriptors to read; -1 after their end.
    private(set) var outputPipe: Int32
    private(set) var errorPipe: Int32
    private let identifier: pid_t
    /// The writing end of the child's standard input. The kernel closes it even if this process is killed; then the
    /// child exits.
    private let lifeline: Int32
    /// What the child has written to its stdout so far.
    private(set) var output: [UInt8] = []
    private var errors: [UInt8] = []
    private var isReaped = false

    /// - Parameters:
    ///   - program: The path of the program.
    ///   - arguments: The arguments, without the program's name.
    init(_ program: String, _ arguments: [String]) throws {
        let (input, outputs, failures) = (try Pipe(), try Pipe(), try Pipe())
        defer {
            close(input.read)
            close(outputs.write)
            close(failures.write)
        }
        do {
            identifier = try ChildProcess.spawn(
                program, [CommandLine.arguments.first ?? "plimsoll"] + arguments,
                descriptors: [input.read, outputs.write, failures.write])
        } catch {
            for descriptor in [input.write, outputs.read, failures.read] { close(descriptor) }
            throw error
        }
        (lifeline, outputPipe, errorPipe) = (input.write, outputs.read, failures.read)
    }

    deinit {
        if !isReaped {
            kill(identifier, SIGKILL)
            var status: Int32 = 0
            while waitpid(identifier, &status, 0) < 0 && errno == EINTR {}
        }
        for descriptor in [lifeline, outputPipe, errorPipe] where descriptor >= 0 { close(descriptor) }
    }

    /// A pipe whose ends no other program inherits.
    private struct Pipe {
        let read, write: Int32

        init() throws {
            var ends: [Int32] = [-1, -1]
            guard pipe(&ends) == 0 else {
                throw Failure(.hostRefuses, "cannot make a pipe: \(String(cString: strerror(errno)))")
            }
            (read, write) = (ends[0], ends[1])
            // Only one thread starts processes, so no child inherits the ends before this.
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        }
    }

    /// Starts the child in its own process group. So Ctrl-C reaches only this process, which then ends the child.
    private static func spawn(_ program: String, _ arguments: [String], descriptors: [Int32]) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        for (target, descriptor) in descriptors.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(target))
        }
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
        posix_spawnattr_setpgroup(&attributes, 0)
        let environment = ProcessInfo.processInfo.environment.map { "\($0.key)=\($0.value)" }
        var words = arguments.map { strdup($0) } + [nil]
        var variables = environment.map { strdup($0) } + [nil]
        defer { for word in words + variables { free(word) } }
        var identifier: pid_t = 0
        let code = posix_spawn(&identifier, program, &actions, &attributes, &words, &variables)
        guard code == 0 else {
            throw Failure(.hostRefuses, "cannot start a process: \(String(cString: strerror(code)))")
        }
        return identifier
    }

    /// Writes a line to the child's standard input.
    ///
    /// - Returns: Whether the child could take it; otherwise it has ended.
    func ask(_ line: String) -> Bool {
        let bytes = Array(line.utf8)
        var done = 0
        while done < bytes.count {
            let count = bytes[done...].withUnsafeBytes { write(lifeline, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }

    /// Takes what the child has written if it ends with a whole line that is not a share of its run: an answer.
    func takeAnswer() -> Data? {
        let lineEnd = UInt8(ascii: "\n")
        guard output.last == lineEnd, CaseShare.last(in: output) == nil else { return nil }
        defer { output = [] }
        return output.split(separator: lineEnd).last.map { Data($0) }
    }

    /// Whether the child has closed both of its outputs.
    var isSilent: Bool { outputPipe < 0 && errorPipe < 0 }

    /// Reads the available bytes; call it when `poll` reports some, as it blocks otherwise.
    func readOutput() { ChildProcess.read(&outputPipe, into: &output) }
    /// The same for the child's stderr.
    func readErrors() { ChildProcess.read(&errorPipe, into: &errors) }

    private static func read(_ descriptor: inout Int32, into bytes: inout [UInt8]) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = Foundation.read(descriptor, &buffer, buffer.count)
        if count < 0 && errno == EINTR { return }
        guard count > 0 else {
            close(descriptor)
            descriptor = -1
            return
        }
        bytes += buffer[..<count]
    }

    /// Waits for the child's end.
    package func end() -> Ending {
        var (status, usage) = (Int32(0), rusage())
        while wait4(identifier, &status, 0, &usage) < 0 && errno == EINTR {}
        isReaped = true
        // As in <sys/wait.h>: the low seven bits are the signal, bits 8 to 15 the exit status.
        let signal = status & 0x7f
        return Ending(
            status: signal == 0 ? (status >> 8) & 0xff : 128 + signal, output: output, errors: errors,
            cpuSeconds: usage.cpuSeconds, peakKibibytes: usage.ru_maxrss)
    }
}
