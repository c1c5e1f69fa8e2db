import ArgumentParser
import Quantities
import Simulation

/// The program's exit statuses, after sysexits.h. Scripts rely on them: their meaning never changes.
enum ExitStatus: Int32 {
    case done = 0
    case wrongUsage = 64
    case invalidInput = 65
    case missingInput = 66
    case internalFault = 70
    case hostRefuses = 71
    case cannotCreate = 73
    case cannotWrite = 74
    case expectationFailed = 99

    var code: ExitCode { ExitCode(rawValue) }
}

/// A failure that is one line on stderr and an exit status.
struct Failure: Error {
    let status: ExitStatus
    let lines: [String]

    init(_ status: ExitStatus, _ lines: [String]) {
        self.status = status
        self.lines = lines
    }

    init(_ status: ExitStatus, _ line: String) { self.init(status, ["plimsoll: \(line.asMessage.onOneLine)"]) }
}

extension RunFailure {
    /// The program's exit status.
    var status: ExitStatus {
        switch self {
        case .ours: .internalFault
        case .output: .cannotWrite
        }
    }

    var text: String {
        switch self {
        case .ours(let fault): "\(fault)"
        case .output(let failure): "\(failure)"
        }
    }
}

/// Runs a command's work, and turns a failure into lines on stderr and an exit status.
func reporting(_ work: () throws -> ExitCode) throws {
    do {
        let code = try work()
        if code != .success { throw code }
    } catch let failure as Failure {
        for line in failure.lines { Terminal.complain(line) }
        throw failure.status.code
    }
}
