import Quantities

/// How one kind of value is read, written, described, scaled and drawn. Decoder, encoder, JSON Schema, scale models and
/// random worlds all use it.
struct Codec<Value>: Sendable {
    /// Words that fit after "expected".
    let expected: String
    /// Applies the text to the existing value. Returns nil after reporting a fault.
    var decode: @Sendable (Tree, Value?, Decoding) -> Value?
    let encode: @Sendable (Value, Encoding) -> Tree
    /// The schema of the value. The parameter is the default, if there is one.
    var schema: @Sendable (Value?) -> JSON
    /// The value in a scale model; nil if every value stays as it is.
    var scale: (@Sendable (Value, Ratio) -> Value)?
    /// Whether the value is a size or a rate that stays as it is in a scale model.
    var isUnscaled = false
    /// What random worlds draw, unless the key says it; nil if that depends on other values.
    var drawn: Drawn?
    /// The word for no value.
    var none: String?
    /// The keys within the value; the parameter is its path.
    var keys: @Sendable (String) -> [FormatKey] = { _ in [] }

    init(
        expected: String, decode: @escaping @Sendable (Tree, Value?, Decoding) -> Value?,
        encode: @escaping @Sendable (Value, Encoding) -> Tree, schema: @escaping @Sendable (Value?) -> JSON
    ) {
        self.expected = expected
        self.decode = decode
        self.encode = encode
        self.schema = schema
    }

    /// The codec of values that a scale model changes.
    func scaling(_ scale: @escaping @Sendable (Value, Ratio) -> Value) -> Codec {
        var codec = self
        codec.scale = scale
        return codec
    }

    /// A codec of another type, through a pair of conversions. `unwrap` returns nil for a value of another kind, which
    /// this codec cannot write.
    func mapped<Other>(
        _ wrap: @escaping @Sendable (Value) -> Other, _ unwrap: @escaping @Sendable (Other) -> Value?
    ) -> Codec<Other> {
        var codec = Codec<Other>(
            expected: expected,
            decode: { tree, existing, decoding in decode(tree, existing.flatMap(unwrap), decoding).map(wrap) },
            encode: { value, encoding in
                guard let inner = unwrap(value) else { preconditionFailure("\(value) is of another kind") }
                return encode(inner, encoding)
            },
            schema: { schema($0.flatMap(unwrap)) })
        codec.drawn = drawn
        return codec
    }
}

/// One pass over a scenario's tree. Holds the current path, the facts that must be known in advance, and the faults
/// so far.
final class Decoding {
    /// The names of the apps, in the order of the list; known before anything else is decoded.
    let appNames: [String]
    /// The run's duration, when it is well-formed.
    let duration: TimeSpan?
    /// The first index of each name; looked up, never iterated.
    private(set) var appIndex: [String: Int] = [:]
    private(set) var faults = FaultList()
    /// Findings that are valid but better written in another way.
    private(set) var warnings: [Fault] = []
    private(set) var path: [String] = []
    /// What the rules that are being read may refer to.
    var ruleParameters = RuleParameters()
    /// The paths with a fault.
    private var faulty: Set<[String]> = []
    /// The paths with a fault and all their ancestors.
    private var aroundFaults: Set<[String]> = []

    init(appNames: [String] = [], duration: TimeSpan? = nil) {
        self.appNames = appNames
        self.duration = duration
        for (index, name) in appNames.enumerated() where appIndex[name] == nil { appIndex[name] = index }
    }

    /// - Parameter message: Evaluated only if the fault may be shown.
    func fault(_ origin: Origin, _ message: @autoclosure () -> String) {
        faults.add(origin, message())
        markFaulty()
    }

    /// Reports a fault within the present path, but does not mark the value there as faulty.
    func faultOfStranger(_ origin: Origin, _ message: @autoclosure () -> String) {
        faults.add(origin, message())
        markAround()
    }

    /// Marks the present value as faulty, so that checks which depend on it are skipped.
    func markFaulty() {
        faulty.insert(path)
        markAround()
    }

    private func markAround() {
        var around = path
        // The ancestors of a marked path are already marked, so the loop can stop there.
        while aroundFaults.insert(around).inserted, around.popLast() != nil {}
    }

    /// A fault that names the present path: `device.ceiling: expected …`.
    func faultHere(_ origin: Origin, _ message: @autoclosure () -> String) {
        fault(origin, path.isEmpty ? message() : "\(steps): \(message())")
    }

    /// A warning that names the present path.
    func warnHere(_ origin: Origin, _ message: String) {
        warnings.append(Fault(origin: origin, message: "\(steps): \(message)"))
    }

    func within<Result>(_ step: String, _ body: () -> Result) -> Result {
        path.append(step)
        defer { path.removeLast() }
        return body()
    }

    /// The present path, in words that fit after "in".
    var place: String { path.isEmpty ? "the scenario" : steps }

    private var steps: String { path.map { $0.shortened(to: 80) }.joined(separator: ".") }

    /// Whether no fault was found at the path, below it, or above it.
    func isSound(_ path: String...) -> Bool {
        guard !aroundFaults.contains(path) else { return false }
        return !(1..<path.count).contains { faulty.contains(Array(path.prefix($0))) }
    }
}

/// What the encoder needs besides the value.
struct Encoding {
    let appNames: [String]
}
