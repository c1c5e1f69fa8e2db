import Quantities

/// The value of one policy parameter, typed.
public enum ParameterValue: Hashable, Sendable {
    case ratio(Ratio)
    case bytes(ByteCount)
    case time(TimeSpan)
    case count(Int)
    case flag(Bool)
    /// One of the parameter's `choices`.
    case choice(String)
    /// Apps by name; such a parameter has no range.
    case names([String])
}

extension ParameterValue: CustomStringConvertible {
    /// As scenarios and `--set` take it.
    public var description: String {
        switch self {
        case .ratio(let value): "\(value)"
        case .bytes(let value): "\(value)"
        case .time(let value): "\(value)"
        case .count(let value): "\(value)"
        case .flag(let value): "\(value)"
        case .choice(let value): value
        case .names(let names): "[\(names.joined(separator: ", "))]"
        }
    }
}

/// One parameter of a policy: everything that help, schema, decoder and tuner need to know.
public struct PolicyParameter: Hashable, Sendable {
    /// As in scenarios: snake_case.
    public let name: String
    public let standard: ParameterValue
    /// Of the same kind as the default; both ends included. Of a choice and of names, which have no range, the default.
    public let lowest: ParameterValue
    public let highest: ParameterValue
    /// The values of a choice, in the order in which they are listed; empty for every other kind.
    public let choices: [String]
    public let meaning: String
    /// Where the default comes from.
    public let source: String
    /// How a search spaces its values.
    public let scale: Scale
    /// Whether a size is about what the device holds, so that a scale model has it in its own measure; false for one
    /// that says which device is meant.
    public let isScaled: Bool

    /// Choices and names have none.
    public var hasRange: Bool {
        switch standard {
        case .choice, .names: false
        case .ratio, .bytes, .time, .count, .flag: true
        }
    }

    public enum Scale: String, Sendable {
        /// By the range: evenly, or by powers of ten where it spans several.
        case ranged
        /// Evenly, for weights and shares that have no small values of interest.
        case even
    }

    public init(
        _ name: String, _ standard: ParameterValue, from lowest: ParameterValue, to highest: ParameterValue,
        scale: Scale = .ranged, isScaled: Bool = true, meaning: String, source: String
    ) {
        self.name = name
        self.standard = standard
        self.lowest = lowest
        self.highest = highest
        choices = []
        self.scale = scale
        self.isScaled = isScaled
        self.meaning = meaning
        self.source = source
    }

    /// A parameter with a few values that have no order, such as the release of a system.
    ///
    /// - Parameters:
    ///   - standard: The default; one of the choices.
    ///   - choices: All values, as scenarios write them.
    public init(
        _ name: String, choice standard: String, among choices: [String], meaning: String, source: String
    ) {
        precondition(choices.contains(standard), "\(name): the default \(standard) is not among \(choices)")
        self.name = name
        self.standard = .choice(standard)
        lowest = .choice(standard)
        highest = .choice(standard)
        self.choices = choices
        scale = .ranged
        isScaled = false
        self.meaning = meaning
        self.source = source
    }
}

/// Which policy a run uses, and with which parameters; what is not named keeps its default.
public struct PolicySettings: Hashable, Sendable {
    public var name: String
    /// What results call it, where that is not its name: a policy with other parameters is another row of a table.
    public var label: String?
    /// In the order of the policy's own table.
    public var parameters: [Assignment]
    /// Of a ladder of the user's own, which then has no parameters.
    public var rules: [LadderRule] = []

    /// What results call it.
    public var title: String { label ?? name }

    public struct Assignment: Hashable, Sendable {
        public var name: String
        public var value: ParameterValue
        public init(name: String, value: ParameterValue) {
            self.name = name
            self.value = value
        }
    }

    public init(name: String, label: String? = nil, parameters: [Assignment] = []) {
        self.name = name
        self.label = label
        self.parameters = parameters
    }
}

/// Limits that stand above any policy. Nil: no such limit.
public struct Limits: Hashable, Sendable {
    /// How many processes may be off screen at once, suspended ones included.
    public var backgroundProcesses: Int?
    /// What the processes off screen may hold together.
    public var backgroundMemory: ByteCount?
    /// How long a process may run off screen without a background mode before it is suspended.
    public var backgroundTime: TimeSpan
    /// How many terminations a policy may order within any 60 s.
    public var terminationsPerMinute: Int?
    /// A process this young is not terminated by a policy.
    public var minimumStay: TimeSpan
    /// Apps that a policy may never terminate.
    public var protected: [AppID]
    /// An app that plays audio off screen is not terminated by a policy.
    public var protectAudible: Bool

    public init(
        backgroundProcesses: Int? = nil, backgroundMemory: ByteCount? = nil, backgroundTime: TimeSpan = .seconds(30),
        terminationsPerMinute: Int? = nil, minimumStay: TimeSpan = .zero, protected: [AppID] = [],
        protectAudible: Bool = true
    ) {
        self.backgroundProcesses = backgroundProcesses
        self.backgroundMemory = backgroundMemory
        self.backgroundTime = backgroundTime
        self.terminationsPerMinute = terminationsPerMinute
        self.minimumStay = minimumStay
        self.protected = protected
        self.protectAudible = protectAudible
    }
}
