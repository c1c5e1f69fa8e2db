import Memory
import Quantities

/// What the command line lays over a scenario's text.
public struct Overrides: Hashable, Sendable {
    /// `key=value`, dotted; an app is named by its name: `apps.maps.memory.base=20MiB`. Later ones win.
    public var sets: [String]
    public var seed: UInt64?
    /// A policy with its defaults, or a policy file (see `PolicyFile.isFile`), in place of the text's, parameters and
    /// all, also where the text names the same one.
    public var policy: String?
    public var backend: MemoryBackend?
    /// The device times this, as a scale model, after everything else; see `RunPlan.scaled(by:)`.
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
    /// The policy that the option names: its name, or what its file holds. Nil: none is named, or the file is broken.
    func policyTree(faults: inout FaultList) throws(ScenarioFault) -> Tree? {
        guard let policy else { return nil }
        if PolicyFile.isFile(policy) { return try PolicyFile.read(path: policy, faults: &faults) }
        return Tree(.scalar(policy, isQuoted: true), origin: .option("--policy \(policy)"))
    }

    /// Lays the overrides over the tree. What they say is judged by the decoder, like everything else in the tree.
    ///
    /// - Parameter policy: What `policyTree` gave.
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
                message: "a key of \(steps.count) steps leads nowhere")
        }
        if key == "policy" || key == "policy.name" {
            return setPolicy(value.relocated(to: origin), origin: origin)
        }
        let path = try resolved(steps[...], origin: origin)
        set(path, to: value.relocated(to: origin), origin: origin)
    }

    /// The path with the elements of lists as indices. A step that the text does not have stays as it is.
    private func resolved(_ steps: ArraySlice<String>, origin: Origin) throws(Fault) -> [String] {
        guard let first = steps.first else { return [] }
        switch content {
        case .mapping:
            guard let value = self[first] else { return Array(steps) }
            return [first] + (try value.resolved(steps.dropFirst(), origin: origin))
        case .scalar:
            return Array(steps)
        case .sequence(let elements):
            // Names may hold dots, so the longest name that fits is taken.
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

    /// Puts the value at the path; mappings that are missing on the way are made.
    fileprivate mutating func set(_ path: [String], to value: Tree, origin: Origin) {
        guard let first = path.first else {
            self = value
            return
        }
        let rest = Array(path.dropFirst())
        switch content {
        case .sequence(var elements):
            // The path was resolved, so the step is an index of this list.
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
            // A bare policy becomes the mapping that it stands for; nothing else may be a scalar and a mapping.
            let isName = !isNull && first == "parameters"
            let nameEntry = Entry(
                key: "name", keyOrigin: self.origin, value: Tree(.scalar(text, isQuoted: true), origin: self.origin))
            self = Tree(.mapping(isName ? [nameEntry] : []), origin: origin)
            set(path, to: value, origin: origin)
        }
    }

    /// A policy that is named comes with its own defaults, whatever the text says of it.
    fileprivate mutating func setPolicy(_ value: Tree, origin: Origin) {
        set(["policy"], to: value, origin: origin)
    }

    /// The same tree, as if written in the option.
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
