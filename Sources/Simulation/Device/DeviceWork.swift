import Lifecycle
import Metrics
import Plan
import Quantities

/// One piece of work that the engine orders from the device.
struct WorkOrder: Hashable {
    enum Kind: Hashable {
        /// A callback, or another cost of the main thread.
        case callback
        /// The main thread fills fresh pages.
        case fill
        /// Work that the app has moved off its main thread.
        case deferredWork
        /// What an app uses of a core as time passes: frames on screen, its own work off screen.
        case use
        /// Pages of a living process go back to the device, or an action has no work of its own.
        case reclaim
        /// Pages of an ended process go back to the device.
        case bury
        /// The compressor compresses pages.
        case compress
        /// The freezer compresses the pages of a process before they go to flash.
        case freeze
    }

    let kind: Kind
    /// The process that the work is for; nil for a reclaim, which outlives its process.
    let owner: ProcessReference?
    /// Identifies what waits for the work; completion of an outdated number is ignored.
    let serial: Int
    /// Under which heading the summary counts the time.
    let purpose: CPUPurpose

    /// What happens when the work is done.
    var completion: SimulationEvent {
        switch (kind, owner) {
        case (.callback, let owner?), (.fill, let owner?): .due(owner, .mainThread(serial: serial))
        case (.deferredWork, let owner?): .due(owner, .deferredWorkDone(serial: serial))
        case (.use, let owner?): .due(owner, .useDone(serial: serial))
        case (.compress, _): .compressDone(serial: serial)
        case (.freeze, _): .freezeDone(serial: serial)
        case (.bury, _): .memoryReturns(serial: serial)
        case (.reclaim, _), (_, nil): .reclaimDone(serial: serial)
        }
    }
}

/// A piece of work that is over, and its time.
struct WorkDone {
    let order: WorkOrder
    /// When it was ordered.
    let since: Instant
    /// For how long it occupied a core.
    let held: TimeSpan
    /// The same, to the part of a microsecond.
    let exactlyHeld: CoreTime
    /// For how long it was kept from a core.
    let waited: TimeSpan
}

/// The seam between the engine and the device's work.
///
/// The engine orders work and goes on when the device reports that the work is done; it knows neither cores nor rates.
/// The engine asks for `nextDone` after every event and comes back at that instant at the latest. A device may move the
/// instant: when work comes, goes or changes its class. A device with a compressor brings pages back before work
/// begins; a device of real processes measures their work.
protocol DeviceWork: AnyObject {
    /// Runs code for this time of a fast core. Without a class the work is suspended.
    func run(_ span: TimeSpan, _ order: WorkOrder, as service: ServiceClass?, at now: Instant)
    /// Fills this amount of fresh memory.
    func fill(_ bytes: ByteCount, _ order: WorkOrder, as service: ServiceClass?, at now: Instant)
    /// Takes this amount back from a process that lives on, or one more piece of an ended one.
    func takeBack(_ bytes: ByteCount, _ order: WorkOrder, as service: ServiceClass?, at now: Instant)
    /// Takes down a process that has ended, and takes the first piece of its memory back.
    func bury(_ bytes: ByteCount, _ order: WorkOrder, as service: ServiceClass?, at now: Instant)
    /// Drops work that is not done.
    ///
    /// - Returns: The dropped work with the time that it has had.
    func withdraw(at now: Instant, where isWithdrawn: (WorkOrder) -> Bool) -> [WorkDone]
    /// Gives all work the class that it has now; nil suspends it.
    func classify(at now: Instant, as service: (WorkOrder) -> ServiceClass?)
    /// When the next piece of work is done if nothing else happens; nil: none ever is.
    var nextDone: Instant? { get }
    /// The work that is done at this instant, in the order in which it was ordered.
    func finish(at now: Instant) -> [WorkDone]
    /// Whether it has no work.
    var isIdle: Bool { get }
    /// Whether some work is kept from a core at present.
    var keepsWaiting: Bool { get }
    /// All work with its present class, in the order in which it was ordered.
    var orders: [(order: WorkOrder, service: ServiceClass?)] { get }
    /// The time of each class up to this instant, which may not lie beyond `nextDone`.
    func accounts(at now: Instant) -> CoreAccounts
    /// How long the work has been kept from a core so far; nil: there is no such work.
    func wait(where isMeant: (WorkOrder) -> Bool, at now: Instant) -> TimeSpan?
}

/// The device of a scenario: cores that serve by class, and fixed rates.
final class ScenarioDevice: DeviceWork {
    private let device: Device
    private var cores: SharedCores<WorkOrder>

    init(_ device: Device) {
        self.device = device
        cores = SharedCores(device.cores.clusters)
    }

    func run(_ span: TimeSpan, _ order: WorkOrder, as service: ServiceClass?, at now: Instant) {
        cores.begin(order, lasting: span, as: service, at: now)
    }

    func fill(_ bytes: ByteCount, _ order: WorkOrder, as service: ServiceClass?, at now: Instant) {
        run(device.fillRate.time(for: bytes), order, as: service, at: now)
    }

    /// The shortest time that a reclaim takes; our own figure.
    private static let leastReclaim = TimeSpan(microseconds: 100)

    func takeBack(_ bytes: ByteCount, _ order: WorkOrder, as service: ServiceClass?, at now: Instant) {
        run(max(device.reclaimRate.time(for: bytes), ScenarioDevice.leastReclaim), order, as: service, at: now)
    }

    func bury(_ bytes: ByteCount, _ order: WorkOrder, as service: ServiceClass?, at now: Instant) {
        let span = device.terminationTime + device.reclaimRate.time(for: bytes)
        run(max(span, ScenarioDevice.leastReclaim), order, as: service, at: now)
    }

    func withdraw(at now: Instant, where isWithdrawn: (WorkOrder) -> Bool) -> [WorkDone] {
        cores.withdraw(at: now, where: isWithdrawn).map(WorkDone.init)
    }

    func classify(at now: Instant, as service: (WorkOrder) -> ServiceClass?) {
        cores.classify(at: now, as: service)
    }

    var nextDone: Instant? { cores.nextDone() }

    func finish(at now: Instant) -> [WorkDone] { cores.finish(at: now).map(WorkDone.init) }

    var isIdle: Bool { cores.isIdle }

    var keepsWaiting: Bool { cores.keepsWaiting }

    var orders: [(order: WorkOrder, service: ServiceClass?)] { cores.pieces.map { (order: $0, service: $1) } }

    func accounts(at now: Instant) -> CoreAccounts { cores.accounts(at: now) }

    func wait(where isMeant: (WorkOrder) -> Bool, at now: Instant) -> TimeSpan? {
        cores.waited(at: now, where: isMeant)?.rounded
    }
}

extension WorkDone {
    fileprivate init(_ piece: SharedCores<WorkOrder>.Finished) {
        let held = piece.held.rounded
        self.init(
            order: piece.tag, since: piece.since, held: held, exactlyHeld: piece.held,
            waited: (piece.held + piece.waited).rounded - held)
    }
}
