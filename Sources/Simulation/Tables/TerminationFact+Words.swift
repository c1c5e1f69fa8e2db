import Lifecycle
import Metrics
import Plan
import Pressure
import Quantities
import Reclaim

// Why a process was ended, in words that are made of the figures of its row in terminations.csv, never of its sentence.
extension RunTally.TerminationFact {
    /// Causes of the kernel that say no more than the words here.
    private static let plain = [KillCause.idleExit, .longIdleExit, .jettisoned, .perProcessLimit].map(\.rawValue)
    private static let smallNumbers = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]

    /// Says why it was ended, in few words: `inShort`, `reading` and, where memory of another process would have done
    /// as well and the policy says no more, `standing`.
    ///
    /// - Parameter plan: That of the run.
    public mutating func tell(in plan: RunPlan) {
        if let words = ownCause(plan) {
            course.inShort = words
            return
        }
        let word = course.cause ?? reason.rawValue
        guard let shortage = shortage(plan) else {
            course.inShort = KillCause(rawValue: word).map { "\($0.words) (\(word))" } ?? word
            return
        }
        course.inShort = shortage + (([reason.rawValue] + Self.plain).contains(word) ? "" : " (\(word))")
        course.reading = reading(plan)
        course.standing = course.standing ?? ownStanding
    }

    /// What says all by itself: its own allocation or limit, a limit on apps off screen, or a rule that is not about
    /// memory; nil for an end whose memory was for others.
    private func ownCause(_ plan: RunPlan) -> String? {
        if course.measure == ControlGroup.measure {
            return "its control group above its limit\(bound(" of ", plan)) (kernel_oom)"
        }
        if isForOwnAllocation { return "its own allocation\(bound(" of ", plan)) found no room" }
        switch course.demand.flatMap(ReclaimDemand.Kind.init) {
        case .backgroundProcesses: return tooMany
        case .backgroundMemory: return "memory off screen above its limit\(bound(" of ", plan))"
        case .nothing, .pressure, .allocation, nil: break
        }
        switch reason {
        case .memoryResourceLimit: return "over its own limit\(bound(" of ", plan))"
        case .appWatchdog: return "took too long (watchdog)"
        case .cpuResourceLimit: return "used too much CPU off screen"
        case .backgroundTaskAssertionTimeout: return "background task not over in time"
        case .suspendedWithLockedFile: return "suspended while it locked a file"
        case .memoryPressure, .normalApp, .abnormal, .userTerminated: return nil
        }
    }

    private var ownStanding: String? {
        if wasForeground { return "in front" }
        guard course.idle > .zero else { return nil }
        return (course.state.restsInMemory ? "idle" : "off screen") + " for \(course.idle.clock)"
    }

    /// Whether the process's own allocation found no room.
    private var isForOwnAllocation: Bool {
        beneficiary?.need == .ownAllocation || course.cause.flatMap(StallCause.init) != nil
    }

    /// The bound with a word before it; empty if there is none, or if it is no size.
    private func bound(_ before: String, _ plan: RunPlan) -> String {
        guard let threshold = course.threshold, course.measure?.hasSuffix("_bytes") == true else { return "" }
        return before + size(threshold, plan)
    }

    private func size(_ bytes: Int64, _ plan: RunPlan) -> String {
        ByteCount(Int(bytes)).onOriginal(of: plan.device.scale).brief
    }

    /// By how many the background processes exceed what is allowed.
    private var tooMany: String {
        guard let observed = course.observed, let threshold = course.threshold, observed > threshold else {
            return "too many background processes"
        }
        let excess = Int(observed - threshold)
        let number = excess <= Self.smallNumbers.count ? Self.smallNumbers[excess - 1] : "\(excess)"
        return "\(number) background \(excess == 1 ? "process" : "processes") too many"
    }

    /// What was short when it ended; nil where the figures do not say.
    private func shortage(_ plan: RunPlan) -> String? {
        if let beneficiary, beneficiary.need == .allocation {
            return "an allocation of \(beneficiary.app) found no room"
        }
        if let level {
            return level == .critical ? "memory was critical" : "pressure was at \(level.rawValue)"
        }
        guard course.measure == "available_bytes", let observed = course.observed, let threshold = course.threshold
        else { return nil }
        let bound = size(threshold, plan)
        // A kernel that has begun to end idle processes ends all of them.
        return observed < threshold ? "below \(bound) available" : "a sweep that began below \(bound)"
    }

    /// The monitor's level that the policy was asked to leave; nil if it was asked for something else.
    private var level: PressureLevel? {
        guard course.demand == ReclaimDemand.Kind.pressure.rawValue else { return nil }
        return course.level.flatMap(PressureLevel.init)
    }

    /// What the monitor saw, if that is what was compared.
    private func reading(_ plan: RunPlan) -> String? {
        guard let level, let observed = course.observed, let threshold = course.threshold else { return nil }
        var reading = PressureReading(
            measure: plan.monitor.measure, level: level, observed: observed, threshold: threshold)
        guard reading.column == course.measure else { return nil }
        reading.isOfEnd = true
        return reading.decisive(under: plan.monitor, of: plan.effectiveCeiling)
            .text(scale: plan.device.scale, namesLevel: false)
    }
}
