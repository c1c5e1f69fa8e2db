import Foundation

/// JSON as the program writes and reads it: with sorted keys in snake_case, so that equal values have equal bytes.
enum JSONDocument {
    /// - Parameter keepsKeys: Whether keys are the properties' names, where a standard defines them.
    static func of(_ value: some Encodable, keepsKeys: Bool = false) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        if !keepsKeys { encoder.keyEncodingStrategy = .convertToSnakeCase }
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// Reads a file; nil if it is missing or holds something else.
    static func read<Value: Decodable>(_ type: Value.Type, from path: String) -> Value? {
        FileManager.default.contents(atPath: path).flatMap { read(type, $0) }
    }

    static func read<Value: Decodable>(_ type: Value.Type, _ data: Data) -> Value? {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try? decoder.decode(type, from: data)
    }
}
