import Foundation
import Quantities
import Scenario
import Testing
import Workload

@testable import Interchange

@Suite("reading allocation traces")
struct TraceSurveyTests {
    @Test("every operation is counted, and so are live objects and bytes")
    func byHand() throws {
        let file = try TraceFixture.write(TraceFixture.byHand)
        defer { TraceFixture.remove(file) }
        let survey = try TraceFiles.survey(file.path())
        var counts = TraceSurvey.Counts()
        (counts.malloc, counts.calloc, counts.realloc, counts.memalign) = (2, 1, 3, 1)
        (counts.free, counts.freeOfNull, counts.threadDone) = (3, 1, 1)
        #expect(survey.counts == counts)
        #expect(survey.lines == 11)
        // 300 + 5000 + 0 bytes remain; before the last free there were 200 more.
        #expect(survey.requested == ByteCount(5_300))
        #expect(survey.objects == 3)
        #expect(survey.peakRequested == ByteCount(5_500))
        #expect(survey.peakLine == 10)
        #expect(survey.peakObjects == 4)
        #expect(survey.allocated == ByteCount(100 + 100 + 50 + 200 + 300 + 5_000))
    }

    @Test("a file is read to the chosen line and no further")
    func lastLine() throws {
        let file = try TraceFixture.write("1: malloc 0x10 8\r\n1: free 0x10\r\nnonsense\n")
        defer { TraceFixture.remove(file) }
        #expect(try TraceFiles.survey(file.path(), lastLine: 2).lines == 2)
        #expect(throws: ScenarioFault.self) { try TraceFiles.survey(file.path()) }
    }

    @Test("lines on both sides of a piece's border are read whole")
    func pieces() throws {
        let text = TraceFixture.random(seed: 3, count: 30_000)
        #expect(text.utf8.count > 512 * 1024)
        let file = try TraceFixture.write(text)
        defer { TraceFixture.remove(file) }
        #expect(try TraceFiles.survey(file.path()).lines == 30_000)
    }

    static let broken: [(text: String, place: (line: Int, column: Int), message: String)] = [
        ("malloc 0x10 8", (1, 1), "expected a thread such as '202:' first, not 'malloc'"),
        (
            "1: malloc 0x10 8\n\n1: free 0x10", (2, 1),
            "expected a thread such as '202:' first, but the line ends here"
        ),
        ("1:", (1, 3), "expected an operation, but the line ends here"),
        (
            "1: mallok 0x10 8", (1, 4),
            "unknown operation 'mallok'; valid operations: malloc, calloc, realloc, memalign, free, thread_done"
        ),
        ("1: malloc 10 8", (1, 11), "expected a pointer such as 0xb4827400, not '10'"),
        ("1: malloc 0x0 8", (1, 11), "a new object has the pointer null"),
        ("1: malloc 0x10 -8", (1, 16), "expected a size in bytes, a whole number, not '-8'"),
        ("1: calloc  0x10\t8", (1, 18), "expected a size in bytes, a whole number, but the line ends here"),
        ("1: calloc 0x10 many 8", (1, 16), "expected a number of elements, a whole number, not 'many'"),
        ("1: malloc 0x10 1073741824", (1, 16), "a size of 1073741824; an object has at most 1073741823 bytes"),
        (
            "1: malloc 0x1 18446744073709551615", (1, 15),
            "a size of 18446744073709551615; an object has at most 1073741823 bytes"
        ),
        (
            "1: calloc 0x10 4294967296 4294967296", (1, 27),
            "4294967296 times a size of 4294967296; an object has at most 1073741823 bytes"
        ),
        ("1: memalign 0x10 24 8", (1, 18), "an alignment of 24; expected a power of two up to 1048576"),
        (
            "1: memalign 0x1 99999999999999999999 8", (1, 17),
            "an alignment of 99999999999999999999; expected a power of two up to 1048576"
        ),
        (
            "1: malloc 0x1\u{11} 8", (1, 11),
            "expected a pointer such as 0xb4827400, not '0x1\u{11}'"
        ),
        ("1: free 0x10", (1, 9), "0x10 is not a live object"),
        ("1: malloc 0x10 8\n2: malloc 0x10 8", (2, 11), "0x10 is made again, but was not freed"),
        ("1: malloc 0x10 8\n12:  calloc\t0x10 8 1 5 6", (2, 13), "0x10 is made again, but was not freed"),
        ("1: malloc 0x1 8\n1: realloc 0x1 0x2 8\n", (2, 16), "0x2 is not a live object"),
        ("1: realloc 0x2 0x2 8", (1, 16), "0x2 is not a live object"),
        ("1: realloc 0x0 0x2 0", (1, 16), "0x2 is not a live object"),
        ("1: malloc 0x1 8\n1: malloc 0x2 8\n1: realloc 0x1 0x2 8", (3, 12), "0x1 is made again, but was not freed"),
        ("1: malloc 0x10 8 5", (1, 19), "expected an end in nanoseconds behind the start, but the line ends here"),
        (
            "1: malloc 0x10 8 x", (1, 18),
            "expected the end of the line, or a start and an end in nanoseconds, not 'x'"
        ),
        ("1: malloc 0x10 8 5 6 7", (1, 22), "expected the end of the line, not '7'"),
        ("1: malloc 0x10 " + String(repeating: "8", count: 2_000), (1, 1), "a line is longer than 1024 bytes"),
        ("", (1, 1), "the trace holds no operation"),
    ]

    @Test("a broken trace is refused with its line and column, and what was found", arguments: 0..<broken.count)
    func refusals(index: Int) throws {
        let (text, place, message) = Self.broken[index]
        let file = try TraceFixture.write(text)
        defer { TraceFixture.remove(file) }
        let expected = Diagnostic(
            location: .file(file.path(), line: place.line, column: place.column), message: message)
        #expect(throws: ScenarioFault.invalid([expected])) { try TraceFiles.survey(file.path()) }
    }

    @Test("what is read in one pass is what is read word by word, whatever the line, and what is common is")
    func quickLines() {
        let common = [
            "202: malloc 0xb4827400 8", "1: malloc 0x10 1073741823", "17641: free 0xae852080", "1: free 0x0",
            "12: malloc 0x7fffb4827400 116", "1: malloc 0xABCDEF01 5", "9: free 0xfedcba9876543210", "0: malloc 0x1 0",
        ]
        for line in common { #expect(quick(line) != nil && quick(line) == parsed(line), "\(line)") }
        let odd = ["1: calloc 0x10 2 8", "1: malloc 0x10 8 5 6", "1:  free 0x10", "1: malloc 0x0 8", "", "1: free 0x"]
        for line in odd { #expect(quick(line) == nil, "\(line)") }
        // Each byte of the common lines is replaced by every other value, removed and duplicated, and the line is cut
        // there.
        for line in common.map({ Array($0.utf8) }) {
            for place in line.indices {
                for byte in UInt8.min...UInt8.max where byte != 0x0a {
                    var other = line
                    other[place] = byte
                    check(other)
                }
                check(Array(line[..<place] + line[(place + 1)...]))
                check(Array(line[...place] + line[place...]))
                check(Array(line[..<place]))
            }
        }
    }

    private func check(_ line: [UInt8]) {
        let text = String(decoding: line, as: UTF8.self)
        if let read = quick(line) { #expect(read == parsed(line), "\(text)") }
    }

    private func quick(_ line: String) -> TraceOperation? { quick(Array(line.utf8)) }

    /// Reads the line as the first of several.
    private func quick(_ line: [UInt8]) -> TraceOperation? {
        let lines = line + Array("\n1: malloc 0x20 16\n\n".utf8)
        guard let (operation, length) = TraceOperation.quick(lines.span) else { return nil }
        #expect(length == line.count + 1)
        return operation
    }

    private func parsed(_ line: String) -> TraceOperation? { parsed(Array(line.utf8)) }
    private func parsed(_ line: [UInt8]) -> TraceOperation? { try? TraceOperation.parse(line.span, line: 1) }

    @Test("a line that the last byte may have cut is not read in one pass")
    func cutLines() {
        let line = Array("202: malloc 0xb4827400 8".utf8)
        for length in 0...line.count {
            let bytes = Array(line[..<length]) + [0x0a]
            let isRead = TraceOperation.quick(bytes.span) != nil
            #expect(!isRead, "\(length)")
        }
        let whole = line + [0x0a, 0x0a]
        let length = TraceOperation.quick(whole.span)?.length
        #expect(length == line.count + 1)
    }

    @Test("the last line may lack its end, and lines may end as Windows ends them")
    func ends() throws {
        for text in ["1: malloc 0xb4827400 8\n1: free 0xb4827400", "1: malloc 0xb4827400 8\r\n1: free 0xb4827400\r\n"] {
            let file = try TraceFixture.write(text)
            defer { TraceFixture.remove(file) }
            let survey = try TraceFiles.survey(file.path())
            #expect(survey.lines == 2 && survey.counts.free == 1 && survey.objects == 0)
        }
    }

    @Test("a missing file, a folder, and one that cannot be opened are missing inputs, and say so")
    func missing() throws {
        let folder = NSTemporaryDirectory()
        let link = FileManager.default.temporaryDirectory.appending(path: "loop-\(UUID().uuidString).txt").path()
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: link)
        defer { try? FileManager.default.removeItem(atPath: link) }
        for (path, reason) in [
            ("/nowhere/trace.txt", "there is no such file; expected an allocation trace"),
            (folder, "this is a directory; expected an allocation trace"),
            (link, "the file cannot be read: Too many levels of symbolic links"),
        ] {
            #expect(throws: ScenarioFault.unreadable(path: path, reason: reason)) { try TraceFiles.survey(path) }
        }
    }
}

/// The trace of a real process, if available: in the folder of shared data beside the checkout, or in the unpacked file
/// that `PLIMSOLL_TRACE` names. It is not part of the project.
enum RealTrace {
    private static let named = ProcessInfo.processInfo.environment["PLIMSOLL_TRACE"]
    private static let archive = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "shared/data/memory_replay/systemui.zip")
    private static let unzip = "/usr/bin/unzip"

    static var isAtHand: Bool {
        let files = FileManager.default
        return named.map { files.fileExists(atPath: $0) }
            ?? (files.fileExists(atPath: archive.path()) && files.isExecutableFile(atPath: unzip))
    }

    /// Unpacks the trace while `body` runs.
    static func with(_ body: (String) throws -> Void) throws {
        if let named { return try body(named) }
        let file = FileManager.default.temporaryDirectory.appending(path: "trace-\(UUID().uuidString).txt")
        try Data().write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let process = Process()
        process.executableURL = URL(filePath: unzip)
        process.arguments = ["-p", archive.path(), "systemui.txt"]
        process.standardOutput = try FileHandle(forWritingTo: file)
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        try body(file.path())
    }
}

@Suite("a real trace", .enabled(if: RealTrace.isAtHand, "data: the shared trace is not beside the checkout"))
struct RealTraceTests {
    @Test("systemui: counts, peaks and final figures")
    func survey() throws {
        try RealTrace.with { path in
            let survey = try TraceFiles.survey(path)
            var counts = TraceSurvey.Counts()
            (counts.malloc, counts.calloc, counts.realloc, counts.memalign) = (383_154, 7_847, 29_167, 1_066)
            (counts.free, counts.freeOfNull, counts.threadDone) = (364_863, 15_818, 357)
            #expect(survey.counts == counts)
            #expect(survey.lines == 786_454)
            #expect(survey.peakRequested.bytes == 10_441_709)
            #expect(survey.peakLine == 644_872)
            #expect(survey.peakObjects == 60_097)
            #expect(survey.requested.bytes == 8_396_631)
            #expect(survey.objects == 53_645)
            #expect(survey.allocated.bytes == 202_033_137)
        }
    }

    @Test("systemui played on real memory holds the same bytes")
    func replay() throws {
        try RealTrace.with { path in
            let file = try TraceFixture.write("")
            defer { TraceFixture.remove(file) }
            let text = TraceFixture.scenario("{ file: \(path), over: 20s }")
            let output = try TraceFixture.play(try TraceFixture.load(text, beside: file))
            #expect(
                output.events("trace").map(\.reason) == [
                    "786454 operations; at most 10441709 B requested in 60097 objects; "
                        + "the process holds 8396631 B in 53645"
                ])
        }
    }
}
