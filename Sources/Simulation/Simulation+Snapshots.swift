import Lifecycle
import Memory
import Pressure
import Quantities
import Reclaim
import Workload

// What a policy is shown.
extension Simulation {
    func snapshot(_ question: Question) -> SystemSnapshot {
        let books = memory.books
        var snapshot = SystemSnapshot(
            now: now, demand: question.demand, level: question.level, ceiling: books.ceiling,
            resident: books.resident, available: books.available, threshold: question.threshold,
            processes: processSnapshots(), monitor: plan.monitor)
        snapshot.reading = question.reading
        snapshot.measures = measures()
        snapshot.history = reclaim.history
        snapshot.device = deviceSize
        if needs.contains(.oracle) {
            snapshot.oracle = oracle()
        }
        return snapshot
    }

    /// This device has neither a file cache nor swap: what they would tell stays zero.
    private func measures() -> SystemMeasures {
        var measures = SystemMeasures()
        measures.directReclaim = !waiters.isEmpty
        measures.some = reclaim.stalls.some
        measures.full = reclaim.stalls.full
        (measures.someLost, measures.fullLost) = reclaim.stalls.lostWithinWindow
        measures.stallUpdates = reclaim.stalls.updates
        return measures
    }

    /// Every live process. Who has not changed since the last question is shown as it was: a question costs what has
    /// happened since the one before it.
    private func processSnapshots() -> [ProcessSnapshot] {
        _ = changedProcesses()
        for index in live.indices {
            let process = live[index]
            if index == reclaim.shown.count {
                reclaim.shown.append(snapshot(process))
            } else if !process.isShownAsItIs {
                reclaim.shown[index] = snapshot(process)
            } else {
                followMainThread(of: process, in: &reclaim.shown[index])
                continue
            }
            process.isShownAsItIs = process.bands.isSettled(at: now)
        }
        if auditsEverySample {
            claim(reclaim.shown == live.map(snapshot), "policies are shown a process as it is no more")
        }
        return reclaim.shown
    }

    /// What changes too often to be told.
    private func followMainThread(of process: LiveProcess, in snapshot: inout ProcessSnapshot) {
        snapshot.isBusy = isBusy(process)
        snapshot.isEnding = process.quitReason != nil
        snapshot.warnedAt = process.warnedAt
        snapshot.answersWarning = process.answersWarning
        snapshot.recentlyReclaimed = process.reclaimed.bytes(at: now)
        if process.averageFootprint > .zero { snapshot.growth = snapshot.footprint.share(of: process.averageFootprint) }
    }

    /// A task or an event is work off screen; in front it only promises time for later.
    private func isBusy(_ process: LiveProcess) -> Bool {
        !process.isQuiet || process.launch != nil || process.quitReason != nil
            || !process.phase.isForeground && process.assertions.holdsMoreThanFinishing
    }

    func snapshot(_ process: LiveProcess) -> ProcessSnapshot {
        followBand(of: process)
        return snapshot(process, in: process.bands)
    }

    func snapshot(_ process: LiveProcess, in bands: BandMachine) -> ProcessSnapshot {
        let books = memory.books(of: process.slot)
        let modes = process.phase == .suspended ? [] : process.keepAliveModes
        var snapshot = ProcessSnapshot(
            app: process.app, name: process.profile.name, pid: process.pid, phase: process.phase,
            band: bands.band(at: now), footprint: books.footprint, dirty: books.dirty,
            cache: memory.requested(in: process.cache) * scale, launchedAt: process.launchedAt,
            lastForeground: process.lastForeground, modes: modes, warnedAt: process.warnedAt,
            answersWarning: process.answersWarning, isBusy: isBusy(process),
            relaunchCost: process.relaunchCost, scenes: sceneSnapshots(of: process))
        snapshot.positionedAt = bands.position(at: now)
        snapshot.limit = process.explicitLimit
        snapshot.isEnding = process.quitReason != nil
        snapshot.relaunchIntervals = process.record.relaunchIntervals
        snapshot.like = process.profile.like
        snapshot.recentlyReclaimed = process.reclaimed.bytes(at: now)
        if process.averageFootprint > .zero { snapshot.growth = books.footprint.share(of: process.averageFootprint) }
        return snapshot
    }

    /// Its band follows from what it does; a change puts it at the tail of its new band.
    func followBand(of process: LiveProcess) {
        let band = process.naturalBand
        if process.bands.requested != band { process.bands.set(band, at: now) }
    }

    func relaunchCost(of profile: AppProfile) -> TimeSpan {
        let costs = profile.costs
        let declared = costs.process + costs.launch + costs.connect + costs.enterForeground + costs.activate
        return declared + plan.device.fillRate.time(for: profile.memory.base + profile.memory.scene)
    }

    private func sceneSnapshots(of process: LiveProcess) -> [SceneSnapshot] {
        guard process.profile.scenes.support else { return [] }
        var scenes: [SceneSnapshot] = []
        for session in process.record.sessions where session.machine.phase.isConnected {
            var scene = SceneSnapshot(
                scene: session.id, phase: session.machine.phase,
                size: session.pool.map { memory.requested(in: $0) * scale } ?? .zero,
                lastForeground: session.lastForeground)
            scene.isExternal = session.isExternal
            scenes.append(scene)
        }
        return scenes
    }
}
