import Quantities

/// How one kind of value is read, written and described. Decoder, encoder and JSON Schema all come from here.
struct Codec<Value>: Sendable {
    /// In words that fit after "expected".
    let expected: String
    /// Lays the text over the value that is there; nil: the fault is reported.
    let decode: @Sendable (Tree, Value?, Decoding) -> Value?
    let encode: @Sendable (Value, Encoding) -> Tree
    /// The value is the default, where there is one.
    let schema: @Sendable (Value?) -> JSON

    init(
        expected: String, decode: @escaping @Sendable (Tree, Value?, Decoding) -> Value?,
        encode: @escaping @Sendable (Value, Encoding) -> Tree, schema: @escaping @Sendable (Value?) -> JSON
    ) {
        self.expected = expected
        self.decode = decode
        self.encode = encode
        self.schema = schema
    }

    /// A codec of another type, through a pair of conversions. A nil says that the value is of another kind.
    func mapped<Other>(
        _ wrap: @escaping @Sendable (Value) -> Other, _ unwrap: @escaping @Sendable (Other) -> Value?
    ) -> Codec<Other> {
        Codec<Other>(
            expected: expected,
            decode: { tree, existing, decoding in decode(tree, existing.flatMap(unwrap), decoding).map(wrap) },
            encode: { value, encoding in
                guard let inner = unwrap(value) else { preconditionFailure("\(value) is of another kind") }
                return encode(inner, encoding)
            },
            schema: { schema($0.flatMap(unwrap)) })
    }
}

/// One pass over a scenario's tree: where we are, what is known beforehand, and which faults were found.
final class Decoding {
    /// The names of the apps, in the order of the list; known before anything else is decoded.
    let appNames: [String]
    /// The run's duration, when it is well-formed.
    let duration: TimeSpan?
    /// The first index of each name; looked up, never iterated.
    private(set) var appIndex: [String: Int] = [:]
    private(set) var faults = FaultList()
    /// What is understood, but is better written in another way.
    private(set) var warnings: [Fault] = []
    private(set) var path: [String] = []
    /// The paths at which there was a fault, and these with all that lead to them; looked up, never iterated.
    private var faulty: Set<[String]> = []
    private var aroundFaults: Set<[String]> = []

    init(appNames: [String] = [], duration: TimeSpan? = nil) {
        self.appNames = appNames
        self.duration = duration
        for (index, name) in appNames.enumerated() where appIndex[name] == nil { appIndex[name] = index }
    }

    /// - Parameter message: Is asked for when the fault may be shown.
    func fault(_ origin: Origin, _ message: @autoclosure () -> String) {
        faults.add(origin, message())
        markFaulty()
    }

    /// A fault of something within this place, of which nothing else is said.
    func faultOfStranger(_ origin: Origin, _ message: @autoclosure () -> String) {
        faults.add(origin, message())
        markAround()
    }

    /// Nothing that depends on the value here is to be judged.
    func markFaulty() {
        faulty.insert(path)
        markAround()
    }

    private func markAround() {
        var around = path
        // Where one is marked, all that leads to it is.
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

    /// Where we are, in words that fit after "in".
    var place: String { path.isEmpty ? "the scenario" : steps }

    private var steps: String { path.map { $0.shortened(to: 80) }.joined(separator: ".") }

    /// Whether no fault was found at the path, below it, or above it.
    func isSound(_ path: String...) -> Bool {
        guard !aroundFaults.contains(path) else { return false }
        return !(1..<path.count).contains { faulty.contains(Array(path.prefix($0))) }
    }
}

/// What the encoder must know beside the value.
struct Encoding {
    let appNames: [String]
}
