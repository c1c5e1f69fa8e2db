import Lifecycle
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
        /// Pages go back to the device: a purge or the end of a process.
        case reclaim
    }

    let kind: Kind
    /// The process that the work is for; nil for a reclaim, which outlives its process.
    let owner: ProcessReference?
    /// Identifies what waits for the work; completion of an outdated number is ignored.
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
    /// The device knows when the work is done and how long it takes by itself; the rest of the time is queueing.
    case done(at: Instant, taking: TimeSpan)
    /// The device does not know yet; it reports the end with `SimulationEvent.workDone`.
    case later
}

/// The seam between the engine and the device's work.
///
/// The engine orders work and goes on when the work is done; it knows neither cores nor rates. A device answers `done`
/// in the same step, or it answers `later` and schedules `workDone` itself. `later` is for contended cores that may
/// preempt work after it was ordered, for a compressor that brings pages back before the work can begin, and for real
/// child processes with measured work.
protocol DeviceWork: AnyObject {
    /// Runs code for this time.
    func run(_ span: TimeSpan, _ order: WorkOrder, at now: Instant) -> WorkAnswer
    /// Fills this amount of fresh memory.
    func fill(_ bytes: ByteCount, _ order: WorkOrder, at now: Instant) -> WorkAnswer
    /// Takes this amount back from a process that lives on.
    func takeBack(_ bytes: ByteCount, _ order: WorkOrder, at now: Instant) -> WorkAnswer
    /// Takes back all that a process held when it ended.
    func bury(_ bytes: ByteCount, _ order: WorkOrder, at now: Instant) -> WorkAnswer
    /// The process has ended: no work is done for it any more.
    ///
    /// - Returns: Other processes' work that was answered with an instant and is done earlier now. Work that was
    ///   answered with `later` is not included; its end is reported when it comes.
    func release(_ owner: ProcessReference, at now: Instant) -> [Cores.Advance]
    /// The processes that work is done for at this instant, or will be.
    func owners(at now: Instant) -> [ProcessReference]
}

/// The device of a scenario: cores that are served in order, and fixed rates. It always knows when its work is done.
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

    /// The shortest time that a reclaim takes; our own figure.
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
