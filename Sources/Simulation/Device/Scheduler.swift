import Lifecycle
import Metrics
import Plan
import Pressure
import Quantities

/// Hands the engine's orders to the device, each in the class of its process, and accounts for the cores' time.
final class Scheduler {
    private let device: any DeviceWork
    private let rule: ServiceRule
    /// How many cores the device has.
    private let count: Int
    private let recorder: RunRecorder
    private let faults: RunFaults
    private let agenda: Agenda
    private var purposes = [CoreTime](repeating: .zero, count: CPUPurpose.allCases.count)
    private var stalls = StallMeter()
    private var sampled = CoreAccounts()
    private var sampledAt = Instant.zero
    private var sampledSpan = TimeSpan.zero
    /// The time between the last two samples, by class.
    private var times = CoreAccounts()
    /// Whether there has been work since the last sample.
    private var hasWork = false
    /// Whether the device has no work. Kept here, because it is asked several times for every event.
    private var isIdle = true
    /// Whether the last row of `cores.csv` tells of an idle device.
    private var isKnownToBeIdle = false

    init(
        _ device: any DeviceWork, _ layout: CoreLayout, display: Display, processes: ProcessTable,
        recorder: RunRecorder, faults: RunFaults, agenda: Agenda
    ) {
        self.device = device
        rule = ServiceRule(
            hasPriorities: layout.priorities, hasSlowCores: layout.clusters.count > 1, display: display,
            processes: processes)
        count = layout.count
        self.recorder = recorder
        self.faults = faults
        self.agenda = agenda
    }

    private var now: Instant { agenda.now }

    /// How urgent a process's waiting is.
    func service(of process: LiveProcess) -> ServiceClass { rule.service(of: process) }

    // MARK: Orders

    func run(_ span: TimeSpan, _ order: WorkOrder) {
        (hasWork, isIdle) = (true, false)
        device.run(span, order, as: rule.service(of: order), at: now)
    }

    func fill(_ bytes: ByteCount, _ order: WorkOrder) {
        (hasWork, isIdle) = (true, false)
        device.fill(bytes, order, as: rule.service(of: order), at: now)
    }

    func takeBack(_ bytes: ByteCount, _ order: WorkOrder) {
        (hasWork, isIdle) = (true, false)
        device.takeBack(bytes, order, as: rule.service(of: order), at: now)
    }

    func bury(_ bytes: ByteCount, _ order: WorkOrder) {
        (hasWork, isIdle) = (true, false)
        device.bury(bytes, order, as: rule.service(of: order), at: now)
    }

    /// The process has ended: no work is done for it any more.
    func release(_ owner: ProcessReference) { withdraw { $0.owner == owner } }

    /// How long the work that a process's main thread waits for has been kept from a core so far.
    func wait(ofMainThread process: LiveProcess) -> TimeSpan {
        let wait = device.wait(
            where: { $0.owner == process.reference && ($0.kind == .callback || $0.kind == .fill) }, at: now)
        return wait ?? .zero
    }

    /// The process no longer uses a core as time passes.
    func endUse(of owner: ProcessReference) { withdraw { $0.owner == owner && $0.kind == .use } }

    private func withdraw(where isWithdrawn: (WorkOrder) -> Bool) {
        guard !isIdle else { return }
        for piece in device.withdraw(at: now, where: isWithdrawn) { count(piece) }
        isIdle = device.isIdle
    }

    /// Processes have changed: gives their work the classes that they have now.
    func classify() {
        guard !isIdle else { return }
        device.classify(at: now) { rule.service(of: $0) }
    }

    // MARK: Time

    /// When the next piece of work is done; nil: none ever is.
    var nextDone: Instant? { isIdle ? nil : device.nextDone }

    /// The work that is done now.
    func finish() -> [WorkDone] {
        let done = device.finish(at: now)
        for piece in done { count(piece) }
        isIdle = device.isIdle
        return done
    }

    private func count(_ piece: WorkDone) {
        purposes[piece.order.purpose.rawValue] += piece.exactlyHeld
    }

    /// Accounts for the time since the last event, in which nothing changed: work has been kept from a core all of it.
    func accountStalls(until instant: Instant) {
        guard !isIdle, device.keepsWaiting else { return }
        stalls.advance(to: now, isWaiting: false, isWorking: true)
        stalls.advance(to: instant, isWaiting: true, isWorking: true)
    }

    /// Writes the row of a sample.
    func sample() {
        let span = now - sampledAt
        guard span > .zero else { return }
        defer { (sampledAt, sampledSpan) = (now, span) }
        // Nothing was left at the last sample, and nothing has come since.
        guard hasWork || !isKnownToBeIdle else { return }
        let accounts = device.accounts(at: now)
        times = accounts - sampled
        sampled = accounts
        isKnownToBeIdle = times.givenInAll == .zero && times.waitedInAll == .zero
        hasWork = !isIdle
        stalls.advance(to: now, isWaiting: false, isWorking: true)
        let busy = times.givenInAll.share(of: span * Int64(count))
        CoreRow.table.write(CoreRow(at: now, busy: busy, times: times, stalls: stalls.some), to: recorder.cores)
    }

    /// What the cores did between the last two samples.
    var glance: CoreGlance { CoreGlance(count: count, times, in: sampledSpan) }

    /// The run is over: what is on the cores counts as far as it has come.
    func close() {
        withdraw { _ in true }
        for purpose in CPUPurpose.allCases {
            recorder.tally.cpu.purposes[purpose.rawValue] = purposes[purpose.rawValue].rounded
        }
        let waited = device.accounts(at: now).waited
        for index in waited.indices { recorder.tally.cpu.waits[index] = waited[index] }
    }

    // MARK: Claims

    /// Checks that cores work only for living processes that run code, and give no more time than there was.
    func check() {
        let given = device.accounts(at: now).givenInAll
        let time = now - Instant.zero
        faults.claim(given <= time * Int64(count), "\(count) cores gave \(given) of time in \(time)")
        for (order, service) in device.orders {
            guard let owner = order.owner else { continue }
            guard let process = rule.processes.process(owner) else {
                faults.fail("a core works for process \(owner.pid.number), which is dead")
                continue
            }
            faults.claim(
                service == rule.service(of: order),
                "work of \(process.profile.name) is served as \(service?.name ?? "suspended"), not by what it is now")
            faults.claim(
                service == nil || process.phase != .suspended, "a core works for \(process.profile.name), suspended")
        }
    }

    /// Checks, after the end of a run, that the purposes add up to what the classes were given.
    func checkClosed() {
        let sum = purposes.reduce(into: CoreTime.zero) { $0 += $1 }.rounded
        let given = device.accounts(at: now).givenInAll
        // Where more than 40 pieces share a class, shares are rounded down.
        let difference = (given - sum).microseconds
        faults.claim(
            difference >= 0 && difference <= 1_000, "cores gave \(given), and \(sum) was counted by purpose")
    }
}
