import Lifecycle
import Quantities

/// Why an action is not carried out.
public struct Refusal: Hashable, Sendable {
    /// What forbids an action. Where a limit of the scenario forbids it, the raw value is the limit's name.
    public enum Rule: String, CaseIterable, Sendable, CustomStringConvertible {
        case alive
        case ending
        case fruitless
        case phase
        case backgroundMode = "background_mode"
        case busy
        case foreground
        case freezer
        case protected
        case protectAudible = "protect_audible"
        case minimumStay = "minimum_stay"
        case terminationsPerMinute = "terminations_per_minute"

        /// The raw value: for a limit, its name in scenarios.
        public var description: String { rawValue }
    }

    /// What forbids the action.
    public var rule: Rule
    /// Why, for people.
    public var explanation: String
    /// Whether the mere passing of time may lift the rule.
    public var isTemporary: Bool
}

/// The limits that apply to every policy. They remember recent terminations, and actions that freed nothing.
public struct Guardrails: Sendable {
    /// The scenario's limits.
    public let limits: Limits
    private var terminations: [(pid: ProcessID, at: Instant)] = []
    private var fruitless: [ReclaimAction] = []
    /// The process that was asked to end and is not gone yet. The policy may end it by force at once. Until it is
    /// gone, every action on another process is refused.
    public var ending: ProcessID?

    /// Guardrails that remember nothing yet.
    public init(_ limits: Limits) {
        self.limits = limits
    }

    /// The rule that forbids what the candidate wants, or nil if it may be carried out. The end of a control group is
    /// forbidden if the end of one of its processes is.
    public func refusal(of candidate: Candidate, in snapshot: SystemSnapshot) -> Refusal? {
        guard candidate.groupEnd != nil else { return refusal(of: candidate.action, in: snapshot) }
        return snapshot.victims(of: candidate).lazy.compactMap { process in
            refusal(of: .terminate(process.pid), in: snapshot).map { refusal in
                var refusal = refusal
                refusal.explanation = "\(process.name), which would end with it: \(refusal.explanation)"
                return refusal
            }
        }.first
    }

    /// The rule that forbids `action`, or nil if it may be carried out.
    public func refusal(of action: ReclaimAction, in snapshot: SystemSnapshot) -> Refusal? {
        guard let process = snapshot.process(action.target) else {
            return Refusal(rule: .alive, explanation: "there is no such process", isTemporary: false)
        }
        if let ending, action != .terminate(ending) {
            return Refusal(
                rule: .ending, explanation: "process \(ending.number) was asked to end and is not gone yet",
                isTemporary: true)
        }
        if fruitless.contains(action) {
            return Refusal(
                rule: .fruitless, explanation: "it was tried under this pressure and freed nothing", isTemporary: false
            )
        }
        switch action {
        case .warn:
            guard !process.phase.runsCode || process.answersWarning else { return nil }
            return Refusal(
                rule: .phase, explanation: "the process runs no code, or still answers a warning",
                isTemporary: process.answersWarning)
        case .purge, .discard, .dropFiles, .compress: return nil
        case .freeze: return refusalOfFreezing(process, snapshot.measures.freezer)
        case .thaw: return refusalOfThawing(process, available: snapshot.available)
        case .suspend: return refusalOfSuspension(process)
        case .disconnectScene(_, let scene): return refusalOfDisconnection(process, scene)
        case .terminatePolitely where process.isEnding:
            return Refusal(rule: .ending, explanation: "it was asked to end already", isTemporary: true)
        case .terminate where process.isEnding && snapshot.isAboutLimits:
            return Refusal(
                rule: .ending, explanation: "it is ending, so the limit no longer counts it", isTemporary: true)
        case .terminate, .terminatePolitely: return refusalOfTermination(process, snapshot)
        }
    }

    /// A policy may freeze an app that the freezer would leave alone: a small one, or one in a band above 20.
    private func refusalOfFreezing(_ process: ProcessSnapshot, _ freezer: FreezerState) -> Refusal? {
        if process.phase != .suspended || !process.isApp {
            return Refusal(rule: .phase, explanation: "only a suspended app can be frozen", isTemporary: false)
        }
        if process.memory.freezer == .frozen {
            return Refusal(rule: .freezer, explanation: "it is frozen already", isTemporary: false)
        }
        if let obstacle = freezer.obstacle(toFreezing: process.memory.freezer) {
            return Refusal(rule: .freezer, explanation: obstacle, isTemporary: freezer == .busy)
        }
        return busy(process)
    }

    /// What was compressed last comes back first, so all that is compressed has to come back, too.
    private func refusalOfThawing(_ process: ProcessSnapshot, available: ByteCount) -> Refusal? {
        if process.memory.onFlash == .zero {
            return Refusal(rule: .freezer, explanation: "nothing of it is on flash", isTemporary: false)
        }
        let wanted = process.memory.onFlash + process.memory.compressed
        guard wanted > available else { return nil }
        return Refusal(
            rule: .freezer, explanation: "there is no room for \(wanted.readable)", isTemporary: false)
    }

    private func refusalOfSuspension(_ process: ProcessSnapshot) -> Refusal? {
        if process.phase != .background {
            return Refusal(
                rule: .phase,
                explanation: "only a background process can be suspended, not one that is \(process.phase.rawValue)",
                isTemporary: false)
        }
        if !process.isApp {
            return Refusal(
                rule: .phase, explanation: "only an app can be suspended; this process ends its work by itself",
                isTemporary: false)
        }
        if !process.modes.isEmpty {
            return Refusal(
                rule: .backgroundMode, explanation: "it runs for \(process.modes[0].rawValue)", isTemporary: false)
        }
        return busy(process)
    }

    /// The state of the scene decides, not the state of its process. If the app in front has a window off screen,
    /// this window is a background scene like any other. The rules that protect an app from being ended (it is in
    /// front, protected by name, audible, or young) do not protect its scenes: the app lives on, and a scene comes
    /// back with its session. A process is busy while one of its scenes connects, leaves the screen, goes to the
    /// front or is being closed.
    private func refusalOfDisconnection(_ process: ProcessSnapshot, _ scene: SceneID) -> Refusal? {
        guard let found = process.scenes.first(where: { $0.scene == scene }) else {
            return Refusal(rule: .alive, explanation: "there is no such scene", isTemporary: false)
        }
        if !found.isOffScreen {
            return Refusal(
                rule: .phase,
                explanation: "only a scene off screen can be disconnected, it is \(found.phase.rawValue)",
                isTemporary: false)
        }
        return busy(process)
    }

    private func refusalOfTermination(_ process: ProcessSnapshot, _ snapshot: SystemSnapshot) -> Refusal? {
        if process.isInFront && limits.protectForeground {
            let what = process.isComing ? "an app for which the user waits" : "an app on a screen"
            return Refusal(rule: .foreground, explanation: what + " is never a victim", isTemporary: false)
        }
        if !process.counts(against: snapshot.demand) {
            return Refusal(
                rule: .fruitless, explanation: "it does not count against this limit", isTemporary: false)
        }
        if limits.protected.contains(process.app) {
            return Refusal(rule: .protected, explanation: "protected by name", isTemporary: false)
        }
        if limits.protectAudible && process.phase == .background && process.modes.contains(.audio) {
            return Refusal(rule: .protectAudible, explanation: "it plays audio", isTemporary: false)
        }
        let age = snapshot.now - process.launchedAt
        if age < limits.minimumStay {
            return Refusal(
                rule: .minimumStay, explanation: "launched \(age.readable) ago, less than \(limits.minimumStay)",
                isTemporary: true)
        }
        if let most = limits.terminationsPerMinute {
            // A process that was asked to end and is now ended at once counts as one termination.
            let recent = terminations.count { $0.pid != process.pid && snapshot.now - $0.at < .minutes(1) }
            if recent >= most {
                return Refusal(
                    rule: .terminationsPerMinute, explanation: "\(recent) terminations within 60s, \(most) allowed",
                    isTemporary: most > 0)
            }
        }
        return nil
    }

    private func busy(_ process: ProcessSnapshot) -> Refusal? {
        guard process.isBusy else { return nil }
        return Refusal(rule: .busy, explanation: "a launch or an action is under way", isTemporary: true)
    }

    /// Records a termination that a policy ordered; a process counts once.
    public mutating func noteTermination(of pid: ProcessID, at now: Instant) {
        terminations.removeAll { now - $0.at >= .minutes(1) || $0.pid == pid }
        terminations.append((pid, now))
    }

    /// Records an action that freed nothing: it is not tried again before the pressure is over.
    public mutating func noteFruitless(_ action: ReclaimAction) {
        fruitless.append(action)
    }

    /// The pressure is over: every action may be tried again.
    public mutating func forgetFruitless() {
        fruitless.removeAll()
    }
}
