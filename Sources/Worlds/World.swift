import Memory
import Plan
import Quantities
import Reclaim
import Scenario

/// A random scenario that the loader accepts, with the options of its run.
///
/// It is a document rather than a plan, so a run also tests the loader, and the document can be shrunk key by key. The
/// same seed gives the same world in every program with the same format.
package struct World: Sendable {
    package let seed: UInt64
    package var document: Tree
    package var options: RunOptions
    /// The content of the file that `--policy` names, if any.
    package var policyFile: Tree?
    /// The allocation trace that an app plays, if any.
    package let trace: String?

    /// The names of the world's files.
    package static let (scenarioName, policyName, traceName) = ("world.yaml", "policy.yaml", "trace.txt")

    /// - Parameter backend: The backend to run it on; nil: the seed decides.
    package init(seed: UInt64, backend: MemoryBackend? = nil) {
        let frame = WorldFrame(seed: seed, backend: backend)
        let apps = frame.apps()
        self.seed = seed
        options = frame.options
        policyFile = frame.policyFile(apps)
        let playsTrace = apps.contains(where: \.playsTrace) || frame.parts(apps).contains(where: \.playsTrace)
        trace = playsTrace ? TraceText.draw(seed) : nil
        document = frame.document(apps)
    }

    /// What the loader says of it, with the options of its run.
    package var reading: Result<RunPlan, ScenarioFault> {
        let overrides = Overrides(backend: options.backend, scale: options.scale)
        return ScenarioLoader.load(text: document.denseYAML, file: World.scenarioName, overrides: overrides)
    }

    /// The arguments for `plimsoll`.
    ///
    /// - Parameter folder: The folder of the world's files.
    package func arguments(in folder: String, out: String) -> [String] {
        var words = ["run", "\(folder)/\(World.scenarioName)", "--out", out, "--quiet"]
        words.append(options.auditsEvents ? "--verify-events" : "--verify")
        if options.hasCanary { words.append("--canary") }
        words += ["--backend", options.backend.rawValue]
        if let scale = options.scale { words += ["--scale", "\(scale)"] }
        if policyFile != nil { words += ["--policy", "\(folder)/\(World.policyName)"] }
        if options.isDryRun { words.append("--dry-run") }
        if options.writesTimeline { words += ["--trace", out + "/timeline.json"] }
        if options.writesReports { words.append("--jetsam-events") }
        return words
    }

    /// Moves the policy from its file into the document.
    package mutating func inlinePolicy() {
        guard let entries = policyFile?.entries else { return }
        let policy = entries.filter { !["plimsoll", "description"].contains($0.key) }.map { ($0.key, $0.value) }
        document = .record(
            (document.entries ?? []).filter { $0.key != "policy" }.map { ($0.key, $0.value) } + [
                ("policy", .record(policy))
            ])
        policyFile = nil
    }

    /// The world's files by name.
    package var files: [(name: String, text: String)] {
        var files = [(World.scenarioName, document.denseYAML)]
        if let policyFile { files.append((World.policyName, policyFile.denseYAML)) }
        if let trace { files.append((World.traceName, trace)) }
        return files
    }

}

/// The options of a world's run.
package struct RunOptions: Hashable, Sendable {
    package var backend: MemoryBackend
    /// The argument of `--scale`.
    package var scale: Ratio?
    package var isDryRun: Bool
    /// `--trace`: a timeline for trace viewers.
    package var writesTimeline: Bool
    /// `--jetsam-events`.
    package var writesReports: Bool
    package var usesPolicyFile: Bool
    /// `--verify-events` in place of `--verify`.
    package var auditsEvents = false
    /// Whether edits moved the world towards the edges of the format; its start may then not fit on its device.
    package var isAtTheEdges = false
    /// `--canary`: the checks are shown a fault that is not there.
    package var hasCanary = false
    /// Whether the second world of each relation differs from the first by something that matters: a planted breach.
    package var breaksRelations = false
}

/// What the parts of a world must agree on.
struct WorldFrame {
    let seed: UInt64
    let duration: TimeSpan
    let ceiling: ByteCount
    let reserved: ByteCount
    /// The scale of the document's own device, not of `--scale`.
    let scale: Ratio
    let options: RunOptions
    /// The preset that the document's device names, if any. The document states the sizes itself.
    let preset: DevicePreset?
    /// The document's key `scale`. Such a world has no `--scale`.
    let topScale: Ratio?
    let policy: DrawnPolicy
    let appCount: Int
    /// Whether the world's apps answer notifications slowly and free little memory. Other events then happen during
    /// the answers, and a change in behaviour that does not affect memory still shows in the tables.
    let isSluggish: Bool

    init(seed: UInt64, backend: MemoryBackend?) {
        var draw = Draw(seed, "frame")
        self.seed = seed
        let backend = backend ?? draw.pick([(9, .accounting), (1, .jemalloc)])
        let isReal = backend == .jemalloc
        let scales: [Ratio] = [.percent(10), .percent(25), .percent(50), .percent(200), .percent(400)]
        let isScaled = draw.chance(isReal ? 50 : 15)
        let (isOwn, scaling) = (draw.chance(30), draw.pick(scales))
        let larger = isScaled ? max(1, Int(scaling.partsPerMillion / 1_000_000)) : 1
        // Real memory is expensive, and the host must have enough of it.
        let highest: ByteCount =
            isReal
            ? ByteCount(max(96 << 20, (256 << 20) / larger))
            : draw.pick([(5, .mebibytes(256)), (3, .gibibytes(1)), (2, .gibibytes(4))])
        ceiling = draw.bytes(.mebibytes(96), highest)
        reserved = draw.chance(70) ? draw.bytes(.mebibytes(1), ByteCount(ceiling.bytes / 3)) : .zero
        let drawn = draw.pick([
            (55, draw.span(.seconds(20), .seconds(90))), (30, draw.span(.seconds(90), .minutes(5))),
            (12, draw.span(.minutes(5), .minutes(15))), (3, draw.span(.minutes(15), .minutes(30))),
        ])
        duration = isReal ? min(drawn, .minutes(4)) : drawn
        // A scale of 10% represents a device ten times as large, and the loader refuses devices above 32 GiB.
        let fits = ceiling <= .gibibytes(3)
        scale = isScaled && isOwn && fits ? scaling : .one
        var identity = Draw(seed, "device preset")
        preset = identity.chance(25) ? identity.pick(DevicePreset.all) : nil
        let isOption = identity.chance(70)
        let scaledBy = isScaled && !isOwn ? scaling : nil
        topScale = isOption ? nil : scaledBy
        options = RunOptions(
            backend: backend, scale: isOption ? scaledBy : nil, isDryRun: draw.chance(8),
            writesTimeline: draw.chance(12), writesReports: draw.chance(12), usesPolicyFile: draw.chance(15))
        isSluggish = draw.chance(25)
        let policy = DrawnPolicy(seed)
        self.policy = policy
        let count = draw.pick([(60, draw.number(5, 15)), (30, draw.number(16, 30)), (10, draw.number(31, 60))])
        // A policy that looks into the future is slow with many apps.
        appCount = policy.type.needs.contains(.oracle) ? min(count, 12) : count
    }

    /// The memory that the device has for apps, at full size: apps ask for full sizes at every scale.
    var room: ByteCount {
        ByteCount((ceiling - reserved).bytes * 1_000 / Int(scale.partsPerMillion / 1_000))
    }

    func apps() -> [DrawnApp] {
        var apps: [DrawnApp] = []
        for index in 0..<appCount { apps.append(DrawnApp(index, self)) }
        return apps
    }

    func document(_ apps: [DrawnApp]) -> Tree {
        var draw = Draw(seed, "document")
        var root = Record()
        root.put("plimsoll", .plain("1"))
        root.put("name", .plain("world-\(seed)"))
        if draw.chance(10) { root.put("description", .string("A world drawn at random: '#', \"quotes\" and: colons.")) }
        if draw.chance(90) { root.put("seed", .plain("\(draw.chance(90) ? draw.bits() % 1_000 : draw.bits())")) }
        root.put("duration", .plain("\(duration)"))
        let device = device()
        let needsReal = device["compressor"]?["codec"]?.text == "lz4"
        if draw.chance(60) {
            let drawn = draw.pick(MemoryBackend.allCases)
            root.put("backend", .plain((needsReal ? .jemalloc : drawn).rawValue))
        }
        root.put("device", device)
        if let topScale { root.put("scale", .plain("\(topScale)")) }
        if draw.chance(90) { root.put("monitor", monitor()) }
        let given = policy(on: device) ?? policy
        if draw.chance(92) { root.put("policy", given.tree(apps)) }
        root.put("limits", limits(apps))
        root.put("lifecycle", lifecycle())
        root.put("apps", .list(apps.map(\.tree)))
        let parts = parts(apps)
        if !parts.isEmpty { root.put("processes", .list(parts.map(\.tree))) }
        let start = start(apps, parts)
        if !start.isEmpty { root.put("start", .list(start)) }
        let groups = controlGroups(apps, parts)
        if !groups.isEmpty { root.put("control_groups", .list(groups)) }
        root.put("user", .list(user(apps, parts)))
        if draw.chance(70) { root.put("expect", .list(expectations(apps))) }
        var metrics = Record(path: "metrics")
        metrics.put(["perceived_within": 30], &draw)
        // A row for every process at every sample is expensive with many processes.
        let rows = Int(duration.microseconds / 1_000_000) * appCount
        if draw.chance(rows > 2_000 ? 90 : 40) {
            metrics.put("apps", .plain(draw.pick([(rows > 2_000 ? 20 : 1, "changed"), (1, "all")])))
        }
        metrics.put(["duties": 20], &draw)
        root.put("metrics", metrics)
        return withoutRest(root.tree.extended(by: FormatKey.drawnAlone, seed))
    }

    /// The document; in some worlds with jetsam that never rests. What lives when the run begins is known to come back
    /// at once, so the aggressive mode goes by rounds, or not to, so the reaper sweeps what is soon idle for long. No
    /// world comes to either by chance.
    private func withoutRest(_ document: Tree) -> Tree {
        var draw = Draw(seed, "without rest")
        guard !policy.hasRules, let start = document["start"]?.elements, draw.chance(12) else { return document }
        let goesByRounds = draw.chance(50)
        let parameters: [(String, Tree)] =
            goesByRounds
            ? [
                ("critical", .plain("100%")), ("aggressive_available", .plain("100%")),
                ("aggressive_candidates", .plain("\(draw.number(1, 3))")),
            ]
            : [
                ("critical", .plain("1%")), ("reaper", .plain("100%")), ("reaper_idle", draw.time(.zero, .seconds(3))),
                ("reaper_rest", draw.time(.zero, .seconds(3))),
            ]
        let policy = Tree.record([("name", .plain(Jetsam.name)), ("parameters", .record(parameters))])
        var restless = document.putting(policy, at: ["policy"])
        let pause = goesByRounds ? draw.time(.zero, .seconds(4)) : draw.time(.seconds(20), .minutes(5))
        for index in start.indices {
            let path = ["start", "\(index)", "relaunched_after"]
            restless = restless.putting(.list((0..<draw.number(1, 4)).map { _ in pause }), at: path)
        }
        return restless
    }

    /// The policy of a world whose device has a kernel, unless it has rules already; nil: any policy.
    private func policy(on device: Tree) -> DrawnPolicy? {
        var draw = Draw(seed, "policy of a kernel's device")
        guard !policy.hasRules, let kernel = device["kernel"], kernel.text != "none" else { return nil }
        if let freezer = device["freezer"], freezer.text == nil, draw.chance(70) { return DrawnPolicy(freezing: seed) }
        guard draw.chance(50) else { return nil }
        return DrawnPolicy(ofKernel: seed)
    }

    /// The policy file of `--policy`, if any. Its policy differs from the document's.
    func policyFile(_ apps: [DrawnApp]) -> Tree? {
        guard options.usesPolicyFile else { return nil }
        var draw = Draw(seed, "policy file")
        let policy = DrawnPolicy(
            seed, stream: "policy of a file", mayKnowFuture: self.policy.type.needs.contains(.oracle))
        var file = Record()
        if draw.chance(70) { file.put("plimsoll", .plain("1")) }
        if draw.chance(30) { file.put("description", .plain("A policy drawn at random.")) }
        for entry in policy.mapping(apps).entries { file.put(entry.0, entry.1) }
        return file.tree
    }
}
