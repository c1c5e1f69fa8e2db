import Lifecycle
import Memory
import Metrics
import Plan
import Pressure
import Quantities
import Workload

/// Makes the processes that are alive when the run begins. They get no callbacks: what led to their state happened
/// before the run.
struct StartState {
    let engine: any EngineSteps
    let processes: ProcessTable
    let display: Display
    let memory: any DeviceMemory
    let compressor: PageCompressor?
    let background: BackgroundLife
    let parts: Parts
    let use: UseOfCPU
    let faults: RunFaults

    func apply(_ entries: [StartedProcess]) {
        compressor?.beginStart()
        for entry in entries where faults.failure == nil {
            guard let process = makeProcess(entry) else { return }
            fill(process, entry)
            guard processes.isAlive(process) else { continue }
            settle(process, entry)
        }
        compressor?.endStart()
        joinCompanions()
    }

    // MARK: The process

    private func makeProcess(_ entry: StartedProcess) -> LiveProcess? {
        let app = processes[entry.process]
        let isFront = entry.state == .front && !app.isPart
        var scenes: [SceneID] = []
        let isPrewarmed = entry.state == .prewarmed
        if !app.isPart && !isPrewarmed { for _ in 0..<entry.scenes { scenes.append(app.newSession()) } }
        let goal = scenes.last.flatMap { isFront ? Goal.foreground($0) : nil } ?? .background
        let born = Instant.zero - entry.age
        let made = engine.makeProcess(for: app, goal: goal, .userTap, born: born, isPrewarmed: isPrewarmed)
        guard let process = made else { return nil }
        if let last = scenes.last { app.open(last) }
        app.wasRelaunched(after: entry.relaunched)
        if !isPrewarmed { process.launch.didFinishLaunching() }
        if isFront {
            display.show(app.id)
            _ = display.take(for: process)
        }
        do {
            for event in events(to: entry.state) { try process.apply(event) }
            if app.profile.scenes.support { for scene in scenes { try connect(scene, of: app, entry, scenes.last) } }
        } catch {
            faults.fail("\(app.profile.name): \(error)")
        }
        return process
    }

    private func events(to state: StartedProcess.State) -> [ProcessEvent] {
        switch state {
        case .front: [.launchToForeground, .activate]
        case .background: [.launchToForeground, .enterBackground]
        case .suspended: [.launchToForeground, .enterBackground, .suspend]
        case .prewarmed: [.prewarm]
        }
    }

    /// The scene last in front is on the screen if its app is; all others are off screen.
    private func connect(
        _ scene: SceneID, of app: AppRecord, _ entry: StartedProcess, _ last: SceneID?
    ) throws(IllegalTransition) {
        var refusal: IllegalTransition?
        app.update(scene) { session in
            do throws(IllegalTransition) {
                let seen = Instant.zero - entry.idle
                try session.apply(.connectToForeground, at: seen)
                _ = session.connected()
                if entry.state == .front && scene == last {
                    try session.apply(.activate, at: .zero)
                } else {
                    try session.apply(.enterBackground, at: seen)
                    if entry.state == .suspended { try session.apply(.suspend, at: seen) }
                }
            } catch {
                refusal = error
            }
        }
        if let refusal { throw refusal }
    }

    // MARK: Its memory

    /// Allocates what the process holds. It has done so before the run: it takes no time now.
    private func fill(_ process: LiveProcess, _ entry: StartedProcess) {
        let own = process.profile.memory
        if entry.state == .prewarmed { return fillPrewarmed(process, entry) }
        let scenes = process.record.sessions.map(\.id)
        guard let footprint = entry.footprint else {
            allocate(
                [.allocate(.base, own.base)] + scenes.map { .allocate(.scene($0), own.scene) }, of: process,
                compressing: entry.compressed)
            return settle(entry.compressed, of: process)
        }
        let whole = footprint.unscaled(by: memory.scale)
        let kept = entry.state == .front ? own.cache.size : own.cache.size * process.profile.background.keeps
        let cache = min(kept, ByteCount(whole.bytes / 4))
        let scene = scenes.isEmpty ? .zero : min(own.scene, ByteCount(whole.bytes / (2 * scenes.count)))
        allocate(
            [.allocate(.cache, cache)] + scenes.map { .allocate(.scene($0), scene) }
                + [.allocate(.base, whole - cache - scene * scenes.count)], of: process,
            compressing: entry.compressed)
        correct(process, to: footprint)
        settle(entry.compressed, of: process)
    }

    /// The rest of its base comes with its launch.
    private func fillPrewarmed(_ process: LiveProcess, _ entry: StartedProcess) {
        let share = process.profile.memory.base * process.record.rules.prewarmedBase
        let held = entry.footprint?.unscaled(by: memory.scale) ?? share
        allocate([.allocate(.base, held)], of: process, compressing: entry.compressed)
        if let footprint = entry.footprint { correct(process, to: footprint) }
        guard processes.isAlive(process) else { return }
        process.workload.wasPrewarmed(holding: memory.requested(in: process.pools.base))
        settle(entry.compressed, of: process)
    }

    private func correct(_ process: LiveProcess, to footprint: ByteCount) {
        // What size classes and pages add is known only now.
        for _ in 0..<StartState.corrections {
            guard processes.isAlive(process) else { return }
            let missing = footprint - memory.books(of: process.slot).footprint
            if missing >= StartState.tolerance {
                engine.startAtOnce([.allocate(.base, missing.unscaled(by: memory.scale))], of: process)
            } else if missing <= .zero - StartState.tolerance {
                engine.startAtOnce([.release(.base, (.zero - missing).unscaled(by: memory.scale))], of: process)
                _ = engine.purge(process)
            } else {
                return
            }
        }
    }

    private static let corrections = 6
    private static let tolerance = ByteCount.kibibytes(4)

    /// Allocates in pieces and compresses between them, so that no process needs room for its uncompressed pages.
    private func allocate(_ work: [MemoryWork], of process: LiveProcess, compressing compressed: ByteCount) {
        guard compressed > .zero else { return engine.startAtOnce(work, of: process) }
        for case .allocate(let pool, let bytes) in work {
            var rest = bytes
            while rest > .zero, processes.isAlive(process) {
                let piece = min(rest, StartState.piece)
                engine.startAtOnce([.allocate(pool, piece)], of: process)
                rest -= piece
                guard processes.isAlive(process) else { return }
                compress(process, to: compressed)
            }
        }
    }

    /// The most that a process allocates before its pages are compressed.
    private static let piece = ByteCount.mebibytes(4)

    private func compress(_ process: LiveProcess, to compressed: ByteCount) {
        let missing = compressed - memory.books(of: process.slot).compressed
        if missing > .zero { _ = memory.compressor?.compress(process.slot, atMost: missing) }
    }

    /// Allocations may have brought pages back that share a slab with new objects.
    private func settle(_ compressed: ByteCount, of process: LiveProcess) {
        guard memory.compressor != nil, processes.isAlive(process) else { return }
        compress(process, to: compressed)
        let excess = memory.books(of: process.slot).compressed - compressed
        if excess > .zero { _ = memory.compressor?.bringBack(process.slot, atMost: excess) }
    }

    // MARK: Its state

    private func settle(_ process: LiveProcess, _ entry: StartedProcess) {
        let seen = Instant.zero - entry.idle
        if entry.state != .prewarmed { process.wasSeen(at: entry.state == .front ? .zero : seen) }
        engine.recordPhase(of: process, reason: "alive at the start of the run")
        stand(process, entry, since: seen)
        switch entry.state {
        case .front:
            if !process.record.isPart { process.unsavedSince = .zero }
        case .background: background.begin(of: process, from: .active)
        case .suspended:
            process.reasons.endModes()
            process.stay.suspend(at: .zero)
            parts.isIdle(process, since: seen)
        case .prewarmed: process.stay.suspend(at: .zero)
        }
        use.restart(of: process)
        parts.watchAgeing(process)
    }

    private func stand(_ process: LiveProcess, _ entry: StartedProcess, since: Instant) {
        // It is in band 0 from its beginning, and waits there since then.
        guard entry.state != .prewarmed else { return process.isIdle(since: since) }
        if let band = entry.band, process.bands.kind == .app { process.course.stand(in: JetsamBand(band)) }
        guard process.bands.kind == .daemon else {
            // It has aged by then, if it has been idle for that long.
            let aged = process.naturalBand == .idle && entry.idle >= BandMachine.appAgeing
            return process.followBand(at: aged ? since - BandMachine.appAgeing : since)
        }
        do {
            try process.changeBands { bands throws(BandMachine.Refusal) in
                let aged = entry.idle >= BandMachine.daemonAgeing
                try bands.setDirty(true, at: process.launch.at)
                if entry.state == .suspended {
                    try bands.setDirty(false, at: aged ? since - BandMachine.daemonAgeing : since)
                }
                // A daemon in a band of its own keeps it: below the band of its work until it works again, above it
                // as if a client held an assertion.
                guard let band = entry.band else { return }
                if entry.state != .suspended, band < bands.requested.number {
                    bands.set(JetsamBand(band), at: since)
                } else if band > 0 {
                    try bands.assert(JetsamBand(band), at: since)
                }
            }
        } catch {
            faults.fail("\(process.profile.name): \(error)")
        }
    }

    /// Helpers go along with their apps, and extensions on the screen with the app in front.
    private func joinCompanions() {
        for process in processes.live {
            guard let part = process.profile.part else { continue }
            if part.kind.family == .helper {
                // If its state is another than its app's, it keeps it until the app's state changes.
                let phase = part.host.flatMap { processes[$0].process?.phase }
                if phase == process.phase { process.course.accompany(phase) }
            } else if process.phase.isForeground, let front = display.frontApp {
                _ = display.present(process.app, over: front)
                process.course.accompany(processes[front].process?.phase)
            }
        }
    }
}

extension BackgroundDiscipline {
    /// The share of the cache that is left off screen.
    fileprivate var keeps: Ratio { Ratio(partsPerMillion: max(0, Ratio.one.partsPerMillion - frees.partsPerMillion)) }
}
