import Lifecycle
import Pressure
import Quantities

// Helpers of the shipped policies: they query a snapshot and rank actions. Every order ends with the process
// number, so that a decision is the same in every run.

extension SystemSnapshot {
    /// Whether only ending processes can meet the demand: a waiting allocation, a limit, or pressure at the critical
    /// level (at the warning level too, unless `onlyWhenCritical`).
    public func demandsTermination(onlyWhenCritical: Bool) -> Bool {
        switch demand {
        case .nothing: false
        case .allocation, .backgroundProcesses, .backgroundMemory: true
        case .pressure: level >= (onlyWhenCritical ? .critical : .warning)
        }
    }

    /// Whether the demand comes from one of the scenario's limits, which do not depend on the level.
    public var isAboutLimits: Bool {
        switch demand {
        case .backgroundProcesses, .backgroundMemory: true
        case .nothing, .pressure, .allocation: false
        }
    }

    /// Whether freeing pages helps to meet the demand. It does not help with a limit on the number of processes.
    public var isAboutMemory: Bool {
        switch demand {
        case .pressure, .allocation, .backgroundMemory: true
        case .nothing, .backgroundProcesses: false
        }
    }

    /// The process whose allocation is waiting, if that is why the policy is asked.
    public var requester: ProcessID? {
        guard case .allocation(let pid, _) = demand else { return nil }
        return pid
    }

    /// Evidence that compares available memory with a policy's own threshold.
    ///
    /// - Parameter rule: The condition in words: `below 5% of RAM`.
    public func evidence(availableBelow threshold: ByteCount, rule: String) -> Evidence {
        Evidence(
            "available_bytes", observed: Int64(available.bytes), threshold: Int64(threshold.bytes), rule: rule)
    }

    /// The same for what can be had for nothing: free memory, pages of files, purgeable memory.
    public func evidence(obtainableBelow threshold: ByteCount, rule: String) -> Evidence {
        Evidence(
            "available_bytes", observed: Int64(obtainable.bytes), threshold: Int64(threshold.bytes), rule: rule)
    }

    /// Ranks terminations by falling score, ties by the lower process number.
    ///
    /// - Parameters:
    ///   - exemptions: The processes that the policy never ends.
    ///   - score: The larger the score, the sooner the process goes. The unit is the policy's own.
    public func rankingTerminations(
        because why: String, sparing exemptions: Exemptions = [.onScreen, .requester],
        score: (ProcessSnapshot) -> Int64
    ) -> Decision {
        var decision = Decision()
        for process in processes {
            if exemptions.contains(.onScreen), process.isInFront {
                decision.spare(process, because: "in the foreground")
            } else if exemptions.contains(.requester), process.pid == requester {
                decision.spare(process, because: Spared.requester)
            } else {
                decision.rank(.terminate(process.pid), score: score(process), because: why, standing: why)
            }
        }
        decision.sortByScore()
        return decision
    }
}

/// Whom a policy never ends, by a rule of its own. The scenario's limits may protect more.
public struct Exemptions: OptionSet, Hashable, Sendable {
    /// The bits of the set.
    public let rawValue: Int

    /// A set from its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Processes in the foreground.
    public static let onScreen = Exemptions(rawValue: 1)
    /// The process whose allocation is waiting.
    public static let requester = Exemptions(rawValue: 2)
}

extension Spared {
    /// Why a policy spares the process whose allocation is waiting.
    public static let requester = "the memory is for itself"
}

extension Decision {
    /// Asks for nothing; every process is spared for the same reason.
    public static func nothing(_ standstill: Standstill, _ snapshot: SystemSnapshot) -> Decision {
        Decision(
            spared: snapshot.processes.map { Spared($0.pid, reason: standstill.reason) }, standstill: standstill)
    }

    /// Asks for nothing because the policy's own rules call for nothing. The policy is content, unless an allocation is
    /// waiting: then it waits and is asked again.
    public static func notDue(_ reason: String, _ snapshot: SystemSnapshot) -> Decision {
        nothing(snapshot.requester == nil ? .content(reason) : .waiting(reason), snapshot)
    }

    /// Appends an action to the ranking.
    ///
    /// - Parameter standing: See `Candidate.standing`.
    public mutating func rank(_ action: ReclaimAction, score: Int64, because reason: String, standing: String? = nil) {
        ranking.append(Candidate(action, score: score, reason: reason, standing: standing))
    }

    /// Leaves a process alone, and records why.
    public mutating func spare(_ process: ProcessSnapshot, because reason: String) {
        spared.append(Spared(process.pid, reason: reason))
    }

    /// Sorts the ranking: the highest score first, ties by the lower process number. Several actions on one process
    /// with equal scores keep their order.
    public mutating func sortByScore() {
        ranking.sort { ($0.score, $1.action.target) > ($1.score, $0.action.target) }
    }

    /// Makes this evidence, the policy's own trigger, that of the decision and of every candidate.
    public mutating func justify(by evidence: Evidence) {
        self.evidence = evidence
        for index in ranking.indices { ranking[index].evidence = evidence }
    }
}
