import Lifecycle
import Quantities
import Workload

extension AppProfile: Described {
    /// An app: its archetype's profile with the scenario's keys applied to it.
    static let definition = Definition<AppProfile>(
        base: Archetype.plain.profile,
        start: { tree, profile in Archetype.named(tree["like"]?.text ?? "")?.profile ?? profile },
        fields: [
            Field("name", \.name, .name, required: true, "The app's name: unique, and used by every other key."),
            Field(
                "like", \.like, .name(of: "archetype", "archetypes") { Archetype.all.map(\.name) },
                "The archetype to begin with; see `plimsoll list apps`."),
            Field("scenes", \.scenes, .record, "UIApplicationSceneManifest."),
            Field(
                "background_modes", \.backgroundModes,
                .list(of: .choice("background mode", "background modes"), called: "background modes"),
                "UIBackgroundModes: reasons to keep running off screen."),
            Field("memory", \.memory, .record, "What the app's memory does."),
            Field("costs", \.costs, .record, "How long each callback keeps the main thread busy."),
            Field("background", \.background, .record, "What the app does when it leaves the screen."),
            Field("warnings", \.warnings, .record, "What the app does when it is warned."),
            Field("disconnect", \.disconnect, .record, "What the app does when a scene is disconnected."),
            Field("limits", \.limits, .record, "jetsam's limits on the process's footprint."),
            Field(
                "features", \.features, .list(of: .choice("feature", "features"), called: "features"),
                "What it can be opened with: URLs, activities handed off, shortcuts."),
            Field("deferred", \.deferred, .record, "Work of the launch that was moved off the main thread."),
            Field(
                "observers", \.observers, .list(of: Codec<NotificationObserver>.record, called: "observers"),
                "Objects of the app that observe notifications."),
        ])
}

extension DeferredWork: Described {
    static let definition = Definition<DeferredWork>(
        base: DeferredWork(),
        fields: [
            Field("work", \.work, .quantity(), "How long it takes a core; the first frame does not wait for it."),
            Field("memory", \.memory, .quantity(), "What it adds to the working set when it is done."),
        ])
}

extension NotificationObserver: Described {
    static let definition = Definition<NotificationObserver>(
        base: NotificationObserver(of: .didReceiveMemoryWarning),
        fields: [
            Field(
                "of", \.notification, .choice("notification", "notifications"), required: true,
                "The notification, by UIKit's name."),
            Field("cost", \.cost, .quantity(), "How long it keeps the main thread busy."),
            Field("frees", \.frees, .quantity(), "The share of the cache that it frees."),
        ])
}

extension SceneSupport: Described {
    static let definition = Definition<SceneSupport>(
        base: SceneSupport(),
        fields: [
            Field("support", \.support, .flag, "Whether the app lives by the scene-based life cycle."),
            Field("multiple", \.multiple, .flag, "UIApplicationSupportsMultipleScenes."),
        ])
}

extension MemoryProfile: Described {
    static let definition = Definition<MemoryProfile>(
        base: Archetype.plain.profile.memory,
        fields: [
            Field("base", \.base, .quantity(), "The working set once the app has launched."),
            Field("scene", \.scene, .quantity(), "What one connected scene holds."),
            Field("cache", \.cache, .record, "Recreatable memory; dropped in the background and on warnings."),
            Field("growth", \.growth, .record, "The base grows in use."),
            Field("leak", \.leak, .quantity(), "Memory that is never freed."),
            Field("churn", \.churn, .record, "Short-lived objects."),
            Field("touch", \.touch, .quantity(), "How fast live memory is written again in use."),
            Field("bursts", \.bursts, .list(of: Codec<BurstProfile>.record, called: "bursts"), "Sudden jumps."),
            Field("objects", \.objects, .oneOf(Variant.sizes), "How large the objects are."),
            Field("scene_growth", \.sceneGrowth, .record, "The UI of the scene in front grows in use."),
            Field("saw_tooth", \.sawTooth, .record, "Rises steadily in use, falls at once, and begins again."),
            Field("read", \.read, .quantity(), "How fast live memory is read in use, the cache first."),
            Field(
                "trace", \.trace, Codec<TraceProfile>.trace.orNone(),
                "An allocation trace, played beside all that."),
        ])
}

extension CacheProfile: Described {
    static let definition = Definition<CacheProfile>(
        base: CacheProfile(),
        fields: [
            Field("size", \.size, .quantity(), "The cache does not grow beyond this."),
            Field("rate", \.rate, .quantity(), "How fast it fills in use."),
            Field("turnover", \.turnover, .quantity(), "How fast a full cache is replaced, the oldest first."),
        ])
}

extension SawToothProfile: Described {
    static let definition = Definition<SawToothProfile>(
        base: SawToothProfile(),
        fields: [
            Field("size", \.size, .quantity(), "How high it rises."),
            Field("period", \.period, .quantity(from: AppWorkload.interval), "How long a rise takes."),
        ])
}

extension DisconnectDiscipline: Described {
    static let definition = Definition<DisconnectDiscipline>(
        base: DisconnectDiscipline(),
        fields: [
            Field("frees", \.frees, .quantity(), "The share of the scene's memory that it frees; the rest leaks."),
            Field("delay", \.delay, .quantity(), "How long the freeing keeps its main thread busy."),
            Field("ignores", \.ignores, .quantity(), "How often it frees nothing at all."),
        ])
}

extension GrowthProfile: Described {
    static let definition = Definition<GrowthProfile>(
        base: GrowthProfile(),
        fields: [
            Field("rate", \.rate, .quantity(), "How fast it grows in use."),
            Field("up_to", \.upTo, .quantity(), "It does not grow beyond this."),
        ])
}

extension ChurnProfile: Described {
    static let definition = Definition<ChurnProfile>(
        base: ChurnProfile(),
        fields: [
            Field("rate", \.rate, .quantity(), "Bytes allocated per second."),
            Field("lifetime", \.lifetime, .quantity(from: .milliseconds(1)), "How long an object lives."),
        ])
}

extension BurstProfile: Described {
    static let definition = Definition<BurstProfile>(
        base: BurstProfile(after: .zero, size: .zero, over: .zero),
        fields: [
            Field("after", \.after, .quantity(), required: true, "Time in the foreground since the launch."),
            Field("size", \.size, .quantity(), required: true, "How much arrives."),
            Field("over", \.over, .quantity(), required: true, "How long it takes to arrive."),
            Field(
                "hold", \.hold, Codec.quantity(from: AppWorkload.interval).orNone(),
                "How long it stays; none: as long as the process."),
        ])
}

extension CallbackCosts: Described {
    static let definition = Definition<CallbackCosts>(
        base: CallbackCosts(),
        fields: [
            Field("process", \.process, .quantity(), "From the tap to willFinishLaunching: creating the process."),
            Field("launch", \.launch, .quantity(), "willFinishLaunching and didFinishLaunching together."),
            Field("first_launch", \.firstLaunch, .quantity(), "Once, on the app's very first launch in the run."),
            Field("connect", \.connect, .quantity(), "scene(_:willConnectTo:), or the first UI without scenes."),
            Field("enter_foreground", \.enterForeground, .quantity(), "sceneWillEnterForeground."),
            Field("activate", \.activate, .quantity(), "sceneDidBecomeActive."),
            Field("resign_active", \.resignActive, .quantity(), "sceneWillResignActive."),
            Field("enter_background", \.enterBackground, .quantity(), "sceneDidEnterBackground."),
            Field("disconnect", \.disconnect, .quantity(), "sceneDidDisconnect."),
            Field("terminate", \.terminate, .quantity(), "applicationWillTerminate."),
            Field("event", \.event, .quantity(), "Any other event: a URL, a push, a location, a change of time."),
        ])
}

extension BackgroundDiscipline: Described {
    static let definition = Definition<BackgroundDiscipline>(
        base: BackgroundDiscipline(),
        fields: [
            Field(
                "frees", \.frees, .quantity(),
                "The share of the cache that it frees on didEnterBackground, of the last of its scenes on screen."),
            Field(
                "reloads", \.reloads, .quantity(),
                "The share of what it freed that it loads again at once on willEnterForeground."),
            Field("work", \.work, .quantity(), "How long it works before it lets itself be suspended."),
            Field("delay", \.delay, .quantity(), "How long the freeing keeps its main thread busy."),
            Field("ignores", \.ignores, .quantity(), "How often it frees nothing at all."),
            Field("snapshot", \.snapshot, .quantity(), "The buffer that the snapshot costs for a moment."),
            Field(
                "task", \.task, Codec.quantity().orNone(),
                "How long the background task runs that it begins on leaving the screen; none: it begins none."),
            Field("leaks_task", \.leaksTask, .flag, "It never ends its background task, not even when it expires."),
            Field("event_work", \.eventWork, .quantity(), "How long it works on an event that it is woken for."),
            Field(
                "modes_last", \.modesLast, Codec.quantity().orNone(),
                "How long its background modes have something to do off screen; none: for ever."),
            Field("cpu", \.cpu, .quantity(), "The share of a core that it uses off screen."),
            Field(
                "holds_protected_file", \.holdsProtectedFile, .flag,
                "It holds a lock on a file when it is suspended, and is ended for it."),
        ])
}

extension WarningDiscipline: Described {
    static let definition = Definition<WarningDiscipline>(
        base: WarningDiscipline(),
        fields: [
            Field("frees", \.frees, .quantity(), "The share of the cache that it frees."),
            Field(
                "delay", \.delay, .quantity(),
                "How long the answer keeps its main thread busy; a launch under way waits as long."),
            Field("ignores", \.ignores, .quantity(), "How often it does nothing at all."),
        ])
}

extension ProcessLimits: Described {
    static let definition = Definition<ProcessLimits>(
        base: ProcessLimits(),
        fields: [
            Field(
                "active", \.active, Codec.quantity().orNone(),
                "While in the foreground, or at work off screen for a background mode, a task or an event."),
            Field(
                "inactive", \.inactive, Codec.quantity().orNone(),
                "At all other times, the few seconds after leaving the screen among them; none: the active one, if any."
            ),
            Field("fatal", \.fatal, .flag, "Ended at once on the allocation that crosses the limit; else warned."),
            Field("active_fatal", \.activeFatal, Codec.flag.orNone(), "The active limit alone; none: as `fatal` says."),
            Field(
                "inactive_fatal", \.inactiveFatal, Codec.flag.orNone(),
                "The inactive limit alone; none: as `fatal` says."),
        ])
}
