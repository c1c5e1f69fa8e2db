import Experiments
import Lifecycle
import Metrics
import Quantities
import Simulation
import Workload

// The answer in one paragraph.
extension Answer {
    /// The answer, its first sentence first.
    public var sentences: [String] { Part.allCases.flatMap { sentences(of: $0) } }

    /// The sentences of one part of the answer, which the study must know.
    public func sentences(of part: Part) -> [String] {
        switch part {
        case .own: [verdict, stays, howItEnds].compactMap(\.self)
        case .assumptions: [incompressibleSentence, entitlementSentence].compactMap(\.self)
        case .footprints: [footprintSentence].compactMap(\.self)
        case .devices: [deviceSentence].compactMap(\.self)
        case .changes: [helpSentence].compactMap(\.self)
        }
    }

    /// What a check says: the answer, how the app ends, and what is assumed of its memory.
    public var checked: String {
        ([verdict] + [howItEnds, incompressibleSentence, entitlementSentence].compactMap(\.self))
            .joined(separator: " ")
    }

    /// A difference of shares in whole percentage points, with its sign; halves are rounded away from zero.
    public static func points(_ difference: Double) -> String {
        let whole = Int((difference * 100).rounded())
        return whole < 0 ? "\(whole)" : "+\(whole)"
    }

    private static func percent(_ share: Double) -> String {
        // A share of nearly one is not all, and one of nearly zero not none.
        let whole = (share * 100).rounded()
        if whole == 100 && share < 1 { return "99.\(min(9, Int(share * 1000) - 990))" }
        if whole == 0 && share > 0 { return "less than 1" }
        return "\(Int(whole))"
    }

    private static func interval(_ interval: Interval?) -> String {
        guard let interval else { return "no interval" }
        return "\(percent(interval.low)) to \(percent(interval.high)) %"
    }

    private var asked: String { "\(question.share)".replacing("%", with: " %") }

    /// Whether the app survives: the interval of the probability is above or below the share that was asked for.
    public enum Verdict: String, CaseIterable, Sendable {
        case yes
        case no
        case open
        /// No run has a process of the app.
        case absent
    }

    /// The answer in one word.
    public var verdictWord: Verdict {
        guard let interval = lived.wilson() else { return .absent }
        let share = Double(question.share.partsPerMillion) / 1_000_000
        return interval.low >= share ? .yes : interval.high < share ? .no : .open
    }

    /// Whether the app survives in the share of these runs that was asked for, whatever the interval is.
    public var isProbablyYes: Bool { lived.isAtLeast(partsPerMillion: question.share.partsPerMillion) }

    private var verdict: String {
        let name = question.name
        guard let share = lived.share else {
            return "There is no answer: in none of the \(fates.count.counted("run")) does \(name) have a process."
        }
        let figures =
            name + (question.device.map { " on \($0)" } ?? "")
            + " survives in \(lived.count) of \(lived.total.counted("run")), \(Answer.percent(share)) % "
            + "(95 % interval \(Answer.interval(lived.wilson())))"
        return switch verdictWord {
        case .yes: "Yes: \(figures), which is at least the \(asked) asked for."
        case .no: "No: \(figures), which is less than the \(asked) asked for."
        case .open, .absent:
            isProbablyYes
                ? "Undecided, probably yes: \(figures). \(asked) needs an interval that is nowhere below it; \(advice)."
                : "Undecided, probably no: \(figures). The interval still reaches the \(asked) asked for; \(advice)."
        }
    }

    /// More seeds than this are no advice.
    private static let mostSeeds = 10_000

    /// How many runs would decide, if the app lived in the same share of them; nil if more than `mostSeeds`.
    var runsToDecide: Int? {
        guard lived.total > 0 else { return nil }
        let asked = Double(question.share.partsPerMillion) / 1_000_000
        let isYes = isProbablyYes
        guard lived.total < Answer.mostSeeds else { return nil }
        return (lived.total + 1...Answer.mostSeeds).first { runs in
            // The share as near as whole runs come to it, on the side that decides later.
            let count = (lived.count * runs + (isYes ? 0 : lived.total - 1)) / lived.total
            guard let interval = Proportion(count, of: runs).wilson() else { return false }
            return isYes ? interval.low >= asked : interval.high < asked
        }
    }

    /// What would decide.
    private var advice: String {
        guard let runs = runsToDecide else { return "no \(Answer.mostSeeds) seeds would decide at this share" }
        // Runs without the app do not count.
        let seeds = (runs * question.seeds.count + lived.total - 1) / lived.total
        let isPlain = question.seeds == (1...UInt64(question.seeds.count)).map { $0 }
        return isPlain ? "run --seeds 1..\(seeds) to decide" : "run about \(seeds) seeds to decide"
    }

    private static let moments: [(Int64, String)] = [
        (60, "1 min"), (600, "10 min"), (1_800, "30 min"), (3_600, "1 h"), (14_400, "4 h"), (43_200, "12 h"),
    ]

    private var part: ProcessPart? { question.plan.apps[question.app].part }

    private var isEverShown: Bool { part.map { $0.kind.isPresented || $0.kind.family == .helper } ?? true }

    /// What is assumed of how its memory compresses, if the question names it or if it decides.
    private var incompressibleSentence: String? {
        if let share = question.incompressible {
            return "Of its memory \("\(share)".replacing("%", with: " %")) is taken not to compress."
        }
        guard let other = incompressible, other.isEnough == false else { return nil }
        let kept = max(1, question.plan.apps[question.app].memory.compressibility.kept.partsPerMillion)
        let tenths = (10_000_000 + kept / 2) / kept
        return "This assumes that its memory compresses, \(tenths / 10).\(tenths % 10) : 1 on average. If none of it "
            + "did, as graphics and models do not, it would survive in \(other.lived.count) of "
            + "\(other.lived.total.counted("run")): ask with --incompressible 100%."
    }

    private var entitlementSentence: String? {
        question.entitlement.map { entitlement in
            "It is taken to have the entitlement for a limit of \(entitlement.limit) in place of "
                + "\(entitlement.standard)."
        }
    }

    private var stays: String? {
        let all = fates.reduce(0) { $0 + $1.stays.count }
        guard all > 0 else {
            return isEverShown ? "It never leaves the screen." : "It is never on the screen."
        }
        let ended = fates.reduce(0) { $0 + $1.stays.count(where: \.isEnd) }
        let head = "It goes to the background \(all.counted("time"))"
        guard ended > 0 else { return "\(head) and is never ended there." }
        let points = Answer.moments.compactMap { seconds, text -> String? in
            guard let step = background.step(at: seconds * 1_000_000), step.atRisk >= 5 else { return nil }
            return "\(text): \(Answer.percent(step.survival)) % (\(Answer.interval(step.band)))"
        }
        let median = background.median.map { "; half of the stays would be over after \(Answer.clock($0))" } ?? ""
        let list = points.isEmpty ? "" : "; it is still there after \(points.joined(separator: ", "))"
        return "\(head) and is ended there \(ended.counted("time"))\(list)\(median)."
    }

    private static func clock(_ microseconds: Int64) -> String {
        let seconds = (microseconds + 500_000) / 1_000_000
        if seconds < 120 { return "\(seconds) s" }
        return seconds < 7_200 ? "\((seconds + 30) / 60) min" : "\((seconds + 1_800) / 3_600) h"
    }

    private var howItEnds: String? {
        guard !ends.isEmpty else { return nil }
        // One counter of MetricKit may have several groups.
        var counters: [(name: String, count: Int, causes: [(app: String, count: Int)])] = []
        for group in ends {
            let name = Answer.counter(of: group.example)
            let index = counters.firstIndex { $0.name == name } ?? counters.count
            if index == counters.count { counters.append((name, 0, [])) }
            counters[index].count += group.count
            guard let app = group.example.beneficiary else { continue }
            if let cause = counters[index].causes.firstIndex(where: { $0.app == app }) {
                counters[index].causes[cause].count += group.count
            } else {
                counters[index].causes.append((app, group.count))
            }
        }
        let parts = counters.map { each in
            let causes = each.causes.enumerated().sorted {
                (-$0.element.count, $0.offset) < (-$1.element.count, $1.offset)
            }.map { "\($0.element.count) for \($0.element.app == question.name ? "itself" : $0.element.app)" }
            let list = causes.prefix(3).joined(separator: ", ") + (causes.count > 3 ? " and others" : "")
            return "\(each.count) as \(each.name)" + (causes.isEmpty ? "" : " (\(list))")
        }
        let all = ends.reduce(0) { $0 + $1.count }
        return "Your team would see \(all == 1 ? "its end" : "its \(all) ends") as: \(parts.joined(separator: "; "))."
    }

    private static func counter(of ending: Fate.Ending) -> String {
        guard let counter = Fate.counter(of: ending), let name = counter.name, let payload = counter.payload else {
            return "nothing in MetricKit (\(ending.reason) in the foreground)"
        }
        return "\(name) of \(payload.rawValue)"
    }

    private var footprintSentence: String? {
        guard let row = footprints, let first = row.names.first, let last = row.names.last else { return nil }
        let others = row.stretches.filter(\.isEnough).dropFirst(row.lastOfFirst == nil ? 0 : 1)
        let also = others.map { stretch in
            stretch.places.count == 1
                ? row.names[stretch.places.lowerBound]
                : "\(row.names[stretch.places.lowerBound]) to \(row.names[stretch.places.upperBound])"
        }.joined(separator: ", ")
        let isBroken = also.isEmpty ? "" : "; larger is not always worse here, as it also survives at \(also)"
        guard let place = row.lastOfFirst else {
            return also.isEmpty
                ? "At none of the footprints tried from \(first) to \(last) does it survive in \(asked) of the runs."
                : "At \(first) it does not survive in \(asked) of the runs, but it does at \(also): more memory is not "
                    + "always worse here."
        }
        guard place < row.names.count - 1 else {
            return "It survives in \(asked) of the runs up to \(last), the largest footprint tried."
        }
        let next = row.tried.first { $0.place > place }.map { row.names[$0.place] } ?? last
        return "The largest footprint at which it survives in \(asked) of the runs is \(row.names[place]), measured "
            + "\(part == nil ? "alone in front" : "at work"); at \(next) it does not\(isBroken)."
    }

    private var deviceSentence: String? {
        guard let row = devices else { return nil }
        guard let place = row.tried.first(where: \.isEnough)?.place else {
            let names = row.names.joined(separator: ", ")
            return "On none of the devices tried does it survive in \(asked) of the runs: \(names)."
        }
        let fails = row.tried.filter { $0.place > place && !$0.isEnough }.map { row.names[$0.place] }
        let broken =
            fails.isEmpty
            ? "" : "; more memory is not always enough, as it does not on \(fails.joined(separator: ", "))"
        return "The smallest device on which it survives in \(asked) of the runs is \(row.names[place])\(broken)."
    }

    private var helpSentence: String? {
        guard question.triesChanges, lived.total > 0 else { return nil }
        if ends.isEmpty { return "As it is never ended, no change of its behaviour can help." }
        guard let best = changes.first else { return nil }
        guard let gain = best.pairs?.gain, gain > 0 else {
            let none = "None of the changes of its behaviour that were tried would help"
            let most = changes.compactMap(\.mostGain).max() ?? 0
            return none + (most > 0 ? " by more than \(Answer.percent(most)) percentage points." : ".")
        }
        let interval = best.pairs?.interval().map { " (\(Answer.points($0.low)) to \(Answer.points($0.high)))" } ?? ""
        let doubt = best.pairs?.interval().map { $0.low <= 0 } ?? true
        return "What would help most: \(best.words), by \(Answer.points(gain)) percentage points\(interval)"
            + (doubt ? ", which may be chance." : ".")
    }
}

extension Answer {
    /// The text in lines of at most 80 columns.
    package static func wrapped(_ text: String) -> [String] {
        var lines: [String] = []
        // A number and its sign stay together.
        for word in text.replacing(" %", with: "\u{A0}%").split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= 80 {
                lines[lines.count - 1] += " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines.map { $0.replacing("\u{A0}", with: " ") }
    }
}
