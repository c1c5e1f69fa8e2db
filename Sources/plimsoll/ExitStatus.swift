import ArgumentParser
import RunFolders

extension ExitStatus {
    var code: ExitCode { ExitCode(rawValue) }
}

/// Runs a command's work, and turns a failure into lines on stderr and an exit status.
func reporting(_ work: () throws -> ExitCode) throws {
    do {
        let code = try work()
        if code != .success { throw code }
    } catch {
        guard let failure = Failure(of: error) else { throw error }
        for line in failure.lines { Terminal.complain(line) }
        throw failure.status.code
    }
}
