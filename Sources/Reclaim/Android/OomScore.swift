import Lifecycle
import Pressure
import Quantities

/// Android's importance of a process, `oom_score_adj`: the higher, the sooner it dies.
///
/// Source: AOSP lmkd android-13 and the activity manager. The mapping of UIKit's states to it is ours: what plays or
/// navigates is perceptible, what runs code off screen is a service, the app that was in front before the present one
/// is protected as "previous", and the rest is cached, the longest idle with the highest score; who was never in front
/// comes after those who were.
public enum OomScore {
    public static let foreground = 0
    public static let recentForeground = 50
    public static let visible = 100
    public static let perceptible = 200
    public static let backup = 300
    public static let heavy = 400
    public static let service = 500
    public static let home = 600
    public static let previous = 700
    public static let serviceB = 800
    public static let cached = 900...999
    /// Between two cached processes, so that up to ten of them are told apart at a glance.
    private static let step = 10

    /// The score of every process of the snapshot, in its order.
    public static func all(of snapshot: SystemSnapshot) -> [Int] {
        let processes = snapshot.processes
        var scores = processes.map { $0.base ?? previous }
        var waiting = processes.indices.filter { processes[$0].base == nil }
        waiting.sort { processes[$0].lastUse > processes[$1].lastUse }
        if let first = waiting.first, processes[first].lastForeground != nil { waiting.removeFirst() }
        for (rank, index) in waiting.enumerated() {
            scores[index] = min(cached.lowerBound + rank * step, cached.upperBound)
        }
        return scores
    }
}

extension ProcessSnapshot {
    /// The order in which the user had them, the latest last; before them all those that were never in front.
    fileprivate var lastUse: (wasInFront: Int, at: Instant, ProcessID) {
        (lastForeground == nil ? 0 : 1, lastForeground ?? launchedAt, pid)
    }

    /// The score that follows from what it does; nil for one that only waits to be wanted again.
    fileprivate var base: Int? {
        switch phase {
        case .active: OomScore.foreground
        case .inactive: OomScore.visible
        case .background: modes.isEmpty ? OomScore.service : OomScore.perceptible
        case .suspended, .notRunning: nil
        }
    }
}

/// A process with its score.
struct ScoredProcess {
    let process: ProcessSnapshot
    let score: Int
}

extension SystemSnapshot {
    /// Victims as lmkd picks them: score at least `floor`, highest first, the oldest of a score; where the score is at
    /// most `heaviestAt` the largest of it, for there every loss is felt and one shall be enough.
    func rankingByScore(floor: Int, heaviestAt: Int, because why: String) -> Decision {
        var decision = Decision()
        var victims: [ScoredProcess] = []
        for (process, score) in zip(processes, OomScore.all(of: self)) {
            if process.pid == requester {
                decision.spare(process, because: Spared.requester)
            } else if process.isEnding {
                decision.spare(process, because: "it is on its way out")
            } else if score < floor {
                decision.spare(process, because: "its score \(score) is below the floor \(floor)")
            } else {
                victims.append(ScoredProcess(process: process, score: score))
            }
        }
        victims.sort { a, b in
            if a.score != b.score { return a.score > b.score }
            if a.score <= heaviestAt {
                return (a.process.footprint, b.process.pid) > (b.process.footprint, a.process.pid)
            }
            return a.process.lastUse < b.process.lastUse
        }
        decision.ranking = victims.map {
            Candidate(
                .terminate($0.process.pid), score: Int64($0.score), reason: "\(why): score \($0.score), floor \(floor)")
        }
        return decision
    }
}
