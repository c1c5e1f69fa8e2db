import Quantities

/// Everything that decides an experiment: which runs there are, and in which order. Two plans are equal exactly when
/// their runs are the same runs.
public struct ExperimentPlan: Hashable, Sendable, Codable {
    /// Of the plan's own form.
    public var format = 1
    /// The program's version: another program may give other results.
    public var program: String
    public var scenarios: [ScenarioInput]
    /// Nil: the scenario's own.
    public var backend: String?
    public var scale: String?
    /// `--set`, for every run.
    public var sets: [String]
    /// Nil: the scenario's own.
    public var policies: [PolicyInput?]
    /// The settings that vary.
    public var keys: [String]
    /// A row per combination, a value per key.
    public var combinations: [[SettingValue]]
    /// Nil: the scenario's own.
    public var seeds: [UInt64?]

    /// A file that runs are made of.
    public struct ScenarioInput: Hashable, Sendable, Codable {
        /// As given on the command line.
        public var path: String
        /// The scenario's own name.
        public var name: String
        /// Of the scenario's text.
        public var fingerprint: String
        /// Of the traces that it names, in its order.
        public var traces: [String]

        public init(path: String, name: String, fingerprint: String, traces: [String] = []) {
            (self.path, self.name, self.fingerprint, self.traces) = (path, name, fingerprint, traces)
        }
    }

    /// A policy as given on the command line.
    public struct PolicyInput: Hashable, Sendable, Codable {
        /// A name of the catalogue, or a policy file's path.
        public var given: String
        /// How it is called in tables; different for every policy of a plan.
        public var label: String
        /// Of a policy file's text; nil for a name.
        public var fingerprint: String?

        public init(given: String, label: String, fingerprint: String? = nil) {
            (self.given, self.label, self.fingerprint) = (given, label, fingerprint)
        }
    }

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
    /// From 0, in the plan's order.
    public let index: Int
    /// Positions in the plan's lists.
    public let scenario, policy, combination: Int
    public let seed: UInt64?

    /// As people count them.
    public var number: Int { index + 1 }
}

extension ExperimentPlan {
    /// Whether a plan that was read from a file is one: nothing is empty, and every combination has a value per key.
    public var isSound: Bool {
        format == 1 && !scenarios.isEmpty && !policies.isEmpty && !combinations.isEmpty && !seeds.isEmpty
            && combinations.allSatisfy { $0.count == keys.count }
    }

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

    /// The settings of a combination as `--set` takes them, those for every run first.
    public func assignments(ofCombination combination: Int) -> [String] {
        sets + zip(keys, combinations[combination]).map { "\($0)=\($1.text)" }
    }

    /// `evening-commute, policy ladder, device.ceiling=1GiB, seed 7`.
    public func title(of each: ExperimentCase) -> String {
        var parts = [scenarios[each.scenario].name]
        if let policy = policies[each.policy] { parts.append("policy \(policy.label)") }
        parts += zip(keys, combinations[each.combination]).map { "\($0)=\($1.text)" }
        if let seed = each.seed { parts.append("seed \(seed)") }
        return parts.joined(separator: ", ")
    }

    /// What tells two plans apart, in words that fit after "another"; nil when they are the same.
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

    /// The kind of a key's column: that of its values when they are alike, else text.
    public func kind(ofKey position: Int) -> SettingKind {
        let kinds = Set(combinations.map { $0[position].kind })
        return kinds.count == 1 ? kinds.first ?? .text : .text
    }
}

/// One part of an experiment that is spread over machines: every `count`-th case, so that parts take about as long.
public struct Shard: Hashable, Sendable, CustomStringConvertible {
    /// From 1.
    public let number: Int
    public let count: Int

    public static let whole = Shard(unchecked: 1, of: 1)
    public static let most = 10_000

    private init(unchecked number: Int, of count: Int) { (self.number, self.count) = (number, count) }

    /// - Parameter text: `I/N`, I from 1 to N.
    public init(parsing text: String) throws(ExperimentFault) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, parts.allSatisfy(\.isDigits), let number = Int(parts[0]), let count = Int(parts[1]),
            (1...Shard.most).contains(count),
            (1...count).contains(number)
        else { throw ExperimentFault("'\(text)' is no part; expected I/N, such as 1/3, 2/3 or 3/3") }
        self.init(unchecked: number, of: count)
    }

    public func contains(_ index: Int) -> Bool { index % count == number - 1 }

    /// How many of so many cases are in this part.
    public func count(of total: Int) -> Int { total / count + (number <= total % count ? 1 : 0) }

    public var description: String { "\(number)/\(count)" }
}
