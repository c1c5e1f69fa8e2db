import Foundation
import Testing

@Suite("plimsoll import memory-replay")
struct ImportMemoryReplayTests {
    private static let trace = """
        1: malloc 0x10 100
        1: calloc 0x20 4 25
        2: memalign 0x40 64 200
        1: realloc 0x50 0x10 300
        2: free 0x20
        1: free 0x40

        """

    /// The trace as `gzip -9` and `zip -9` pack it.
    private static let gzip =
        "H4sIAAAAAAACAzWMQQ6AIBAD77yiT+iu4IHfGLIaE9SEk893FTl2Oq1kHEutVwFvIYQMklEGUiJCU1DXzMV9O51GYnbc3WZDTuwn"
        + "kxc+WJvZd/Faf4gMD1MuCLVyAAAA"
    private static let zip =
        "UEsDBBQAAAAIAAAAIVBTLgi1TgAAAHIAAAAJAAAAdHJhY2UudHh0NYxBDoAgEAPvvKJP6K7ggd8YshoT1ISTz3cVOXY6rWQcS61X"
        + "AW8hhAySUQZSIkJTUNfMxX07nUZidtzdZkNO7CeTFz5Ym9l38Vp/iAwPUEsBAhQDFAAAAAgAAAAhUFMuCLVOAAAAcgAAAAkAAAAA"
        + "AAAAAAAAAIABAAAAAHRyYWNlLnR4dFBLBQYAAAAAAQABADcAAAB1AAAAAAA="
    /// 256 KiB of spaces in 294 bytes.
    private static let bomb =
        "H4sIAAAAAAACA+3BMQEAAADCoCrrn9LbDkAB" + String(repeating: "A", count: 357) + "LwBNKAvkgAABAA="

    private static func bytes(_ text: String) throws -> Data { try #require(Data(base64Encoded: text)) }

    @Test("a packed trace gives the figures of the plain one, and its scenario runs")
    func packed() throws {
        let folder = try Program.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = [
            ("trace.txt", Data(Self.trace.utf8)), ("trace.gz", try Self.bytes(Self.gzip)),
            ("trace.zip", try Self.bytes(Self.zip)),
        ]
        var figures: [String] = []
        for (name, data) in files {
            try data.write(to: folder.appending(path: name))
            let out = name + ".yaml"
            let result = try Program.run(["import", "memory-replay", name, "--out", out], in: folder)
            #expect(result.status == 0 && result.error.isEmpty, "\(result.error)")
            figures.append(result.out)
            let run = try Program.run(
                ["run", out, "--backend", "accounting", "--quiet", "--out", name + ".run"], in: folder)
            #expect(run.status == 0, "\(run.error)")
        }
        #expect(figures[0].contains("malloc") && figures[1] == figures[0] && figures[2] == figures[0])
    }

    @Test("a broken archive and a bomb end with 65 and one line, and leave no scenario")
    func refused() throws {
        let folder = try Program.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        var twisted = try Self.bytes(Self.gzip)
        twisted[40] ^= 0xFF
        let files = [
            ("cut.gz", try Self.bytes(Self.gzip).dropLast(9), "the archive"),
            ("cut.zip", try Self.bytes(Self.zip).dropLast(30), "the archive"), ("twisted.gz", twisted, "the archive"),
            ("bomb.gz", try Self.bytes(Self.bomb), "a line is longer than 1024 bytes"),
        ]
        for (name, data, words) in files {
            try Data(data).write(to: folder.appending(path: name))
            let result = try Program.run(["import", "memory-replay", name, "--out", "s.yaml"], in: folder)
            #expect(result.status == 65 && result.out.isEmpty)
            let lines = result.error.split(separator: "\n")
            #expect(lines.count == 1 && lines[0].hasPrefix(name) && result.error.contains(words), "\(result.error)")
            #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "s.yaml").path()))
        }
        let missing = try Program.run(["import", "memory-replay", "none.gz"], in: folder)
        #expect(missing.status == 66)
    }
}
