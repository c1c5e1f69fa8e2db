import Memory
import Quantities

/// What the command line changes in a scenario's text.
public struct Overrides: Hashable, Sendable {
    /// `key=value` with a dotted key; an app is named by its name: `apps.maps.memory.base=20MiB`. Later entries win.
    public var sets: [String]
    /// Replaces the scenario's seed.
    public var seed: UInt64?
    /// A policy with its defaults, or a policy file (see `PolicyFile.isFile`). It replaces the text's policy and all
    /// its parameters, even if the text names the same policy.
    public var policy: String?
    /// Replaces the scenario's backend.
    public var backend: MemoryBackend?
    /// The factor by which to scale the device, applied after everything else; see `RunPlan.scaled(by:)`.
    public var scale: Ratio?

    public init(
        sets: [String] = [], seed: UInt64? = nil, policy: String? = nil, backend: MemoryBackend? = nil,
        scale: Ratio? = nil
    ) {
        self.sets = sets
        self.seed = seed
        self.policy = policy
        self.backend = backend
        self.scale = scale
    }
}

extension Overrides {
    /// The policy that the option names: its name, or the content of its file. Nil if the option is absent or the file
    /// is faulty.
    func policyTree(faults: inout FaultList) throws(ScenarioFault) -> Tree? {
        guard let policy else { return nil }
        if PolicyFile.isFile(policy) { return try PolicyFile.read(path: policy, faults: &faults) }
        return Tree(.scalar(policy, isQuoted: true), origin: .option("--policy \(policy)"))
    }

    /// Applies the overrides to the tree. The decoder checks them like the rest of the tree.
    ///
    /// - Parameter policy: The result of `policyTree`.
    func apply(to tree: inout Tree, policy: Tree?, faults: inout FaultList) {
        guard tree.entries != nil else { return }
        if let seed {
            let origin = Origin.option("--seed \(seed)")
            tree.set(["seed"], to: Tree(.scalar("\(seed)", isQuoted: false), origin: origin), origin: origin)
        }
        if let backend {
            let origin = Origin.option("--backend \(backend.rawValue)")
            let value = Tree(.scalar(backend.rawValue, isQuoted: false), origin: origin)
            tree.set(["backend"], to: value, origin: origin)
        }
        if let policy { tree.setPolicy(policy, origin: policy.origin) }
        for assignment in sets {
            let origin = Origin.option("--set \(assignment)")
            do {
                try tree.apply(assignment: assignment, origin: origin)
            } catch {
                faults.add(error)
            }
        }
    }
}

extension Tree {
    fileprivate mutating func apply(assignment: String, origin: Origin) throws(Fault) {
        guard let equals = assignment.firstIndex(of: "="), equals != assignment.startIndex else {
            throw Fault(origin: origin, message: "expected key=value, such as device.ceiling=512MiB")
        }
        let key = String(assignment[..<equals])
        let text = String(assignment[assignment.index(after: equals)...])
        let value: Tree
        do {
            value = text.isEmpty ? Tree(.scalar("", isQuoted: false), origin: origin) : try Tree.read(text: text)
        } catch {
            throw Fault(origin: origin, message: "the value cannot be read: \(error.message)")
        }
        let steps = key.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard steps.count <= 32 else {
            throw Fault(
                origin: Origin.option("--set \(key.prefix(40))…"),
                message: "no setting has a key of \(steps.count) steps")
        }
        if key == "policy" || key == "policy.name" {
            return setPolicy(value.relocated(to: origin), origin: origin)
        }
        var path = try resolved(steps[...], origin: origin)
        if declaresParameter(at: path), value.entries == nil { path.append("value") }
        set(path, to: value.relocated(to: origin), origin: origin)
    }

    /// Whether the path leads to a parameter that the policy declares for its rules. Setting it sets its value.
    private func declaresParameter(at path: [String]) -> Bool {
        guard path.count == 3, path[0] == "policy", path[1] == "parameters" else { return false }
        return self["policy"]?["rules"] != nil && self["policy"]?["parameters"]?[path[2]]?.entries != nil
    }

    /// The path with numbers in place of the names of list elements. A step that the text lacks stays as it is.
    private func resolved(_ steps: ArraySlice<String>, origin: Origin) throws(Fault) -> [String] {
        guard let first = steps.first else { return [] }
        switch content {
        case .mapping:
            guard let value = self[first] else { return Array(steps) }
            return [first] + (try value.resolved(steps.dropFirst(), origin: origin))
        case .scalar:
            return Array(steps)
        case .sequence(let elements):
            // Names may contain dots, so the longest matching name wins.
            for length in stride(from: steps.count, to: 0, by: -1) {
                let name = steps.prefix(length).joined(separator: ".")
                let index = elements.firstIndex { $0["name"]?.text == name }
                guard let index = index ?? (length == 1 ? Int(name) : nil), elements.indices.contains(index) else {
                    continue
                }
                return ["\(index)"] + (try elements[index].resolved(steps.dropFirst(length), origin: origin))
            }
            let names = elements.compactMap { $0["name"]?.text }
            let advice = names.isEmpty ? "" : Nearest.advice(for: first, among: names, kind: "names")
            throw Fault(origin: origin, message: "no element is called '\(first.shortened())'" + advice)
        }
    }

    /// Sets the value at the path and creates missing mappings on the way.
    fileprivate mutating func set(_ path: [String], to value: Tree, origin: Origin) {
        guard let first = path.first else {
            self = value
            return
        }
        let rest = Array(path.dropFirst())
        switch content {
        case .sequence(var elements):
            // The path is resolved, so the step is an index of this list.
            guard let index = Int(first), elements.indices.contains(index) else { return }
            elements[index].set(rest, to: value, origin: origin)
            content = .sequence(elements)
        case .mapping(var entries):
            if let index = entries.firstIndex(where: { $0.key == first }) {
                entries[index].value.set(rest, to: value, origin: origin)
            } else {
                var inner = Tree(.mapping([]), origin: origin)
                inner.set(rest, to: value, origin: origin)
                entries.append(Entry(key: first, keyOrigin: origin, value: inner))
            }
            content = .mapping(entries)
        case .scalar(let text, _):
            // A bare policy becomes its mapping, and so does a bare spread. Nothing else can be both a scalar and a
            // mapping.
            let shorthand = isNull ? nil : Tree.shorthands[first]
            let entry = shorthand.map { key in
                Entry(key: key, keyOrigin: self.origin, value: Tree(.scalar(text, isQuoted: true), origin: self.origin))
            }
            self = Tree(.mapping(entry.map { [$0] } ?? []), origin: origin)
            set(path, to: value, origin: origin)
        }
    }

    /// For keys that are set in a mapping of which the text has only the shorthand: the key that the shorthand stands
    /// for.
    private static let shorthands = ["parameters": "name", "except": "sigma"]

    /// Sets the policy with its own defaults, whatever the text says about it.
    fileprivate mutating func setPolicy(_ value: Tree, origin: Origin) {
        set(["policy"], to: value, origin: origin)
    }

    /// The same tree, with the option as the origin of every part.
    private func relocated(to origin: Origin) -> Tree {
        switch content {
        case .scalar: Tree(content, origin: origin)
        case .sequence(let elements): Tree(.sequence(elements.map { $0.relocated(to: origin) }), origin: origin)
        case .mapping(let entries):
            Tree(
                .mapping(
                    entries.map {
                        Entry(key: $0.key, keyOrigin: origin, value: $0.value.relocated(to: origin))
                    }), origin: origin)
        }
    }
}
