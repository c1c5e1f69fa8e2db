import Lifecycle
import Quantities

/// One piece of work that the engine asks of the device.
struct WorkOrder: Hashable {
    enum Kind: Hashable {
        /// A callback, or another cost of the main thread.
        case callback
        /// The main thread fills fresh pages.
        case fill
        /// Work that the app has moved off its main thread.
        case deferredWork
        /// Pages go back to the device: a purge or the end of a process.
        case reclaim
    }

    let kind: Kind
    /// The process that the work is done for; of a reclaim nil, for it outlives the process.
    let owner: ProcessReference?
    /// Numbers what waits for the work; an old one is void.
    let serial: Int

    /// What happens when the work is done.
    var completion: SimulationEvent {
        switch (kind, owner) {
        case (.callback, let owner?), (.fill, let owner?): .mainThread(owner, serial: serial)
        case (.deferredWork, let owner?): .deferredWorkDone(owner, serial: serial)
        case (.reclaim, _), (_, nil): .reclaimDone(serial: serial)
        }
    }
}

/// The device's answer to an order.
enum WorkAnswer: Hashable {
    /// The device knows when the work is done, and how long it takes by itself; the rest is waiting for its turn.
    case done(at: Instant, taking: TimeSpan)
    /// The device does not know yet: it reports the end by `SimulationEvent.workDone`.
    case later
}

/// The seam between the engine and what the device does.
///
/// The engine asks for work, and goes on when the work is done; it knows neither cores nor rates. A device answers
/// `done` in the same step, or `later` and then schedules `workDone` itself: contended cores, whose work may be
/// preempted after it was asked for; a compressor, which brings pages back before the work can begin; real child
/// processes, whose work is measured.
protocol DeviceWork: AnyObject {
    /// Runs code for so long.
    func run(_ span: TimeSpan, _ order: WorkOrder, at now: Instant) -> WorkAnswer
    /// Fills so much fresh memory.
    func fill(_ bytes: ByteCount, _ order: WorkOrder, at now: Instant) -> WorkAnswer
    /// Brings so much back to the device from a process that stays.
    func takeBack(_ bytes: ByteCount, _ order: WorkOrder, at now: Instant) -> WorkAnswer
    /// Brings back all that a process held when it ended.
    func bury(_ bytes: ByteCount, _ order: WorkOrder, at now: Instant) -> WorkAnswer
    /// The process has ended: no work is done for it any more.
    ///
    /// - Returns: The work of others that was answered with an instant, and is done earlier. Of work that was answered
    ///   with `later` nothing is returned: its end is reported when it comes.
    func release(_ owner: ProcessReference, at now: Instant) -> [Cores.Advance]
    /// The processes that work is done for at this instant, or will be.
    func owners(at now: Instant) -> [ProcessReference]
}

/// The device of a scenario: cores that are served in order, and rates. It always knows when its work is done.
final class ScenarioDevice: DeviceWork {
    private let device: Device
    private var cores: Cores

    init(_ device: Device) {
        self.device = device
        cores = Cores(count: device.cores)
    }

    func run(_ span: TimeSpan, _ order: WorkOrder, at now: Instant) -> WorkAnswer {
        guard let owner = order.owner else { return .done(at: now + span, taking: span) }
        let purpose: Cores.Purpose = order.kind == .deferredWork ? .deferredWork : .mainThread
        return .done(at: cores.occupy(for: span, by: owner, purpose, at: now), taking: span)
    }

    func fill(_ bytes: ByteCount, _ order: WorkOrder, at now: Instant) -> WorkAnswer {
        run(device.fillRate.time(for: bytes), order, at: now)
    }

    /// The least that a reclaim takes; ours.
    private static let leastReclaim = TimeSpan(microseconds: 100)

    func takeBack(_ bytes: ByteCount, _ order: WorkOrder, at now: Instant) -> WorkAnswer {
        let span = max(device.reclaimRate.time(for: bytes), ScenarioDevice.leastReclaim)
        return .done(at: now + span, taking: span)
    }

    func bury(_ bytes: ByteCount, _ order: WorkOrder, at now: Instant) -> WorkAnswer {
        let span = max(
            device.terminationTime + device.reclaimRate.time(for: bytes), ScenarioDevice.leastReclaim)
        return .done(at: now + span, taking: span)
    }

    func release(_ owner: ProcessReference, at now: Instant) -> [Cores.Advance] { cores.release(owner, at: now) }

    func owners(at now: Instant) -> [ProcessReference] { cores.owners(at: now) }
}
