import ArgumentParser
import Experiments
import Foundation
import Metrics
import Plan
import Quantities
import Reclaim
import Scenario
import Workload

/// The completions that a shell offers when the user presses Tab. They come from reading files; a file that cannot be
/// read offers none.
enum Candidates {
    static let scenarios = CompletionKind.file(extensions: ["yaml", "yml"])
    static let metrics = CompletionKind.list((SummaryMetrics.all + [.secondsLost]).map(\.name))

    /// Folders that hold a run, and folders on the way to one.
    static let runFolders = CompletionKind.custom { words, index, _ in
        let typed = word(index, of: words)
        let near = folders(typed).flatMap { isRun($0) ? [$0] : leadsToRun($0) ? [asPrefix($0)] : [] }
        // By default the program writes its folders into `runs`.
        return near + (typed.isEmpty ? folders("runs/").filter(isRun) : [])
    }

    /// Names of policies, and policy files.
    static let policies = CompletionKind.custom { words, index, _ in
        PolicyCatalogue.all.map { $0.name } + yamlFiles(word(index, of: words))
    }

    /// The apps of the scenario or of the run that the command line names.
    static let apps = CompletionKind.custom { words, _, _ in plan(in: words)?.apps.map(\.name) ?? [] }

    /// Settings of a scenario up to the next dot, or up to the equals sign.
    static let settings = CompletionKind.custom { words, index, _ in
        let typed = word(index, of: words)
        guard !typed.contains("=") else { return [] }
        return nextParts(of: settings(for: words), after: typed)
    }

    /// The policies, archetypes or devices of `plimsoll list`.
    static let listed = CompletionKind.custom { words, _, _ in
        if words.contains("policies") { return PolicyCatalogue.all.map { $0.name } }
        if words.contains("devices") { return DevicePreset.all.map(\.name) }
        return words.contains("apps") ? Archetype.all.map(\.name) : []
    }

    /// The word without its quotes. Shells pass words as the user typed them; fish passes an empty word as `''`.
    private static func word(_ index: Int, of words: [String]) -> String {
        words.indices.contains(index) ? words[index].trimmingCharacters(in: ["'", "\""]) : ""
    }

    // MARK: Files

    /// The entries of the folder that the typed path lies in, each with the path as a person types it.
    private static func entries(_ typed: String) -> [String] {
        let cut = typed.lastIndex(of: "/").map { typed.index(after: $0) } ?? typed.startIndex
        let (folder, start) = (String(typed[..<cut]), typed[cut...])
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "." : folder)) ?? []
        return names.filter { $0.hasPrefix(start) && !$0.hasPrefix(".") }.sorted().map { folder + $0 }
    }

    private static func folders(_ typed: String) -> [String] { entries(typed).filter(isFolder) }

    private static func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }

    private static func isRun(_ path: String) -> Bool { access(path + "/scenario.yaml", R_OK) == 0 }

    private static func leadsToRun(_ path: String) -> Bool {
        folders(path + "/").contains { isRun($0) || folders($0 + "/").contains(where: isRun) }
    }

    private static func yamlFiles(_ typed: String) -> [String] {
        entries(typed).compactMap { path in
            if isFolder(path) { return asPrefix(path) }
            return path.hasSuffix(".yaml") || path.hasSuffix(".yml") ? path : nil
        }
    }

    /// The folder as the beginning of a path; bash adds the slash itself.
    private static func asPrefix(_ folder: String) -> String {
        CompletionShell.requesting == .bash ? folder : folder + "/"
    }

    // MARK: Settings

    /// The plan of the first word that names a scenario or a run.
    private static func plan(in words: [String]) -> RunPlan? {
        for word in words.dropFirst() {
            let file = isFolder(word) ? word + "/scenario.yaml" : word
            guard file.hasSuffix(".yaml") || file.hasSuffix(".yml"), access(file, R_OK) == 0 else { continue }
            if case .success(let plan) = ScenarioLoader.load(path: file) { return plan }
        }
        return nil
    }

    /// Every key that `--set` takes, each without its value.
    private static func settings(for words: [String]) -> [String] {
        let plan = plan(in: words)
        let named = words.firstIndex(of: "--policy").map { word($0 + 1, of: words) }
        let settings = named.map { name in
            PolicyFile.isFile(name) ? try? PolicyFile.load(path: name).get() : PolicySettings(name: name)
        }
        let parameters = (settings ?? plan?.policy)?.table.map { "policy.parameters.\($0.name)" } ?? []
        let keys = FormatKeys.all.filter { !$0.contains("=") }
        let plain = keys.filter { key in
            !key.contains("[]") && key != "apps" && key != "policy.parameters"
                && !key.hasPrefix("policy.parameters.")
        }
        let ofApps = keys.filter { $0.hasPrefix("apps[].") && !$0.dropFirst(7).contains("[]") }
        return plain + parameters
            + (plan?.apps ?? []).flatMap { app in ofApps.map { "apps.\(app.name)" + $0.dropFirst(6) } }
    }

    /// The possible continuations of the typed text: a part of a key with its dot, or the last part with its equals
    /// sign.
    static func nextParts(of keys: [String], after typed: String) -> [String] {
        var parts: [String] = []
        for key in keys where key.hasPrefix(typed) {
            let rest = key.dropFirst(typed.count)
            let part = rest.firstIndex(of: ".").map { typed + rest[...$0] }
            let isGroup = keys.contains { $0.hasPrefix(key + ".") }
            let found = part ?? (isGroup ? key + "." : key + "=")
            if parts.last != found && !parts.contains(found) { parts.append(found) }
        }
        return parts
    }
}
