/// One line of an allocation trace in the memory_replay format (Android's `tools/memory_replay`).
///
/// Identifiers are the addresses of the recorded process; they are used again after a free. A null is 0.
public enum TraceOperation: Hashable, Sendable {
    case malloc(id: UInt64, size: Int)
    case calloc(id: UInt64, count: Int, size: Int)
    /// An old identifier of null makes a new object; a new identifier of null only frees.
    case realloc(id: UInt64, old: UInt64, size: Int)
    case memalign(id: UInt64, alignment: Int, size: Int)
    case free(id: UInt64)
    /// A thread ended. Thread caches are off, so nothing follows for memory.
    case threadDone
}

/// What is wrong with a line of a trace.
public struct TraceFault: Error, Hashable, Sendable {
    /// From 1.
    public var line: Int
    /// From 1; a fault of the operation as a whole is where its line begins.
    public var column: Int
    public var message: String

    public init(line: Int, column: Int = 1, message: String) {
        self.line = line
        self.column = column
        self.message = message
    }
}

extension TraceOperation {
    /// The largest object and the widest alignment that a replay makes.
    public static let largestObject = 1 << 30 - 1
    public static let widestAlignment = 1 << 20

    /// Reads `<tid>: <name> <pointer> [<numbers>] [<start_ns> <end_ns>]`, without the end of the line.
    ///
    /// Threads are not told apart: the order of the lines is the order of the operations.
    public static func parse(_ text: borrowing Span<UInt8>, line: Int) throws(TraceFault) -> TraceOperation {
        if let operation = quick(text) { return operation }
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

    /// The lines that nearly every trace consists of, read in one pass: `202: malloc 0x10 8` and `202: free 0x10`, with
    /// single blanks and nothing behind. Nil for all others, and for whatever may be wrong.
    private static func quick(_ text: borrowing Span<UInt8>) -> TraceOperation? {
        var at = 0
        let end = text.count
        while at < end, text[at] &- 0x30 < 10 { at += 1 }
        guard at > 0, at < 19, at + 9 < end, text[at] == UInt8(ascii: ":"), text[at + 1] == 0x20 else { return nil }
        let isFree = text[at + 2] == UInt8(ascii: "f")
        var word = isFree ? QuickWord.free : QuickWord.malloc
        at += 2
        while word != 0 {
            guard at < end, text[at] == UInt8(truncatingIfNeeded: word) else { return nil }
            word >>= 8
            at += 1
        }
        guard at + 3 < end, text[at] == 0x20, text[at + 1] == 0x30, text[at + 2] == UInt8(ascii: "x") else {
            return nil
        }
        at += 3
        let digits = at
        var id: UInt64 = 0
        while at < end, let digit = QuickWord.hexadecimal(text[at]) {
            id = id << 4 | digit
            at += 1
        }
        guard at > digits, at - digits <= 16 else { return nil }
        if isFree { return at == end ? .free(id: id) : nil }
        guard id != 0, at + 1 < end, text[at] == 0x20, end - at < 11 else { return nil }
        at += 1
        var size = 0
        while at < end {
            let digit = text[at] &- 0x30
            guard digit < 10 else { return nil }
            size = size * 10 + Int(digit)
            at += 1
        }
        return size <= largestObject ? .malloc(id: id, size: size) : nil
    }

    /// What the operation asks for.
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

        /// By length and first letter, then whole: no string is made.
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
    /// The letters, the first one lowest.
    static let free: UInt64 = 0x6565_7266
    static let malloc: UInt64 = 0x636f_6c6c_616d

    @inline(__always)
    static func hexadecimal(_ byte: UInt8) -> UInt64? {
        if byte &- 0x30 < 10 { return UInt64(byte &- 0x30) }
        let letter = (byte | 0x20) &- 0x61
        return letter < 6 ? UInt64(letter) + 10 : nil
    }
}

/// Goes through the words of a line.
private struct Words {
    let line: Int
    private var position = 0
    /// The word that was read last; empty, and behind the line, where there was none.
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

    /// One that is too large for a number is the largest.
    mutating func number(_ text: borrowing Span<UInt8>, _ what: String) throws(TraceFault) -> Int {
        guard let word = next(text), Words.isWhole(text, word) else {
            throw unexpected(text, "expected \(what), a whole number")
        }
        return Int(clamping: Words.decimal(text, word) ?? .max)
    }

    /// - Parameter count: So many together are the object.
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

    /// A pointer that is not null.
    mutating func object(_ text: borrowing Span<UInt8>) throws(TraceFault) -> UInt64 {
        let value = try pointer(text)
        guard value != 0 else { throw fault("a new object has the pointer null") }
        return value
    }

    /// Nothing more, or the two recorded times, which the replay does not use.
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

    /// A fault of the word that was read last.
    func fault(_ message: String) -> TraceFault {
        TraceFault(line: line, column: last.lowerBound + 1, message: message)
    }

    /// The same, and says what was read.
    func unexpected(_ text: borrowing Span<UInt8>, _ expected: String) -> TraceFault {
        fault(expected + (last.isEmpty ? ", but the line ends here" : ", not '\(read(text))'"))
    }

    /// The word that was read last; a long one is cut off.
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
            let byte = text[index] | 0x20
            switch byte {
            case 0x30...0x39: value = value << 4 | UInt64(byte - 0x30)
            case 0x61...0x66: value = value << 4 | UInt64(byte - 0x57)
            default: return nil
            }
        }
        return value
    }
}
