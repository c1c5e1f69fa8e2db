import Lifecycle
import Quantities
import Reclaim
import Workload

extension AppProfile: Described {
    /// An app: its archetype's profile with the scenario's keys applied to it.
    static let definition = Definition<AppProfile>(
        base: Archetype.plain.profile,
        start: { tree, profile in
            var profile = Archetype.named(tree["like"]?.text ?? "")?.profile ?? profile
            profile.spread.except = CostSpread.exceptions(in: tree, of: profile)
            return profile
        },
        fields: [
            Field("name", \.name, .name, required: true, "The app's name: unique, and used by every other key."),
            Field(
                "like", \.like, .name(of: "archetype", "archetypes") { Archetype.all.map(\.name) },
                "The archetype whose values the app starts with (`plimsoll list apps`)."),
            Field("scenes", \.scenes, .record, "The app's UIApplicationSceneManifest: whether and how it uses scenes."),
            Field(
                "background_modes", \.backgroundModes,
                .list(of: .choice("background mode", "background modes"), called: "background modes"),
                "UIBackgroundModes: reasons to keep running off screen."),
            Field("memory", \.memory, .record, "How much memory the app uses, and when."),
            Field("costs", \.costs, .record, "How long each callback keeps the main thread busy, in the median."),
            Field(
                "spread", \.spread, .record,
                "How much the costs and `deferred.work` vary around their medians. Left out: as in the archetype, but "
                    + "costs that the app states do not vary."),
            Field("background", \.background, .record, "What the app does when it leaves the screen."),
            Field("warnings", \.warnings, .record, "How the app answers a memory warning."),
            Field("disconnect", \.disconnect, .record, "What the app does when a scene is disconnected."),
            Field(
                "limits", \.limits, .record,
                "Limits on the footprint (the memory) of the app's process, as iOS's jetsam has them."),
            Field(
                "entitled", \.isEntitled, .flag, omitted: { !$0 }, drawn: .flag(80), chance: 15,
                "Whether the app has the entitlement for a higher limit: `device.entitled_limit` in place of "
                    + "`device.app_limit`."),
            Field(
                "features", \.features, .list(of: .choice("feature", "features"), called: "features"),
                "What can open the app: URLs, activities handed off, shortcuts."),
            Field("deferred", \.deferred, .record, "Work of the launch that does not run on the main thread."),
            Field(
                "cpu", \.cpu, .quantity(to: .mostCores), drawn: .shares(1, 160),
                "The share of a core that the app's frames use while it is in front: 60 frames a second, each of which "
                    + "is late if it is not ready in time."),
            Field(
                "oom_score_adj", \.oomScoreAdj, Codec.count(LinuxScore.adjustments).orNone(),
                "Linux's setting for the app's process: the higher, the sooner it is ended; -1000 exempts it. "
                    + "`earlyoom`, `kernel-oom`, the `lmkd` policies, `device.fallback` and rules with `oom_score` "
                    + "read it. `none`: it follows from what the process does."),
            Field(
                "managed_oom_preference", \.managedOOMPreference, .choice("preference", "preferences"),
                omitted: { $0 == .none }, chance: 12,
                "systemd's setting for the app's process, which `systemd-oomd` reads: `avoid` ends it only after all "
                    + "that have no such setting, `omit` never."),
            Field(
                "crashes_after", \.faults.crashesAfter, Codec.quantity(from: .milliseconds(1)).orNone(),
                omitted: { $0 == nil }, drawn: .times(.seconds(1), .minutes(5)), chance: 5,
                "A fault: the mean time from a launch of the process to its crash, as the seed decides, up to twice as "
                    + "long. A process that runs no code then gets another time. `none`: it crashes only on order."),
            Field(
                "slow_exit", \.faults.slowExit, .quantity(to: .hours(1)), omitted: { $0 == .zero },
                drawn: .times(.milliseconds(1), .seconds(20)), chance: 5,
                "A fault: how long its process, once ended for memory, refuses to die before its memory begins to come "
                    + "back (`device.termination_time` is the time for each process)."),
            Field(
                "hangs_after", \.faults.hangsAfter, Codec.quantity(from: .milliseconds(1)).orNone(),
                omitted: { $0 == nil }, drawn: .times(.seconds(1), .minutes(2)), chance: 5,
                "A fault: the mean time from a launch, or from the last hang, until the app's main thread does not "
                    + "answer, as the seed decides, up to twice as long. The watchdog ends an app that does not leave "
                    + "the screen, or end, in its time. Never during a launch, or while no code runs. `none`: never."),
            Field(
                "hangs_for", \.faults.hangsFor, .quantity(from: .milliseconds(1), to: .hours(1)),
                omitted: { $0 == .seconds(10) }, drawn: .times(.milliseconds(1), .seconds(30)), chance: 5,
                "How long each hang lasts."),
            Field(
                "reports", \.faults.reports, .quantity(to: .percent(1_000)), omitted: { $0 == .one },
                drawn: .shares(0, 200), chance: 5,
                "A fault: the share of its memory that the app reports. Policies, the monitor's warnings and the "
                    + "freezer see that share of it; tables, limits, the kernel's killer and the device's books have "
                    + "the truth."),
            Field(
                "observers", \.observers, .list(of: Codec<NotificationObserver>.record, called: "observers"),
                "The app's objects that observe notifications."),
        ])
}

extension DeferredWork: Described {
    static let definition = Definition<DeferredWork>(
        base: DeferredWork(),
        fields: [
            Field(
                "work", \.work, .quantity(),
                "How long this work occupies a core. The first frame does not wait for it."),
            Field(
                "memory", \.memory, .unscaled(),
                "The memory that this work adds to the working set when it is done."),
        ])
}

extension NotificationObserver: Described {
    static let definition = Definition<NotificationObserver>(
        base: NotificationObserver(of: .didReceiveMemoryWarning),
        fields: [
            Field(
                "of", \.notification, .choice("notification", "notifications"), required: true,
                "The notification, by UIKit's name."),
            Field("cost", \.cost, .quantity(), "How long the object keeps the main thread busy."),
            Field("frees", \.frees, .quantity(), "The share of the cache that the app frees."),
        ])
}

extension SceneSupport: Described {
    static let definition = Definition<SceneSupport>(
        base: SceneSupport(),
        fields: [
            Field("support", \.support, .flag, "Whether the app uses UIKit's scene-based life cycle."),
            Field(
                "multiple", \.multiple, .flag,
                "UIApplicationSupportsMultipleScenes: whether the app may have several scenes."),
        ])
}

extension MemoryProfile: Described {
    static let definition = Definition<MemoryProfile>(
        base: Archetype.plain.profile.memory,
        check: { tree, memory, decoding in
            guard let footprint = memory.footprint, tree["footprint"] != nil else { return }
            let origin = tree.origin(ofKey: "footprint")
            if tree["base"] != nil {
                return decoding.faultHere(origin, "a process has 'base' or 'footprint', not both")
            }
            guard memory.scene > footprint * .percent(75) else { return }
            decoding.faultHere(
                origin,
                "a footprint of \(footprint) has no room for more than its first scene of \(memory.scene); the scene "
                    + "may be three quarters of it")
        },
        fields: [
            Field<MemoryProfile>("base", \.base, .unscaled(), "The working set once the app has launched.")
                .unwritten { $0.footprint != nil },
            Field(
                "footprint", \.footprint, Codec.unscaled().orNone(),
                "What the process holds once it is launched, its first scene included, whatever small objects take "
                    + "beyond their sizes: stated in place of `base`, which becomes what is left beside the scene, "
                    + "and is then corrected to a page as far as objects allow. Limits look at it. The `footprint` of "
                    + "an entry of `start` comes first. `none`: it follows from `base` and `scene`. That all of it is "
                    + "there when the launch is over, and no later, is an assumption."),
            Field("scene", \.scene, .unscaled(), "What one connected scene holds."),
            Field(
                "cache", \.cache, .record,
                "Memory that the app can create again. The app frees some of it in the background and on warnings."),
            Field("growth", \.growth, .record, "The base grows in use."),
            Field("leak", \.leak, .unscaled(), "Memory that is never freed."),
            Field("churn", \.churn, .record, "Short-lived objects."),
            Field("touch", \.touch, .unscaled(), "How fast the app, in use, writes to memory that it already holds."),
            Field("bursts", \.bursts, .list(of: Codec<BurstProfile>.record, called: "bursts"), "Sudden increases."),
            Field("objects", \.objects, .oneOf(Variant.sizes), "How large the objects are."),
            Field("scene_growth", \.sceneGrowth, .record, "The UI of the scene in front grows in use."),
            Field(
                "saw_tooth", \.sawTooth, .record,
                "Memory that rises steadily in use, falls at once, and begins again."),
            Field(
                "read", \.read, .unscaled(),
                "How fast the app, in use, reads memory that it already holds. It reads the cache first."),
            Field(
                "trace", \.trace, Codec<TraceProfile>.trace.orNone(),
                "An allocation trace that the app plays in addition."),
            Field(
                "compressibility", \.compressibility, .record,
                "How well the app's memory compresses, on a device with a compressor."),
            Field(
                "hot", \.hot, .quantity(from: .percent(1), to: .one),
                "The share of its memory, the newest, that `touch` and `read` go over, on a device with a compressor. "
                    + "The rest may stay compressed. The default, 40%, is a guess."),
            Field(
                "files", \.files, .record,
                "The files that the app uses as memory (code, resources), on a device with a file cache. They are no "
                    + "part of its footprint."),
        ])
}

extension CacheProfile: Described {
    static let definition = Definition<CacheProfile>(
        base: CacheProfile(),
        fields: [
            Field("size", \.size, .unscaled(), "The cache stops growing at this size."),
            Field("rate", \.rate, .unscaled(), "How fast the cache fills in use."),
            Field("turnover", \.turnover, .unscaled(), "How fast the app replaces the oldest parts of a full cache."),
            Field(
                "purgeable", \.purgeable, .quantity(to: .one),
                "The share of the cache that is purgeable: the system may take it while the app is off screen."),
        ])
}

extension FileProfile: Described {
    static let definition = Definition<FileProfile>(
        base: FileProfile(),
        shorthand: "size",
        fields: [
            Field("size", \.size, .unscaled(to: .gibibytes(64)), "What the files hold in all."),
            Field(
                "launch", \.launch, .quantity(to: .one),
                "The share of them that a launch uses. The default is a guess."),
            Field(
                "resume", \.resume, .quantity(to: .one),
                "The share of them that the app uses when it comes back to the screen. The default is a guess."),
            Field("rate", \.rate, .unscaled(), "How much of them the app uses while it is in front."),
        ])
}

extension SawToothProfile: Described {
    static let definition = Definition<SawToothProfile>(
        base: SawToothProfile(),
        fields: [
            Field("size", \.size, .unscaled(), "How high it rises."),
            Field("period", \.period, .quantity(from: AppWorkload.interval), "How long a rise takes."),
        ])
}

extension DisconnectDiscipline: Described {
    static let definition = Definition<DisconnectDiscipline>(
        base: DisconnectDiscipline(),
        fields: [
            Field("frees", \.frees, .quantity(), "The share of the scene's memory that the app frees. The rest leaks."),
            Field(
                "delay", \.delay, .quantity(), drawn: .times(.zero, .seconds(2)),
                "How long the freeing keeps the app's main thread busy."),
            Field("ignores", \.ignores, .quantity(), "The share of such occasions on which the app frees nothing."),
        ])
}

extension GrowthProfile: Described {
    static let definition = Definition<GrowthProfile>(
        base: GrowthProfile(),
        fields: [
            Field("rate", \.rate, .unscaled(), "How fast it grows in use."),
            Field("up_to", \.upTo, .unscaled(), "The growth stops at this size."),
        ])
}

extension ChurnProfile: Described {
    static let definition = Definition<ChurnProfile>(
        base: ChurnProfile(),
        fields: [
            Field("rate", \.rate, .unscaled(), "Bytes allocated per second."),
            Field("lifetime", \.lifetime, .quantity(from: .milliseconds(1)), "How long an object lives."),
        ])
}

extension BurstProfile: Described {
    static let definition = Definition<BurstProfile>(
        base: BurstProfile(after: .zero, size: .zero, over: .zero),
        fields: [
            Field(
                "after", \.after, .quantity(), required: true,
                "The increase begins after the app has spent this much time in the foreground."),
            Field("size", \.size, .unscaled(), required: true, "How much memory it adds."),
            Field("over", \.over, .quantity(), required: true, "How long the increase takes."),
            Field(
                "hold", \.hold, Codec.quantity(from: AppWorkload.interval).orNone(),
                "How long the memory stays. `none`: as long as the process lives."),
        ])
}

extension CallbackCosts: Described {
    static let definition = Definition<CallbackCosts>(
        base: CallbackCosts(),
        fields: [
            Field("process", \.process, .quantity(), "From the tap to willFinishLaunching: creating the process."),
            Field("launch", \.launch, .quantity(), "willFinishLaunching and didFinishLaunching together."),
            Field("first_launch", \.firstLaunch, .quantity(), "Added to the app's first launch in the run."),
            Field(
                "connect", \.connect, .quantity(),
                "scene(_:willConnectTo:), or creating the first UI in an app without scenes."),
            Field("enter_foreground", \.enterForeground, .quantity(), "sceneWillEnterForeground."),
            Field("activate", \.activate, .quantity(), "sceneDidBecomeActive."),
            Field("resign_active", \.resignActive, .quantity(), "sceneWillResignActive."),
            Field("enter_background", \.enterBackground, .quantity(), "sceneDidEnterBackground."),
            Field("disconnect", \.disconnect, .quantity(), "sceneDidDisconnect."),
            Field("terminate", \.terminate, .quantity(), "applicationWillTerminate."),
            Field("event", \.event, .quantity(), "Any other event: a URL, a push, a location, a change of time."),
        ])
}

extension CostSpread: Described {
    static let definition = Definition<CostSpread>(
        base: CostSpread(),
        shorthand: "sigma",
        fields: [
            Field(
                "sigma", \.sigma, .quantity(),
                "The standard deviation of a cost's natural logarithm; `0%`: no spread. Archetypes except `plain` have "
                    + "35%, which is a guess: one launch in ten then takes 1.57 times the median or longer."),
            Field(
                "except", \.except, .list(of: .choice("cost", "costs"), called: "costs"),
                "Costs that stay at their medians."),
        ])

    /// The costs that do not vary unless the app's `spread` says otherwise: those that the app states itself.
    fileprivate static func exceptions(in app: Tree, of profile: AppProfile) -> [CostName] {
        let spread = app["spread"]
        let isStated = spread?.entries?.isEmpty == false || spread?.text != nil
        guard !isStated, profile.spread.sigma > .zero else { return profile.spread.except }
        return CostName.allCases.filter { name in
            name == .deferredWork ? app["deferred"]?["work"] != nil : app["costs"]?[name.rawValue] != nil
        }
    }
}

extension BackgroundDiscipline: Described {
    static let definition = Definition<BackgroundDiscipline>(
        base: BackgroundDiscipline(),
        fields: [
            Field(
                "frees", \.frees, .quantity(),
                "The share of the cache that the app frees when its last scene on screen enters the background."),
            Field(
                "reloads", \.reloads, .quantity(),
                "The share of the freed cache that the app loads again on willEnterForeground."),
            Field("work", \.work, .quantity(), "How long the app works before it can be suspended."),
            Field(
                "delay", \.delay, .quantity(), drawn: .times(.zero, .seconds(8)),
                "How long the freeing keeps the app's main thread busy."),
            Field("ignores", \.ignores, .quantity(), "The share of such occasions on which the app frees nothing."),
            Field(
                "snapshot", \.snapshot, .unscaled(),
                "The memory that the snapshot of the screen needs for a moment."),
            Field(
                "task", \.task, Codec.quantity().orNone(),
                "On leaving the screen the app begins a background task that runs this long. `none`: no task."),
            Field(
                "leaks_task", \.leaksTask, .flag, drawn: .flag(70),
                "The app never ends its background task, not even when the task expires."),
            Field(
                "event_work", \.eventWork, .quantity(), drawn: .times(.zero, .minutes(1)),
                "How long the app works on an event that wakes it."),
            Field(
                "modes_last", \.modesLast, Codec.quantity().orNone(), drawn: .times(.zero, .minutes(2)),
                "How long its background modes keep the app running off screen. `none`: for ever."),
            Field(
                "cpu", \.cpu, .quantity(to: .mostCores),
                "The share of a core that the app uses off screen, as far as the cores have time for it."),
            Field(
                "holds_file_lock", \.holdsFileLock, .flag,
                "Whether the app still holds a lock on a file when it is suspended. The system ends an app that does."),
            Field(
                "file_lock_time", \.fileLockTime, Codec.quantity().orNone(), drawn: .times(.zero, .seconds(20)),
                chance: 10,
                "With `holds_file_lock`: how long after it has entered the background, or was launched there, the app "
                    + "releases the lock. An app that still runs then is suspended without it. `none`: it keeps it."),
            Field(former: "holds_protected_file", of: "holds_file_lock", \.holdsFileLock, .flag),
        ])
}

extension WarningDiscipline: Described {
    static let definition = Definition<WarningDiscipline>(
        base: WarningDiscipline(),
        fields: [
            Field("frees", \.frees, .quantity(), "The share of the cache that the app frees."),
            Field(
                "delay", \.delay, .quantity(), drawn: .times(.zero, .seconds(8)),
                "How long the answer keeps the app's main thread busy. A launch under way waits for it."),
            Field("ignores", \.ignores, .quantity(), "The share of warnings that the app ignores."),
        ])
}

extension ProcessLimits: Described {
    static let definition = Definition<ProcessLimits>(
        base: ProcessLimits(),
        fields: [
            Field(
                "active", \.active, Codec.scaled().orNone(),
                "The limit in the foreground, and while the app works off screen for a "
                    + "background mode, a task or an event."),
            Field(
                "inactive", \.inactive, Codec.scaled().orNone(),
                "The limit at all other times, also in the first seconds after leaving the screen. `none`: the active "
                    + "limit applies, if there is one."
            ),
            Field(
                "fatal", \.fatal, .flag,
                "`true`: the allocation that crosses a limit ends the app at once. `false`: it warns the app."),
            Field(
                "active_fatal", \.activeFatal, Codec.flag.orNone(),
                "The same for the active limit alone. `none`: `fatal` applies."),
            Field(
                "inactive_fatal", \.inactiveFatal, Codec.flag.orNone(),
                "The same for the inactive limit alone. `none`: `fatal` applies."),
        ])
}

extension Ratio {
    /// The most that one app can use: sixteen cores.
    static let mostCores = Ratio.percent(1_600)
}
