import Foundation
import Testing

@testable import Scenario

@Suite("the JSON Schema of scenarios")
struct ScenarioSchemaTests {
    @Test("it is JSON, and the same every time")
    func valid() throws {
        let json = ScenarioSchema.json()
        let object = try JSONSerialization.jsonObject(with: Data(json.utf8))
        let schema = try #require(object as? [String: Any])
        #expect(schema["$schema"] as? String == "https://json-schema.org/draft/2020-12/schema")
        #expect(ScenarioSchema.json() == json)
    }

    @Test("every record is closed and every key is described")
    func closed() {
        var properties = 0
        func look(_ json: JSON, at path: String) {
            switch json {
            case .object(let members):
                if case .object(let keys)? = json["properties"] {
                    properties += keys.count
                    #expect(json["additionalProperties"] == .bool(false), "\(path)")
                    for key in keys {
                        #expect(key.value["description"] != nil || path.hasSuffix("anyOf"), "\(path).\(key.key)")
                    }
                }
                for member in members { look(member.value, at: "\(path).\(member.key)") }
            case .array(let values): for value in values { look(value, at: path) }
            case .null, .bool, .number, .string: break
            }
        }
        look(ScenarioSchema.schema, at: "")
        #expect(properties > 90)
    }

    @Test("every key of the schema is known to the decoder, and the other way round")
    func sameKeys() throws {
        // The decoder refuses an unknown key with the list of valid ones, so that message yields its keys.
        let schema = ScenarioSchema.schema
        for (path, expected) in Self.records(of: schema, at: []) where !path.contains("parameters") {
            #expect(try Self.keysOfDecoder(at: path) == expected, "\(path)")
        }
    }

    /// Every record with a dotted path, and its keys.
    private static func records(of schema: JSON, at path: [String]) -> [([String], [String])] {
        guard case .object(let properties)? = schema["properties"] else {
            if let items = schema["items"], path.last == "apps" { return records(of: items, at: path + ["maps"]) }
            return []
        }
        let below = properties.flatMap { records(of: $0.value, at: path + [$0.key]) }
        return [(path, properties.map(\.key))] + below
    }

    private static func keysOfDecoder(at path: [String]) throws -> [String] {
        let key = (path + ["qqqqqqqqqqqq"]).joined(separator: ".")
        let faults = Samples.faults(Samples.commute, Overrides(sets: ["\(key)=1"]))
        let fault = try #require(faults.first)
        let list = try #require(fault.components(separatedBy: "; valid keys: ").last)
        return list.components(separatedBy: ", ")
    }
}

@Suite("the nearest name")
struct NearestTests {
    @Test(
        "a slip of the pen is understood",
        arguments: [("ceilng", "ceiling"), ("cieling", "ceiling"), ("CEILING", "ceiling"), ("core", "cores")])
    func near(text: String, name: String) {
        #expect(Nearest.name(to: text, among: ["ceiling", "reserved", "cores"]) == name)
    }

    @Test("what resembles nothing gets no advice", arguments: ["swap", "", "x", "memory_of_the_device"])
    func far(text: String) {
        #expect(Nearest.name(to: text, among: ["ceiling", "reserved", "cores"]) == nil)
    }

    @Test("a swap of neighbours counts as one change")
    func distance() {
        #expect(Nearest.distance(Array("mpas"), Array("maps")) == 1)
        #expect(Nearest.distance(Array(""), Array("maps")) == 4)
        #expect(Nearest.distance(Array("maps"), Array("maps")) == 0)
    }
}
