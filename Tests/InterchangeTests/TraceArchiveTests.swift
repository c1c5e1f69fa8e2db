import Foundation
import Scenario
import SystemZlib
import Testing

@testable import Interchange

@Suite("packed traces")
struct TraceArchiveTests {
    // MARK: Archives

    /// Packs with zlib: 31 bits of window give the gzip form, -15 a bare stream.
    private static func packed(_ bytes: [UInt8], bits: Int32) -> [UInt8] {
        var stream = z_stream()
        let size = Int32(MemoryLayout<z_stream>.size)
        guard deflateInit2_(&stream, 9, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size) == Z_OK else {
            return []
        }
        defer { deflateEnd(&stream) }
        var input = bytes
        var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(bytes.count))) + 64)
        let room = output.count
        let count = input.withUnsafeMutableBufferPointer { source in
            output.withUnsafeMutableBufferPointer { target in
                stream.next_in = source.baseAddress
                stream.avail_in = UInt32(source.count)
                stream.next_out = target.baseAddress
                stream.avail_out = UInt32(room)
                return deflate(&stream, Z_FINISH) == Z_STREAM_END ? room - Int(stream.avail_out) : 0
            }
        }
        return Array(output[..<count])
    }

    private static func gzip(_ text: String) -> [UInt8] { packed(Array(text.utf8), bits: 31) }

    /// One file of a zip archive.
    private struct Member {
        var name = "trace.txt"
        var text = TraceFixture.byHand
        var method = 8
        var flags = 0
        /// What the archive says about the size, if it lies.
        var size: Int?
        var checksum: UInt?
    }

    private static func little(_ number: Int, _ length: Int) -> [UInt8] {
        (0..<length).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    private static func zip(_ members: [Member]) -> [UInt8] {
        var (bytes, directory): ([UInt8], [UInt8]) = ([], [])
        for member in members {
            let text = Array(member.text.utf8)
            let data = member.method == 8 ? packed(text, bits: -15) : text
            let sum = Int(member.checksum ?? crc32(0, text, UInt32(text.count)))
            let figures =
                little(20, 2) + little(member.flags, 2) + little(member.method, 2) + little(0, 4) + little(sum, 4)
                + little(data.count, 4) + little(member.size ?? text.count, 4) + little(member.name.utf8.count, 2)
            directory +=
                little(0x0201_4b50, 4) + little(20, 2) + figures + little(0, 2) + little(0, 2) + little(0, 8)
                + little(bytes.count, 4) + Array(member.name.utf8)
            bytes += little(0x0403_4b50, 4) + figures + little(0, 2) + Array(member.name.utf8) + data
        }
        return bytes + directory + little(0x0605_4b50, 4) + little(0, 4) + little(members.count, 2)
            + little(members.count, 2) + little(directory.count, 4) + little(bytes.count, 4) + little(0, 2)
    }

    // MARK: Reading

    /// The figures of the trace, or the one line that says why there are none.
    private func outcome(_ bytes: [UInt8], name: String = "trace.bin") throws -> (report: String?, fault: String?) {
        let file = try TraceFixture.write("", to: name)
        defer { TraceFixture.remove(file) }
        try Data(bytes).write(to: file)
        do throws(ScenarioFault) {
            return (try MemoryReplayImport(path: file.path()).report, nil)
        } catch {
            return (nil, "\(error)".replacing(file.deletingLastPathComponent().path(), with: ""))
        }
    }

    private func plain() throws -> String? { try outcome(Array(TraceFixture.byHand.utf8)).report }

    @Test("a packed trace gives the figures of the plain one, whatever its name")
    func same() throws {
        let expected = try plain()
        #expect(expected?.contains("lines") == true)
        #expect(try outcome(Self.gzip(TraceFixture.byHand)).report == expected)
        #expect(try outcome(Self.gzip(TraceFixture.byHand), name: "trace.zip").report == expected)
        #expect(try outcome(Self.zip([Member()])).report == expected)
        #expect(try outcome(Self.zip([Member(method: 0)])).report == expected)
        // As some tools write it: a folder, and macOS's attributes beside the file.
        let folder = Member(name: "traces/", text: "", method: 0)
        let attributes = Member(name: "__MACOSX/traces/._trace.txt", text: "x", method: 0)
        #expect(try outcome(Self.zip([folder, Member(name: "traces/trace.txt"), attributes])).report == expected)
        // Members of a .gz file follow each other, even within a line.
        let text = TraceFixture.byHand
        let middle = text.index(text.startIndex, offsetBy: 41)
        let parts = Self.gzip(String(text[..<middle])) + Self.gzip(String(text[middle...])) + [0, 0, 0]
        #expect(try outcome(parts).report == expected)
    }

    @Test("a trace longer than the reader's pieces is whole, and a fault in it names its line")
    func long() throws {
        let lines = (1...60_000).flatMap { ["1: malloc 0x\(String($0 * 16, radix: 16)) \($0 % 977)"] }
        let text = lines.joined(separator: "\n")
        let expected = try outcome(Array(text.utf8)).report
        #expect(try outcome(Self.gzip(text)).report == expected && expected != nil)
        #expect(try outcome(Self.zip([Member(text: text)])).report == expected)
        let broken = try outcome(Self.gzip(text + "\n1: malloc what 5")).fault
        #expect(broken?.hasPrefix("trace.bin:60001:") == true && broken?.contains("\n") == false, "\(broken ?? "")")
    }

    @Test("broken archives give one line")
    func broken() throws {
        let cases: [([UInt8], String)] = [
            (Self.zip([]), "the archive holds 0 files; expected one, the trace"),
            (Self.zip([Member(), Member(name: "b.txt")]), "the archive holds 2 files; expected one, the trace"),
            (Self.zip([Member(flags: 1)]), "the archive is encrypted"),
            (Self.zip([Member(method: 12)]), "the archive is packed by method 12; expected deflate"),
            (Self.zip([Member(checksum: 7)]), "the archive is broken: its checksum or its size differs"),
            (Self.zip([Member(size: 9)]), "the archive unpacks to more than it says"),
            (Self.zip([Member(size: 9_999)]), "the archive is broken: its checksum or its size differs"),
            (Self.zip([Member(size: 9, checksum: nil)]).dropLast(30), "it has no directory"),
            (Self.gzip(TraceFixture.byHand).dropLast(4), "the archive ends too early"),
            (Array("PK\u{3}\u{4}".utf8), "it has no directory"),
            ([0x1f, 0x8b], "the archive ends too early"),
            ([0x1f, 0x8b, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7], "the archive is broken: unknown compression method"),
        ].map { (Array($0.0), $0.1) }
        for (bytes, words) in cases {
            let fault = try outcome(bytes).fault
            let isTold = fault?.contains(": error: ") == true && fault?.contains(words) == true
            #expect(isTold, "\(fault ?? "none"): \(words)")
            #expect(fault?.contains("\n") == false)
        }
    }

    @Test("an archive that is cut anywhere, or has any byte changed, gives the figures or one line")
    func mutations() throws {
        let expected = try plain()
        for whole in [Self.gzip(TraceFixture.byHand), Self.zip([Member()])] {
            for length in 0..<whole.count {
                let (report, fault) = try outcome(Array(whole[..<length]))
                #expect(report == nil && fault?.contains("\n") == false, "cut to \(length)")
            }
            for place in whole.indices {
                var bytes = whole
                bytes[place] ^= 0x55
                let (report, fault) = try outcome(bytes)
                // A time stamp and the like do not matter.
                #expect(report == expected || fault?.contains("\n") == false, "byte \(place)")
            }
        }
    }

    @Test("a bomb is refused when it has unpacked to the limit, not when it is done")
    func bombs() throws {
        let text = String(repeating: "1: thread_done 0x0\n", count: 60_000)
        func read(_ bytes: [UInt8], _ limits: TraceBytes.Limits) throws -> (count: Int, fault: String?) {
            let file = try TraceFixture.write("", to: "bomb.gz")
            defer { TraceFixture.remove(file) }
            try Data(bytes).write(to: file)
            let buffer = UnsafeMutablePointer<UInt8>.allocate(capacity: 4_096)
            defer { buffer.deallocate() }
            var total = 0
            do throws(TraceBytes.Fault) {
                let source = try TraceBytes(path: file.path(), limits: limits)
                while case let count = try source.read(into: buffer, atMost: 4_096), count > 0 { total += count }
                return (total, nil)
            } catch {
                return (total, error.message)
            }
        }
        for bomb in [Self.gzip(text), Self.zip([Member(text: text)])] {
            #expect(bomb.count * 200 < text.utf8.count)
            #expect(try read(bomb, TraceBytes.Limits()) == (text.utf8.count, nil), "a small one is harmless")
            let wide = try read(bomb, TraceBytes.Limits(unquestioned: 100_000))
            #expect(wide.fault == "the archive unpacks to more than 200 times its size" && wide.count <= 110_000)
            let most = try read(bomb, TraceBytes.Limits(most: 50_000))
            #expect(most.fault == "the archive unpacks to more than 50000 bytes" && most.count <= 50_000)
        }
        // A line without an end stops the reader at once, however much would follow.
        let line = try outcome(Self.gzip(String(repeating: " ", count: 1 << 22))).fault
        #expect(line?.contains("a line is longer than 1024 bytes") == true)
    }

    @Test("a scenario plays a packed trace as it plays the plain one")
    func played() throws {
        func tables(_ bytes: [UInt8], _ name: String) throws -> [[UInt8]] {
            let file = try TraceFixture.write("", to: name)
            defer { TraceFixture.remove(file) }
            try Data(bytes).write(to: file)
            let folder = file.deletingLastPathComponent()
            let scenario = folder.appending(path: "replay.yaml")
            let text = try MemoryReplayImport(path: file.path()).scenario(in: folder.path())
            try Data(text.utf8).write(to: scenario)
            var plan = try ScenarioLoader.load(path: scenario.path()).get()
            plan.backend = .accounting
            return try JetsamExportFixture.playAnew(plan, keepingReports: false).tables
        }
        let expected = try tables(Array(TraceFixture.byHand.utf8), "trace.txt")
        #expect(try tables(Self.gzip(TraceFixture.byHand), "trace.txt.gz") == expected)
        #expect(try tables(Self.zip([Member()]), "trace.zip") == expected)
    }
}
