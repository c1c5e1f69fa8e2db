import Foundation
import Plan
import Quantities
import Reclaim

/// A policy in a file of its own: the content of a scenario's `policy:` mapping, with an optional head (`plimsoll: 1`,
/// `description`).
public enum PolicyFile {
    /// Whether `--policy` names a file. The name of a registered policy wins; otherwise a value with a slash, or one
    /// that ends in `.yaml` or `.yml`, is a file.
    public static func isFile(_ argument: String) -> Bool {
        guard PolicyCatalogue.type(named: argument) == nil else { return false }
        return argument.contains("/") || argument.hasSuffix(".yaml") || argument.hasSuffix(".yml")
    }

    /// The default label of a policy from this file: the file's name without its extension. Nil if that is no valid
    /// name.
    static func label(of path: String) -> String? {
        let base = URL(filePath: path).deletingPathExtension().lastPathComponent
        return Codec<String>.isName(base) ? base : nil
    }

    /// The policy's mapping, for use in the scenario. Faults inside the file go to `faults`.
    static func read(path: String, faults: inout FaultList) throws(ScenarioFault) -> Tree? {
        let bytes = try InputFile.read(path, as: "a policy file")
        faults.keep(bytes, of: path)
        do {
            let tree = try Tree.read(bytes: bytes, as: "policy file").located(in: path)
            return policy(in: tree, path: path, faults: &faults)
        } catch {
            faults.add(error.origin.located(in: path), error.message)
            return nil
        }
    }

    /// The policy of a file, for lists.
    public static func load(path: String) -> Result<PolicySettings, ScenarioFault> {
        var faults = FaultList()
        var settings: PolicySettings?
        do {
            if let tree = try read(path: path, faults: &faults) {
                let decoding = Decoding()
                do {
                    try tree.checkDepth()
                    settings = decoding.within("policy") { Codec<PolicySettings>.policy.decode(tree, nil, decoding) }
                } catch {
                    faults.add(error)
                }
                faults.add(decoding.faults)
            }
        } catch {
            return .failure(error)
        }
        guard let settings, faults.isEmpty else { return .failure(.invalid(faults.diagnostics(file: path))) }
        return .success(settings)
    }

    private static func policy(in tree: Tree, path: String, faults: inout FaultList) -> Tree? {
        guard var entries = tree.entries else {
            faults.add(
                tree.origin,
                "expected a policy: a mapping with the keys \(PolicyShape.keys.joined(separator: ", ")), "
                    + "not \(tree.summary)")
            return nil
        }
        let decoding = Decoding()
        let heads = entries.filter { head.keys.contains($0.key) }
        _ = head.decode(Tree(.mapping(heads), origin: tree.origin), over: nil, decoding)
        faults.add(decoding.faults)
        entries.removeAll { head.keys.contains($0.key) }
        if tree["name"] == nil, !tree.hasMergeKey {
            // A file without a name means the same policy on every device.
            entries.append(
                Tree.Entry(
                    key: "name", keyOrigin: tree.origin,
                    value: Tree(.scalar(PolicySettings.standard.name, isQuoted: true), origin: tree.origin)))
        }
        if tree["label"] == nil, let label = label(of: path) {
            entries.append(
                Tree.Entry(
                    key: "label", keyOrigin: tree.origin,
                    value: Tree(.scalar(label, isQuoted: true), origin: tree.origin)))
        }
        return Tree(.mapping(entries), origin: tree.origin)
    }

    /// The keys that a file may have besides the policy's own.
    private static let head = Definition<PolicySettings>(
        base: .standard,
        fields: [
            Field(checked: "plimsoll", .version, constant: nil, "The version of this format."),
            Field(checked: "description", .text(length: 10_000), constant: nil, "What the policy does; for people."),
        ])

    /// A JSON Schema (draft 2020-12) of policy files.
    public static func schema() -> String {
        let first: [JSON.Member] = [
            JSON.Member(key: "$schema", value: .string("https://json-schema.org/draft/2020-12/schema")),
            JSON.Member(key: "title", value: .string("A Plimsoll policy")),
        ]
        let more = head.fields.map { JSON.Member(key: $0.key, value: $0.schema(nil)) }
        let forms = JSON.Member(key: "anyOf", value: .array(PolicyShape.mappings(adding: more)))
        return JSON.object(first + [forms, PolicyShape.definitions]).pretty() + "\n"
    }
}

extension Tree {
    /// The same tree, with every origin in the given file.
    fileprivate func located(in file: String) -> Tree {
        let origin = origin.located(in: file)
        switch content {
        case .scalar: return Tree(content, origin: origin)
        case .sequence(let elements): return Tree(.sequence(elements.map { $0.located(in: file) }), origin: origin)
        case .mapping(let entries):
            return Tree(
                .mapping(
                    entries.map {
                        Entry(
                            key: $0.key, keyOrigin: $0.keyOrigin.located(in: file), value: $0.value.located(in: file))
                    }), origin: origin)
        }
    }
}

extension Origin {
    /// The same line and column in a file other than the scenario.
    fileprivate func located(in file: String) -> Origin {
        switch self {
        case .text(let line, let column): .file(file, line: line, column: column)
        case .file, .option: self
        }
    }
}
