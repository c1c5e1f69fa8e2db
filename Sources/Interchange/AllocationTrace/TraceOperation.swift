import Workload

/// One line of an allocation trace in the memory_replay format (Android's `tools/memory_replay`).
///
/// Identifiers are addresses of the recorded process and are reused after a free. A null pointer is 0.
public enum TraceOperation: Hashable, Sendable {
    case malloc(id: UInt64, size: Int)
    case calloc(id: UInt64, count: Int, size: Int)
    /// An old identifier of 0 makes a new object; a new identifier of 0 only frees.
    case realloc(id: UInt64, old: UInt64, size: Int)
    case memalign(id: UInt64, alignment: Int, size: Int)
    case free(id: UInt64)
    /// A thread ended. Thread caches are off, so this does not affect memory.
    case threadDone
}

extension TraceOperation {
    /// The largest object that a replay allocates, in bytes.
    public static let largestObject = 1 << 30 - 1
    /// The widest alignment that a replay uses, in bytes.
    public static let widestAlignment = 1 << 20

    /// Reads `<tid>: <name> <pointer> [<numbers>] [<start_ns> <end_ns>]`, without the end of the line.
    ///
    /// Threads are not distinguished: the order of the lines is the order of the operations.
    public static func parse(_ text: borrowing Span<UInt8>, line: Int) throws(TraceFault) -> TraceOperation {
        var words = Words(line: line)
        try words.thread(text)
        guard let name = words.next(text) else { throw words.unexpected(text, "expected an operation") }
        let operation: TraceOperation
        switch Name(text, name) {
        case .malloc: operation = .malloc(id: try words.object(text), size: try words.size(text))
        case .calloc:
            let id = try words.object(text)
            let count = try words.number(text, "a number of elements")
            operation = .calloc(id: id, count: count, size: try words.size(text, ofEach: count))
        case .realloc:
            operation = .realloc(
                id: try words.pointer(text), old: try words.pointer(text), size: try words.size(text))
        case .memalign:
            operation = .memalign(
                id: try words.object(text), alignment: try words.alignment(text), size: try words.size(text))
        case .free: operation = .free(id: try words.pointer(text))
        case .threadDone:
            _ = try words.pointer(text)
            operation = .threadDone
        case nil:
            let valid = "malloc, calloc, realloc, memalign, free, thread_done"
            throw words.fault("unknown operation '\(words.read(text))'; valid operations: \(valid)")
        }
        try words.end(text)
        return operation
    }

    /// The operation on the first of these lines and the line's length, including its newline. It reads only the two
    /// most frequent forms: `202: malloc 0x10 8` and `202: free 0x10`, with single spaces and nothing after them. Nil
    /// for every other form, for any fault, and for a line that may continue beyond the last byte; use `parse` for
    /// those.
    ///
    /// - Parameter lines: Must end with a newline as a sentinel, which does not count as the end of a line.
    public static func quick(_ lines: borrowing Span<UInt8>) -> (operation: TraceOperation, length: Int)? {
        let end = lines.count - 1
        precondition(end >= 0 && lines[end] == QuickWord.newline, "lines without a newline behind them")
        // The loops stop at a newline.
        var at = 0
        while lines[at] &- 0x30 < 10 { at += 1 }
        guard at > 0, at < 19, at + 11 < end else { return nil }
        let word = UInt64(littleEndian: lines.bytes.unsafeLoadUnaligned(fromByteOffset: at, as: UInt64.self))
        let isFree = word == QuickWord.free
        if isFree {
            guard lines[at + 8] == UInt8(ascii: "x") else { return nil }
            at += 9
        } else {
            guard word == QuickWord.malloc, lines[at + 8] == 0x20, lines[at + 9] == 0x30,
                lines[at + 10] == UInt8(ascii: "x")
            else { return nil }
            at += 11
        }
        let pointer = at
        var id: UInt64 = 0
        if at + 8 < end,
            let digits = QuickWord.hexadecimal(
                eight: UInt64(littleEndian: lines.bytes.unsafeLoadUnaligned(fromByteOffset: at, as: UInt64.self)))
        {
            id = digits
            at += 8
        }
        while let digit = QuickWord.hexadecimal(lines[at]) {
            id = id << 4 | digit
            at += 1
        }
        guard at > pointer, at - pointer <= 16 else { return nil }
        if isFree { return lines[at] == QuickWord.newline && at < end ? (.free(id: id), at + 1) : nil }
        guard id != 0, lines[at] == 0x20 else { return nil }
        at += 1
        let number = at
        var size = 0
        while lines[at] &- 0x30 < 10 {
            size = size &* 10 &+ Int(lines[at] &- 0x30)
            at += 1
        }
        guard at > number, at - number <= 10, lines[at] == QuickWord.newline, at < end, size <= largestObject else {
            return nil
        }
        return (.malloc(id: id, size: size), at + 1)
    }

    /// The column, from 1, at which a word of the line begins; the thread is word 0. Points past the line if it has no
    /// such word.
    public static func column(ofWord index: Int, in text: borrowing Span<UInt8>) -> Int {
        var words = Words(line: 0)
        for _ in 0..<index { _ = words.next(text) }
        return (words.next(text)?.lowerBound ?? text.count) + 1
    }

    /// The size that the operation requests, in bytes.
    public var size: Int {
        switch self {
        case .malloc(_, let size), .realloc(_, _, let size), .memalign(_, _, let size): size
        case .calloc(_, let count, let size): count &* size
        case .free, .threadDone: 0
        }
    }

    private enum Name: String, CaseIterable {
        case malloc, calloc, realloc, memalign, free
        case threadDone = "thread_done"

        /// Compares length and first letter before the whole word, and creates no string.
        init?(_ text: borrowing Span<UInt8>, _ word: Range<Int>) {
            let candidate: Name
            switch (word.count, text[word.lowerBound]) {
            case (6, UInt8(ascii: "m")): candidate = .malloc
            case (6, UInt8(ascii: "c")): candidate = .calloc
            case (7, UInt8(ascii: "r")): candidate = .realloc
            case (8, UInt8(ascii: "m")): candidate = .memalign
            case (4, UInt8(ascii: "f")): candidate = .free
            case (11, UInt8(ascii: "t")): candidate = .threadDone
            default: return nil
            }
            var index = word.lowerBound
            for byte in candidate.rawValue.utf8 {
                if text[index] != byte { return nil }
                index += 1
            }
            self = candidate
        }
    }
}

private enum QuickWord {
    /// `: free 0` and `: malloc`, with the first character in the lowest byte.
    static let free: UInt64 = 0x3020_6565_7266_203a
    static let malloc: UInt64 = 0x636f_6c6c_616d_203a
    static let newline = UInt8(ascii: "\n")

    /// The value of eight lowercase hexadecimal digits, the first one in the lowest byte. Nil for any other text.
    @inline(__always)
    static func hexadecimal(eight text: UInt64) -> UInt64? {
        let ones: UInt64 = 0x0101_0101_0101_0101
        // A decimal digit's value is its lower half; a letter's value is its lower half plus nine.
        var value = (text & 0x0f0f_0f0f_0f0f_0f0f) &+ ((text >> 6) & ones) &* 9
        // Checks that the value, written again as digits, gives the same text. No carry reaches the next byte, because
        // a value is at most 24 here.
        let letters = ((value &+ 6 &* ones) >> 4) & ones
        guard value & (0xf0 &* ones) == 0, value &+ 0x30 &* ones &+ letters &* 0x27 == text else { return nil }
        value = value.byteSwapped
        value = (value | value >> 4) & 0x00ff_00ff_00ff_00ff
        value = (value | value >> 8) & 0x0000_ffff_0000_ffff
        return (value | value >> 16) & 0xffff_ffff
    }

    @inline(__always)
    static func hexadecimal(_ byte: UInt8) -> UInt64? {
        if byte &- 0x30 < 10 { return UInt64(byte &- 0x30) }
        let letter = (byte | 0x20) &- 0x61
        return letter < 6 ? UInt64(letter) + 10 : nil
    }
}

/// Iterates over the words of a line.
private struct Words {
    let line: Int
    private var position = 0
    /// The range of the word that was read last, or an empty range past the line if there was none.
    private var last = 0..<0

    init(line: Int) { self.line = line }

    mutating func next(_ text: borrowing Span<UInt8>) -> Range<Int>? {
        while position < text.count, text[position] == 0x20 || text[position] == 0x09 { position += 1 }
        let start = position
        while position < text.count, text[position] != 0x20, text[position] != 0x09 { position += 1 }
        last = start..<position
        return last.isEmpty ? nil : last
    }

    mutating func thread(_ text: borrowing Span<UInt8>) throws(TraceFault) {
        guard let word = next(text), word.count > 1, text[word.upperBound - 1] == UInt8(ascii: ":"),
            Words.decimal(text, word.lowerBound..<word.upperBound - 1) != nil
        else { throw unexpected(text, "expected a thread such as '202:' first") }
    }

    /// A whole number. A number that is too large becomes the largest one.
    mutating func number(_ text: borrowing Span<UInt8>, _ what: String) throws(TraceFault) -> Int {
        guard let word = next(text), Words.isWhole(text, word) else {
            throw unexpected(text, "expected \(what), a whole number")
        }
        return Int(clamping: Words.decimal(text, word) ?? .max)
    }

    /// - Parameter count: The object consists of this many elements of the size.
    mutating func size(_ text: borrowing Span<UInt8>, ofEach count: Int = 1) throws(TraceFault) -> Int {
        let size = try number(text, "a size in bytes")
        let (bytes, overflow) = size.multipliedReportingOverflow(by: count)
        guard !overflow, max(bytes, size) <= TraceOperation.largestObject else {
            let times = count == 1 ? "" : "\(count) times "
            throw fault("\(times)a size of \(read(text)); an object has at most \(TraceOperation.largestObject) bytes")
        }
        return size
    }

    mutating func alignment(_ text: borrowing Span<UInt8>) throws(TraceFault) -> Int {
        let alignment = try number(text, "an alignment in bytes")
        guard alignment > 0, alignment & (alignment - 1) == 0, alignment <= TraceOperation.widestAlignment else {
            let rule = "a power of two up to \(TraceOperation.widestAlignment)"
            throw fault("an alignment of \(read(text)); expected \(rule)")
        }
        return alignment
    }

    mutating func pointer(_ text: borrowing Span<UInt8>) throws(TraceFault) -> UInt64 {
        guard let word = next(text), let value = Words.hexadecimal(text, word) else {
            throw unexpected(text, "expected a pointer such as 0xb4827400")
        }
        return value
    }

    /// A non-null pointer.
    mutating func object(_ text: borrowing Span<UInt8>) throws(TraceFault) -> UInt64 {
        let value = try pointer(text)
        guard value != 0 else { throw fault("a new object has the pointer null") }
        return value
    }

    /// The end of the line, or the two recorded times, which the replay does not use.
    mutating func end(_ text: borrowing Span<UInt8>) throws(TraceFault) {
        guard let start = next(text) else { return }
        guard Words.decimal(text, start) != nil else {
            throw unexpected(text, "expected the end of the line, or a start and an end in nanoseconds")
        }
        guard let end = next(text), Words.decimal(text, end) != nil else {
            throw unexpected(text, "expected an end in nanoseconds behind the start")
        }
        guard next(text) == nil else { throw unexpected(text, "expected the end of the line") }
    }

    /// A fault at the word that was read last.
    func fault(_ message: String) -> TraceFault {
        TraceFault(line: line, column: last.lowerBound + 1, message: message)
    }

    /// A fault at the word that was read last, with its text.
    func unexpected(_ text: borrowing Span<UInt8>, _ expected: String) -> TraceFault {
        fault(expected + (last.isEmpty ? ", but the line ends here" : ", not '\(read(text))'"))
    }

    /// The text of the word that was read last, shortened if long.
    func read(_ text: borrowing Span<UInt8>) -> String {
        var bytes: [UInt8] = []
        for index in last.prefix(40) { bytes.append(text[index]) }
        return String(decoding: bytes, as: UTF8.self) + (last.count > 40 ? "…" : "")
    }

    private static func isWhole(_ text: borrowing Span<UInt8>, _ word: Range<Int>) -> Bool {
        for index in word where text[index] &- 0x30 >= 10 { return false }
        return true
    }

    private static func decimal(_ text: borrowing Span<UInt8>, _ word: Range<Int>) -> UInt64? {
        guard !word.isEmpty, word.count < 20 else { return nil }
        var value: UInt64 = 0
        for index in word {
            guard text[index] >= 0x30, text[index] <= 0x39 else { return nil }
            value = value * 10 + UInt64(text[index] - 0x30)
        }
        return value
    }

    private static func hexadecimal(_ text: borrowing Span<UInt8>, _ word: Range<Int>) -> UInt64? {
        guard word.count > 2, word.count <= 18, text[word.lowerBound] == 0x30,
            text[word.lowerBound + 1] | 0x20 == UInt8(ascii: "x")
        else { return nil }
        var value: UInt64 = 0
        for index in word.lowerBound + 2..<word.upperBound {
            guard let digit = QuickWord.hexadecimal(text[index]) else { return nil }
            value = value << 4 | digit
        }
        return value
    }
}
