import Lifecycle
import Pressure
import Quantities

// What the shipped policies ask and rank with. Every order ends with the process number, so that a decision is the same
// in every run.

extension SystemSnapshot {
    /// Whether the demand is one that only ending processes can meet: a waiting allocation, a limit, or pressure at the
    /// critical level or, if the policy acts then, at the warning level.
    public func demandsTermination(onlyWhenCritical: Bool) -> Bool {
        switch demand {
        case .nothing: false
        case .allocation, .backgroundProcesses, .backgroundMemory: true
        case .pressure: level >= (onlyWhenCritical ? .critical : .warning)
        }
    }

    /// Whether the demand is one of the scenario's limits, which know no level.
    public var isAboutLimits: Bool {
        switch demand {
        case .backgroundProcesses, .backgroundMemory: true
        case .nothing, .pressure, .allocation: false
        }
    }

    /// Whether taking pages back serves the demand; a limit on the number of processes is not served by it.
    public var isAboutMemory: Bool {
        switch demand {
        case .pressure, .allocation, .backgroundMemory: true
        case .nothing, .backgroundProcesses: false
        }
    }

    /// The process whose allocation waits, if that is why the policy is asked.
    public var requester: ProcessID? {
        guard case .allocation(let pid, _) = demand else { return nil }
        return pid
    }

    /// Available memory against a policy's own threshold.
    ///
    /// - Parameter rule: What holds, in words: `below 5% of RAM`.
    public func evidence(availableBelow threshold: ByteCount, rule: String) -> Evidence {
        Evidence(
            "available_bytes", observed: Int64(available.bytes), threshold: Int64(threshold.bytes), rule: rule)
    }

    /// Ends processes off screen by falling score, ties by the lower process number. It spares those in the foreground
    /// and the one that the memory is for.
    ///
    /// - Parameter score: The larger, the sooner the process goes; its unit is the policy's own.
    public func rankingTerminations(because why: String, score: (ProcessSnapshot) -> Int64) -> Decision {
        var decision = Decision()
        for process in processes {
            if process.phase.isForeground {
                decision.spare(process, because: "in the foreground")
            } else if process.pid == requester {
                decision.spare(process, because: Spared.requester)
            } else {
                decision.rank(.terminate(process.pid), score: score(process), because: why)
            }
        }
        decision.sortByScore()
        return decision
    }
}

extension Spared {
    /// Why a policy spares the process whose allocation waits.
    public static let requester = "the memory is for itself"
}

extension Decision {
    /// Nothing is asked for, for a reason that is said of every process.
    public static func nothing(_ standstill: Standstill, _ snapshot: SystemSnapshot) -> Decision {
        Decision(
            spared: snapshot.processes.map { Spared($0.pid, reason: standstill.reason) }, standstill: standstill)
    }

    /// Nothing is due by the policy's own rules: it is content, unless an allocation waits; then it asks to be asked
    /// again.
    public static func notDue(_ reason: String, _ snapshot: SystemSnapshot) -> Decision {
        nothing(snapshot.requester == nil ? .content(reason) : .waiting(reason), snapshot)
    }

    /// Puts an action behind those that are ranked already.
    public mutating func rank(_ action: ReclaimAction, score: Int64, because reason: String) {
        ranking.append(Candidate(action, score: score, reason: reason))
    }

    /// Leaves a process alone, and says why.
    public mutating func spare(_ process: ProcessSnapshot, because reason: String) {
        spared.append(Spared(process.pid, reason: reason))
    }

    /// Sorts what is ranked: the highest score first, ties by the lower process number. Several actions on one process
    /// with one score stay in their order.
    public mutating func sortByScore() {
        ranking.sort { ($0.score, $1.action.target) > ($1.score, $0.action.target) }
    }

    /// The policy's own trigger is why it acts on any process at all.
    public mutating func justify(by evidence: Evidence) {
        self.evidence = evidence
        for index in ranking.indices { ranking[index].evidence = evidence }
    }
}
