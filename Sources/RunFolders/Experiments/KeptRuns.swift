import Experiments
import Foundation
import Memory

/// Rows of yardsticks' runs that this build has made for other comparisons.
///
/// A run has the same row whenever it is made, so a yardstick need run once per scenario, seed and build. The rows are
/// lines of a file in the user's folder for caches, one file per build. What is wrong with that file costs time and
/// nothing else: a damaged line does not count, and a folder that cannot be written keeps nothing.
///
/// The environment variable `PLIMSOLL_CACHE` names another folder; if it is empty, nothing is kept.
struct KeptRuns {
    private let path: String
    /// What of jemalloc and its settings may change a row, though the build stays the same.
    private let allocator: String
    /// By key; only looked up, never gone through.
    private var rows: [String: String] = [:]
    private var length = 0

    /// The file takes no further line from this size on.
    private static let most = 32 << 20
    /// Files of so many builds are kept; an older one goes.
    private static let builds = 4

    /// Reads the rows of this build; nil if nothing is to be kept.
    init?(_ environment: [String: String] = ProcessInfo.processInfo.environment) {
        guard BuildIdentity.current != "unknown", let folder = KeptRuns.folder(environment),
            let allocator = try? AllocatorDescription()
        else { return nil }
        let (variable, file) = (allocator.foreignEnvironment, allocator.foreignFile)
        self.allocator = "\(allocator.version) \(variable ?? "") \(file ?? "")"
        path = "\(folder)/yardsticks-\(BuildIdentity.current).txt"
        let text = FileManager.default.contents(atPath: path) ?? Data()
        length = text.count
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let parts = String(decoding: line, as: UTF8.self).split(separator: " ", maxSplits: 2).map(String.init)
            guard parts.count == 3, parts[1] == KeptRuns.checksum(parts[0], parts[2]) else { continue }
            rows[parts[0]] = parts[2]
        }
    }

    /// The folder by the rules of the XDG base directory specification 0.8.
    static func folder(_ environment: [String: String]) -> String? {
        if let named = environment["PLIMSOLL_CACHE"] { return named.isEmpty ? nil : named }
        if let cache = environment["XDG_CACHE_HOME"], cache.hasPrefix("/") { return "\(cache)/plimsoll" }
        return environment["HOME"].flatMap { $0.hasPrefix("/") ? "\($0)/.cache/plimsoll" : nil }
    }

    private static func checksum(_ key: String, _ row: String) -> String { "\(Fingerprint(of: "\(key) \(row)"))" }

    /// What determines the row of a yardstick's run; nil for another run.
    ///
    /// A scenario's path and the name that a plan gives it do not: its text and its traces have fingerprints.
    private func key(of index: Int, in plan: ExperimentPlan) -> String? {
        let each = plan.experimentCase(at: index)
        guard let policy = plan.policies[each.policy], policy.fingerprint == nil,
            Comparison.yardsticks.contains(policy.given)
        else { return nil }
        let scenario = plan.scenarios[each.scenario]
        let one = ExperimentPlan(
            program: plan.program,
            scenarios: [.init(path: "", name: "", fingerprint: scenario.fingerprint, traces: scenario.traces)],
            backend: plan.backend, scale: plan.scale,
            sets: plan.assignments(ofCombination: each.combination, policy: each.policy),
            policies: [policy], seeds: [each.seed])
        guard let text = try? one.json() else { return nil }
        return "\(Fingerprint(of: text + allocator))"
    }

    /// The row of a yardstick's run; nil if it was not kept.
    func row(of index: Int, in plan: ExperimentPlan) -> String? { key(of: index, in: plan).flatMap { rows[$0] } }

    /// Keeps those of the rows that are of yardsticks.
    mutating func keep(_ made: [(Int, String)], of plan: ExperimentPlan) {
        var text = ""
        for (index, row) in made {
            guard let key = key(of: index, in: plan), rows[key] == nil else { continue }
            rows[key] = row
            text += "\(key) \(KeptRuns.checksum(key, row)) \(row)\n"
        }
        guard !text.isEmpty, length + text.utf8.count <= KeptRuns.most else { return }
        if length == 0 { makeRoom() }
        length += text.utf8.count
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { return }
        // One call: lines of processes that write at once do not mix. A line cut short has a wrong checksum, and the
        // next one begins behind a line feed.
        let bytes = Array(("\n" + text).utf8)
        _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, bytes.count) }
        close(descriptor)
    }

    /// Makes the folder and removes the files of all but the builds that kept a run last.
    private func makeRoom() {
        let folder = URL(filePath: path).deletingLastPathComponent()
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let keys: [URLResourceKey] = [.contentModificationDateKey]
        let all = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: keys)) ?? []
        let ours = all.filter { $0.lastPathComponent.hasPrefix("yardsticks-") && $0.pathExtension == "txt" }
        let dated = ours.map { file in
            (file, (try? file.resourceValues(forKeys: Set(keys)).contentModificationDate) ?? .distantPast)
        }
        for (file, _) in dated.sorted(by: { $0.1 > $1.1 }).dropFirst(KeptRuns.builds - 1) {
            try? FileManager.default.removeItem(at: file)
        }
    }
}
