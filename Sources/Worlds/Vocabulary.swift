import Memory
import Metrics
import Plan
import Pressure
import Quantities
import Reclaim
import Scenario

/// The words that the format allows in scenarios, as the code declares them. Together, the worlds must use all of them.
package enum Vocabulary {
    /// Every word: keys and named values, parameters of each policy, claims of rules, metrics. It is derived from the
    /// code, so later additions are included.
    package static let all: [String] =
        FormatKeys.all + parameters + rules
        + SummaryMetrics.all.filter { $0.type != .string }.map { "expect \($0.name)" }
        + AppMetrics.comparable.map { "expect of an app \($0.name)" } + ["expect survives"]
        + Expectation.Comparison.allCases.map { "expect \($0.rawValue)" }
        + MemoryBackend.allCases.map { "--backend \($0.rawValue)" }
        + ["--scale", "--policy FILE", "--dry-run", "--trace", "--jetsam-events"]

    /// The actions of the format, as words.
    package static let actions: [String] = ActionForm.all.map { "user[].\($0.key)" }

    private static let parameters = PolicyCatalogue.all.flatMap { type in
        ["policy \(type.name)"] + type.parameterTable.map { "policy \(type.name) \($0.name)" }
    }

    private static let rules =
        ["rules", "rules parameters", "rules order *", "rules order /"]
        + SystemMeasure.allCases.map { "claim \($0.rawValue)" }
        + ProcessFeature.allCases.map { "claim of a process \($0.rawValue)" }
        + RuleComparison.allCases.map { "claim \($0.rawValue)" } + [
            "claim for", "claims all", "claims any", "claims not",
        ]

    /// The words that a world uses, possibly with duplicates.
    package static func words(of world: World) -> [String] {
        var words = FormatKeys.used(in: world.document)
        for policy in [world.document["policy"], world.policyFile] { words += policy.map(words(ofPolicy:)) ?? [] }
        for claim in world.document["expect"]?.elements ?? [] {
            words += Vocabulary.words(ofClaim: claim.text ?? "")
        }
        let options = world.options
        words.append("--backend \(options.backend.rawValue)")
        if options.scale != nil { words.append("--scale") }
        if world.policyFile != nil { words.append("--policy FILE") }
        if options.isDryRun { words.append("--dry-run") }
        if options.writesTimeline { words.append("--trace") }
        if options.writesReports { words.append("--jetsam-events") }
        return words
    }

    /// A claim's last two or three words; names of apps may have blanks and dots.
    private static func words(ofClaim claim: String) -> [String] {
        if claim.hasSuffix(" survives") { return ["expect survives"] }
        let parts = claim.split(separator: " ").suffix(3)
        guard parts.count == 3, let subject = parts.first else { return [] }
        let metric = subject.split(separator: ".").last ?? subject
        let isOfApp = claim.prefix { $0 != "=" && $0 != "!" && $0 != "<" && $0 != ">" }.contains(".")
        return ["expect \(isOfApp ? "of an app " : "")\(metric)", "expect \(parts[parts.startIndex + 1])"]
    }

    private static func words(ofPolicy policy: Tree) -> [String] {
        let name = policy.text ?? policy["name"]?.text ?? ""
        let parameters = policy["parameters"]?.entries ?? []
        var words = ["policy \(name)"]
        words += policy["rules"] == nil ? parameters.map { "policy \(name) \($0.key)" } : ["rules parameters"]
        for rule in policy["rules"]?.elements ?? [] {
            words.append("rules")
            for key in ["when", "until"] { words += rule[key].map { claims($0, "claim ") } ?? [] }
            words += rule["who"].map { claims($0, "claim of a process ") } ?? []
            for order in [rule["order"]].compactMap(\.self) + (rule["order"]?.elements ?? []).compactMap({ $0["by"] }) {
                let terms = order.text.map { [$0] } ?? (order.entries ?? []).map(\.key)
                for sign in ["*", "/"] where terms.contains(where: { $0.contains(sign) }) {
                    words.append("rules order \(sign)")
                }
            }
            for tier in rule["order"]?.elements ?? [] {
                words += tier["where"].map { claims($0, "claim of a process ") } ?? []
            }
        }
        return words
    }

    private static func claims(_ condition: Tree, _ prefix: String) -> [String] {
        if let elements = condition.elements { return elements.flatMap { claims($0, prefix) } }
        if let entries = condition.entries {
            return entries.flatMap { ["claims \($0.key)"] + claims($0.value, prefix) }
        }
        let parts = (condition.text ?? "").split(separator: " ")
        guard parts.count >= 3 else { return [] }
        return [prefix + parts[0], "claim \(parts[1])"] + (parts.contains("for") ? ["claim for"] : [])
    }
}
