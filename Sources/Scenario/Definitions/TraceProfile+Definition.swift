import Quantities
import Workload

extension TraceProfile: Described {
    static let definition = Definition<TraceProfile>(
        base: TraceProfile(file: ""),
        start: { tree, trace in
            // A given time replaces the default pace, and a given pace the default time.
            var trace = trace
            if let over = tree["over"]?.text, over != "none", tree["pace"] == nil { trace.pace = nil }
            if let pace = tree["pace"]?.text, pace != "none", tree["over"] == nil { trace.over = nil }
            return trace
        },
        fields: [
            Field(
                "file", \.file, .path, required: true,
                "Plain text in the memory_replay format; a relative path is relative to the scenario file."),
            Field(
                "pace", \.pace, Codec.operationsPerSecond.orNone(),
                "Operations per second. `none`: `over` sets the speed."),
            Field(
                "over", \.over, Codec.quantity(from: .milliseconds(100)).orNone(),
                "Stretches the trace over this running time. `none`: `pace` sets the speed."),
            Field(
                "copies", \.copies, .factor(to: 1_000),
                "How many copies of every object the app makes; 0.25 makes every fourth object."),
            Field(
                "ends", \.ends, .choice("ending", "endings"),
                "What happens after the last line: `loop` starts again, `hold` keeps "
                    + "the live objects, `exit` ends the app."),
            Field(
                "last_line", \.lastLine, Codec.count(1...100_000_000).orNone(),
                "The app plays the file up to this line. `none`: to the end."),
        ])
}

extension Codec where Value == TraceProfile {
    static var trace: Codec {
        Codec.record.checked { trace in
            switch (trace.pace, trace.over) {
            case (.some, .some): "give either a pace or a time over which it is played, not both"
            case (nil, nil): "a trace has no clock: give a pace such as 20000/s, or a time over which it is played"
            case (.some, nil), (nil, .some): nil
            }
        }
    }
}

extension Codec where Value == Int {
    /// A rate of operations: `20000/s`.
    static var operationsPerSecond: Codec {
        .scalar(
            expected: "a rate such as 20000/s", quoted: false,
            schema: .object(["type": .string("string"), "pattern": .string("^[0-9]+/s$")]),
            parse: { text in
                guard text.hasSuffix("/s"), let first = text.utf8.first, first != 0x2b else { return nil }
                return Int(text.dropLast(2))
            }, text: { "\($0)/s" }
        ).checked {
            (1...10_000_000).contains($0) ? nil : "\($0)/s is out of range; from 1/s to 10000000/s"
        }
    }
}

extension Codec where Value == String {
    /// The path of a file; it must not be empty.
    static var path: Codec {
        Codec.text(length: 4_096).checked { $0.isEmpty ? "expected the path of a file" : nil }
    }
}
