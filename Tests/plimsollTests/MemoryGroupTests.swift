import Foundation
import Quantities
import Testing

@testable import RunFolders
@testable import plimsoll

@Suite("what memory groups leave to a process")
struct MemoryGroupTests {
    /// Mount tables in the form that kernels write, with unrelated mounts.
    private enum Mounts {
        static let first = """
            31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
            32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime shared:9 - cgroup cgroup rw,cpu
            35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:10 master:2 - cgroup cgroup rw,memory
            41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
            """
        static let second = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
    }

    private static let free = "9223372036854771712"

    /// The tightest group and the memory that it leaves, such as `/group 10MiB`. `files` are by path.
    private func tightest(_ group: String, _ mounts: String, _ files: [String: String] = [:]) throws -> String? {
        let root = FileManager.default.temporaryDirectory.appending(path: "plimsoll-groups-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: root) }
        let all = ["proc/self/cgroup": group + "\n", "proc/self/mountinfo": mounts].merging(files) { own, _ in own }
        for (path, text) in all {
            let file = root.appending(path: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        return MemoryGroups(root: root.path()).tightest.map { "\($0.group) \($0.room)" }
    }

    /// The files of a folder in cgroup version 1; sizes in MiB.
    private func first(_ folder: String, _ most: Int?, used: Int, idle: Int = 0) -> [String: String] {
        let statistics = "cache 1\ninactive_file 7\ntotal_inactive_file \(idle << 20)\ntotal_active_file 9\n"
        return [
            "\(folder)/memory.limit_in_bytes": most.map { "\($0 << 20)\n" } ?? Self.free,
            "\(folder)/memory.usage_in_bytes": "\(used << 20)\n", "\(folder)/memory.stat": statistics,
        ]
    }

    /// The files of a folder in cgroup version 2; sizes in MiB.
    private func second(_ folder: String, _ most: Int?, used: Int, idle: Int = 0) -> [String: String] {
        [
            "\(folder)/memory.max": most.map { "\($0 << 20)\n" } ?? "max\n",
            "\(folder)/memory.current": "\(used << 20)\n",
            "\(folder)/memory.stat": "anon 5\nfile 6\ninactive_anon 3\ninactive_file \(idle << 20)\n",
        ]
    }

    private func merged(_ files: [String: String]...) -> [String: String] {
        files.reduce(into: [:]) { $0.merge($1) { _, later in later } }
    }

    @Test("version 1: the limit without what is used, but for files that can be taken back")
    func versionOne() throws {
        let memory = "sys/fs/cgroup/memory"
        let line = "9:name=systemd:/a\n4:memory:/a/b\n0::/"
        let root = first(memory, nil, used: 2_000)
        let own = first("\(memory)/a/b", 300, used: 100, idle: 40)
        let around = first("\(memory)/a", nil, used: 500)
        #expect(try tightest(line, Mounts.first, merged(root, around, own)) == "/a/b 240MiB")
        let tight = first("\(memory)/a", 300, used: 250)
        #expect(try tightest(line, Mounts.first, merged(root, tight, own)) == "/a 50MiB")
        let full = first("\(memory)/a/b", 300, used: 301)
        #expect(try tightest(line, Mounts.first, merged(root, around, full)) == "/a/b 0B")
        #expect(try tightest(line, Mounts.first, merged(root, around)) == nil)
    }

    @Test("version 1 mounts controllers together, too")
    func together() throws {
        let mounts = "35 31 0:32 / /cg/memory,cpu rw - cgroup cgroup rw,memory,cpu\n"
        #expect(try tightest("4:cpu,memory:/a", mounts, first("cg/memory,cpu/a", 80, used: 16)) == "/a 64MiB")
    }

    @Test("version 2: the least that a group or one around it leaves")
    func versionTwo() throws {
        let top = "sys/fs/cgroup"
        let line = "0::/user.slice/shell.scope"
        let own = second("\(top)/user.slice/shell.scope", 400, used: 100, idle: 30)
        #expect(try tightest(line, Mounts.second, own) == "/user.slice/shell.scope 330MiB")
        let slice = second("\(top)/user.slice", 1_000, used: 900, idle: 100)
        #expect(try tightest(line, Mounts.second, merged(own, slice)) == "/user.slice 200MiB")
        let endless = second("\(top)/user.slice/shell.scope", nil, used: 100)
        #expect(try tightest(line, Mounts.second, merged(endless, slice)) == "/user.slice 200MiB")
        #expect(try tightest(line, Mounts.second, endless) == nil)
    }

    @Test("in a container that sees only its own group, the mount point is that group")
    func containers() throws {
        let own = first("sys/fs/cgroup/memory", 128, used: 28)
        let mount = Mounts.first.replacing("0:32 / ", with: "0:32 /docker/abc ")
        #expect(try tightest("4:memory:/docker/abc", mount, own) == "/ 100MiB")
        let inner = merged(own, first("sys/fs/cgroup/memory/in", 64, used: 0))
        #expect(try tightest("4:memory:/docker/abc/in", mount, inner) == "/in 64MiB")
        // The group's path is the host's, but the mount is the container's.
        let other = second("sys/fs/cgroup", 512, used: 12)
        #expect(try tightest("0::/docker/abc", Mounts.second, other) == "/ 500MiB")
        #expect(try tightest("0::/../other", Mounts.second, other) == "/ 500MiB")
    }

    @Test("without groups, mounts or statistics nothing is made up")
    func nothing() throws {
        #expect(MemoryGroups(root: "/no-such-folder").tightest == nil)
        #expect(try tightest("", "") == nil)
        #expect(try tightest("4:memory:/a", "nonsense\n- - -\n") == nil)
        let bare = ["sys/fs/cgroup/a/memory.max": "1048576\n", "sys/fs/cgroup/a/memory.current": "0\n"]
        #expect(try tightest("0::/a", Mounts.second, bare) == "/a 1MiB")
        #expect(try tightest("0::/a", Mounts.second, ["sys/fs/cgroup/a/memory.max": "1048576\n"]) == nil)
    }
}
