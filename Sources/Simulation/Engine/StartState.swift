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
        for (number, entry) in entries.enumerated() where faults.failure == nil {
            guard let process = makeProcess(entry) else { return }
            let free = memory.available
            let fits = fill(process, entry)
            guard processes.isAlive(process) else { continue }
            if let complaint = complaint(about: process, entry, fits: fits, free: free) {
                return faults.refuse(StartRefusal(entry: number, complaint: complaint))
            }
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

    /// Allocates what the process holds. It has done so before the run: it takes no time now. Returns whether there was
    /// room for it.
    private func fill(_ process: LiveProcess, _ entry: StartedProcess) -> Bool {
        let own = process.profile.memory
        if entry.state == .prewarmed { return fillPrewarmed(process, entry) }
        process.workload.wasLaunched()
        let scenes = process.record.sessions.map(\.id)
        guard let footprint = entry.footprint else {
            return fill(process, entry, scenes)
        }
        let whole = footprint.unscaled(by: memory.scale)
        let kept = entry.state == .front ? own.cache.size : own.cache.size * process.profile.background.keeps
        let cache = min(kept, ByteCount(whole.bytes / 4))
        let scene = scenes.isEmpty ? .zero : min(own.scene, ByteCount(whole.bytes / (2 * scenes.count)))
        let fits = allocate(
            [.allocate(.cache, cache)] + scenes.map { .allocate(.scene($0), scene) }
                + [.allocate(.base, whole - cache - scene * scenes.count)], of: process,
            compressing: entry.compressed)
        defer { settle(entry.compressed, of: process) }
        if !fits { shrink(process, scenes, to: footprint) }
        return correct(process, entry, to: footprint, isExact: !fits)
    }

    /// There was no room, because small objects take more than they ask for: gives back the same share of all that the
    /// process holds, as far as that is more than the footprint.
    private func shrink(_ process: LiveProcess, _ scenes: [SceneID], to footprint: ByteCount) {
        guard processes.isAlive(process) else { return }
        let held = memory.books(of: process.slot).footprint
        guard held > footprint else { return }
        let surplus = Ratio.one - footprint.share(of: held)
        let pools: [Pool] = [.base, .cache] + scenes.map { .scene($0) }
        _ = engine.fillAtOnce(pools.map { .releaseShare($0, surplus) }, of: process)
        _ = engine.purge(process)
    }

    /// Allocates what the process holds by its profile.
    private func fill(_ process: LiveProcess, _ entry: StartedProcess, _ scenes: [SceneID]) -> Bool {
        let own = process.profile.memory
        defer { settle(entry.compressed, of: process) }
        let fits = allocate(
            [.allocate(.base, own.firstBase)] + scenes.map { .allocate(.scene($0), own.scene) }, of: process,
            compressing: entry.compressed)
        guard let footprint = own.footprint else { return fits }
        let whole = (footprint + own.scene * max(0, scenes.count - 1)) * memory.scale
        return correct(process, entry, to: whole, isExact: true)
    }

    /// The rest of its base comes with its launch.
    private func fillPrewarmed(_ process: LiveProcess, _ entry: StartedProcess) -> Bool {
        let share = process.profile.memory.base * process.record.rules.prewarmedBase
        let held = entry.footprint?.unscaled(by: memory.scale) ?? share
        var fits = allocate([.allocate(.base, held)], of: process, compressing: entry.compressed)
        if let footprint = entry.footprint { fits = correct(process, entry, to: footprint, isExact: !fits) }
        guard processes.isAlive(process) else { return fits }
        process.workload.wasPrewarmed(holding: memory.requested(in: process.pools.base))
        settle(entry.compressed, of: process)
        return fits
    }

    /// Corrects the base until the process holds the footprint. If the plain way finds no room, because small objects
    /// take more than they ask for, the exact one is taken.
    private func correct(
        _ process: LiveProcess, _ entry: StartedProcess, to footprint: ByteCount, isExact: Bool
    ) -> Bool {
        var goal = FootprintGoal(footprint, isExact: isExact)
        var fits = true
        while processes.isAlive(process) {
            if goal.takePurge() { _ = engine.purge(process) }
            guard let work = goal.next(of: process, memory) else {
                return fits || footprint - memory.books(of: process.slot).footprint < StartState.tolerance
            }
            fits = engine.fillAtOnce([work], of: process)
            if fits || compress(process, to: entry.compressed) > .zero { continue }
            guard isExact else { return correct(process, entry, to: footprint, isExact: true) }
            return footprint - memory.books(of: process.slot).footprint < StartState.tolerance
        }
        return true
    }

    /// Allocates in pieces and compresses between them, so that no process needs room for its uncompressed pages.
    /// Returns whether all of it found room.
    private func allocate(
        _ work: [MemoryWork], of process: LiveProcess, compressing compressed: ByteCount
    ) -> Bool {
        guard compressed > .zero else { return engine.fillAtOnce(work, of: process) }
        for case .allocate(let pool, let bytes) in work {
            var rest = bytes
            while rest > .zero, processes.isAlive(process) {
                let (piece, before) = (min(rest, StartState.piece), requested(by: process))
                let fits = engine.fillAtOnce([.allocate(pool, piece)], of: process)
                guard processes.isAlive(process) else { return true }
                let done = fits ? piece : requested(by: process) - before
                rest -= done
                let packed = compress(process, to: compressed)
                // Where there is little room, compressing makes more for the next piece.
                guard fits || done > .zero || packed > .zero else { return false }
            }
        }
        return true
    }

    /// The most that a process allocates before its pages are compressed.
    private static let piece = ByteCount.mebibytes(4)

    private func requested(by process: LiveProcess) -> ByteCount {
        process.allPools.reduce(.zero) { $0 + memory.requested(in: $1) }
    }

    /// Returns how much was compressed.
    @discardableResult
    private func compress(_ process: LiveProcess, to compressed: ByteCount) -> ByteCount {
        let missing = compressed - memory.books(of: process.slot).compressed
        return missing > .zero ? memory.compressor?.compress(process.slot, atMost: missing) ?? .zero : .zero
    }

    /// Allocations may have brought pages back that share a slab with new objects.
    private func settle(_ compressed: ByteCount, of process: LiveProcess) {
        guard memory.compressor != nil, processes.isAlive(process) else { return }
        compress(process, to: compressed)
        let excess = memory.books(of: process.slot).compressed - compressed
        if excess > .zero { _ = memory.compressor?.bringBack(process.slot, atMost: excess) }
    }

    // MARK: What does not fit

    /// Less than this that is missing is a matter of pages and slabs; so is a hundredth of what is to be compressed.
    private static let tolerance = ByteCount.kibibytes(64)

    /// What of the entry could not be reached, in one line; nil: it is as the scenario says.
    ///
    /// - Parameters:
    ///   - fits: Whether all allocations found room.
    ///   - free: What was free before the process.
    private func complaint(
        about process: LiveProcess, _ entry: StartedProcess, fits: Bool, free: ByteCount
    ) -> String? {
        let (books, name) = (memory.books(of: process.slot), process.profile.name)
        guard fits else {
            let wanted = entry.footprint.map { " of \($0.readable)" } ?? ""
            let packed = entry.compressed > .zero ? ", \(entry.compressed.readable) of it compressed" : ""
            return "the start of '\(name)' does not fit: \(free.readable) were free for its memory\(wanted)\(packed), "
                + "and it got \(books.footprint.readable)"
        }
        // A policy that needs unbounded memory has no compressor: all of the process is there, uncompressed.
        guard let figures = memory.compressor?.figures else { return nil }
        let missing = min(entry.compressed, books.footprint) - books.compressed
        guard missing > max(StartState.tolerance, entry.compressed * .percent(1)) else { return nil }
        let most = memory.books.ceiling * (compressor?.settings.pool ?? .one)
        let (used, slots) = (figures.compressed + figures.swapped, compressor?.swapTotal ?? .zero)
        let isSwapFull = slots > .zero && slots - used < .kibibytes(4)
        let bound =
            isSwapFull
            ? "swap is full, with \(slots.readable) (device.swap)"
            : "the compressor's pool holds \(figures.pool.readable), of \(most.readable) at most "
                + "(device.compressor.pool), and \(memory.available.readable) are free"
        return "the start of '\(name)' does not fit: \(books.compressed.readable) of \(entry.compressed.readable) are "
            + "compressed; \(bound)"
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
