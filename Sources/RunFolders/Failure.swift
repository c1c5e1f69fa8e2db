import Memory
import Metrics
import Quantities
import Scenario
import Simulation
import Survival

/// The program's exit statuses, after sysexits.h. Scripts rely on them: their meaning never changes.
package enum ExitStatus: Int32, Sendable {
    case done = 0
    case wrongUsage = 64
    case invalidInput = 65
    case missingInput = 66
    case internalFault = 70
    case hostRefuses = 71
    case cannotCreate = 73
    case cannotWrite = 74
    case expectationFailed = 99
}

/// A failure that is one line on stderr, or several, and an exit status. What is wrong with a scenario, a run or an
/// output becomes one here, and nowhere else.
package struct Failure: Error {
    package let status: ExitStatus
    package let lines: [String]

    package init(_ status: ExitStatus, _ lines: [String]) {
        self.status = status
        self.lines = lines
    }

    package init(_ status: ExitStatus, _ line: String) {
        self.init(status, ["plimsoll: \(line.asMessage.onOneLine)"])  // promise: one-line
    }

    /// A scenario or another input that cannot be read or is invalid: its lines, with the place in the file.
    package init(_ fault: ScenarioFault) {
        let status: ExitStatus =
            switch fault {
            case .unreadable, .lacking: .missingInput
            case .invalid: .invalidInput
            }
        self.init(status, [fault.illustrated])
    }

    /// An output that could not be written.
    package init(cannotWrite failure: OutputFailure) { self.init(.cannotWrite, "\(failure)") }

    /// What an error of a library means for the program; nil for errors that are no failures, such as an exit status.
    package init?(of error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let fault as ScenarioFault: self.init(fault)
        case let refusal as FirstScenario.Refusal: self.init(.wrongUsage, refusal.reason)
        case let fault as RunFailure: self.init(fault.status, fault.text)
        case let failure as DeviceMemoryFailure: self.init(.hostRefuses, "\(failure)")
        default: return nil
        }
    }
}

extension RunFailure {
    /// The program's exit status.
    var status: ExitStatus {
        switch self {
        case .ours: .internalFault
        case .start: .invalidInput
        case .output: .cannotWrite
        }
    }

    /// What is wrong, in words.
    var text: String {
        switch self {
        case .ours(let fault): "\(fault)"
        case .start(let refusal): "\(refusal)"
        case .output(let failure): "\(failure)"
        }
    }
}
