import Experiments
import Foundation
import Metrics
import Quantities

/// Hands the cases of an experiment to the process that started this one (`Scripts/sweep-on`), and gets the ends of
/// their runs back. The other process says how many cases it wants, so memory holds only those that are under way.
///
/// Both directions are lines of JSON. This process writes a `Head`, then a `CaseRequest` for each case, and closes its
/// pipe after the last one. It reads a `Want` or a `CaseEnding` in each line.
package struct HandOut: CaseWorkers {
    /// The descriptors of `--hand-out`.
    package struct Pipes {
        let reading: Int32
        let writing: Int32

        /// - Parameter text: `READ,WRITE`.
        package init?(_ text: String) {
            let numbers = text.split(separator: ",", omittingEmptySubsequences: false).compactMap { Int32($0) }
            guard numbers.count == 2, numbers.allSatisfy({ $0 > 2 && fcntl($0, F_GETFD) >= 0 }) else { return nil }
            (reading, writing) = (numbers[0], numbers[1])
        }
    }

    /// The first line: what the workers need.
    package struct Head: Encodable {
        /// The plan's fingerprint.
        let plan: String
        /// The cases that will be handed out.
        let runs: Int
        /// The program that the workers run, and its build.
        let program: String
        let build: String
        /// The most memory that one run needs of its host.
        let neededBytes: Int
        /// The files that runs read.
        let files: [File]

        /// - Parameters:
        ///   - runs: How many cases will be handed out.
        ///   - needed: The most memory that one run needs of its host.
        ///   - files: The paths of the files that runs read.
        package init(_ plan: ExperimentPlan, runs: Int, needed: ByteCount, files: [String]) throws {
            self.plan = "\(Fingerprint(of: try plan.json()))"
            (self.runs, program, build) = (runs, LocalWorkers.program, BuildIdentity.current)
            (neededBytes, self.files) = (needed.bytes, files.map(File.init))
        }
    }

    /// A file that travels to the workers.
    package struct File: Encodable {
        /// Its absolute path here.
        let source: String
        /// Its path in the folder in which a worker runs its cases.
        let place: String

        /// The path is kept, below a folder: what a scenario names relative to itself stays where it is.
        package init(_ path: String) {
            source = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
            place = "files" + URL(filePath: source).standardizedFileURL.path(percentEncoded: false)
        }
    }

    /// How many more cases the other process takes.
    private struct Want: Decodable { let want: Int }

    /// How many more cases the other process has asked for.
    private var credit = 0
    private var underWay: Set<Int> = []
    private let reading: Int32
    /// -1 after the last case.
    private var writing: Int32
    /// The beginning of a line whose end has not come yet.
    private var rest: [UInt8] = []

    package init(_ pipes: Pipes, _ head: Head) throws {
        (reading, writing) = (pipes.reading, pipes.writing)
        try send(head)
    }

    package var hasRoom: Bool { credit > 0 }
    package var isIdle: Bool { underWay.isEmpty }

    package mutating func start(_ request: CaseRequest) throws {
        try send(request)
        underWay.insert(request.index)
        credit -= 1
    }

    package mutating func close(abandoning: Bool) {
        Foundation.close(writing)
        writing = -1
        if abandoning { underWay = [] }
    }

    package mutating func collect() throws -> [CaseEnding] {
        var question = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
        guard poll(&question, 1, 250) > 0 else { return [] }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = read(reading, &buffer, buffer.count)
        if count < 0 && errno == EINTR { return [] }
        guard count > 0 else { throw HandOut.abandoned }
        rest += buffer[..<count]
        guard let end = rest.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
        let lines = rest[..<end].split(separator: UInt8(ascii: "\n"))
        rest.removeSubrange(...end)
        return try lines.compactMap { try take(Data($0)) }
    }

    /// Reads a line; nil unless it is the end of a case that is under way.
    private mutating func take(_ line: Data) throws -> CaseEnding? {
        if let ending = JSONDocument.read(CaseEnding.self, line) {
            return underWay.remove(ending.index) == nil ? nil : ending
        }
        guard let want = JSONDocument.read(Want.self, line) else {
            throw Failure(.internalFault, "the process that takes the cases sent something else than the end of a run")
        }
        credit += max(0, want.want)
        return nil
    }

    private func send(_ value: some Encodable) throws {
        let bytes = Array(try JSONDocument.line(value).utf8)
        var done = 0
        while done < bytes.count {
            let count = bytes[done...].withUnsafeBytes { write(writing, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw HandOut.abandoned }
            done += count
        }
    }

    private static let abandoned = Failure(
        .hostRefuses, "the process that takes the cases is gone; what was finished is kept")
}
