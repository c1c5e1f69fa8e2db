import Lifecycle
import Pressure
import Quantities

extension SystemSnapshot {
    /// Whether the demand is one that only ending processes can meet.
    func demandsTermination(onlyWhenCritical: Bool) -> Bool {
        switch demand {
        case .nothing: false
        case .allocation, .backgroundProcesses, .backgroundMemory: true
        case .pressure: level >= (onlyWhenCritical ? .critical : .warning)
        }
    }

    /// Whether the demand is one of our own limits, which know no level.
    var isAboutLimits: Bool {
        switch demand {
        case .backgroundProcesses, .backgroundMemory: true
        case .nothing, .pressure, .allocation: false
        }
    }

    /// The process whose allocation waits, if that is why the policy is asked.
    public var requester: ProcessID? {
        guard case .allocation(let pid, _) = demand else { return nil }
        return pid
    }

    /// Processes off screen by falling score, ties by the lower process number; the foreground last, and only for an
    /// allocation that nothing else can serve.
    func rankingTerminations(because why: String, score: (ProcessSnapshot) -> Int64) -> Decision {
        var decision = Decision()
        for process in processes {
            if process.phase.isForeground {
                decision.spared.append(Spared(process.pid, reason: "in the foreground"))
            } else if process.pid == requester {
                decision.spared.append(Spared(process.pid, reason: "the memory is for itself"))
            } else {
                decision.ranking.append(Candidate(.terminate(process.pid), score: score(process), reason: why))
            }
        }
        decision.ranking.sort { ($0.score, $1.action.target) > ($1.score, $0.action.target) }
        return decision
    }
}
