import Foundation

/// JSON as the program writes and reads it: sorted keys in snake_case, so that the same value has the same bytes.
enum JSONDocument {
    /// - Parameter keepsKeys: Whether keys are written as the properties are called: where a standard says how.
    static func of(_ value: some Encodable, keepsKeys: Bool = false) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        if !keepsKeys { encoder.keyEncodingStrategy = .convertToSnakeCase }
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// What a file holds; nil where there is none, or it holds something else.
    static func read<Value: Decodable>(_ type: Value.Type, from path: String) -> Value? {
        FileManager.default.contents(atPath: path).flatMap { read(type, $0) }
    }

    static func read<Value: Decodable>(_ type: Value.Type, _ data: Data) -> Value? {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try? decoder.decode(type, from: data)
    }
}
