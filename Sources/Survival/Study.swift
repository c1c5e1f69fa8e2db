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
    /// Whether devices with more memory than that one are tried even if the app survives on it.
    public var triesLargerDevices = true
    /// Whether to try changes of the app's behaviour.
    public var triesChanges = true
    /// Whether to try other values of guesses (`GuessedSurvival`).
    public var triesGuesses = false
    /// The share of its pages that do not compress, where it was asked for; nil: as the scenario has it.
    public var incompressible: Ratio?
    /// The entitlement that the app is taken to have; nil for an app with the limit of the scenario.
    public var entitlement: Entitlement?

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
    /// The app with memory that does not compress.
    case incompressible
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

/// A part of the answer. The parts come in the order in which they stand in the paragraph, but a later one may be known
/// before an earlier one.
public enum Part: Int, CaseIterable, Sendable {
    /// How often the app survives as it is, how long it stays, and how it ends.
    case own
    /// What is assumed about the app, where that decides.
    case assumptions
    /// The largest footprint.
    case footprints
    /// The smallest device.
    case devices
    /// What would help most.
    case changes
}

/// Answers a question: says which runs to make next, and learns from them.
///
/// Which runs it asks for depends only on the question and on the results, so the answer is the same however many runs
/// are made at once, and a study that was interrupted asks for the same runs again. The runs of the scenario as it is
/// come first, so that their part of the answer is known early. Then come those of the searches. Those of the changes
/// are made last, and wherever the searches ask for a few runs only, which would leave cores without work.
public struct Study {
    /// The question.
    public let question: Question
    private let sizing: Sizing?
    /// The changes of the app's behaviour; nil if the app behaves so already.
    let changes: [(title: String, change: Change?)]
    private(set) var entries: [Entry] = []
    private(set) var row: RowSearch?
    /// The parts of the answer that are known.
    public private(set) var known: Set<Part> = []

    /// The most settings of a study.
    public static let mostSettings = 256
    /// How many runs are asked for at a time, if there are as many to make. It is constant, because the runs that are
    /// made must not depend on the host.
    private static let atOnce = 8

    /// A setting with its runs.
    struct Entry {
        let setting: Setting
        let plan: RunPlan
        var trial: Trial
        /// By position of the seed.
        var fates: [Fate?]
        /// Whether it is the scenario as it is, so that its runs need not be made again.
        var isOwn = false
    }

    /// - Parameter sizing: Measures the app at other footprints; needed if the question has some.
    public init(_ question: Question, sizing: Sizing?) {
        precondition(!question.seeds.isEmpty, "a question without seeds")
        precondition(question.footprints.isEmpty || sizing != nil, "footprints without a measurement")
        (self.question, self.sizing) = (question, sizing)
        changes = question.triesChanges ? question.plan.teamChanges(of: question.app) : []
        entries = [
            Entry(
                setting: .own, plan: question.plan, trial: Trial(.whole, order: Array(question.seeds.indices)),
                fates: [Fate?](repeating: nil, count: question.seeds.count))
        ]
    }

    func index(of setting: Setting) -> Int? { entries.firstIndex { $0.setting == setting } }

    // MARK: Settings

    /// Adds a setting. The seeds under which the app ends as it is come first: there it is most likely to end under
    /// other settings, too, and a few ends decide. Only under these can a change gain anything.
    ///
    /// - Parameter isOwn: Whether the setting is the scenario as it is.
    private mutating func add(_ setting: Setting, _ plan: RunPlan, _ goal: Trial.Goal, isOwn: Bool = false) {
        precondition(entries.count < Study.mostSettings, "a study of more than \(Study.mostSettings) settings")
        let own = entries[0].trial.bySeed
        let order = question.seeds.indices.sorted {
            (own[$0] == false ? 0 : 1, $0) < (own[$1] == false ? 0 : 1, $1)
        }
        var entry = Entry(
            setting: setting, plan: plan, trial: Trial(goal, order: order, risky: own.count { $0 == false }),
            fates: [Fate?](repeating: nil, count: question.seeds.count), isOwn: isOwn)
        if isOwn {
            entry.fates = entries[0].fates
            entry.trial.learn(order.map { own[$0] })
        }
        entries.append(entry)
    }

    /// The settings that do not depend on other results.
    private mutating func addFixed() {
        if let plan = incompressible { add(.incompressible, plan, .suspect(question.share)) }
        for (place, device) in devices.enumerated() {
            add(.device(place), device.plan, .suspect(question.share), isOwn: device.name == question.device)
        }
        // An app that is never ended cannot end less.
        if entries[0].trial.counts.ended > 0 {
            for (place, each) in changes.enumerated() {
                guard let change = each.change else { continue }
                add(.change(place), change.plan, .gain)
            }
        }
        guard !question.footprints.isEmpty, let sizing else { return }
        let below = question.footprints.count { $0 <= sizing.present }
        row = RowSearch(
            count: question.footprints.count, distance: question.scan,
            known: entries[0].trial.verdict(of: question.share).map { .init(below: below, answer: $0) })
    }

    /// The scenario with an app whose memory does not compress; nil if the app does not survive anyway, or if nothing
    /// of it is compressed.
    private var incompressible: RunPlan? {
        let own = question.plan.apps[question.app].memory.compressibility
        guard question.plan.device.compressor != nil, own.kept < .one,
            entries[0].trial.verdict(of: question.share) == true
        else { return nil }
        var plan = question.plan
        plan.apps[question.app].memory.compressibility = own.with(incompressible: .one)
        return plan
    }

    /// The devices to try.
    private var devices: ArraySlice<Question.DeviceChoice> {
        let all = question.devices[...]
        guard !question.triesLargerDevices, entries[0].trial.verdict(of: question.share) == true,
            let own = all.firstIndex(where: { $0.name == question.device })
        else { return all }
        return all.prefix(through: own)
    }

    private mutating func entry(ofFootprint place: Int) throws -> Int {
        if let index = index(of: .footprint(place)) { return index }
        guard let sizing else { preconditionFailure("a footprint without a measurement") }
        let size = question.footprints[place]
        let plan = try sizing.plan(question.plan, app: question.app, at: size)
        add(.footprint(place), plan, .suspect(question.share), isOwn: size == sizing.present)
        return entries.count - 1
    }

    // MARK: Runs

    /// The runs to make next; none if the question is answered.
    public mutating func next() throws -> [RunRequest] {
        guard entries[0].trial.isComplete else { return requests(for: entries[0].trial.wanted, of: 0) }
        if entries.count == 1 { addFixed() }
        var requests: [RunRequest] = []
        for index in (checkAssumptions() + searchDevices() + (try searchFootprints())).sorted() {
            requests += self.requests(for: entries[index].trial.wanted, of: index)
        }
        let rest = entries.indices.filter { entries[$0].trial.goal == .gain && !entries[$0].trial.wanted.isEmpty }
        if rest.isEmpty { known.insert(.changes) }
        let most = requests.isEmpty ? Int.max : Study.atOnce
        for index in rest where requests.count < most {
            requests += self.requests(for: entries[index].trial.wanted.prefix(most - requests.count), of: index)
        }
        return requests
    }

    /// Goes on with memory that does not compress. If that decides the answer, every seed runs, to say how much.
    ///
    /// - Returns: The settings that need runs.
    private mutating func checkAssumptions() -> [Int] {
        if let index = index(of: .incompressible) {
            if entries[index].trial.suspicion(of: question.share) == false { entries[index].trial.insistOnAll() }
            guard entries[index].trial.wanted.isEmpty else { return [index] }
        }
        known.insert(.assumptions)
        return []
    }

    /// Goes on with the devices: each gets an answer, of which a yes need only be likely. The smallest one with a yes,
    /// which the answer names, is made sure.
    ///
    /// - Returns: The settings that need runs.
    private mutating func searchDevices() -> [Int] {
        let all = question.devices.indices.compactMap { index(of: .device($0)) }
        let open = all.filter { !entries[$0].trial.wanted.isEmpty }
        guard open.isEmpty else { return open }
        if let first = all.first(where: { entries[$0].trial.suspicion(of: question.share) == true }),
            entries[first].trial.verdict(of: question.share) == nil
        {
            entries[first].trial.insist()
            return [first]
        }
        known.insert(.devices)
        return []
    }

    /// Goes on with the search for the largest footprint. The last one of each run of yeses, which the answer names, is
    /// made sure.
    ///
    /// - Returns: The settings that need runs.
    private mutating func searchFootprints() throws -> [Int] {
        while let wanted = row?.wanted, let lasts = row?.lasts {
            let places = wanted.isEmpty ? lasts : wanted
            var (open, isOver) = ([Int](), wanted.isEmpty)
            for place in places {
                let index = try entry(ofFootprint: place)
                if wanted.isEmpty { entries[index].trial.insist() }
                let trial = entries[index].trial
                let answer = wanted.isEmpty ? trial.verdict(of: question.share) : trial.suspicion(of: question.share)
                guard let answer else {
                    open.append(index)
                    continue
                }
                isOver = isOver && answer
                row?.learn(place, answer)
            }
            if isOver || !open.isEmpty {
                if open.isEmpty { known.insert(.footprints) }
                return open
            }
        }
        known.insert(.footprints)
        return []
    }

    private func requests(for seeds: ArraySlice<Int>, of index: Int) -> [RunRequest] {
        let entry = entries[index]
        return seeds.map { seed in
            var plan = entry.plan
            plan.seed = question.seeds[seed]
            return RunRequest(entry: index, seed: seed, plan: plan, app: question.app, untilEnd: !entry.trial.isWhole)
        }
    }

    /// Takes the results of the runs that `next` asked for, all of them and in their order.
    public mutating func take(_ fates: [Fate], of requests: [RunRequest]) {
        precondition(fates.count == requests.count, "\(fates.count) results of \(requests.count) runs")
        for (request, fate) in zip(requests, fates) {
            entries[request.entry].fates[request.seed] = fate
            entries[request.entry].trial.learn([fate.lives])
        }
        if entries[0].trial.isComplete { known.insert(.own) }
    }

    /// The number of runs made so far.
    public var runs: Int { entries.reduce(0) { $0 + ($1.isOwn ? 0 : $1.trial.outcomes.count) } }

    /// A guess of the number of runs that the whole study needs, for a progress line.
    public var expectedRuns: Int {
        let seeds = question.seeds.count
        let scan = question.footprints.isEmpty ? 0 : question.footprints.count / question.scan + 5
        let searched = (question.devices.count + scan) * seeds / 6 + (scan > 0 ? seeds / 2 : 0)
        let tried = changes.count { $0.change != nil } * seeds / 3
        let assumed = question.plan.device.compressor == nil ? 0 : seeds / 5
        return max(
            runs, seeds + assumed + searched + (entries[0].trial.isComplete && entries.count > 1 ? triedNow : tried))
    }

    /// The runs of the changes, as far as the study knows.
    private var triedNow: Int {
        entries.reduce(0) { $0 + ($1.trial.goal == .gain ? $1.trial.outcomes.count + $1.trial.wanted.count : 0) }
    }
}
