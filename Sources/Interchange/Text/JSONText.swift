/// A value to be written as JSON (RFC 8259); members stay in their order.
indirect enum JSONText {
    case object([(String, JSONText)])
    case list([JSONText])
    case text(String)
    case whole(Int)

    /// Appends it as Apple's reports are written: a member or an element per line, blanks around the colon.
    func write(to bytes: inout [UInt8], depth: Int = 0) {
        switch self {
        case .object(let members):
            JSONText.writeLines(members, "{", "}", depth, &bytes) { member, bytes in
                JSONText.write(member.0, to: &bytes)
                bytes += Array(" : ".utf8)
                member.1.write(to: &bytes, depth: depth + 1)
            }
        case .list(let elements):
            JSONText.writeLines(elements, "[", "]", depth, &bytes) { $0.write(to: &$1, depth: depth + 1) }
        case .text(let text): JSONText.write(text, to: &bytes)
        case .whole(let number): bytes += Array("\(number)".utf8)
        }
    }

    private static func writeLines<Item>(
        _ items: [Item], _ open: Character, _ close: Character, _ depth: Int, _ bytes: inout [UInt8],
        _ write: (Item, inout [UInt8]) -> Void
    ) {
        bytes += Array("\(open)".utf8)
        for (index, item) in items.enumerated() {
            bytes += Array((index == 0 ? "\n" : ",\n").utf8)
            bytes += repeatElement(UInt8(ascii: " "), count: 2 * (depth + 1))
            write(item, &bytes)
        }
        bytes.append(UInt8(ascii: "\n"))
        bytes += repeatElement(UInt8(ascii: " "), count: 2 * depth)
        bytes += Array("\(close)".utf8)
    }

    /// A string: quotes, backslashes and control characters are escaped.
    static func write(_ text: String, to bytes: inout [UInt8]) {
        let digits = Array("0123456789abcdef".utf8)
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0..<0x20:
                bytes += Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
