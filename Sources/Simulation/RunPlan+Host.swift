import Memory
import Quantities
import Workload

extension RunPlan {
    /// What the run's device takes of the host at most, if memory is real: its ceiling. A device without end is never
    /// filled; there it is what the apps come to hold when nobody is ended, as far as the scenario says, and no less
    /// than the scenario's own ceiling.
    ///
    /// It decides what the host is asked for, and nothing in the run.
    public var neededMemory: ByteCount {
        let ceiling = effectiveCeiling
        guard ceiling > device.ceiling, let held = mostHeld else { return ceiling }
        return min(ceiling, max(device.ceiling, device.reserved + held * .percent(150)))
    }

    /// What apps ask for at most if all of them are in front all the time, at the device's scale. Nil: a trace may ask
    /// for more than the scenario says.
    private var mostHeld: ByteCount? {
        // Nobody needs to know by how much it is too much, and no sum is too large.
        let span = min(duration, .hours(2_400))
        var held = ByteCount.zero
        for (index, app) in apps.enumerated() {
            guard app.memory.trace == nil else { return nil }
            let further = app.scenes.multiple ? user.reduce(0) { $0 + $1.scenesOpened(by: AppID(index)) } : 0
            let scenes = 1 + further
            held += min(app.mostHeld(over: span, scenes: scenes), MemoryLimits.highestCeiling) * device.scale
        }
        return held
    }
}

extension AppProfile {
    fileprivate func mostHeld(over span: TimeSpan, scenes: Int) -> ByteCount {
        let first = memory.base + memory.scene + memory.gain(from: .zero, over: span, cache: .zero)
        let further = max(memory.scene, memory.sceneGrowth.upTo) * (scenes - 1)
        return first + further + deferred.memory + background.snapshot
    }
}

extension UserEntry {
    /// How often it opens a further scene of the app.
    fileprivate func scenesOpened(by app: AppID) -> Int {
        switch self {
        case .once(.openScene(app), _): 1
        case .repeated(.openScene(app), let repetition): repetition.count
        case .once, .repeated, .model: 0
        }
    }
}
