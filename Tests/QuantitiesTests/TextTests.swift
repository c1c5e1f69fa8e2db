import Quantities
import Testing

@Suite("quantities as people write them")
struct TextTests {
    @Test(
        "a size is read with its unit",
        arguments: [("38MiB", 38 << 20), ("1.5GiB", 3 << 29), ("1KB", 1000), ("0B", 0), ("0.5KiB", 512)])
    func sizes(text: String, bytes: Int) throws {
        #expect(try ByteCount(parsing: text) == ByteCount(bytes))
    }

    @Test(
        "a size without a known unit is a fault",
        arguments: ["38", "", "MiB", "38 MiB", "38mib", "-1MiB", "9999999999GiB", "1.2.3MiB", "."])
    func badSizes(text: String) {
        #expect(throws: QuantityFault.self) { try ByteCount(parsing: text) }
    }

    @Test(
        "a time is read with its unit, or as a sum of falling units",
        arguments: [("100ms", 100_000), ("1.5s", 1_500_000), ("1h30min", 5_400_000_000), ("0s", 0), ("7us", 7)]
            as [(String, Int64)])
    func times(text: String, microseconds: Int64) throws {
        #expect(try TimeSpan(parsing: text) == TimeSpan(microseconds: microseconds))
    }

    @Test("a time without a unit or with rising units is a fault", arguments: ["5", "5min1h", "s", "1s1s", "1 s"])
    func badTimes(text: String) {
        #expect(throws: QuantityFault.self) { try TimeSpan(parsing: text) }
    }

    @Test(
        "what is printed is read again as the same value", arguments: [0, 1, 1023, 1024, 1 << 20, 3 << 30, 1_000_000])
    func roundTrip(bytes: Int) throws {
        #expect(try ByteCount(parsing: ByteCount(bytes).description) == ByteCount(bytes))
        let span = TimeSpan(microseconds: Int64(bytes))
        #expect(try TimeSpan(parsing: span.description) == span)
        let ratio = Ratio(partsPerMillion: Int64(bytes))
        #expect(try Ratio(parsing: ratio.description) == ratio)
    }

    @Test("a decimal has no trailing zeros")
    func decimals() {
        #expect(decimalText(1_500_000, digits: 6) == "1.5")
        #expect(decimalText(-1, digits: 6) == "-0.000001")
        #expect(decimalText(0, digits: 6) == "0")
    }
}

@Suite("text from outside in a message")
struct MessageTests {
    @Test(
        "what shows nothing or turns the line round is spelt out",
        arguments: [
            ("a\u{202E}b", "a\\u{202E}b"), ("\u{200B}", "\\u{200B}"), ("\u{2066}x\u{2069}", "\\u{2066}x\\u{2069}"),
            ("\u{FEFF}", "\\u{FEFF}"), ("\u{AD}", "\\u{AD}"), ("\u{3164}", "\\u{3164}"), ("\u{E0041}", "\\u{E0041}"),
            ("\u{61C}", "\\u{61C}"), ("\u{FE0F}", "\\u{FE0F}"), ("é ü 漢字 😀", "é ü 漢字 😀"),
            ("a\nb\t\u{1B}", "a\\nb\\t\\u{1B}"),
        ])
    func hidden(text: String, expected: String) {
        #expect(text.onOneLine == expected)
    }

    @Test("a long text keeps its beginning and its end")
    func shortened() {
        #expect("abcdefghij".shortened(to: 10) == "abcdefghij")
        #expect("abcdefghijk".shortened(to: 10) == "abcdef…ijk")
        #expect("ääääääääää".shortened(to: 10) == "ääääääääää")
        let marks = "a" + String(repeating: "\u{301}", count: 1_000)
        #expect(marks.shortened(to: 10).unicodeScalars.count == 10)
        let message = "the key '\(String(repeating: "k", count: 1_000))' is \(String(repeating: "very ", count: 2_000))"
        #expect(message.asMessage.unicodeScalars.count <= 4_000)
        #expect(message.asMessage.split(separator: " ").allSatisfy { $0.count <= 240 })
        #expect("short".asMessage == "short")
    }

    @Test(
        "a large number is read in groups",
        arguments: [(0, "0"), (999, "999"), (-1_000, "-1,000"), (599_900, "599,900")])
    func grouped(number: Int, text: String) {
        #expect(number.grouped == text)
    }

    @Test("a number has its noun in the singular or the plural")
    func counted() {
        #expect([0, 1, 2].map { $0.counted("run") } == ["0 runs", "1 run", "2 runs"])
        #expect([1, 2].map { $0.counted("process", "processes") } == ["1 process", "2 processes"])
    }
}
