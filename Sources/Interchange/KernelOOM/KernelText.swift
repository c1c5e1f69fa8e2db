/// A piece of a kernel log, as bytes. Nothing here can fail or overflow: a number that is too large is cut to a bound
/// whose sums and products fit into 64 bits.
struct KernelText {
    let bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    /// The largest number that is read. In pages it is more than any machine has, and the sum over a million processes
    /// in bytes still fits.
    static let mostNumber = 1 << 40

    var string: String { String(decoding: bytes, as: UTF8.self) }

    /// The text without spaces and tabs at its ends.
    var trimmed: KernelText {
        guard let first = bytes.firstIndex(where: { !$0.isBlank }),
            let last = bytes.lastIndex(where: { !$0.isBlank })
        else { return KernelText([]) }
        return KernelText(bytes[first...last])
    }

    func begins(with text: StaticString, at place: Int? = nil) -> Bool {
        let start = place ?? bytes.startIndex
        let length = text.utf8CodeUnitCount
        guard bytes.endIndex - start >= length else { return false }
        return text.withUTF8Buffer { buffer in
            for offset in 0..<length where bytes[start + offset] != buffer[offset] { return false }
            return true
        }
    }

    /// Where the text first occurs; nil if it does not.
    func place(of text: StaticString) -> Int? {
        let first = text.withUTF8Buffer { $0.first }
        for place in bytes.indices where bytes[place] == first && begins(with: text, at: place) { return place }
        return nil
    }

    /// What follows the text's first occurrence; nil if it does not occur.
    func after(_ text: StaticString) -> KernelText? {
        place(of: text).map { KernelText(bytes[($0 + text.utf8CodeUnitCount)...]) }
    }

    /// What stands before the text's first occurrence; everything if it does not occur.
    func before(_ text: StaticString) -> KernelText { KernelText(bytes[..<(place(of: text) ?? bytes.endIndex)]) }

    /// The number at the beginning, after spaces: decimal digits, perhaps with a minus sign. Cut to `mostNumber`.
    var number: Int? { leadingNumber?.value }

    /// The number at the beginning, and the place behind it.
    var leadingNumber: (value: Int, end: Int)? {
        var place = bytes.startIndex
        while place < bytes.endIndex, bytes[place].isBlank { place += 1 }
        let isNegative = place < bytes.endIndex && bytes[place] == UInt8(ascii: "-")
        if isNegative { place += 1 }
        let start = place
        var value = 0
        while place < bytes.endIndex, bytes[place].isDigit {
            value = min(value * 10 + Int(bytes[place] - 0x30), KernelText.mostNumber)
            place += 1
        }
        return place > start ? (isNegative ? -value : value, place) : nil
    }

    /// The number that ends where the piece ends, before spaces; nil if there is none.
    var trailingNumber: Int? {
        let text = trimmed.bytes
        guard let last = text.lastIndex(where: { !$0.isDigit }) else { return KernelText(text).number }
        return KernelText(text[(last + 1)...]).number
    }

    /// The number behind a key such as `free:`, which must not be the end of a longer key.
    func number(of key: StaticString) -> Int? {
        var rest = self
        while let place = rest.place(of: key) {
            let behind = KernelText(rest.bytes[(place + key.utf8CodeUnitCount)...])
            if place == bytes.startIndex || !bytes[place - 1].isWord { return behind.number }
            rest = behind
        }
        return nil
    }

    /// The word behind a key, up to a comma, a space or the end.
    func word(of key: StaticString) -> String? {
        guard let rest = after(key) else { return nil }
        let word = rest.bytes.prefix { $0 != UInt8(ascii: ",") && !$0.isBlank }
        return word.isEmpty ? nil : String(decoding: word, as: UTF8.self)
    }
}

extension KernelText {
    /// The message without the prefix that a log adds: a priority, a date, a host, `kernel:`, a time or a thread in
    /// brackets. Brackets with nothing but digits are a row of the table, not a prefix.
    var message: KernelText {
        var text = self
        if let kernel = text.place(of: "kernel:"), kernel - bytes.startIndex < 200 {
            text = KernelText(bytes[(kernel + 7)...])
        } else if text.begins(with: "kern"), let bracket = text.place(of: ": [") {
            text = KernelText(bytes[(bracket + 2)...])
        } else if let dashes = text.place(of: "kernel - - - "), dashes - bytes.startIndex < 200 {
            text = KernelText(bytes[(dashes + 13)...])
        } else if let end = kernelTime {
            text = KernelText(bytes[end...])
        }
        while true {
            text = KernelText(text.bytes.drop(while: \.isBlank))
            let isPriority = text.begins(with: "<")
            guard isPriority || text.begins(with: "["),
                let close = text.bytes.prefix(64).firstIndex(of: UInt8(ascii: isPriority ? ">" : "]")),
                isPriority || KernelText.isStamp(text.bytes[(text.bytes.startIndex + 1)..<close])
            else { return text }
            text = KernelText(text.bytes[(close + 1)...])
        }
    }

    /// The end of a time such as `[   12.345678]` that stands near the beginning, behind anything; nil if none does.
    private var kernelTime: Int? {
        let head = bytes.prefix(120)
        guard let open = head.firstIndex(of: UInt8(ascii: "[")), let close = head[open...].firstIndex(of: 0x5d) else {
            return nil
        }
        let inside = head[(open + 1)..<close]
        let isTime = inside.allSatisfy { $0.isBlank || $0.isDigit || $0 == UInt8(ascii: ".") }
        return isTime && inside.contains(UInt8(ascii: ".")) ? close + 1 : nil
    }

    /// Whether it stands in brackets before a message: a time, a date, or the thread or CPU that wrote (`T123`, `C0`).
    private static func isStamp(_ inside: ArraySlice<UInt8>) -> Bool {
        if inside.contains(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ":") }) { return true }
        guard let first = inside.first(where: { !$0.isBlank }) else { return false }
        return first == UInt8(ascii: "T") || first == UInt8(ascii: "C")
    }
}

extension UInt8 {
    var isDigit: Bool { self >= 0x30 && self <= 0x39 }
    var isBlank: Bool { self == 0x20 || self == 0x09 || self == 0x0d }
    /// A letter, a digit, an underscore or a bracket: part of a key such as `isolated(file)`.
    var isWord: Bool {
        isDigit || (self | 0x20 >= 0x61 && self | 0x20 <= 0x7a) || self == UInt8(ascii: "_")
            || self == UInt8(ascii: "(")
    }
}

/// The lines of a kernel log. A line ends at a line feed, at a carriage return before one, and at `#012`, as rsyslog
/// writes a line feed inside a message.
struct KernelLines: Sequence, IteratorProtocol {
    private let bytes: [UInt8]
    private var place = 0
    /// The number of the line in the file, from 1.
    private(set) var number = 0
    private var isInside = false

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func next() -> KernelText? {
        guard place < bytes.count else { return nil }
        if !isInside { number += 1 }
        isInside = false
        let start = place
        while place < bytes.count, bytes[place] != 0x0a {
            if bytes[place] == 0x23, place + 3 < bytes.count, bytes[place + 1] == 0x30, bytes[place + 2] == 0x31,
                bytes[place + 3] == 0x32
            {
                isInside = true
                defer { place += 4 }
                return KernelText(bytes[start..<place])
            }
            place += 1
        }
        let end = place > start && bytes[place - 1] == 0x0d ? place - 1 : place
        place += 1
        return KernelText(bytes[start..<end])
    }
}
