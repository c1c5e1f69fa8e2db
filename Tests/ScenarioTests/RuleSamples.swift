import Lifecycle
import Pressure
import Quantities
import Reclaim
import Scenario
import Simulation

/// Rules as text, and snapshots for their decisions.
enum RuleSamples {
    static let now = Instant.zero + .seconds(1_000)

    /// A process that has been off screen for `idle` seconds.
    static func process(
        _ number: Int, _ phase: ProcessPhase = .suspended, idle: Int64 = 60, size: Int = 50,
        modes: [BackgroundMode] = [], _ change: (inout ProcessSnapshot) -> Void = { _ in }
    ) -> ProcessSnapshot {
        var process = ProcessSnapshot(
            app: AppID(number), name: "app\(number)", pid: ProcessID(number), phase: phase,
            band: JetsamBand.band(of: phase, modes: modes), footprint: .mebibytes(size), dirty: .zero, cache: .zero,
            launchedAt: .zero, lastForeground: now - .seconds(idle), modes: modes, warnedAt: nil,
            answersWarning: false, isBusy: false, relaunchCost: .seconds(1), scenes: [])
        change(&process)
        return process
    }

    /// A device of 1 GiB with the given MiB available.
    static func device(
        _ available: Int = 100, _ processes: [ProcessSnapshot], demand: ReclaimDemand = .nothing,
        level: PressureLevel = .normal, at now: Instant = now, _ change: (inout SystemSnapshot) -> Void = { _ in }
    ) -> SystemSnapshot {
        var snapshot = SystemSnapshot(
            now: now, demand: demand, level: level, ceiling: .gibibytes(1),
            resident: .mebibytes(1_024 - available), available: .mebibytes(available), threshold: .mebibytes(50),
            processes: processes, monitor: .ios)
        change(&snapshot)
        return snapshot
    }

    /// The policy settings with these rules, written as a flow sequence or on lines of their own.
    static func settings(_ rules: String) throws -> PolicySettings {
        let text = Samples.minimal + "policy:\n  name: ladder\n  rules: \(rules)\n"
        return try Samples.load(text).get().policy
    }

    /// The messages about a scenario, without their places.
    static func faults(_ text: String, _ sets: [String] = []) -> [String] {
        Samples.faults(text, Overrides(sets: sets)).map { fault in
            fault.firstRange(of: "error: ").map { String(fault[$0.upperBound...]) } ?? fault
        }
    }

    static func policy(_ rules: String) throws -> any ReclaimPolicy {
        guard let policy = PolicyCatalogue.make(try settings(rules)) else {
            preconditionFailure("there is no ladder")
        }
        return policy
    }

    /// The policy's first action at each instant, in order. The policy keeps its memory, and each first action is
    /// carried out.
    static func play(_ policy: any ReclaimPolicy, _ snapshots: [SystemSnapshot]) -> [ReclaimAction?] {
        var memory: [RuleMemory] = []
        return snapshots.map { snapshot in
            var snapshot = snapshot
            snapshot.history.rules = memory
            snapshot.history.rules = policy.follow(snapshot)
            let first = policy.decide(snapshot).ranking.first
            if let first, let rule = first.rule {
                let footprint = snapshot.processes.first { $0.pid == first.action.target }?.footprint ?? .zero
                snapshot.history.noteAction(ofRule: rule, at: snapshot.now, freed: footprint)
            }
            memory = snapshot.history.rules
            return first?.action
        }
    }

    /// The processes on which a rule list acts, in order.
    static func targets(_ rules: String, _ snapshot: SystemSnapshot) throws -> [Int] {
        try policy(rules).decide(snapshot).ranking.map { Int($0.action.target.number) }
    }
}
