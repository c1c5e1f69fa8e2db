import Foundation
import Memory
import Plan
import Quantities

/// Why a scenario yields no plan.
public enum ScenarioFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file does not exist or cannot be read (exit status 66).
    case unreadable(path: String, reason: String)
    /// The scenario has faults, listed in the order of the file, options last (exit status 65).
    case invalid(Diagnostics)
    /// The only faults are files that the scenario names and that cannot be read (exit status 66).
    case lacking(Diagnostics)

    /// One line per fault; after the first hundred, a line with the number of the others.
    public var description: String {
        switch self {
        case .unreadable(let path, let reason): "\(path): error: \(reason)".asMessage.onOneLine
        case .invalid(let diagnostics), .lacking(let diagnostics):
            diagnostics.description
        }
    }

    /// As `description`, with the line of the text and a caret below each fault.
    public var illustrated: String {
        switch self {
        case .unreadable: description
        case .invalid(let diagnostics), .lacking(let diagnostics): diagnostics.illustrated
        }
    }
}

/// Turns the text of a scenario into a plan that can be run.
public enum ScenarioLoader {
    /// Reads the file and applies the overrides.
    public static func load(path: String, overrides: Overrides = Overrides()) -> Result<RunPlan, ScenarioFault> {
        let bytes: [UInt8]
        do {
            bytes = try InputFile.read(path, as: "a scenario file")
        } catch {
            return .failure(error)
        }
        let folder = URL(filePath: path).deletingLastPathComponent()
        return load(bytes: bytes, file: path, overrides: overrides, beside: folder)
    }

    /// The scenario files in a folder, those whose names end in `.yaml`, in the order of their names; nil if the path
    /// is no folder that can be read.
    public static func files(inFolder path: String) -> [String]? {
        let names = try? FileManager.default.contentsOfDirectory(atPath: path)
        let folder = path.hasSuffix("/") ? path : path + "/"
        return names?.filter { $0.hasSuffix(".yaml") }.sorted().map { folder + $0 }
    }

    /// Paths of other files are relative to the scenario's own folder.
    private static func resolve(_ file: String, beside folder: URL) -> String {
        guard !file.hasPrefix("/") else { return file }
        return folder.appending(path: file).standardizedFileURL.path(percentEncoded: false)
    }

    /// - Parameter file: The name that diagnostics show.
    public static func load(
        text: String, file: String, overrides: Overrides = Overrides()
    ) -> Result<RunPlan, ScenarioFault> {
        load(bytes: Array(text.utf8), file: file, overrides: overrides)
    }

    /// Loads bytes that may or may not be UTF-8.
    public static func load(
        bytes: [UInt8], file: String, overrides: Overrides = Overrides()
    ) -> Result<RunPlan, ScenarioFault> {
        load(bytes: bytes, file: file, overrides: overrides, beside: nil)
    }

    /// - Parameter folder: The folder that the scenario's file names are relative to; nil skips the search for files.
    private static func load(
        bytes: [UInt8], file: String, overrides: Overrides, beside folder: URL?
    ) -> Result<RunPlan, ScenarioFault> {
        var faults = FaultList()
        faults.keep(bytes, of: file)
        var missing = FaultList()
        var plan: RunPlan?
        let policy: Tree?
        do {
            policy = try overrides.policyTree(faults: &faults)
        } catch {
            return .failure(error)
        }
        do {
            var tree = try Tree.read(bytes: bytes)
            overrides.apply(to: &tree, policy: policy, faults: &faults)
            try tree.checkDepth()
            let decoding = decoding(of: tree)
            plan = decode(tree, decoding, faults: &faults)
            plan?.remarks = decoding.warnings.map { warning in
                "\(warning.origin.location(in: file)): warning: \(warning.message)".onOneLine
            }
            if let folder { missing = findFiles(of: &plan, tree, decoding, beside: folder) }
            scale(&plan, tree, faults: &faults)
        } catch {
            faults.add(error)
        }
        if let scale = overrides.scale, let message = complaint(about: scale, of: faults.isEmpty ? plan : nil) {
            faults.add(.option("--scale \(scale)"), message)
        }
        guard let plan, faults.isEmpty else {
            faults.add(missing)
            return .failure(.invalid(faults.diagnostics(file: file)))
        }
        missing.keep(bytes, of: file)
        guard missing.isEmpty else { return .failure(.lacking(missing.diagnostics(file: file))) }
        return .success(overrides.scale.map { plan.scaled(by: $0) } ?? plan)
    }

    /// Applies the scenario's own `scale`, which has been checked for its range.
    private static func scale(_ plan: inout RunPlan?, _ tree: Tree, faults: inout FaultList) {
        guard faults.isEmpty, let whole = plan, let written = tree["scale"], let text = written.text,
            let scale = try? Ratio(parsing: text), scale != .one
        else { return }
        if let message = complaint(about: scale, of: whole) { return faults.add(written.origin, "scale: \(message)") }
        plan = whole.scaled(by: scale)
    }

    /// Why the scale, or the device scaled by it, is invalid; nil if both are valid.
    private static func complaint(about scale: Ratio, of plan: RunPlan?) -> String? {
        guard scale > .zero, scale <= RunPlan.largestScale else {
            return "a scale is from \(RunPlan.smallestScale) to \(RunPlan.largestScale)"
        }
        guard let plan else { return nil }
        let product = Quantities.scaled(
            plan.device.scale.partsPerMillion, by: scale.partsPerMillion, over: Ratio.one.partsPerMillion)
        if product < 1 || product > RunPlan.largestScale.partsPerMillion {
            return
                "the scenario already has a device.scale of \(plan.device.scale), so the product would be "
                + "\(Ratio(partsPerMillion: product)); a scale is from \(RunPlan.smallestScale) to "
                + "\(RunPlan.largestScale)"
        }
        let (ceiling, highest) = (plan.device.ceiling, MemoryLimits.highestCeiling)
        if ceiling * scale < .mebibytes(1) {
            let least = Ratio(partsPerMillion: ByteCount.mebibytes(1).share(of: ceiling).partsPerMillion + 1)
            return
                "the ceiling of \(ceiling) would be \(ceiling * scale), but the lowest is 1MiB: "
                + "use a scale of \(least) or more"
        }
        if ceiling * scale > highest {
            return
                "the ceiling of \(ceiling) would be \((ceiling * scale).readable), but the highest is \(highest): "
                + "use a scale of \(highest.share(of: ceiling)) or less"
        }
        return plan.scaled(by: scale).device.fault.map { "scaled, device.\($0.key): \($0.message)" }
    }

    /// A decoding that already knows the apps' names and the run's duration, because other keys refer to them.
    private static func decoding(of tree: Tree) -> Decoding {
        Decoding(
            appNames: ["apps", "processes"].flatMap { tree[$0]?.elements ?? [] }.map { $0["name"]?.text ?? "" },
            duration: tree["duration"]?.text.flatMap { try? TimeSpan(parsing: $0) })
    }

    /// Makes the paths of traces absolute, and reports for each app the ones that cannot be read.
    private static func findFiles(
        of plan: inout RunPlan?, _ tree: Tree, _ decoding: Decoding, beside folder: URL
    ) -> FaultList {
        var missing = FaultList()
        let apps = plan?.apps ?? []
        let elements = ["apps", "processes"].map { list in (tree[list]?.elements ?? []).map { (list, $0) } }.joined()
        guard apps.count == elements.count else { return missing }
        for (index, (app, (list, element))) in zip(apps, elements).enumerated() {
            guard let trace = app.memory.trace, decoding.isSound(list, app.name, "memory", "trace") else { continue }
            let path = resolve(trace.file, beside: folder)
            plan?.apps[index].memory.trace?.file = path
            guard let closed = InputFile.closed(path, as: "an allocation trace") else { continue }
            let written = element["memory"]?["trace"]
            missing.add(
                (written?["file"] ?? written ?? element).origin,
                "\(list).\(app.name).memory.trace.file: \(path): \(closed.reason)")
        }
        return missing
    }

    private static func decode(_ tree: Tree, _ decoding: Decoding, faults: inout FaultList) -> RunPlan? {
        var plan = RunPlan.definition.decode(tree, over: RunPlan.definition.base, decoding)
        plan?.takeExtensionLimits(tree["processes"]?.elements ?? [])
        if let plan { CrossChecks(plan: plan, tree: tree, decoding: decoding).run() }
        faults.add(decoding.faults)
        return plan
    }
}
