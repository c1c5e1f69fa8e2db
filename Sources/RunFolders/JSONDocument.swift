import Foundation

/// JSON as the program writes and reads it: in snake_case and with sorted keys, so that equal values give equal
/// bytes.
package enum JSONDocument {
    /// - Parameter keepsKeys: True keeps the properties' names as keys, for formats whose standard defines them.
    package static func of(_ value: some Encodable, keepsKeys: Bool = false) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        if !keepsKeys { encoder.keyEncodingStrategy = .convertToSnakeCase }
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// One line with its end, for a process that reads line by line.
    package static func line(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        return String(decoding: try encoder.encode(value), as: UTF8.self) + "\n"
    }

    /// Reads a file; nil if it is missing or holds something else.
    package static func read<Value: Decodable>(_ type: Value.Type, from path: String) -> Value? {
        FileManager.default.contents(atPath: path).flatMap { read(type, $0) }
    }

    package static func read<Value: Decodable>(_ type: Value.Type, _ data: Data) -> Value? {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try? decoder.decode(type, from: data)
    }
}
