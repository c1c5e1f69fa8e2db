import Lifecycle
import Memory
import Quantities
import Workload

// Allocation traces: operations that are due are played; one that finds no room waits as every allocation does.
extension Simulation {
    /// The playback of a process that has just been launched; nil for an app without a trace.
    func openTrace(of profile: AppProfile) -> TracePlayback? {
        guard let trace = profile.memory.trace else { return nil }
        do {
            return try TracePlayback(trace, traces)
        } catch {
            fail("\(trace.file):\(error.line): \(error.message)")
            return nil
        }
    }

    /// True when the operations are done and the process still lives.
    func playTrace(_ operations: Int, of process: LiveProcess) -> Bool {
        guard let trace = process.trace else { return true }
        if process.work.remaining == nil {
            trace.due += operations
            process.work.remaining = .zero
        }
        do {
            while let refusal = try playDue(trace, of: process) {
                switch refusal {
                case .noRoom(let wanted, let free, let longestRun):
                    beginWaiting(process, wanted: wanted, free: free, longestRun: longestRun)
                    return false
                case .limitCrossed(let footprint):
                    crossLimit(process, footprint)
                    guard isAlive(process) else { return false }
                }
            }
        } catch {
            fail("\(trace.profile.file):\(error.line): \(error.message)")
            return false
        }
        endWaiting(of: process)
        process.work.remaining = nil
        if trace.isOver { noteTraceEnd(trace, of: process) }
        return true
    }

    private func playDue(_ trace: TracePlayback, of process: LiveProcess) throws(TraceFault) -> AllocationRefusal? {
        keepBackWhatIsOwed()
        defer { memory.keepBack(.zero) }
        return try trace.play(on: memory, process.slot, limit: process.limitToNotice)
    }

    private func noteTraceEnd(_ trace: TracePlayback, of process: LiveProcess) {
        let books = memory.books(of: process.slot)
        recorder.event(
            .trace, at: now, app: process.profile.name, pid: process.pid, trace.profile.ends.rawValue,
            reason: "\(trace.played) operations; at most \(trace.peakRequested.bytes) B requested in "
                + "\(trace.peakObjects) objects; the process holds \(books.requested.bytes) B in \(books.objects)")
        guard trace.profile.ends == .exit, process.quitReason == nil else { return }
        if foregroundApp == process.app { foregroundApp = nil }
        process.goal = .background
        process.quitReason = QuitReason(.normalApp, "its trace is over", since: now)
    }
}
