import Plan
import Quantities
import Scenario
import Simulation

/// A change of the scenario that may save a process.
package struct Change: Hashable, Sendable {
    /// What is changed. Of two changes with the same price, the one with the earlier kind is named first.
    package enum Kind: Int, Comparable, Sendable {
        /// A number of the policy.
        case policy
        /// A setting of the monitor.
        case monitor
        /// A limit of the scenario or of the app.
        case limit
        /// What the app does.
        case behaviour
        /// How large the app is.
        case size
        /// How large the device is.
        case device
        /// What the policy is told about one process: its score, its band, or a list of names.
        case preference
        /// The app is protected by name.
        case protection

        package static func < (a: Kind, b: Kind) -> Bool { a.rawValue < b.rawValue }
    }

    package let kind: Kind
    /// `device.ceiling = 1104MiB instead of 1GiB`.
    private let exact: String
    /// Which other values were tried, in words; empty if there is nothing to say about them.
    var remark = ""
    /// Whether it saves the process by chance: with a larger change of the same kind the process ends again.
    var isByChance = false
    /// By how much it delays the end, as the search found; nil for a change that saves the process.
    var delay: TimeSpan?
    /// The changes of which it is made; empty unless it is two changes together.
    private(set) var parts: [Change] = []
    /// A short name for a change of several keys; nil if the change is named by its keys.
    private var title: String?
    /// The share of its memory that the app keeps; nil for a change that is no share of it.
    var share: Ratio?
    /// The arguments of `--set`.
    package let assignments: [String]
    /// The scenario with the change.
    package let plan: RunPlan

    /// The change with every key and value, and with the remark.
    package var words: String { remark.isEmpty ? exact : "\(exact) (\(remark))" }

    /// The change in few words.
    package var brief: String {
        let words = parts.isEmpty ? title ?? exact : parts.map(\.brief).joined(separator: ", together with ")
        return isByChance ? "\(words) (by chance: \(remark))" : words
    }

    /// The change as options for a command line, quoted where a shell needs it.
    package var option: String { assignments.map { "--set \(ShellWord.quoted($0))" }.joined(separator: " ") }

    init(_ kind: Kind, _ words: String, _ assignments: [String], _ plan: RunPlan) {
        (self.kind, exact, self.assignments, self.plan) = (kind, words, assignments, plan)
    }

    /// One key of the plan with another value.
    init<Value: CustomStringConvertible>(
        _ kind: Kind, of plan: RunPlan, _ key: String, _ path: WritableKeyPath<RunPlan, Value>, to value: Value
    ) {
        var other = plan
        other[keyPath: path] = value
        let words = Change.words(key, value, size: value as? ByteCount, plan, "\(plan[keyPath: path])")
        self.init(kind, words, ["\(key)=\(value)"], other)
    }

    /// A key with its new value and its present one. A size that counts pages is one of the model; on the device that
    /// the model stands for it is larger.
    private static func words(
        _ key: String, _ value: some CustomStringConvertible, size: ByteCount?, _ plan: RunPlan, _ present: String
    ) -> String {
        let scale = plan.device.scale
        guard let size, scale != .one, !key.contains(".memory.") else {
            return "\(key) = \(value) instead of \(present)"
        }
        let whole = (try? ByteCount(parsing: present))?.onOriginal(of: scale).brief ?? present
        return "\(size.onOriginal(of: scale).brief) instead of \(whole) (in the model \(key) = \(value))"
    }

    /// One key of the plan whose value may be absent, with another value.
    init<Value: CustomStringConvertible>(
        _ kind: Kind, of plan: RunPlan, _ key: String, optional path: WritableKeyPath<RunPlan, Value?>, to value: Value?
    ) {
        var other = plan
        other[keyPath: path] = value
        func text(_ value: Value?) -> String { value.map { "\($0)" } ?? "none" }
        let words = Change.words(
            key, text(value), size: value as? ByteCount, plan, text(plan[keyPath: path]))
        self.init(kind, words, ["\(key)=\(text(value))"], other)
    }

    /// No change: the run as it is.
    static func none(of plan: RunPlan) -> Change { Change(.policy, "", [], plan) }

    /// Several changes as one.
    init(_ kind: Kind, _ what: String, _ changes: [Change]) {
        var plan = changes[0].plan
        for change in changes.dropFirst() { plan = change.plan }
        self.init(
            kind, "\(what): \(changes.map(\.words).joined(separator: ", "))", changes.flatMap(\.assignments), plan)
        title = what
    }

    /// Two changes together; nil if both set one key, or if the scenario refuses them together.
    ///
    /// - Parameter plan: The plan without a change.
    init?(_ first: Change, with second: Change, of plan: RunPlan) {
        func keys(_ change: Change) -> Set<Substring> { Set(change.assignments.map { $0.prefix { $0 != "=" } }) }
        guard keys(first).isDisjoint(with: keys(second)) else { return nil }
        let sets = first.assignments + second.assignments
        let loaded = ScenarioLoader.load(
            text: EffectiveScenario.yaml(of: plan), file: "scenario.yaml", overrides: Overrides(sets: sets))
        guard case .success(var both) = loaded else { return nil }
        both.backend = plan.backend
        self.init(max(first.kind, second.kind), "\(first.words), together with \(second.words)", sets, both)
        parts = [first, second]
    }
}
