import Experiments
import Foundation
import Memory
import Metrics

/// Makes the runs of an experiment: on this machine, or elsewhere.
package protocol CaseWorkers {
    /// Whether another case can be taken now.
    var hasRoom: Bool { get }
    /// Whether no case is under way.
    var isIdle: Bool { get }
    /// The runs under way whose share that is done is known, by their case.
    var shares: [(index: Int, share: Double)] { get }
    /// Takes a case.
    mutating func start(_ request: CaseRequest) throws
    /// No further case comes.
    ///
    /// - Parameter abandoning: Whether runs that are under way elsewhere are no longer of interest.
    mutating func close(abandoning: Bool)
    /// Waits until a run ends, at most 250 ms, so that signals are noticed.
    ///
    /// - Returns: The runs that ended since the last call.
    mutating func collect() throws -> [CaseEnding]
}

extension CaseWorkers {
    package var shares: [(index: Int, share: Double)] { [] }
}

/// A case of a plan, as the command `case` takes it; one line of JSON between processes.
package struct CaseRequest: Codable {
    /// The case's place in the plan, from 0.
    let index: Int
    /// The words after `plimsoll case`.
    let arguments: [String]

    /// Whether its memory is only computed, so that its figures do not depend on what its process did before.
    var isComputed: Bool {
        let (options, computed) = (arguments.prefix { $0 != "--" }, MemoryBackend.accounting.rawValue)
        return zip(options, options.dropFirst()).contains { $0 == "--backend" && $1 == computed }
    }
}

/// The end of a case's run; one line of JSON between processes.
package struct CaseEnding: Codable {
    /// The case's place in the plan, from 0.
    let index: Int
    /// The exit status; 128 plus the signal's number if a signal ended the process.
    let status: Int32
    /// What `plimsoll case` wrote to stdout and stderr.
    let output: String
    let errors: String
    /// User and system CPU time.
    let cpuSeconds: Double
    /// The peak resident memory, from the kernel.
    let peakKibibytes: Int

    init(_ index: Int, _ ending: ChildProcess.Ending) {
        self.index = index
        status = ending.status
        output = CaseShare.without(String(decoding: ending.output, as: UTF8.self))
        errors = String(decoding: ending.errors, as: UTF8.self)
        (cpuSeconds, peakKibibytes) = (ending.cpuSeconds, ending.peakKibibytes)
    }

    init(_ index: Int, _ answer: CaseAnswer) {
        (self.index, status, output, errors) = (index, answer.status, answer.output, answer.errors)
        (cpuSeconds, peakKibibytes) = (answer.cpuSeconds, answer.peakKibibytes)
    }
}

/// The lines in which `plimsoll case` says how much of its run is done: `@` and a share from 0 to 1.
package struct CaseShare {
    package static let option = "--tell-shares"
    private static let mark = UInt8(ascii: "@")
    /// Two lines are at least this far apart, so that a run spends no time on them.
    private static let pause = Duration.milliseconds(250)

    private var told = ContinuousClock.now

    package init() {}

    /// The line that says this share; nil if the last line is too recent.
    package mutating func line(_ share: Double) -> String? {
        let now = ContinuousClock.now
        guard now - told >= CaseShare.pause else { return nil }
        told = now
        return "@\(share)"
    }

    /// The share in the last whole line; nil if that is another line.
    package static func last(in output: [UInt8]) -> Double? {
        let lineEnd = UInt8(ascii: "\n")
        guard let end = output.lastIndex(of: lineEnd) else { return nil }
        let start = output[..<end].lastIndex(of: lineEnd).map { $0 + 1 } ?? 0
        let line = output[start..<end]
        return line.first == mark ? Double(String(decoding: line.dropFirst(), as: UTF8.self)) : nil
    }

    /// What a run printed besides its shares.
    package static func without(_ output: String) -> String {
        guard output.utf8.first == mark else { return output }
        return output.split(separator: "\n").filter { $0.utf8.first != mark }.joined(separator: "\n")
    }
}

/// Runs cases on this machine, `jobs` at a time.
///
/// A case on real memory has a process of its own, whose allocator and resident memory are its alone. Cases whose
/// memory is computed come one after the other to processes that stay (`plimsoll serve`): a process takes longer to
/// begin than a short run takes to end.
package struct LocalWorkers: CaseWorkers {
    private struct Worker {
        let index: Int
        let child: ChildProcess
        /// Whether the process stays for another case.
        let stays: Bool
    }

    private let jobs: Int
    private let tellsShares: Bool
    private let program: String
    private var running: [Worker] = []
    /// Processes that wait for a case.
    private var waiting: [ChildProcess] = []

    /// - Parameters:
    ///   - tellsShares: Whether each run says how much of it is done, for a progress line.
    ///   - program: The path of the program that makes the runs.
    package init(jobs: Int, tellsShares: Bool = false, program: String = LocalWorkers.program) {
        (self.jobs, self.tellsShares, self.program) = (jobs, tellsShares, program)
    }

    /// The path of this program: its name while that is still the running file, otherwise `/proc/self/exe`, which stays
    /// valid when the file is replaced.
    package static var program: String {
        let running = "/proc/self/exe"
        let name = (try? FileManager.default.destinationOfSymbolicLink(atPath: running)) ?? running
        return RunDirectory.isSame(name, running) ? name : running
    }

    package var hasRoom: Bool { running.count < jobs }
    package var isIdle: Bool { running.isEmpty }

    package var shares: [(index: Int, share: Double)] {
        guard tellsShares else { return [] }
        return running.compactMap { each in CaseShare.last(in: each.child.output).map { (each.index, $0) } }
    }

    package mutating func start(_ request: CaseRequest) throws {
        let words = (tellsShares ? [CaseShare.option] : []) + request.arguments
        let stays = request.isComputed
        let child =
            stays
            ? try server(asked: try JSONDocument.line(words)) : try ChildProcess(program, ["case"] + words)
        running.append(Worker(index: request.index, child: child, stays: stays))
    }

    /// A process that makes the run, one that waits if there is one.
    private mutating func server(asked question: String) throws -> ChildProcess {
        while let child = waiting.popLast() {
            // One that the host has ended in the meantime is not missed.
            if child.ask(question) { return child }
        }
        let child = try ChildProcess(program, ["serve"])
        // If it ends before it reads, its end is that of the case.
        _ = child.ask(question)
        return child
    }

    package mutating func close(abandoning: Bool) { waiting = [] }

    package mutating func collect() -> [CaseEnding] {
        listen()
        var (ended, rest): ([CaseEnding], [Worker]) = ([], [])
        for each in running {
            if each.child.isSilent {
                ended.append(CaseEnding(each.index, each.child.end()))
            } else if each.stays, let answer = each.child.takeAnswer() {
                ended.append(ending(of: each, answer))
            } else {
                rest.append(each)
            }
        }
        running = rest
        return ended
    }

    /// The end of a run that was answered; its process waits for the next.
    private mutating func ending(of worker: Worker, _ line: Data) -> CaseEnding {
        guard let answer = JSONDocument.read(CaseAnswer.self, line) else {
            let failure = Failure(.internalFault, "plimsoll serve answered in other words")
            return CaseEnding(worker.index, CaseAnswer(failure))
        }
        waiting.append(worker.child)
        return CaseEnding(worker.index, answer)
    }

    /// Waits until a process writes or ends.
    private func listen() {
        let pipes = running.flatMap { [$0.child.outputPipe, $0.child.errorPipe] }
        // poll(2) ignores negative descriptors.
        var questions = pipes.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        guard poll(&questions, nfds_t(questions.count), 250) > 0 else { return }
        for (position, each) in running.enumerated() {
            if questions[2 * position].revents != 0 { each.child.readOutput() }
            if questions[2 * position + 1].revents != 0 { each.child.readErrors() }
        }
    }
}
