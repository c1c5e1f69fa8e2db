import Experiments
import Explanation
import Plan
import Quantities
import Simulation
import Workload

/// The question whether an app survives.
public struct Question: Sendable {
    /// The scenario with the app as asked about.
    public var plan: RunPlan
    /// The app's place in the plan.
    public var app: Int
    /// Every setting runs under these seeds, in this order: common random numbers.
    public var seeds: [UInt64]
    /// The app is to live in at least this share of the runs.
    public var share: Ratio
    /// The footprints among which the largest is sought, rising at equal distances; empty for no search.
    public var footprints: [ByteCount] = []
    /// Every how many of them the search scans.
    public var scan = 8
    /// Other devices, the one with the least memory first.
    public var devices: [DeviceChoice] = []
    /// The name of the device that the question is about; nil for one without a name.
    public var device: String?
    /// Whether to try changes of the app's behaviour.
    public var triesChanges = true

    /// A device by name.
    public struct DeviceChoice: Sendable {
        /// The device's name.
        public var name: String
        /// The scenario on that device.
        public var plan: RunPlan

        /// A device by name, with the scenario on it.
        public init(name: String, plan: RunPlan) {
            (self.name, self.plan) = (name, plan)
        }
    }

    /// A question about the app as the plan has it.
    public init(plan: RunPlan, app: Int, seeds: [UInt64], share: Ratio) {
        (self.plan, self.app, self.seeds, self.share) = (plan, app, seeds, share)
    }

    /// The app's name.
    public var name: String { plan.apps[app].name }
}

/// One setting under which a study runs the scenario.
public enum Setting: Hashable, Sendable {
    /// The scenario and the app as asked about.
    case own
    /// The app at the footprint at this place of the question's row.
    case footprint(Int)
    /// The device at this place of the question's row.
    case device(Int)
    /// The change at this place of the app's changes.
    case change(Int)
}

/// One run that a study asks for.
public struct RunRequest: Sendable {
    /// The number of the setting, from 0, in the order in which the study first asked for them.
    public let entry: Int
    /// The position of the seed.
    public let seed: Int
    /// The scenario with the setting and the seed.
    public let plan: RunPlan
    /// The app's place in the plan.
    public let app: Int
    /// Whether the run is over with the app's first end that counts.
    public let untilEnd: Bool
}

/// Answers a question: says which runs to make next, and learns from them.
///
/// Which runs it asks for depends only on the question and on the results, so the answer is the same however many runs
/// are made at once, and a study that was interrupted asks for the same runs again.
public struct Study {
    /// The question.
    public let question: Question
    private let sizing: Sizing?
    /// The changes of the app's behaviour; nil if the app behaves so already.
    let changes: [(title: String, change: Change?)]
    private(set) var entries: [Entry] = []
    private(set) var row: RowSearch?

    /// The most settings of a study.
    public static let mostSettings = 256

    /// A setting with its runs.
    struct Entry {
        let setting: Setting
        let plan: RunPlan
        var trial: Trial
        /// By position of the seed.
        var fates: [Fate?]
    }

    /// - Parameter sizing: Measures the app at other footprints; needed if the question has some.
    public init(_ question: Question, sizing: Sizing?) {
        precondition(!question.seeds.isEmpty, "a question without seeds")
        precondition(question.footprints.isEmpty || sizing != nil, "footprints without a measurement")
        (self.question, self.sizing) = (question, sizing)
        changes = question.triesChanges ? question.plan.teamChanges(of: question.app) : []
        if !question.footprints.isEmpty {
            row = RowSearch(count: question.footprints.count, distance: question.scan)
        }
        add(.own, question.plan, .whole, order: Array(question.seeds.indices))
    }

    private mutating func add(_ setting: Setting, _ plan: RunPlan, _ goal: Trial.Goal, order: [Int]) {
        precondition(entries.count < Study.mostSettings, "a study of more than \(Study.mostSettings) settings")
        entries.append(
            Entry(
                setting: setting, plan: plan, trial: Trial(goal, order: order),
                fates: [Fate?](repeating: nil, count: question.seeds.count)))
    }

    func index(of setting: Setting) -> Int? { entries.firstIndex { $0.setting == setting } }

    /// The seeds under which the app ends as it is come first: there it is most likely to end under other settings,
    /// too, and a few ends decide.
    private var order: [Int] {
        let own = entries[0].trial.bySeed
        return question.seeds.indices.sorted { (own[$0] == false ? 0 : 1, $0) < (own[$1] == false ? 0 : 1, $1) }
    }

    /// The runs to make next; none if the question is answered.
    public mutating func next() throws -> [RunRequest] {
        guard entries[0].trial.isComplete else { return requests(for: [0]) }
        if entries.count == 1 { addFixed() }
        var open = entries.indices.filter { !entries[$0].trial.wanted.isEmpty }
        open += try search().filter { !open.contains($0) }
        if open.isEmpty {
            // What the answer names gets all of its runs, and so an interval.
            for index in answers where !entries[index].trial.isComplete {
                entries[index].trial.complete()
                open.append(index)
            }
        }
        return requests(for: open.sorted())
    }

    /// The settings that do not depend on other results.
    private mutating func addFixed() {
        for (place, each) in changes.enumerated() {
            guard let change = each.change else { continue }
            add(.change(place), change.plan, .all, order: order)
        }
        for (place, device) in question.devices.enumerated() {
            add(.device(place), device.plan, .decide(question.share), order: order)
        }
    }

    /// Goes on with the search for the largest footprint.
    ///
    /// - Returns: The settings that need runs.
    private mutating func search() throws -> [Int] {
        while let wanted = row?.wanted, !wanted.isEmpty {
            var open: [Int] = []
            for place in wanted {
                let index = try entry(ofFootprint: place)
                if let verdict = entries[index].trial.verdict(of: question.share) {
                    row?.learn(place, verdict)
                } else {
                    open.append(index)
                }
            }
            if !open.isEmpty { return open }
        }
        return []
    }

    private mutating func entry(ofFootprint place: Int) throws -> Int {
        if let index = index(of: .footprint(place)) { return index }
        guard let sizing else { preconditionFailure("a footprint without a measurement") }
        let plan = try sizing.plan(question.plan, app: question.app, at: question.footprints[place])
        add(.footprint(place), plan, .decide(question.share), order: order)
        return entries.count - 1
    }

    /// The settings that the answer names.
    private var answers: [Int] {
        let devices = question.devices.indices.first { place in
            index(of: .device(place)).map { entries[$0].trial.verdict(of: question.share) == true } ?? false
        }
        return [row?.lastOfFirst.map { .footprint($0) }, devices.map { .device($0) }].compactMap { setting in
            setting.flatMap { index(of: $0) }
        }
    }

    private func requests(for open: [Int]) -> [RunRequest] {
        open.flatMap { index -> [RunRequest] in
            let entry = entries[index]
            return entry.trial.wanted.map { seed in
                var plan = entry.plan
                plan.seed = question.seeds[seed]
                return RunRequest(
                    entry: index, seed: seed, plan: plan, app: question.app, untilEnd: !entry.trial.isWhole)
            }
        }
    }

    /// Takes the results of the runs that `next` asked for, all of them and in their order.
    public mutating func take(_ fates: [Fate], of requests: [RunRequest]) {
        precondition(fates.count == requests.count, "\(fates.count) results of \(requests.count) runs")
        for (request, fate) in zip(requests, fates) {
            entries[request.entry].fates[request.seed] = fate
            entries[request.entry].trial.learn([fate.lives])
        }
    }

    /// The number of runs made so far.
    public var runs: Int { entries.reduce(0) { $0 + $1.trial.outcomes.count } }

    /// A guess of the number of runs that the whole study needs, for a progress line.
    public var expectedRuns: Int {
        let seeds = question.seeds.count
        let decided = question.devices.count + (row == nil ? 0 : (question.footprints.count / question.scan) + 9)
        return max(runs, seeds * (1 + changes.count { $0.change != nil }) + decided * seeds * 2 / 3)
    }
}
