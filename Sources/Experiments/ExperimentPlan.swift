import Quantities

/// Everything that determines an experiment: its runs and their order. Two plans are equal exactly if they describe
/// the same runs.
public struct ExperimentPlan: Hashable, Sendable, Codable {
    /// The version of the plan's format.
    public var format = 1
    /// The program's version: another version may give other results.
    public var program: String
    /// The scenarios to run.
    public var scenarios: [ScenarioInput]
    /// The memory backend; nil for the scenario's own.
    public var backend: String?
    /// The scale of the device as `--scale` takes it; nil for the scenario's own.
    public var scale: String?
    /// The assignments of `--set`, for every run.
    public var sets: [String]
    /// The policies to run; nil stands for the scenario's own.
    public var policies: [PolicyInput?]
    /// The settings that vary.
    public var keys: [String]
    /// A row per combination, a value per key.
    public var combinations: [[SettingValue]]
    /// The seeds to run; nil stands for the scenario's own.
    public var seeds: [UInt64?]

    /// A scenario file, with the fingerprints of all files that its runs read.
    public struct ScenarioInput: Hashable, Sendable, Codable {
        /// The path as given on the command line.
        public var path: String
        /// The scenario's own name.
        public var name: String
        /// The fingerprint of the scenario's text.
        public var fingerprint: String
        /// The fingerprints of the traces that the scenario names, in its order.
        public var traces: [String]

        /// A scenario with its fingerprints.
        public init(path: String, name: String, fingerprint: String, traces: [String] = []) {
            (self.path, self.name, self.fingerprint, self.traces) = (path, name, fingerprint, traces)
        }
    }

    /// A policy as given on the command line.
    public struct PolicyInput: Hashable, Sendable, Codable {
        /// A name of the catalogue, or a policy file's path.
        public var given: String
        /// The policy's name in tables, unique within a plan.
        public var label: String
        /// The fingerprint of a policy file's text; nil for a name.
        public var fingerprint: String?

        /// A policy with its label.
        public init(given: String, label: String, fingerprint: String? = nil) {
            (self.given, self.label, self.fingerprint) = (given, label, fingerprint)
        }
    }

    /// A plan with the scenarios' own settings, except for those that are given.
    public init(
        program: String, scenarios: [ScenarioInput], backend: String? = nil, scale: String? = nil, sets: [String] = [],
        policies: [PolicyInput?] = [nil], keys: [String] = [], combinations: [[SettingValue]] = [[]],
        seeds: [UInt64?] = [nil]
    ) {
        self.program = program
        self.scenarios = scenarios
        self.backend = backend
        self.scale = scale
        self.sets = sets
        self.policies = policies
        self.keys = keys
        self.combinations = combinations
        self.seeds = seeds
    }
}

/// One run of an experiment.
public struct ExperimentCase: Hashable, Sendable {
    /// The run's place in the plan, from 0.
    public let index: Int
    /// Positions in the plan's lists.
    public let scenario, policy, combination: Int
    /// The seed; nil for the scenario's own.
    public let seed: UInt64?

    /// The run's place in the plan, from 1.
    public var number: Int { index + 1 }
}

extension ExperimentPlan {
    /// Whether a plan read from a file is valid: no list is empty, and every combination has a value per key.
    public var isSound: Bool {
        format == 1 && !scenarios.isEmpty && !policies.isEmpty && !combinations.isEmpty && !seeds.isEmpty
            && combinations.allSatisfy { $0.count == keys.count }
    }

    /// The number of runs.
    public var count: Int { scenarios.count * policies.count * combinations.count * seeds.count }

    /// The run at an index of `0 ..< count`: the scenario changes slowest, then the policy, then the settings; the seed
    /// changes fastest.
    public func experimentCase(at index: Int) -> ExperimentCase {
        precondition((0..<count).contains(index), "case \(index) of \(count)")
        let (rest, seed) = index.quotientAndRemainder(dividingBy: seeds.count)
        let (above, combination) = rest.quotientAndRemainder(dividingBy: combinations.count)
        let (scenario, policy) = above.quotientAndRemainder(dividingBy: policies.count)
        return ExperimentCase(
            index: index, scenario: scenario, policy: policy, combination: combination, seed: seeds[seed])
    }

    /// The policy `unbounded`, against which what the person lost is measured; nil if the plan has it not.
    package var yardstick: Int? { policies.firstIndex { $0?.given == ExperimentPlan.yardstick } }

    /// The name of that policy.
    package static let yardstick = "unbounded"

    /// The run under `unbounded` of the same scenario, settings and seed; nil if the plan has none.
    package func yardstick(of index: Int) -> Int? {
        yardstick.map { index + ($0 - experimentCase(at: index).policy) * combinations.count * seeds.count }
    }

    /// A combination's assignments as `--set` takes them, after those for every run. Those of the policy are not for
    /// a yardstick, which stays what it is.
    public func assignments(ofCombination combination: Int, policy: Int) -> [String] {
        let all = sets + zip(keys, combinations[combination]).map { "\($0)=\($1.text)" }
        guard isMeasure(policy) else { return all }
        return all.filter { $0.prefix { $0 != "=" && $0 != "." } != "policy" }
    }

    /// Whether other policies are measured against this one: of a sweep only `unbounded`, of a comparison every
    /// yardstick; where nothing but yardsticks is compared, all but the first.
    private func isMeasure(_ policy: Int) -> Bool {
        if policy == yardstick { return true }
        let isYardstick = policies.map { $0.map { Comparison.yardsticks.contains($0.given) } ?? false }
        return keys.isEmpty && isYardstick[policy] && (policy > 0 || isYardstick.contains(false))
    }

    /// A run's title: `evening-commute, policy ladder, device.ceiling=1GiB, seed 7`.
    public func title(of each: ExperimentCase) -> String {
        var parts = [scenarios[each.scenario].name]
        if let policy = policies[each.policy] { parts.append("policy \(policy.label)") }
        parts += zip(keys, combinations[each.combination]).map { "\($0)=\($1.text)" }
        if let seed = each.seed { parts.append("seed \(seed)") }
        return parts.joined(separator: ", ")
    }

    /// The first difference between two plans, in words that fit after "another"; nil when they are equal.
    public func difference(from other: ExperimentPlan) -> String? {
        if program != other.program || format != other.format { return "version of the program (\(other.program))" }
        if scenarios.map(\.path) != other.scenarios.map(\.path) { return "list of scenarios" }
        if let pair = zip(scenarios, other.scenarios).first(where: { $0 != $1 }) {
            return "text of \(pair.0.path) or its traces"
        }
        if policies.map(\.?.given) != other.policies.map(\.?.given) { return "list of policies" }
        if let pair = zip(policies, other.policies).first(where: { $0 != $1 }) {
            return "text of \(pair.0?.given ?? "")"
        }
        if seeds != other.seeds { return "list of seeds" }
        if keys != other.keys || combinations != other.combinations { return "choice of --vary or --sample" }
        if sets != other.sets { return "choice of --set" }
        return self == other ? nil : "backend or scale"
    }

    /// The kind of a key's column: the kind of its values if they all have one kind, otherwise text.
    public func kind(ofKey position: Int) -> SettingKind {
        let kinds = Set(combinations.map { $0[position].kind })
        return kinds.count == 1 ? kinds.first ?? .text : .text
    }
}

/// One part of an experiment spread over machines: every `count`-th case, so that all parts take about the same time.
public struct Shard: Hashable, Sendable, CustomStringConvertible {
    /// The part's number, from 1.
    public let number: Int
    /// The number of parts.
    public let count: Int

    /// The whole experiment as one part.
    public static let whole = Shard(unchecked: 1, of: 1)
    /// The most parts allowed.
    public static let most = 10_000

    private init(unchecked number: Int, of count: Int) { (self.number, self.count) = (number, count) }

    /// - Parameter text: `I/N`, I from 1 to N.
    public init(parsing text: String) throws(ExperimentFault) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, parts.allSatisfy(\.isDigits), let number = Int(parts[0]), let count = Int(parts[1]),
            (1...Shard.most).contains(count),
            (1...count).contains(number)
        else { throw ExperimentFault("'\(text)' is not a part; expected I/N, such as 1/3, 2/3 or 3/3") }
        self.init(unchecked: number, of: count)
    }

    /// Whether the case at `index` is in this part.
    public func contains(_ index: Int) -> Bool { index % count == number - 1 }

    /// How many of `total` cases are in this part.
    public func count(of total: Int) -> Int { total / count + (number <= total % count ? 1 : 0) }

    /// The part as it is written: `2/8`.
    public var description: String { "\(number)/\(count)" }
}
