import BasicContainers
import Lifecycle
import Memory
import Metrics
import Pressure
import Quantities
import Reclaim
import Workload

/// How a run ended.
public enum RunEnding: Hashable, Sendable {
    case completed
    case interrupted
}

/// Our own fault, found in mid-run: what was claimed, with the seed and the instant that repeat it.
public struct InternalFault: Error, CustomStringConvertible, Sendable {
    public let seed: UInt64
    public let at: Instant
    public let claim: String

    public var description: String { "at \(at) of a run with seed \(seed): \(claim)" }
}

public enum RunFailure: Error, Sendable {
    case ours(InternalFault)
    case output(OutputFailure)
}

/// One run: virtual clock, queue, device and apps. No wall clock, no tasks, one thread.
///
/// A step of the run: the queue gives the earliest event; the life-cycle machines answer with callbacks; the app's
/// workload answers with work; memory does it; the monitor looks; the policy ranks; one action is carried out, and the
/// question is asked again.
public final class Simulation {
    public let plan: RunPlan
    public private(set) var now: Instant = .zero
    let memory: any DeviceMemory
    /// The memory's.
    let scale: Ratio
    let policy: any ReclaimPolicy
    let needs: PolicyNeeds
    /// With so much available the policy is not asked if nothing is demanded.
    let contentAbove: ByteCount?
    /// As policies are shown it.
    let deviceSize: DeviceSize
    /// So much is allocated before others may act.
    let slice: ByteCount
    let dryRun: Bool
    /// Told of every decision that is recorded.
    let observer: ((DecisionRecord) -> Void)?
    /// Given every session's report when the session is over.
    let reports: (any KillReportSink)?
    let auditsEverySample: Bool
    let traces: any TraceLibrary

    var queue = EventQueue()
    let recorder: RunRecorder
    let apps: [AppRecord]
    /// By memory slot.
    var processes: [LiveProcess?] = []
    /// Live processes by rising process number.
    var live: [LiveProcess] = []
    var lastPid = 0

    var monitor: PressureMonitor
    var guardrails: Guardrails
    var reclaim = ReclaimState()
    var samples = SampleState()

    /// Some app has a limit of its own.
    let hasLimits: Bool
    /// Somebody wants to know at every sample what each process holds.
    let looksAtMemory: Bool

    /// What the user and the system do, event by event.
    let user: [UserEvent]

    /// The process that owns the display: it has an active scene, or is on the way out of one.
    var displayOwner: ProcessID?
    /// The app that the user wants to see.
    var foregroundApp: AppID?
    /// The app that is shown on the second display.
    var externalApp: AppID?
    /// Those under way; the app in front is inactive while there is one.
    var interruptions: [(serial: Int, kind: Interruption)] = []
    var interruptionSerial = 0
    var lockedUntil: Instant?
    var cores: Cores

    var waiters: [ProcessReference] = []
    /// What the last allocation could not have, because it was meant for those who wait.
    var keptBack = ByteCount.zero
    /// Memory came back, and whoever waits has not tried again yet.
    var waitersAreDue = false
    var lastSampleAt: Instant = .zero
    /// The instant that the next warning is queued for; events of other instants are of rounds that have ended.
    var warningDue: Instant?
    var auditedAt: Instant = .zero
    /// When the tables were last written to their files.
    var flushedAt: Instant = .zero
    var sizes = SizeBatch()
    /// Empty.
    var spareItems = UniqueArray<MemoryWork>()
    var failure: RunFailure?

    /// How often the books are compared with jemalloc's refreshed statistics without `--verify`, in virtual time.
    ///
    /// With more than 128 processes so much less often, because a refresh costs 18 microseconds for each.
    static func auditInterval(processes: Int) -> TimeSpan {
        TimeSpan(microseconds: 30_000_000 * Int64(max(128, processes)) / 128)
    }

    /// - Parameters:
    ///   - plan: A valid plan: its policy exists, its apps are named by valid identifiers.
    ///   - traces: Where the apps' allocation traces come from.
    ///   - verify: Compare the books with jemalloc at every sample, and check every invariant.
    ///   - dryRun: The policy is asked and recorded, but nothing that it chooses is done.
    ///   - policy: A policy that is in no catalogue, instead of the plan's.
    ///   - observer: Told of every decision that is recorded, with the snapshot that led to it.
    ///   - reports: Given the report of every session of kills when the session is over.
    public init(
        _ plan: RunPlan, memory: any DeviceMemory, sinks: RunSinks, traces: any TraceLibrary = NoTraces(),
        verify: Bool = false, dryRun: Bool = false, policy: (any ReclaimPolicy)? = nil,
        observer: ((DecisionRecord) -> Void)? = nil,
        reports: (any KillReportSink)? = nil
    ) {
        guard let policy = policy ?? PolicyCatalogue.make(plan.policy) else {
            preconditionFailure("the plan names the policy \(plan.policy.name), which does not exist")
        }
        self.plan = plan
        self.memory = memory
        scale = memory.scale
        self.policy = policy
        needs = type(of: policy).needs
        deviceSize = DeviceSize(memory.books.ceiling, meant: plan.device.meantCeiling, scale: plan.device.scale)
        contentAbove = policy.contentAbove(on: deviceSize)
        slice = Simulation.slice(of: plan.device)
        self.observer = observer
        self.reports = reports
        self.dryRun = dryRun
        self.traces = traces
        auditsEverySample = verify
        apps = plan.apps.enumerated().map { AppRecord(AppID($0), $1, seed: plan.seed) }
        hasLimits = plan.apps.contains { $0.limits.active != nil || $0.limits.inactive != nil }
        user = plan.expandedUser
        monitor = PressureMonitor(plan.monitor, ceiling: memory.books.ceiling)
        guardrails = Guardrails(plan.limits)
        cores = Cores(count: plan.device.cores)
        recorder = RunRecorder(
            sinks,
            tally: RunTally(
                scenario: plan.name, policy: plan.policy.title, seed: plan.seed, ceiling: memory.books.ceiling))
        looksAtMemory = recorder.apps.isRead || reports != nil || verify
        if needs.contains(.oracle) {
            reclaim.wanted = wantedInstants()
            reclaim.visits = Visits(user, apps: plan.apps.count, until: .zero + plan.duration)
        }
        scheduleStart()
    }

    private func scheduleStart() {
        // In the order in which they happen; of the same instant, in the scenario's.
        for index in user.indices.sorted(by: { (user[$0].at, $0) < (user[$1].at, $1) }) {
            queue.schedule(.userEvent(index: index), at: user[index].at)
        }
        queue.schedule(.sample, at: .zero)
    }

    /// What has happened so far.
    public var tally: RunTally { recorder.tally }

    /// Whom the policy ended so far, by band and cause.
    public var kills: KillTable { reclaim.kills }

    /// How many events the queue has given so far.
    public private(set) var handled = 0

    private static let eventsBetweenQuestions = 1024

    /// Runs to the end of the scenario.
    ///
    /// - Parameters:
    ///   - shouldStop: Asked at every sample and now and then in between; the run then ends in order, as interrupted.
    ///   - progress: Told the virtual time at every sample.
    public func run(
        shouldStop: () -> Bool = { false }, progress: (Instant) -> Void = { _ in }
    ) throws(RunFailure) -> RunEnding {
        let end = Instant.zero + plan.duration
        var ending = RunEnding.completed
        while let (at, event) = queue.next(upTo: end) {
            accountStalls(until: at)
            now = at
            handle(event)
            handled += 1
            if let failure {
                // What led to it is what somebody needs to see.
                recorder.flush()
                throw failure
            }
            if case .sample = event {
                progress(now)
                if let failure = recorder.failure { throw .output(failure) }
            } else if handled % Simulation.eventsBetweenQuestions != 0 {
                continue
            }
            if shouldStop() {
                ending = .interrupted
                break
            }
        }
        if ending == .completed { now = end }
        try finish()
        return ending
    }

    private func handle(_ event: SimulationEvent) {
        switch event {
        case .sample: sample()
        case .userEvent(let index): perform(user[index].action)
        case .interruptionEnds(let serial): endInterruption(serial)
        case .unlock: unlock()
        case .mainThread(let reference, let serial): continueMainThread(reference, serial)
        case .tick(let reference, let serial): tick(reference, serial)
        case .warnNext: warnNext()
        case .decay(let reference): decay(reference)
        case .assertionEnds(let reference, let id): endAssertion(reference, id)
        case .tasksExpire(let reference, let serial): expireTasks(reference, serial)
        case .taskTimeOver(let reference, let serial): endTaskTime(reference, serial)
        case .modesOver(let reference, let serial): endModes(reference, serial)
        case .cpuLimit(let reference, let serial): crossCPULimit(reference, serial)
        case .deadline(let reference, let serial): missDeadline(reference, serial)
        case .overdue(let reference): endWaiter(reference)
        case .deferredWorkDone(let reference, let serial): finishDeferredWork(reference, serial)
        case .reclaimDone(let serial): finishReclaim(serial)
        case .retryWaiters: retryWaiters()
        case .politenessEnds(let reference): endPoliteness(reference)
        }
    }

    /// The live process of that reference; nil when it has died.
    func process(_ reference: ProcessReference) -> LiveProcess? {
        guard reference.slot < processes.count, let process = processes[reference.slot] else { return nil }
        return process.pid == reference.pid ? process : nil
    }

    func process(of app: AppID) -> LiveProcess? {
        apps[app.index].process
    }

    func process(_ pid: ProcessID) -> LiveProcess? {
        // By rising number, so halving finds it.
        let place = live.partitionPoint { $0.pid >= pid }
        return place < live.count && live[place].pid == pid ? live[place] : nil
    }

    /// Keeps the first failure; the run loop throws it.
    func fail(_ claim: String) {
        guard failure == nil else { return }
        failure = .ours(InternalFault(seed: plan.seed, at: now, claim: claim))
    }

    /// A claim about ourselves: if it does not hold, the run stops with the seed and the instant.
    func claim(_ holds: Bool, _ text: @autoclosure () -> String) {
        if !holds { fail(text()) }
    }

    /// The last sample, the end of all apps, the last comparison of the books, the summary.
    private func finish() throws(RunFailure) {
        // The monitor may have looked at this very instant: a sample is written once.
        if lastSampleAt != now || recorder.samples.rows == 0 { recordSample() }
        closeLevelTime()
        closeReport()
        for process in live {
            endWaiting(of: process)
            abandonLaunch(of: process, outcome: "abandoned")
            noteLife(of: process)
            if let tap = process.record.tapAfterExit { abandonTap(at: tap.at, on: process.app) }
        }
        recorder.tally.duration = now - .zero
        recorder.tally.peakResident = memory.books.peakResident
        recorder.summary.summaryRow(of: recorder.tally)
        while let process = live.last { releaseEverything(of: process) }
        auditBooks(refreshingMetadata: true)
        checkDrained()
        recorder.flush()
        if let failure { throw failure }
        if let failure = recorder.failure { throw .output(failure) }
    }

    private func checkDrained() {
        let books = memory.books
        claim(
            books.resident == books.reserved && books.active == .zero && books.dirty == .zero,
            "all apps have ended, but \(books.resident - books.reserved) are still handed out")
        claim(live.isEmpty && processes.allSatisfy { $0 == nil }, "all apps have ended, but a process is left")
        for app in apps {
            for session in app.sessions {
                claim(
                    session.machine.phase == .unattached && session.pool == nil,
                    "all apps have ended, but scene \(session.id.number) of \(app.profile.name) is connected")
            }
        }
    }
}
