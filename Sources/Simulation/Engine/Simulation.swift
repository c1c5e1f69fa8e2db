import Lifecycle
import Memory
import Metrics
import Plan
import Pressure
import Quantities
import Reclaim
import Workload

/// How a run ended.
public enum RunEnding: Hashable, Sendable {
    /// The scenario was played to its end.
    case completed
    /// `shouldStop` ended the run early; its tables are complete up to that instant.
    case interrupted
}

/// A fault of the harness, found during a run: the broken claim, with the seed and the instant that reproduce it.
public struct InternalFault: Error, CustomStringConvertible, Sendable {
    /// The run's seed.
    public let seed: UInt64
    /// The virtual instant at which the fault was found.
    public let at: Instant
    /// The claim that does not hold.
    public let claim: String

    /// One line for people.
    public var description: String { "at \(at) of a run with seed \(seed): \(claim)" }
}

/// A process that is to be alive when the run begins cannot be: the device has no room for what it is to hold, or its
/// compressor none for what is to be compressed.
public struct StartRefusal: Error, CustomStringConvertible, Sendable {
    /// The number of the entry in the scenario's `start`.
    public let entry: Int
    /// What does not fit, in one line.
    public let complaint: String

    /// One line for people.
    public var description: String { "start.\(entry): \(complaint)" }
}

/// Why a run failed.
public enum RunFailure: Error, Sendable {
    /// A fault of the harness.
    case ours(InternalFault)
    /// What the scenario says of the run's start does not fit on its device.
    case start(StartRefusal)
    /// A table or a report could not be written.
    case output(OutputFailure)
}

/// One run: the clock, the queue and the dispatch. It uses no wall clock and no tasks, and runs on one thread.
///
/// A run goes like this: The queue gives the earliest event. The life cycle's machines answer with callbacks, and the
/// app's workload answers a callback with work. The device does the work. At samples, the monitor measures memory and
/// the policy ranks actions. The run carries out one action and asks the policy again. Each component owns its state.
/// Code that concerns several components (a flow) is an extension of this type.
public final class Simulation {
    /// The plan of the run.
    public let plan: RunPlan
    let agenda = Agenda()
    let faults: RunFaults
    let memory: any DeviceMemory
    /// Gives work that takes time to the device.
    let scheduler: Scheduler
    let recorder: RunRecorder
    let processes: ProcessTable
    let display = Display()
    let waiters: MemoryWaiters
    let worker: MemoryWorker
    let background: BackgroundLife
    /// Nil on a device without a freezer.
    let freezer: Freezer?
    let watch: PressureWatch
    let snapshots: Snapshots
    let sampler: Sampler
    let auditor: Auditor
    let reports: KillReporter
    let reclaimer: Reclaimer
    /// What the user and the system do, event by event.
    private let user: [UserEvent]
    let options: RunOptions

    /// - Parameters:
    ///   - plan: A valid plan: its policy exists, its apps are named by valid identifiers.
    ///   - traces: Where the apps' allocation traces come from.
    ///   - verify: Whether to compare the books with jemalloc and check every invariant at every sample, and after
    ///     every event where the pages are.
    ///   - auditEvents: Whether to compare the books with jemalloc after every event, too. It takes many times as long.
    ///   - canary: Whether `verify` is shown a fault that is not there, to see that it is found.
    ///   - dryRun: Whether the policy is only asked and recorded, and none of its actions is carried out.
    ///   - policy: A policy used instead of the plan's; it need not be in the catalogue.
    ///   - observer: Called for every recorded decision, with the snapshot that led to it.
    ///   - reports: Receives the report of every session of kills when the session is over.
    public convenience init(
        _ plan: RunPlan, memory: any DeviceMemory, sinks: RunSinks, traces: any TraceLibrary = NoTraces(),
        verify: Bool = false, auditEvents: Bool = false, canary: Bool = false, dryRun: Bool = false,
        policy: (any ReclaimPolicy)? = nil, observer: ((DecisionRecord) -> Void)? = nil,
        reports: (any KillReportSink)? = nil
    ) {
        let options = RunOptions(
            traces: traces, verifies: verify, auditsEvents: auditEvents, hasCanary: canary, dryRun: dryRun,
            policy: policy, observer: observer, reports: reports)
        self.init(plan, memory: memory, device: ScenarioDevice(plan.device), sinks: sinks, options)
    }

    /// - Parameter device: Does the work that takes time.
    init(
        _ plan: RunPlan, memory: any DeviceMemory, device: any DeviceWork, sinks: RunSinks, _ options: RunOptions
    ) {
        let policy = options.policy(of: plan)
        self.plan = plan
        self.memory = memory
        self.options = options
        let size = plan.device.size(ofRAM: memory.books.ceiling)
        user = plan.expandedUser
        faults = RunFaults(seed: plan.seed, agenda: agenda, hasCanary: options.hasCanary)
        recorder = RunRecorder(
            sinks, tally: RunTally(of: plan, ceiling: memory.books.ceiling), checksRows: options.verifies,
            hasPages: plan.hasKindsOfPages, hasLimits: plan.hasProcessLimits, hasFreezer: plan.hasFreezer)
        processes = ProcessTable(AppRecord.all(of: plan, faults: faults))
        let changes = ChangedProcesses(processes, memory, agenda)
        scheduler = Scheduler(
            device, plan.device.cores, display: display, processes: processes, recorder: recorder, faults: faults,
            agenda: agenda)
        let slice = plan.device.fillSlice
        let supply = MemorySupply(plan, memory: memory, processes: processes, faults: faults)
        waiters = MemoryWaiters(
            slice: slice, memory: memory, processes: processes, scheduler: scheduler, agenda: agenda,
            recorder: recorder, countsReclaim: plan.device.reclaimsLikeLinux)
        worker = MemoryWorker(
            plan, slice: slice, memory: memory, supply: supply, waiters: waiters, recorder: recorder, faults: faults,
            processes: processes, scheduler: scheduler, agenda: agenda)
        freezer = Freezer(plan.device, memory, worker, processes, scheduler, recorder, agenda)
        background = BackgroundLife(
            time: plan.limits.backgroundTime, display: display, scheduler: scheduler, agenda: agenda,
            recorder: recorder)
        watch = PressureWatch(
            plan.monitor, of: plan.device, memory: memory, supply: supply, processes: processes, waiters: waiters,
            recorder: recorder, agenda: agenda, seed: plan.seed)
        let knowsFuture = type(of: policy).needs.contains(.oracle)
        snapshots = Snapshots(
            of: size, plan,
            foresight: knowsFuture ? KnownFuture(user, plan, memory: memory, processes: processes) : nil,
            worker: worker, freezer: freezer, memory: memory, processes: processes, changes: changes, agenda: agenda,
            faults: faults, verifies: options.verifies)
        let returning = ReturningMemory(plan.device.reclaimRate, memory, scheduler, agenda, faults)
        sampler = Sampler(
            plan.appRows,
            looksAtMemory: recorder.apps.isRead || recorder.limits.isRead || options.reports != nil || options.verifies,
            memory: memory, returning: returning, processes: processes, changes: changes, recorder: recorder,
            faults: faults, agenda: agenda)
        auditor = Auditor(memory: memory, processes: processes, recorder: recorder, faults: faults, agenda: agenda)
        reports = KillReporter(
            options.reports, memory: memory, processes: processes, display: display, snapshots: snapshots,
            sampler: sampler, faults: faults, agenda: agenda)
        let demands = Demands(
            limits: plan.limits, memory: memory, processes: processes, worker: worker, watch: watch)
        let kernel = KernelFallback(
            plan.device, demands: demands, snapshots: snapshots, recorder: recorder, observer: options.observer)
        reclaimer = Reclaimer(
            policy, contentAbove: policy.contentAbove(on: size), mode: options.mode, demands: demands,
            kernel: kernel, snapshots: snapshots, reports: reports, returning: returning, scheduler: scheduler,
            recorder: recorder, agenda: agenda, faults: faults,
            errors: PolicyErrors(plan.limits.policyErrs, seed: plan.seed))
        scheduleStart()
    }

    private func scheduleStart() {
        for point in plan.device.wired { agenda.schedule(.wiredChanges, at: .zero + point.at) }
        for (index, app) in plan.apps.enumerated() where app.part?.keepsAlive == true {
            agenda.schedule(.startAgain(AppID(index)), at: .zero)
        }
        // In chronological order; at the same instant, in the scenario's order.
        for index in user.indices.sorted(by: { (user[$0].at, $0) < (user[$1].at, $1) }) {
            agenda.schedule(.userEvent(index: index), at: user[index].at)
        }
        agenda.schedule(.sample, at: .zero)
    }

    /// The present virtual instant.
    public var now: Instant { agenda.now }

    /// Counts of what has happened so far.
    public var tally: RunTally { recorder.tally }

    /// The processes that the policy has ended so far, by band and cause.
    public var kills: KillTable { reclaimer.kills }

    /// How many events the queue has delivered so far.
    public var handled: Int { agenda.given }

    /// What of the device's memory can be had without a policy.
    var supply: MemorySupply { worker.supply }

    /// The processes that may have changed since the last sample.
    var changes: ChangedProcesses { sampler.changes }

    /// Whether every invariant is checked at every sample.
    var verifies: Bool { options.verifies }

    // MARK: Watching

    /// The present state of the run, for display.
    public var glance: RunGlance { RunGlance(self) }

    /// Starts keeping events for `takeEvents`.
    public func keepEvents() { recorder.keepEvents() }

    /// Starts keeping waits for memory for `takeWaits`.
    public func keepWaits() { recorder.keepWaits() }

    /// The events since the last call, in order.
    public func takeEvents() -> [RunEvent] { recorder.takeEvents() }

    /// The waits for memory that have ended since the last call, in the order of their ends.
    public func takeWaits() -> [MemoryWait] { recorder.takeWaits() }

    // MARK: Running

    private static let eventsBetweenQuestions = 1024

    /// Runs to the end of the scenario. Call it once.
    ///
    /// - Parameters:
    ///   - shouldStop: Asked at every sample and at intervals in between; true ends the run in good order, as
    ///     interrupted.
    ///   - progress: Called with the virtual time at every sample.
    public func run(
        shouldStop: () -> Bool = { false }, progress: (Instant) -> Void = { _ in }
    ) throws(RunFailure) -> RunEnding {
        let end = Instant.zero + plan.duration
        if !plan.start.isEmpty {
            startState.apply(plan.start)
            if let failure = faults.failure {
                recorder.close()
                throw failure
            }
            advanceAll()
        }
        supply.files?.begin()
        worker.groups.begin()
        while let (at, event) = next(upTo: end) {
            waiters.accountStalls(until: at, supply.reads)
            scheduler.accountStalls(until: at)
            agenda.advance(to: at)
            handle(event)
            scheduler.classify()
            if verifies { invariants.checkPages() }
            if options.auditsEvents { auditor.audit(refreshingMetadata: false) }
            if let failure = faults.failure {
                // The events that led to the fault are needed to find its cause.
                recorder.close()
                throw failure
            }
            if case .sample = event {
                progress(now)
                if let failure = recorder.failure { throw .output(failure) }
            } else if handled % Simulation.eventsBetweenQuestions != 0 {
                continue
            }
            if shouldStop() {
                try finish()  // promise: interrupted
                return .interrupted
            }
        }
        agenda.advance(to: end)
        try finish()
        return .completed
    }

    /// The next event: of the queue, or the device reports that work is done. At one instant the queue comes first.
    private func next(upTo end: Instant) -> (at: Instant, event: SimulationEvent)? {
        guard let done = scheduler.nextDone, done <= end else { return agenda.next(upTo: end) }
        return agenda.next(upTo: done) ?? agenda.take(.workDone, at: done)
    }

    func handle(_ event: SimulationEvent) {
        switch event {
        case .sample: sample()
        case .userEvent(let index): perform(user[index].action)
        case .interruptionEnds(let serial): endInterruption(serial)
        case .unlock: unlock()
        case .booted(let serial): finishBoot(serial)
        case .protectedDataGoes(let lock): closeProtectedData(lock)
        case .warnNext: warnNext()
        case .warningArrives: warnLate()
        case .reclaimDone(let serial): finishReclaim(serial)
        case .memoryReturns(let serial): returnMemory(serial)
        case .dies(let serial): reclaimer.returning.dies(serial)
        case .compressDone(let serial): finishCompression(serial)
        case .swapWritten: worker.compressor?.finishWriting()
        case .freezeDone(let serial): if freezer?.finish(serial) == true { waiters.serve() }
        case .retryWaiters: retryWaiters()
        case .wiredChanges: changeWired()
        case .startAgain(let app): parts.keepAlive(processes[app])
        case .presentationEnds(let serial): parts.endPresentation(serial)
        case .backgroundDue(let app): services.look(at: processes[app])
        case .transferDone(let app, let serial): services.finishTransfer(of: processes[app], serial)
        case .liveActivityEnds(let app, let serial): services.endLiveActivity(of: processes[app], serial)
        case .workDone: for piece in scheduler.finish() { finish(piece) }
        case .due(let reference, let due):
            // An event for a process that has ended finds no process.
            if let process = processes.process(reference) { handle(due, of: process) }
        }
    }

    private func handle(_ due: SimulationEvent.Due, of process: LiveProcess) {
        switch due {
        case .mainThread(let serial): continueMainThread(process, serial)
        case .tick(let serial): tick(process, serial)
        case .decay: decay(process)
        case .assertionEnds(let id): if background.endAssertion(id, of: process) { advance(process) }
        case .tasksExpire(let serial): if background.expireTasks(of: process, serial) { advance(process) }
        case .modesOver(let serial): if background.endModes(of: process, serial) { advance(process) }
        case .taskTimeOver(let serial): end(process, background.taskTimeout(of: process, serial))
        case .use(let serial): use.begin(of: process, serial)
        case .useDone(let serial): use.finish(of: process, serial)
        case .deadline(let serial): end(process, background.missedDeadline(of: process, serial))
        case .overdue: if isStuck(process) { end(process, background.overdue(process)) }
        case .deferredWorkDone(let serial): finishDeferredWork(of: process, serial)
        case .politenessEnds: endPoliteness(of: process)
        case .sceneIdles(let scene, let serial): endIdling(of: scene, process, serial)
        case .sceneExpires(let scene, let since): disconnectIdle(scene, of: process, since)
        case .idleExit(let serial): parts.exitIdle(process, serial)
        case .hasAged: parts.hasAged(process)
        case .crashes: crashes.happen(to: process)
        case .hangs: hangs.happen(to: process)
        case .assertionIsStuck(let since): parts.assertionIsStuck(process, since: since)
        case .pictureEnds(let serial): services.endPicture(of: process, serial)
        }
    }

    /// Writes the last sample, ends all apps, compares the books a last time and writes the summary.
    private func finish() throws(RunFailure) {
        // The monitor may have sampled at this very instant; a sample is written once.
        if watch.lastSampleAt != now || recorder.samples.rows == 0 {
            sampler.record(level: watch.level, waiters.stalls)
            sampleDevice()
        }
        watch.closeLevelTime()
        reports.close()
        scheduler.close()
        for process in processes.live {
            waiters.end(process)
            abandonLaunch(of: process, outcome: .abandoned)
            countLife(of: process)
            recorder.count(of: process) { $0.processesAtEnd += 1 }
            if let tap = process.record.tapAfterExit { abandonTap(at: tap.at, on: process.record) }
        }
        recorder.tally.duration = now - .zero
        recorder.tally.peakResident = memory.books.peakResident
        for app in recorder.tally.apps.indices { recorder.tally.apps[app].closeStates(at: now) }
        recorder.writeSummaries()
        while let process = processes.live.last { releaseEverything(of: process) }
        supply.end()
        reclaimer.returning.end()
        auditor.audit(refreshingMetadata: true)
        invariants.checkDrained()
        scheduler.checkClosed()
        recorder.close()
        if let failure = faults.failure { throw failure }
        if let failure = recorder.failure { throw .output(failure) }
    }
}

extension Simulation: EngineSteps {
    /// The flow of processes that are no apps.
    var parts: Parts {
        Parts(
            engine: self, agenda: agenda, processes: processes, display: display, background: background,
            faults: faults)
    }

    /// The flow of processes that crash by themselves.
    var crashes: Crashes { Crashes(engine: self, agenda: agenda, recorder: recorder) }

    /// The flow of processes whose main thread stops answering for a while.
    var hangs: Hangs { Hangs(engine: self, background: background, agenda: agenda, recorder: recorder) }

    /// Whether the main thread takes no steps: it waits for memory, or hangs.
    func isStuck(_ process: LiveProcess) -> Bool { waiters.isWaiting(process) || process.thread.hangsSince != nil }

    /// The flow of prewarmed processes.
    var prewarming: Prewarming { Prewarming(engine: self, display: display) }

    /// The flow of what apps have asked the system to do for them.
    var services: BackgroundServices {
        BackgroundServices(
            engine: self, agenda: agenda, processes: processes, display: display, background: background,
            recorder: recorder)
    }

    /// The flow that makes the processes of the beginning.
    var startState: StartState {
        StartState(
            engine: self, processes: processes, display: display, memory: memory, compressor: worker.compressor,
            background: background, parts: parts, use: use, faults: faults)
    }

    /// What must hold.
    var invariants: Invariants {
        Invariants(
            agenda: agenda, processes: processes, display: display, memory: memory, worker: worker,
            scheduler: scheduler, freezer: freezer, snapshots: snapshots, reclaimer: reclaimer, faults: faults)
    }
}

/// How to do a run, apart from its plan.
struct RunOptions {
    var traces: any TraceLibrary = NoTraces()
    var verifies = false
    var auditsEvents = false
    var hasCanary = false
    var dryRun = false
    /// A policy used instead of the plan's; it need not be in the catalogue.
    var policy: (any ReclaimPolicy)?
    var observer: ((DecisionRecord) -> Void)?
    var reports: (any KillReportSink)?

    fileprivate func policy(of plan: RunPlan) -> any ReclaimPolicy {
        guard let policy = policy ?? PolicyCatalogue.make(plan.policy) else {
            preconditionFailure("the plan names the policy \(plan.policy.name), which does not exist")
        }
        return policy
    }

    fileprivate var mode: Reclaimer.Mode {
        Reclaimer.Mode(dryRun: dryRun, verifies: verifies, observer: observer)
    }
}

extension RunTally {
    /// The empty tally of a run on a device with this RAM.
    fileprivate init(of plan: RunPlan, ceiling: ByteCount) {
        self.init(
            scenario: plan.name, policy: plan.policy.title, seed: plan.seed, ceiling: ceiling,
            apps: plan.apps.map(\.name))
    }
}

extension RunPlan {
    /// Whether pages are of several kinds, so that there is a `pages.csv`.
    var hasKindsOfPages: Bool { device.compressor != nil || device.fileCache != nil || hasPurgeableMemory }

    /// Whether a process has a memory limit.
    var hasProcessLimits: Bool {
        device.appLimit != nil
            || apps.contains {
                $0.limits.active != nil || $0.limits.inactive != nil || $0.isEntitled && device.entitledLimit != nil
            }
    }
}
