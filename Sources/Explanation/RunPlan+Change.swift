import Plan
import Quantities
import Scenario
import Simulation
import Workload

// Changes of one app: of its keys, of its behaviour, and of its sizes.
extension RunPlan {
    /// Where the scenario declares the app or the other process, for `--set`.
    package func place(of app: Int) -> String {
        (apps[app].part == nil ? "apps." : "processes.") + apps[app].name
    }

    /// One key of an app with another value.
    func own<Value: CustomStringConvertible>(
        _ app: Int, _ key: String, _ path: WritableKeyPath<AppProfile, Value>, to value: Value,
        _ kind: Change.Kind = .behaviour
    ) -> Change {
        let whole: WritableKeyPath<RunPlan, AppProfile> = \.apps[app]
        return Change(kind, of: self, "\(place(of: app)).\(key)", whole.appending(path: path), to: value)
    }

    /// One key of an app that may be none, with another value.
    func own<Value: CustomStringConvertible>(
        _ app: Int, _ key: String, optional path: WritableKeyPath<AppProfile, Value?>, to value: Value?,
        _ kind: Change.Kind = .behaviour
    ) -> Change {
        let whole: WritableKeyPath<RunPlan, AppProfile> = \.apps[app]
        return Change(
            kind, of: self, "\(place(of: app)).\(key)", optional: whole.appending(path: path), to: value)
    }

    /// Nil if the key has that value already.
    private func changed<Value: CustomStringConvertible & Equatable>(
        _ app: Int, _ key: String, _ path: WritableKeyPath<AppProfile, Value>, _ value: Value
    ) -> Change? {
        apps[app][keyPath: path] == value ? nil : own(app, key, path, to: value)
    }

    /// The parts as one change, each made after the ones before it; nil if none of them changes anything.
    private func joined(_ what: String, _ parts: [(RunPlan) -> Change?]) -> Change? {
        var made: [Change] = []
        for part in parts { if let change = part(made.last?.plan ?? self) { made.append(change) } }
        return made.isEmpty ? nil : Change(.behaviour, what, made)
    }

    /// The changes with which the app frees more, and at the right moments.
    func behaviourChanges(of app: Int) -> [Change] {
        [withoutLeak(of: app), answeringWarnings(of: app), freeingOnTheWay(of: app), freeingScenes(of: app)]
            .compactMap(\.self)
    }

    private func withoutLeak(of app: Int) -> Change? {
        joined("without its leak", [{ $0.changed(app, "memory.leak", \.memory.leak, .zero) }])
    }

    /// The app answers every warning. Without a warning to it, the change changes nothing.
    func answeringWarnings(of app: Int) -> Change? {
        guard apps[app].memory.cache.size > .zero else { return nil }
        return joined(
            "it answers every memory warning with its whole cache",
            [
                { $0.changed(app, "warnings.frees", \.warnings.frees, .one) },
                { $0.changed(app, "warnings.ignores", \.warnings.ignores, .zero) },
            ])
    }

    private func freeingOnTheWay(of app: Int) -> Change? {
        guard apps[app].memory.cache.size > .zero else { return nil }
        return joined(
            "it frees its whole cache on the way to the background",
            [
                { $0.changed(app, "background.frees", \.background.frees, .one) },
                { $0.changed(app, "background.ignores", \.background.ignores, .zero) },
            ])
    }

    private func freeingScenes(of app: Int) -> Change? {
        joined("it frees the whole of a scene that is disconnected", scenes(of: app))
    }

    private func scenes(of app: Int) -> [(RunPlan) -> Change?] {
        [
            { $0.changed(app, "disconnect.frees", \.disconnect.frees, .one) },
            { $0.changed(app, "disconnect.ignores", \.disconnect.ignores, .zero) },
        ]
    }

    /// What the app's team can change in its behaviour, for a question about many runs. The title is the same for every
    /// app; the change is nil if the app behaves so already.
    package func teamChanges(of app: Int) -> [(title: String, change: Change?)] {
        let cache = apps[app].memory.cache.size
        let half = ByteCount(cache.bytes / 2)
        return [
            ("answers-warnings", answeringWarnings(of: app)),
            ("frees-on-the-way", freeingOnTheWay(of: app)),
            (
                "half-the-cache",
                half > .zero
                    ? joined(
                        "its cache is half as large",
                        [{ $0.changed(app, "memory.cache.size", \.memory.cache.size, half) }])
                    : nil
            ),
            (
                "saves-state",
                joined(
                    "it saves its state while it is in use, so it has nothing to finish off screen and keeps nothing "
                        + "of a scene that is disconnected",
                    scenes(of: app) + [
                        { $0.changed(app, "background.work", \.background.work, .zero) },
                        { $0.changed(app, "background.delay", \.background.delay, .zero) },
                        { $0.changed(app, "background.holds_file_lock", \.background.holdsFileLock, false) },
                        { $0.changed(app, "background.leaks_task", \.background.leaksTask, false) },
                    ])
            ),
            ("no-leak", withoutLeak(of: app)),
        ]
    }
}

/// A size of an app, with its key in a scenario.
package typealias AppSize = (key: String, path: WritableKeyPath<AppProfile, ByteCount>)

extension AppProfile {
    /// All sizes that the app's memory is made of.
    package var sizes: [AppSize] {
        let bursts = memory.bursts.indices.map { index -> AppSize in
            ("memory.bursts.\(index).size", \.memory.bursts[index].size)
        }
        var held: AppSize = ("memory.base", \.memory.base)
        if memory.footprint != nil { held = ("memory.footprint", \.memory.wholeFootprint) }
        return [
            held, ("memory.scene", \.memory.scene),
            ("memory.cache.size", \.memory.cache.size), ("memory.growth.up_to", \.memory.growth.upTo),
            ("memory.scene_growth.up_to", \.memory.sceneGrowth.upTo),
            ("memory.saw_tooth.size", \.memory.sawTooth.size), ("deferred.memory", \.deferred.memory),
        ] + bursts
    }
}
