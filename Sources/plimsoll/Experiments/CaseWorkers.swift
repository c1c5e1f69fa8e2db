import Experiments
import Foundation
import Metrics

/// Makes the runs of an experiment: on this machine, or elsewhere.
protocol CaseWorkers {
    /// Whether another case can be taken now.
    var hasRoom: Bool { get }
    /// Whether no case is under way.
    var isIdle: Bool { get }
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

/// A case of a plan, as the command `case` takes it; one line of JSON between processes.
struct CaseRequest: Codable {
    /// The case's place in the plan, from 0.
    let index: Int
    /// The words after `plimsoll case`.
    let arguments: [String]
}

/// The end of a case's run; one line of JSON between processes.
struct CaseEnding: Codable {
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
        output = String(decoding: ending.output, as: UTF8.self)
        errors = String(decoding: ending.errors, as: UTF8.self)
        (cpuSeconds, peakKibibytes) = (ending.cpuSeconds, ending.peakKibibytes)
    }
}

/// Runs cases on this machine, each in a process of its own and `jobs` at a time.
struct LocalWorkers: CaseWorkers {
    private let jobs: Int
    private var running: [(index: Int, child: ChildProcess)] = []

    init(jobs: Int) { self.jobs = jobs }

    /// The path of this program: its name while that is still the running file, otherwise `/proc/self/exe`, which stays
    /// valid when the file is replaced.
    static var program: String {
        let running = "/proc/self/exe"
        let name = (try? FileManager.default.destinationOfSymbolicLink(atPath: running)) ?? running
        return RunDirectory.isSame(name, running) ? name : running
    }

    var hasRoom: Bool { running.count < jobs }
    var isIdle: Bool { running.isEmpty }

    mutating func start(_ request: CaseRequest) throws {
        running.append((request.index, try ChildProcess(LocalWorkers.program, ["case"] + request.arguments)))
    }

    mutating func close(abandoning: Bool) {}

    mutating func collect() -> [CaseEnding] {
        listen()
        let ended = running.filter(\.child.isSilent).map { CaseEnding($0.index, $0.child.end()) }
        running.removeAll(where: \.child.isSilent)
        return ended
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
