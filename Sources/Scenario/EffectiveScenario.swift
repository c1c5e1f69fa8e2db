import Plan
import Workload

/// A plan written back as a scenario.
public enum EffectiveScenario {
    /// The scenario with every setting explicit, runnable as it is: loading it gives an equal plan.
    public static func yaml(of plan: RunPlan) -> String {
        let encoding = Encoding(appNames: plan.apps.map(\.name))
        return RunPlan.definition.encode(plan, encoding).yaml
    }

    /// The keys of an app's memory that differ from those of another, as a scenario has them.
    package static func memory(of app: MemoryProfile, unlike other: MemoryProfile) -> [(String, Tree)] {
        let encoding = Encoding(appNames: [])
        let theirs = MemoryProfile.definition.encode(other, encoding)
        guard case .mapping(let own) = MemoryProfile.definition.encode(app, encoding).content else { return [] }
        return own.filter { theirs[$0.key] != $0.value }.map { ($0.key, $0.value) }
    }
}

/// The format, described for editors and other programs.
public enum ScenarioSchema {
    /// A JSON Schema (draft 2020-12) of scenario files.
    ///
    /// It covers keys, kinds, names and patterns. Only the loader checks ranges of quantities, claims between values,
    /// and names of apps.
    public static func json() -> String { schema.pretty() + "\n" }

    static var schema: JSON {
        let head = JSON.object([
            "$schema": .string("https://json-schema.org/draft/2020-12/schema"),
            "title": .string("A Plimsoll scenario"),
        ])
        guard case .object(let members) = RunPlan.definition.schema(default: RunPlan.definition.base),
            case .object(let first) = head
        else { return head }
        return .object(first + members + [PolicyShape.definitions])
    }
}
