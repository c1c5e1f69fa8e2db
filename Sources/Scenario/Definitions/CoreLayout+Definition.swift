import Plan
import Quantities

extension CoreLayout: Described {
    static let definition = Definition<CoreLayout>(
        base: CoreLayout(2),
        fields: [
            Field("performance", \.performance, .coreCount, "The cores of full speed."),
            Field(
                "efficiency", \.efficiency, .count(0...1_024), drawn: .numbers(0, 6),
                "The slow cores. Work in the background keeps to slow cores if there are any."),
            Field(
                "efficiency_speed", \.efficiencySpeed, .coreSpeed, drawn: .shares(10, 100),
                "The speed of an efficiency core as a share of a performance core's. 30% is a guess."),
            Field(
                "further", \.further, .list(of: .record(furtherCluster), called: "clusters of cores"),
                "Further clusters of slow cores."),
            Field(
                "priorities", \.priorities, .onOrOff,
                "Whether more urgent work goes first: what the user waits for, then the rest on screen, then the "
                    + "background. Without priorities all work shares the cores equally."),
        ])

    private static let furtherCluster = Definition<Cluster>(
        base: Cluster(count: 1, speed: .percent(30)),
        fields: [
            Field("count", \.count, .coreCount, required: true, "How many cores it has."),
            Field(
                "speed", \.speed, .coreSpeed, required: true,
                "Their speed as a share of a performance core's."),
        ])
}

extension Codec where Value == Int {
    fileprivate static var coreCount: Codec { .count(1...1_024) }
}

extension Codec where Value == Ratio {
    fileprivate static var coreSpeed: Codec { .quantity(from: .percent(1), to: .one) }
}

extension Codec where Value == Bool {
    fileprivate static var onOrOff: Codec {
        Codec<String>.choice("setting", among: ["off", "on"]).mapped({ $0 == "on" }, { $0 ? "on" : "off" })
    }
}

extension Codec where Value == CoreLayout {
    /// A number of equal cores, or a mapping of clusters.
    static var cores: Codec {
        let number = Codec<Int>.coreCount
        let mapping = Codec<CoreLayout>.record
        var codec = Codec(
            expected: "\(number.expected), or \(mapping.expected)",
            decode: { tree, existing, decoding in
                // An empty section is the same as an omitted one.
                if tree.entries != nil || tree.isNull { return mapping.decode(tree, existing, decoding) }
                return number.decode(tree, nil, decoding).map { CoreLayout($0) }
            },
            encode: { layout, encoding in
                layout == CoreLayout(layout.performance)
                    ? number.encode(layout.performance, encoding) : mapping.encode(layout, encoding)
            },
            schema: { layout in
                let count = layout.flatMap { $0 == CoreLayout($0.performance) ? $0.performance : nil }
                return .object(["anyOf": .array([number.schema(count), mapping.schema(nil)])])
            })
        codec.keys = mapping.keys
        return codec
    }
}
