import Experiments
import Explanation
import Lifecycle
import Metrics
import Quantities
import Scenario
import Simulation

/// The answer of a study, as far as it is known.
public struct Answer {
    /// The question.
    public let question: Question
    /// The runs of the scenario as it is, by position of the seed.
    public let fates: [Fate]
    /// In how many of these runs the app lives, of those that have a process of it.
    public let lived: Proportion
    /// The survival curve of its stays in the background.
    public let background: KaplanMeier
    /// How it ended, the most frequent way first.
    public let ends: [EndGroup]
    /// Every setting, in the order in which the study came to it.
    public let tried: [Tried]
    /// The search for the largest footprint; nil without one.
    public let footprints: RowAnswer?
    /// The search for the smallest device; nil without devices.
    public let devices: RowAnswer?
    /// The number of runs that were made.
    public let runs: Int

    /// Ends of one kind.
    public struct EndGroup: Hashable, Sendable {
        /// An end of this kind; its instant and its footprint are those of the first.
        public let example: Fate.Ending
        /// How many ends there were in all runs.
        public let count: Int
        /// In how many runs.
        public let runs: Int
    }

    /// A setting with its result.
    public struct Tried {
        /// The setting.
        public let setting: Setting
        /// Its name: the footprint, the device or the change.
        public let name: String
        /// In words; empty if the name says it.
        public let words: String
        /// The runs in which the app lives, of those made that have a process of it.
        public let lived: Proportion
        /// Runs that were made.
        public let runs: Int
        /// Whether all seeds ran.
        public let isComplete: Bool
        /// Whether the app lives in at least the asked share of all runs; nil if the runs stopped before that was
        /// decided.
        public let isEnough: Bool?
        /// The pairs with the runs of the scenario as it is; nil unless all seeds ran, and for the scenario itself.
        public let pairs: PairedProportions?
        /// The most that a change can gain whose runs stopped because none gained anything, as a share of all seeds:
        /// the upper end of a 95 % interval. Nil otherwise.
        public let mostGain: Double?
        /// The runs, by position of the seed; nil if not made.
        public let fates: [Fate?]
        /// The options of `--set` of a change; nil for other settings.
        public let option: String?
    }

    /// The answer along a row of settings, in the order of their sizes.
    public struct RowAnswer {
        /// The names of all settings of the row.
        public let names: [String]
        /// Those that were tried and have an answer, in the order of the row.
        public let tried: [(place: Int, isEnough: Bool)]
        /// The last of the settings with which the row begins and with all of which the app lives.
        public let lastOfFirst: Int?
        /// Equal answers beside one another.
        public let stretches: [(places: ClosedRange<Int>, isEnough: Bool)]

        fileprivate init(_ names: [String], _ tried: [(place: Int, answer: Bool)], lastOfFirst: Int?) {
            (self.names, self.lastOfFirst) = (names, lastOfFirst)
            self.tried = tried.map { ($0.place, $0.answer) }
            stretches = RowSearch.stretches(of: tried).map { ($0.places, $0.answer) }
        }

        /// Whether the app lives at no setting tried after one at which it does not.
        public var isFalling: Bool { tried.last(where: \.isEnough)?.place == lastOfFirst }
        /// Whether the app lives at all settings tried after the first one at which it does.
        public var isRising: Bool { tried.drop { !$0.isEnough }.allSatisfy(\.isEnough) }
    }

    /// The answer of a study; only the parts that the study knows are final.
    public init(_ study: Study) {
        question = study.question
        fates = study.entries[0].fates.compactMap(\.self)
        let own = study.entries[0].trial
        lived = own.proportion
        background = KaplanMeier(
            fates.enumerated().flatMap { run, fate in
                fate.stays.map { KaplanMeier.Stay(run: run, length: $0.length, isEnd: $0.isEnd) }
            })
        ends = Answer.groups(fates)
        tried = study.entries.map { Answer.tried($0, study) }
        footprints = Answer.footprints(study)
        devices = Answer.devices(study)
        runs = study.runs
    }

    private static func groups(_ fates: [Fate]) -> [EndGroup] {
        var groups: [(key: Fate.Ending, first: Fate.Ending, count: Int, runs: [Int])] = []
        for (run, fate) in fates.enumerated() {
            for end in fate.ends where end.counts {
                var key = end
                (key.at, key.footprint) = (0, nil)
                if let index = groups.firstIndex(where: { $0.key == key }) {
                    groups[index].count += 1
                    if groups[index].runs.last != run { groups[index].runs.append(run) }
                } else {
                    groups.append((key, end, 1, [run]))
                }
            }
        }
        return groups.enumerated().sorted { (-$0.element.count, $0.offset) < (-$1.element.count, $1.offset) }
            .map { EndGroup(example: $0.element.first, count: $0.element.count, runs: $0.element.runs.count) }
    }

    private static func tried(_ entry: Study.Entry, _ study: Study) -> Tried {
        let question = study.question
        var (name, words, option) = ("", "", String?.none)
        switch entry.setting {
        case .own: name = "as asked"
        case .incompressible:
            let key = "\(question.plan.place(of: question.app)).memory.compressibility"
            let sets = ["\(key).repeated=0%", "\(key).incompressible=100%"].map { "--set \(ShellWord.quoted($0))" }
            (name, words, option) = (
                "incompressible", "none of its memory compresses", sets.joined(separator: " ")
            )
        case .footprint(let place): name = "\(question.footprints[place])"
        case .device(let place): name = question.devices[place].name
        case .change(let place):
            let change = study.changes[place].change
            (name, words, option) = (study.changes[place].title, change?.brief ?? "", change?.option)
        }
        let own = study.entries[0].trial.bySeed
        var (isPaired, isChange) = (entry.trial.isComplete && entry.setting != .own, false)
        if case .change = entry.setting { isChange = true }
        return Tried(
            setting: entry.setting, name: name, words: words, lived: entry.trial.proportion,
            runs: entry.trial.outcomes.count, isComplete: entry.trial.isComplete,
            isEnough: entry.trial.verdict(of: question.share),
            pairs: isPaired ? PairedProportions(without: own, with: entry.trial.bySeed) : nil,
            mostGain: isChange ? entry.trial.mostGained.map { Double($0) / Double(own.count) } : nil,
            fates: entry.fates, option: option)
    }

    private static func footprints(_ study: Study) -> RowAnswer? {
        guard let row = study.row else { return nil }
        let names = study.question.footprints.map { "\($0)" }
        return RowAnswer(names, decided(study, names.indices.map { .footprint($0) }), lastOfFirst: row.lastOfFirst)
    }

    private static func devices(_ study: Study) -> RowAnswer? {
        let devices = study.question.devices
        guard !devices.isEmpty else { return nil }
        let tried = decided(study, devices.indices.map { .device($0) })
        return RowAnswer(devices.map(\.name), tried, lastOfFirst: tried.prefix { $0.answer }.last?.place)
    }

    /// The settings of a row that have an answer.
    private static func decided(_ study: Study, _ settings: [Setting]) -> [(place: Int, answer: Bool)] {
        settings.enumerated().compactMap { place, setting in
            study.index(of: setting).flatMap { study.entries[$0].trial.verdict(of: study.question.share) }
                .map { (place, $0) }
        }
    }

    /// The app with memory that does not compress; nil if that was not tried.
    public var incompressible: Tried? { tried.first { $0.setting == .incompressible } }

    /// The changes, the largest gain first. Those whose runs stopped, as none gained anything, are last.
    public var changes: [Tried] {
        let all = tried.filter { if case .change = $0.setting { true } else { false } }
        return all.enumerated().sorted {
            (-($0.element.pairs?.gain ?? -2), $0.offset) < (-($1.element.pairs?.gain ?? -2), $1.offset)
        }.map(\.element)
    }
}
