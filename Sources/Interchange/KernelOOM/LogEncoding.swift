import Foundation

/// A log as its kernel's lines, whatever a tool wrapped around them.
enum LogEncoding {
    /// The log's bytes: UTF-16 with its mark, as PowerShell writes, becomes UTF-8, and a journal in JSON
    /// (`journalctl -o json`), an object per line, becomes its messages. Anything else stays as it is.
    static func plain(_ bytes: [UInt8]) -> [UInt8] {
        let text = decoded(bytes)
        return isJSONJournal(text) ? messages(text) : text
    }

    private static func decoded(_ bytes: [UInt8]) -> [UInt8] {
        let encoding: String.Encoding =
            switch bytes.prefix(2) {
            case [0xff, 0xfe]: .utf16LittleEndian
            case [0xfe, 0xff]: .utf16BigEndian
            default: .utf8
            }
        guard encoding != .utf8, let text = String(bytes: bytes.dropFirst(2), encoding: encoding) else { return bytes }
        return Array(text.utf8)
    }

    /// Whether the first line is an object with a journal's message.
    static func isJSONJournal(_ bytes: [UInt8]) -> Bool {
        guard let start = bytes.firstIndex(where: { $0 > 0x20 }), bytes[start] == UInt8(ascii: "{") else {
            return false
        }
        let line = bytes[start...].prefix { $0 != 0x0a }
        return message(line) != nil
    }

    private static func messages(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        for line in bytes.split(separator: 0x0a) {
            text += message(line) ?? []
            text.append(0x0a)
        }
        return text
    }

    /// The message of a journal's entry: text, or bytes where it is not UTF-8, or nothing where it is too long for the
    /// journal; nil if the line is no entry.
    private static func message(_ line: ArraySlice<UInt8>) -> [UInt8]? {
        guard let entry = try? JSONSerialization.jsonObject(with: Data(line)) as? [String: Any] else { return nil }
        switch entry["MESSAGE"] {
        case let text as String: return Array(text.utf8)
        case let bytes as [UInt8]: return bytes
        case .some: return []
        case nil: return nil
        }
    }
}
