import Lifecycle
import Metrics
import Quantities

// The end of a process, however it comes.
extension Simulation {
    /// Ends a process now that is on its way out: it got no further.
    func end(_ process: LiveProcess, _ quit: QuitReason, because why: String) {
        end(process, quit.reason, "\(quit.explanation); \(why)")
    }

    /// Ends the process now. Nobody is told: who should be has been told before.
    func end(_ process: LiveProcess, _ reason: ExitReason, _ explanation: String) {
        let wasForeground = process.phase.isForeground
        let footprint = memory.books(of: process.slot).footprint
        let app = process.app
        apps[app.index].lastFootprint = footprint
        endWaiting(of: process)
        abandonLaunch(of: process, outcome: "terminated")
        recorder.event(
            .exit, at: now, app: process.profile.name, pid: process.pid, reason.rawValue, reason: explanation)
        leaveScenes(of: process)
        noteLife(of: process)
        if process.phase != .notRunning { apply(.terminate, to: process, reason: reason.rawValue) }
        if reason.isBySystem { noteTermination(of: process, reason, wasForeground: wasForeground, footprint) }
        releaseEverything(of: process)
        if process.isSwipedAway { discardSessions(of: process.record) }
        endReclaim(on: process, reason, held: footprint)
        serveWaiters()
        if let tap = apps[app.index].tapAfterExit {
            apps[app.index].tapAfterExit = nil
            if foregroundApp == app {
                return launchCold(app, scene: sceneToShow(of: app), tapped: tap.at, for: tap.reason)
            }
            noteRelaunch(of: app, tapped: tap.at)
            abandonTap(at: tap.at, on: app)
        }
        if foregroundApp == app { foregroundApp = nil }
    }

    /// Who swipes an app away closes its scenes for good, and the app is told at its next launch.
    func discardSessions(of record: AppRecord) {
        guard record.profile.scenes.support else { return }
        record.discardedWhileDead += record.sessions.count(where: \.wasConnected)
        record.sessions.removeAll()
    }

    private func leaveScenes(of process: LiveProcess) {
        for index in process.record.sessions.indices {
            guard process.record.sessions[index].machine.phase.isConnected else { continue }
            process.record.sessions[index].machine.processDied()
            recorder.event(
                .sceneState, at: now, app: process.profile.name, pid: process.pid,
                scene: process.record.sessions[index].id, "unattached", reason: "process ended")
        }
    }

    private func noteTermination(
        of process: LiveProcess, _ reason: ExitReason, wasForeground: Bool, _ footprint: ByteCount
    ) {
        recorder.tally.terminations.append(
            .init(
                app: process.profile.name, pid: process.pid, at: now, reason: reason.rawValue,
                wasForeground: wasForeground, wasPerceived: false, footprint: footprint))
        if !process.isSwipedAway {
            process.record.lastTermination = now
            process.record.unfelt.removeAll { now - $0.at > plan.perceivedWithin }
            process.record.unfelt.append((now, recorder.tally.terminations.count - 1))
        }
        // It is still among them.
        recorder.tally.leastProcesses = min(recorder.tally.leastProcesses ?? .max, live.count - 1)
        if let warned = process.warnedAt { recorder.tally.warningLeads.append(now - warned) }
    }

    /// It ends, or the run does: how long it lived, and how long of that it was suspended.
    func noteLife(of process: LiveProcess) {
        recorder.tally.processTime += now - process.launchedAt
        noteSuspension(of: process)
    }

    /// The suspension under way counts up to now.
    func noteSuspension(of process: LiveProcess) {
        guard let since = process.suspendedSince else { return }
        process.suspendedSince = nil
        recorder.tally.suspendedTime += now - since
    }

    /// The process leaves every table; its memory goes back to the device.
    func releaseEverything(of process: LiveProcess) {
        for index in process.record.sessions.indices {
            process.record.sessions[index].machine.processDied()
            process.record.sessions[index].pool = nil
            // What it was to be opened with went with the process.
            process.record.sessions[index].reason = .userTap
            process.record.sessions[index].isTold = false
        }
        // What the user closed while the process was on its way out is discarded all the same.
        process.record.discardedWhileDead += process.closing.count
        process.record.sessions.removeAll { process.closing.contains($0.id) }
        // The second display goes dark; its session has no use without it.
        if let external = process.externalScene {
            process.record.sessions.removeAll { $0.id == external }
            externalApp = nil
        }
        processes[process.slot.index] = nil
        live.remove(at: process.position)
        closeRanks(at: process.position)
        if process.position < reclaim.shown.count { reclaim.shown.remove(at: process.position) }
        forgetSample(of: process)
        waiters.removeAll { $0 == process.reference }
        releaseCores(of: process)
        process.record.process = nil
        process.steps.removeAll()
        process.serial += 1
        if displayOwner == process.pid { releaseDisplay() }
        do {
            _ = try memory.endProcess(process.slot)
        } catch {
            fail("\(error)")
        }
    }
}
