import Lifecycle
import Plan
import Quantities
import Workload

/// Checks that compare several values about processes that are no apps, and about the start of the run.
struct PartChecks {
    let plan: RunPlan
    let tree: Tree
    let decoding: Decoding

    func run() {
        let first = plan.ownApps.count
        for (index, (part, element)) in zip(plan.parts, elements("processes")).enumerated() where !part.name.isEmpty {
            check(part, number: first + index, element)
        }
        checkActions()
        checkControlGroups()
        checkStart()
    }

    // MARK: Control groups

    private func checkControlGroups() {
        let elements = tree["control_groups"]?.elements ?? []
        guard elements.count == plan.controlGroups.count else { return }
        var names: [String] = []
        var owners: [AppID: String] = [:]
        for (group, element) in zip(plan.controlGroups, elements) where !group.name.isEmpty {
            func fault(_ key: String, _ place: Tree?, _ message: String) {
                decoding.fault(
                    (place ?? element[key] ?? element).origin, "control_groups.\(group.name).\(key): \(message)")
            }
            if names.contains(group.name) {
                fault("name", nil, "is used twice")
                continue
            }
            names.append(group.name)
            let written = element["processes"]?.elements ?? []
            for (place, member) in group.members.enumerated() where plan.apps.indices.contains(member.index) {
                if let owner = owners[member] {
                    let tree = written.count == group.members.count ? written[place] : nil
                    fault("processes", tree, "'\(plan.apps[member.index].name)' is in the group '\(owner)' already")
                } else {
                    owners[member] = group.name
                }
            }
        }
    }

    /// The entries of a list, unless some were refused and the rest stands at other places than in the text.
    private func elements(_ list: String) -> [Tree] {
        let elements = tree[list]?.elements ?? []
        let count = list == "start" ? plan.start.count : plan.parts.count
        return elements.count == count ? elements : []
    }

    // MARK: Processes

    private func check(_ part: AppProfile, number: Int, _ element: Tree) {
        guard decoding.isSound("processes", part.name), let life = part.part else { return }
        if let first = decoding.appIndex[part.name], first != number {
            return fault(part, element, "name", "is used twice")
        }
        if let other = unusable(life, element) { return fault(part, element, other.key, other.why) }
        if life.kind.family == .helper && life.host == nil {
            return fault(part, element, "kind", "a \(life.kind.rawValue) needs the app that it belongs to; add 'of'")
        }
        if let host = life.host, plan.apps.indices.contains(host.index), plan.apps[host.index].part != nil {
            return fault(part, element, "of", "'\(plan.apps[host.index].name)' is no app")
        }
        let size = part.memory.stated * plan.device.scale
        let stated = "its \(part.memory.footprint == nil ? "base" : "footprint") of \(size)"
        let room = plan.device.ceiling - plan.device.reserved
        if room > .zero, size > room {
            return fault(part, element, "memory", "\(stated) is larger than the \(room) for apps")
        }
        if part.limits.isActiveFatal, let limit = part.limits.active, size >= limit {
            fault(part, element, "memory", "\(stated) reaches its fatal limit of \(limit)")
        }
    }

    /// The first key that has no meaning for the kind.
    private func unusable(_ life: ProcessPart, _ element: Tree) -> (key: String, why: String)? {
        let ofDaemons = ["band", "entitled", "assertion_time"]
        let unused: [String] =
            switch life.kind.family {
            case .daemon: ["of"]
            case .extension: ofDaemons
            case .helper: ofDaemons + ["keeps_alive", "idle_exit"]
            }
        // A whole scenario spells out every default.
        let plain = ProcessPart(life.kind)
        let isChanged = [
            "of": life.host != nil, "band": life.band != plain.band, "entitled": life.isEntitled,
            "assertion_time": life.assertionTime != nil, "keeps_alive": life.keepsAlive,
            "idle_exit": life.idleExit != nil,
        ]
        return unused.first { element[$0] != nil && isChanged[$0] == true }.map {
            ($0, "has no meaning for a \(life.kind.rawValue)")
        }
    }

    private func fault(_ part: AppProfile, _ element: Tree, _ key: String, _ message: String) {
        decoding.fault(element[key]?.origin ?? element.origin, "processes.\(part.name).\(key): \(message)")
    }

    // MARK: Actions

    private static let ofParts = ["demand", "present", "hold_assertion", "release_assertion"]
    private static let ofBoth = ["push", "background_refresh", "crash", "terminate"]
    private static let ofApps = ActionKind.all.map(\.key).filter { !ofParts.contains($0) && !ofBoth.contains($0) }

    /// Checks that each action fits what it acts on.
    private func checkActions() {
        for (index, event) in (tree["user"]?.elements ?? []).enumerated() {
            for key in PartChecks.ofParts + PartChecks.ofBoth + PartChecks.ofApps {
                guard let value = event[key], let name = value.text, let number = decoding.appIndex[name],
                    plan.apps.indices.contains(number), plan.apps[number].name == name,
                    let message = complaint(key, plan.apps[number])
                else { continue }
                decoding.fault(value.origin, "user.\(index).\(key): \(message)")
            }
        }
    }

    private func complaint(_ key: String, _ target: AppProfile) -> String? {
        guard let kind = target.part?.kind else {
            return PartChecks.ofParts.contains(key) ? "'\(target.name)' is an app, and no entry of 'processes'" : nil
        }
        let name = "'\(target.name)' is a \(kind.rawValue)"
        if PartChecks.ofApps.contains(key) { return "\(name), and no app" }
        let isPossible =
            switch key {
            case "demand": kind.isWoken(for: .demand)
            case "push": kind.isWoken(for: .remoteNotification)
            case "background_refresh": kind.isWoken(for: .backgroundFetch)
            case "present": kind.isPresented
            case "hold_assertion", "release_assertion": kind.family == .daemon
            default: true
            }
        return isPossible ? nil : "\(name), for which this has no meaning"
    }

    // MARK: The start

    private var hasAppInFront: Bool {
        plan.start.contains { entry in
            entry.state == .front && plan.apps.indices.contains(entry.process.index)
                && plan.apps[entry.process.index].part == nil
        }
    }

    private func checkStart() {
        var seen: [AppID] = []
        var front: String?
        var held = plan.device.reserved
        var compressed = CompressedSum()
        for (index, (entry, element)) in zip(plan.start, elements("start")).enumerated() {
            guard decoding.isSound("start", "\(index)"), plan.apps.indices.contains(entry.process.index) else {
                return
            }
            let profile = plan.apps[entry.process.index]
            func fault(_ key: String, _ message: String) {
                decoding.fault(element[key]?.origin ?? element.origin, "start.\(index).\(key): \(message)")
            }
            if seen.contains(entry.process) { return fault("process", "'\(profile.name)' is there already") }
            seen.append(entry.process)
            if entry.age < entry.idle {
                return fault("idle", "\(entry.idle) is longer than its age of \(entry.age)")
            }
            if entry.state == .front && profile.part == nil {
                if let front { return fault("state", "'\(front)' is in front already; only one app can be") }
                front = profile.name
            }
            if entry.state == .front && profile.part != nil && !hasAppInFront {
                return fault("state", "'\(profile.name)' goes along with the app in front, and there is none")
            }
            if entry.state == .front, let kind = profile.part?.kind, kind.family != .helper, !kind.isPresented {
                return fault("state", "'\(profile.name)' is a \(kind.rawValue), which is never on the screen")
            }
            if entry.state == .prewarmed, let (key, complaint) = complaint(aboutPrewarmed: entry, profile) {
                return fault(key, complaint)
            }
            if entry.scenes > 1 && !profile.scenes.multiple {
                return fault("scenes", "'\(profile.name)' does not support multiple scenes")
            }
            let footprint = entry.footprint ?? plainFootprint(of: entry, profile)
            if let complaint = complaint(about: entry, footprint, profile, &compressed) {
                return fault("compressed", complaint)
            }
            held += footprint - entry.compressed + entry.compressed * profile.memory.compressibility.kept
            if held > plan.device.ceiling {
                return fault(
                    "process",
                    "up to here the processes hold \((held - plan.device.reserved).readable); the device has "
                        + "\((plan.device.ceiling - plan.device.reserved).readable) for them")
            }
        }
    }

    private func plainFootprint(of entry: StartedProcess, _ profile: AppProfile) -> ByteCount {
        if entry.state == .prewarmed { return profile.memory.base * plan.lifecycle.prewarmedBase * plan.device.scale }
        let scenes = profile.scenes.usesUIKit ? entry.scenes : 0
        guard let footprint = profile.memory.footprint else {
            return (profile.memory.base + profile.memory.scene * scenes) * plan.device.scale
        }
        return (footprint + profile.memory.scene * max(0, scenes - 1)) * plan.device.scale
    }

    private func complaint(
        aboutPrewarmed entry: StartedProcess, _ profile: AppProfile
    ) -> (key: String, complaint: String)? {
        if profile.part != nil { return ("state", "'\(profile.name)' is no app, and only apps are prewarmed") }
        if let band = entry.band, band > 0 { return ("band", "'\(profile.name)' is prewarmed, and so in band 0") }
        return entry.scenes > 1 ? ("scenes", "'\(profile.name)' is prewarmed, and so without scenes") : nil
    }

    /// What is compressed up to an entry.
    private struct CompressedSum {
        /// Without pages of one repeated word.
        var input = ByteCount.zero
        /// What the contents take, as a mean.
        var stored = ByteCount.zero
    }

    /// Means of many pages are off by less than this.
    private static let certain = Ratio.percent(95)

    /// - Parameter sum: What is compressed up to here; this entry is added.
    private func complaint(
        about entry: StartedProcess, _ footprint: ByteCount, _ profile: AppProfile, _ sum: inout CompressedSum
    ) -> String? {
        guard entry.compressed > .zero else { return nil }
        guard let compressor = plan.device.compressor else {
            return "the device has no compressor; add 'device.compressor: {}'"
        }
        if entry.compressed > footprint {
            return "\(entry.compressed) is more than '\(profile.name)' holds, \(footprint)"
        }
        let contents = profile.memory.compressibility
        sum.input += entry.compressed - entry.compressed * contents.repeated
        sum.stored += entry.compressed * contents.kept
        let most = plan.device.ceiling * compressor.input
        if sum.input > most {
            return "up to here \(sum.input.readable) are compressed, without pages of one repeated word; the "
                + "compressor takes \(most.readable) (device.compressor.input)"
        }
        // How well real contents compress is known only once they are compressed.
        let pool = plan.device.ceiling * compressor.pool
        guard compressor.codec == .model, sum.stored * PartChecks.certain > pool else { return nil }
        return "up to here what is compressed takes about \(sum.stored.readable) in the compressor's pool, which has "
            + "\(pool.readable) at most (device.compressor.pool)"
    }
}
