import Foundation
import Quantities

/// Reads from the kernel's files how much memory this process's memory groups (cgroups, versions 1 and 2) leave it.
///
/// A group's limit also binds all groups inside it, so the least room among this process's own group and all
/// enclosing groups counts. File pages that were not used lately do not count as used, because the kernel can
/// take them back at once (Kubernetes' "working set" also excludes them).
///
/// - https://docs.kernel.org/admin-guide/cgroup-v2.html#memory
/// - https://docs.kernel.org/admin-guide/cgroup-v1/memory.html
package struct MemoryGroups {
    /// A prefix of each path, for tests; empty otherwise.
    let root: String

    package init(root: String = "") { self.root = root }

    /// The group with the least room, and the room; nil if no group has a limit.
    var tightest: (group: String, room: ByteCount)? {
        guard let membership = text("/proc/self/cgroup"), let mounts = text("/proc/self/mountinfo") else { return nil }
        var least: (group: String, room: ByteCount)?
        for version in Version.allCases {
            guard let group = version.group(in: membership), let mount = version.mount(in: mounts) else { continue }
            for folder in mount.folders(of: group) {
                guard let room = room(in: mount.point + folder, version) else { continue }
                if let known = least, known.room <= room { continue }
                least = (folder.isEmpty ? "/" : folder, room)
            }
        }
        return least
    }

    /// A group's room; nil if the group does not exist or has no limit.
    private func room(in folder: String, _ version: Version) -> ByteCount? {
        func number(_ name: String) -> Int? { text(folder + "/" + name).flatMap { Int($0) } }
        guard let most = number(version.limit), most < Version.unlimited, let used = number(version.usage) else {
            return nil
        }
        let statistics = text(folder + "/memory.stat")?.split(separator: "\n") ?? []
        let idle = statistics.first { $0.hasPrefix(version.idleFiles + " ") }
        let idleFiles = idle.flatMap { Int($0.dropFirst(version.idleFiles.count + 1)) } ?? 0
        return ByteCount(max(0, most - max(0, used - idleFiles)))
    }

    private func text(_ path: String) -> String? {
        let text = try? String(contentsOfFile: root + path, encoding: .utf8)
        return text?.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

extension MemoryGroups {
    private enum Version: CaseIterable {
        case first
        case second

        /// A limit this high or higher counts as no limit. For "no limit", version 1 writes the start of the last page
        /// below 2^63 bytes.
        static let unlimited = 1 << 62

        var limit: String { self == .first ? "memory.limit_in_bytes" : "memory.max" }
        var usage: String { self == .first ? "memory.usage_in_bytes" : "memory.current" }

        /// The name of the statistic of idle file pages, of the group and those inside it.
        var idleFiles: String { self == .first ? "total_inactive_file" : "inactive_file" }

        /// This process's group: `4:memory:/docker/abc` in version 1, `0::/user.slice` in version 2.
        func group(in membership: String) -> String? {
            for line in membership.split(separator: "\n") {
                let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
                guard parts.count == 3 else { continue }
                let isOurs = self == .first ? parts[1].split(separator: ",").contains("memory") : parts[1].isEmpty
                if isOurs { return String(parts[2]) }
            }
            return nil
        }

        /// Where the groups are mounted: `35 31 0:32 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory`.
        func mount(in mounts: String) -> Mount? {
            for line in mounts.split(separator: "\n") {
                let fields = line.split(separator: " ")
                guard let dash = fields.firstIndex(of: "-"), dash >= 5, fields.count > dash + 3 else { continue }
                let isOurs =
                    self == .first
                    ? fields[dash + 1] == "cgroup" && fields[dash + 3].split(separator: ",").contains("memory")
                    : fields[dash + 1] == "cgroup2"
                if isOurs { return Mount(top: String(fields[3]), point: String(fields[4])) }
            }
            return nil
        }
    }

    private struct Mount {
        /// The group at the mount point; in a container not `/`.
        let top: String
        let point: String

        /// The group and all enclosing groups, from the inside out, as paths below the mount point; the mount point's
        /// own path is empty. A group outside the mount is invisible, so only the mount point remains.
        func folders(of group: String) -> [String] {
            var steps = group.split(separator: "/")
            let tops = top.split(separator: "/")
            if steps.starts(with: tops) { steps.removeFirst(tops.count) }
            if steps.contains("..") { steps = [] }
            return (0...steps.count).reversed().map { count in steps.prefix(count).map { "/\($0)" }.joined() }
        }
    }
}
