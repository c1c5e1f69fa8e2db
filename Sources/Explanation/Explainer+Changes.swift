import Lifecycle
import Memory
import Metrics
import Plan
import Quantities
import Reclaim
import Scenario
import Simulation
import Workload

// The changes that are tried for a termination, by its cause.
extension Explainer {
    /// The searches for a change that saves the process.
    func quests(for termination: Termination) -> [any Quest] {
        guard let app = appIndex(of: termination) else { return [] }
        switch termination.cause {
        case .decision(let record):
            return (triesPolicy ? [questOfPolicy(termination, record)] : []) + quests(decided: termination, record, app)
        case .rule(let fact, _): return quests(fact, app)
        }
    }

    private func questOfPolicy(_ termination: Termination, _ record: DecisionRecord) -> any Quest {
        guard record.decision.isByMonitor else { return NumberQuest(changesOfDecision(termination), of: numbers) }
        return Attempts([
            Change(.monitor, of: plan, "monitor.end_suspended_first", \.monitor.endSuspendedFirst, to: false)
        ])
    }

    private func quests(decided termination: Termination, _ record: DecisionRecord, _ app: Int) -> [any Quest] {
        let limits = [limit(behind: record.snapshot.demand)].compactMap { $0 }
        let device = limits.isEmpty ? [device].compactMap { $0 } : []
        return limits + [behaviours(of: app)] + sizes(of: app) + contents(of: app) + device
            + preferences(termination, record, app)
            + [Attempts([protection(of: termination.app)])]
    }

    /// The changes that may help against a rule that no policy decides about.
    private func quests(_ fact: RunTally.TerminationFact, _ app: Int) -> [any Quest] {
        switch fact.reason {
        case .memoryResourceLimit:
            [ownLimit(of: app, crossed: fact.course.threshold)].compactMap { $0 } + [behaviours(of: app)]
                + sizes(of: app)
        case .memoryPressure where fact.course.measure == ControlGroup.measure:
            [groupLimit(of: app)].compactMap { $0 } + [behaviours(of: app)] + sizes(of: app)
                + exemption(from: fact, app)
        case .memoryPressure:
            (triesPolicy ? [NumberQuest(someChanges, of: numbers)] : []) + [guardrails, behaviours(of: app)]
                + sizes(of: app) + contents(of: app) + [device].compactMap { $0 } + exemption(from: fact, app)
        case .appWatchdog: delays(of: app) + [behaviours(of: app)] + [device].compactMap { $0 }
        case .cpuResourceLimit:
            // The limit of 80 % counts callbacks, too.
            [Attempts([plan.own(app, "background.cpu", \.background.cpu, to: .percent(75))])]
        case .suspendedWithLockedFile:
            [Attempts([plan.own(app, "background.holds_file_lock", \.background.holdsFileLock, to: false)])]
        case .backgroundTaskAssertionTimeout: tasks(of: app)
        case .normalApp, .abnormal, .userTerminated: []
        }
    }

    /// The one thing that Linux's kernel can be told about a process that it ended.
    private func exemption(from fact: RunTally.TerminationFact, _ app: Int) -> [any Quest] {
        guard fact.course.cause == EventCause.kernelName else { return [] }
        return [
            Attempts([
                plan.own(app, "oom_score_adj", optional: \.oomScoreAdj, to: LinuxScore.exempt, .preference)
            ])
        ]
    }

    private func appIndex(of termination: Termination) -> Int? {
        plan.apps.firstIndex { $0.name == termination.app }
    }

    // MARK: The policy

    /// Changes of the policy's numbers that make this decision spare the process, a few per number.
    func changesOfDecision(_ termination: Termination) -> [Change] {
        guard let record = termination.record else { return [] }
        let turning = PolicyChange.all(of: plan).filter { turns($0.settings, record, victim: termination.pid) }
        return few(of: turning)
    }

    /// The policy's title, if it has numbers.
    private var numbers: String? { PolicyChange.all(of: plan).isEmpty ? nil : plan.policy.title }

    /// A few steps of every number.
    private var someChanges: [Change] { few(of: PolicyChange.all(of: plan)) }

    /// Picks for each number the nearest step, then the farthest, then two between. The nearest alone would not do: a
    /// small change may spare the process in one decision, but not in later ones.
    private func few(of changes: [PolicyChange]) -> [Change] {
        let ordered = changes.enumerated().sorted {
            ($0.element.distance, $0.offset) < ($1.element.distance, $1.offset)
        }.map(\.element)
        var places: [String: [Int]] = [:]
        for (index, change) in ordered.enumerated() { places[change.name, default: []].append(index) }
        var chosen: [Int] = []
        for share in [0, 12, 6, 3] {
            let round = places.values.map { $0[($0.count - 1) * share / 12] }.sorted()
            chosen += round.filter { !chosen.contains($0) }
        }
        return chosen.map { index in
            var other = plan
            other.policy = ordered[index].settings
            return Change(.policy, ordered[index].words, [ordered[index].assignment], other)
        }
    }

    /// The app is protected by name.
    func protection(of app: String) -> Change {
        var other = plan
        other.limits.protected += plan.apps.indices.filter { plan.apps[$0].name == app }.map { AppID($0) }
        let names = other.limits.protected.map { plan.apps[$0.index].name }.joined(separator: ", ")
        return Change(.protection, "protection by name", ["limits.protected=[\(names)]"], other)
    }

    // MARK: Limits

    /// The limit on apps off screen that demanded memory, loosened.
    private func limit(behind demand: ReclaimDemand) -> (any Quest)? {
        switch demand {
        case .backgroundMemory:
            guard let limit = plan.limits.backgroundMemory else { return nil }
            return larger("limits.background_memory", limit) { value in
                Change(
                    .limit, of: plan, "limits.background_memory", optional: \.limits.backgroundMemory, to: value)
            }
        case .backgroundProcesses:
            guard let limit = plan.limits.backgroundProcesses else { return nil }
            return SizeQuest("limits.background_processes up to", last: 16) {
                "\(limit + $0)"
            } change: { step in
                Change(
                    .limit, of: plan, "limits.background_processes", optional: \.limits.backgroundProcesses,
                    to: limit + step)
            }
        case .nothing, .pressure, .allocation: return nil
        }
    }

    /// Limits that may have kept the policy from taking memory from other processes.
    private var guardrails: Attempts {
        let limits = plan.limits
        var changes: [Change] = []
        if limits.terminationsPerMinute != nil {
            changes.append(
                Change(
                    .limit, of: plan, "limits.terminations_per_minute", optional: \.limits.terminationsPerMinute,
                    to: nil))
        }
        if limits.minimumStay > .zero {
            changes.append(Change(.limit, of: plan, "limits.minimum_stay", \.limits.minimumStay, to: .zero))
        }
        if limits.protectAudible && plan.apps.contains(where: { $0.backgroundModes.contains(.audio) }) {
            changes.append(Change(.limit, of: plan, "limits.protect_audible", \.limits.protectAudible, to: false))
        }
        return Attempts(changes)
    }

    /// The app's own limit, raised.
    private func ownLimit(of app: Int, crossed threshold: Int64?) -> (any Quest)? {
        let limits = plan.apps[app].limits
        let active = limits.active ?? plan.device.limit(ofEntitled: plan.apps[app].isEntitled)?.bytes
        func isCrossed(_ limit: ByteCount?) -> Bool { limit.map { Int64($0.bytes) == threshold } ?? false }
        let isInactive = isCrossed(limits.inactive) && !isCrossed(active)
        guard let limit = isInactive ? limits.inactive : active else { return nil }
        return raised(isInactive, limit, of: app)
    }

    /// The limit of the app's control group, raised.
    private func groupLimit(of app: Int) -> (any Quest)? {
        guard let group = plan.controlGroupOfEach[app], let limit = plan.controlGroups[group].limit else { return nil }
        let key = "control_groups.\(plan.controlGroups[group].name).memory_max"
        return larger(key, limit) { value in
            Change(.limit, of: plan, key, optional: \.controlGroups[group].limit, to: value)
        }
    }

    /// The inactive or the active limit of an app, raised.
    func raised(_ isInactive: Bool, _ limit: ByteCount, of app: Int) -> (any Quest)? {
        let key = isInactive ? "limits.inactive" : "limits.active"
        return larger("\(plan.place(of: app)).\(key)", limit) { value in
            plan.own(app, key, optional: isInactive ? \.limits.inactive : \.limits.active, to: value, .limit)
        }
    }

    // MARK: Behaviour

    /// The app frees more, and at the right moments.
    private func behaviours(of app: Int) -> Attempts { Attempts(plan.behaviourChanges(of: app)) }

    /// Callbacks that take less time.
    private func delays(of app: Int) -> [any Quest] {
        let delays: [(String, WritableKeyPath<AppProfile, TimeSpan>)] = [
            ("costs.process", \.costs.process), ("costs.launch", \.costs.launch),
            ("costs.first_launch", \.costs.firstLaunch), ("costs.connect", \.costs.connect),
            ("costs.enter_foreground", \.costs.enterForeground), ("costs.activate", \.costs.activate),
            ("costs.resign_active", \.costs.resignActive), ("costs.enter_background", \.costs.enterBackground),
            ("costs.disconnect", \.costs.disconnect), ("costs.terminate", \.costs.terminate),
            ("background.delay", \.background.delay),
            ("warnings.delay", \.warnings.delay), ("disconnect.delay", \.disconnect.delay),
        ]
        return delays.compactMap { key, path in
            let present = plan.apps[app][keyPath: path]
            // A shorter callback is far from any deadline.
            guard present >= .seconds(2) else { return nil }
            let unit = max(.milliseconds(100), TimeSpan(microseconds: present.microseconds / 12_800_000 * 100_000))
            func value(_ step: Int) -> TimeSpan { present - unit * Int64(step) }
            let last = Int(present.microseconds / unit.microseconds)
            return SizeQuest("\(plan.place(of: app)).\(key) down to", last: last) {
                "\(value($0))"
            } change: {
                plan.own(app, key, path, to: value($0))
            }
        }
    }

    /// A background task that ends in time, or more time for it.
    private func tasks(of app: Int) -> [any Quest] {
        let profile = plan.apps[app].background
        var changes: [Change] = []
        if profile.leaksTask {
            changes.append(plan.own(app, "background.leaks_task", \.background.leaksTask, to: false))
        }
        let time = plan.limits.backgroundTime
        let unit = max(.seconds(1), TimeSpan(microseconds: time.microseconds / 64_000_000 * 1_000_000))
        func value(_ step: Int) -> TimeSpan { time + unit * Int64(step) }
        return [
            Attempts(changes),
            SizeQuest("limits.background_time up to", last: 384) {
                "\(value($0))"
            } change: {
                Change(.limit, of: plan, "limits.background_time", \.limits.backgroundTime, to: value($0))
            },
        ]
    }

    // MARK: Sizes

    /// The app with less memory: with a smaller base if the base is at least half of the app and the app's growth is no
    /// larger than the base; otherwise with all its sizes reduced by the same share.
    private func sizes(of app: Int) -> [any Quest] {
        let profile = plan.apps[app]
        let sizes = profile.sizes
        let whole = sizes.reduce(ByteCount.zero) { $0 + profile[keyPath: $1.path] }
        guard whole > .zero else { return [] }
        let base = profile.memory.base
        // What a process holds at the start of the run may be stated in sizes of its own, and so may its footprint.
        let isBase =
            base * 2 >= whole && profile.memory.growth.upTo <= base && startSizes(of: app).isEmpty
            && profile.memory.footprint == nil
        if isBase, let steps = Steps(downFrom: base) {
            return [
                SizeQuest("\(plan.place(of: app)).memory.base down to", last: steps.last) {
                    "\(steps.value($0))"
                } change: {
                    plan.own(app, "memory.base", \.memory.base, to: steps.value($0), .size)
                }
            ]
        }
        return [
            SizeQuest("\(profile.name) down to", last: 90) {
                "\(100 - $0)% of its size"
            } change: {
                shrunk(app, sizes, by: $0)
            }
        ]
    }

    private func shrunk(_ app: Int, _ sizes: [AppSize], by step: Int) -> Change {
        let share = Ratio.percent(Int64(100 - step))
        let name = plan.apps[app].name
        var other = plan
        var assignments: [String] = []
        for size in sizes where plan.apps[app][keyPath: size.path] > .zero {
            let value = ByteCount((plan.apps[app][keyPath: size.path] * share).bytes & ~0xFFF)
            other.apps[app][keyPath: size.path] = value
            assignments.append("\(plan.place(of: app)).\(size.key)=\(value)")
        }
        for (key, size, path) in startSizes(of: app) {
            let value = ByteCount((size * share).bytes & ~0xFFF)
            other[keyPath: path] = value
            assignments.append("\(key)=\(value)")
        }
        var change = Change(.size, "\(name) at \(100 - step)% of its size", assignments, other)
        change.share = share
        return change
    }

    /// The app with contents that compress better. Where the monitor looks at how much is compressed, it may also live
    /// with contents that compress worse.
    private func contents(of app: Int) -> [any Quest] {
        guard plan.device.compressor != nil else { return [] }
        let key = "memory.compressibility.incompressible"
        let path: WritableKeyPath<AppProfile, Ratio> = \.memory.compressibility.incompressible
        let present = plan.apps[app].memory.compressibility.incompressible
        let unit = Ratio.percent(5)
        func value(_ step: Int) -> Ratio {
            max(.zero, Ratio(partsPerMillion: present.partsPerMillion - Int64(step) * unit.partsPerMillion))
        }
        let last = Int((present.partsPerMillion + unit.partsPerMillion - 1) / unit.partsPerMillion)
        let better: (any Quest)? =
            last < 1
            ? nil
            : SizeQuest("\(plan.place(of: app)).\(key) down to", last: last) {
                "\(value($0))"
            } change: {
                plan.own(app, key, path, to: value($0))
            }
        let repeated = plan.apps[app].memory.compressibility.repeated
        let worse =
            plan.monitor.measure == .uncompressed && present + repeated < .one
            ? [plan.own(app, key, path, to: .one - repeated)] : []
        return [better].compactMap(\.self) + [Attempts(worse)]
    }

    /// What a process of the app holds when the run begins, as far as the scenario states it: the key, the size and
    /// the place in the plan.
    private func startSizes(of app: Int) -> [(key: String, size: ByteCount, path: WritableKeyPath<RunPlan, ByteCount>)]
    {
        guard let place = plan.start.firstIndex(where: { $0.process.index == app }) else { return [] }
        let entry = plan.start[place]
        let sizes: [(String, ByteCount, WritableKeyPath<StartedProcess, ByteCount>)] = [
            ("footprint", entry.footprint ?? .zero, \.wholeFootprint), ("compressed", entry.compressed, \.compressed),
        ]
        return sizes.filter { $0.1 > .zero }.map { key, size, path in
            let own: WritableKeyPath<RunPlan, StartedProcess> = \.start[place]
            return ("start.\(place).\(key)", size, own.appending(path: path))
        }
    }

    /// A device with more memory.
    private var device: (any Quest)? {
        let needs = PolicyCatalogue.type(named: plan.policy.name)?.needs ?? []
        guard !needs.contains(.unboundedMemory) else { return nil }
        return larger("device.ceiling", plan.device.ceiling, atMost: plan.device.highestCeiling) { value in
            Change(.device, of: plan, "device.ceiling", \.device.ceiling, to: value)
        }
    }

    /// Larger values of a size, to four times the present one.
    private func larger(
        _ name: String, _ size: ByteCount, atMost highest: ByteCount? = nil,
        _ change: @escaping (ByteCount) -> Change
    ) -> SizeQuest? {
        let scale = plan.device.scale
        let highest = highest ?? MemoryLimits.highestCeiling * min(.one, scale)
        guard let steps = Steps(upFrom: size, atMost: highest) else { return nil }
        // Limits and the ceiling count pages, which are the model's.
        return SizeQuest("\(name) up to", last: steps.last) {
            scale == .one ? "\(steps.value($0))" : steps.value($0).onOriginal(of: scale).brief
        } change: {
            change(steps.value($0))
        }
    }
}

/// Even steps away from a size, in whole MiB if it is large enough.
private struct Steps {
    private let start: ByteCount
    private let unit: ByteCount
    let last: Int

    /// Down to nearly nothing; nil if the size is too small for a step.
    init?(downFrom size: ByteCount) {
        let unit = Steps.unit(of: size)
        guard size > unit else { return nil }
        (start, self.unit, last) = (size, ByteCount(-unit.bytes), (size.bytes - 1) / unit.bytes)
    }

    /// Up to four times the size, but no higher than a given size; nil if there is no step below that.
    init?(upFrom size: ByteCount, atMost highest: ByteCount) {
        let unit = Steps.unit(of: size)
        let last = min(384, (highest - size).bytes / unit.bytes)
        guard last >= 1 else { return nil }
        (start, self.unit, self.last) = (size, unit, last)
    }

    func value(_ step: Int) -> ByteCount { start + unit * step }

    private static func unit(of size: ByteCount) -> ByteCount {
        ByteCount(size.bytes / 128).roundedUp(toMultipleOf: size >= .mebibytes(16) ? 1 << 20 : 1 << 12)
    }
}

extension StartedProcess {
    /// Its footprint, where the scenario states one.
    fileprivate var wholeFootprint: ByteCount {
        get { footprint ?? .zero }
        set { footprint = newValue }
    }
}
