import Lifecycle
import Memory
import Metrics
import Plan
import Quantities
import Reclaim
import Testing

@testable import Simulation

/// Checks the engine's requests to the device, and how the engine continues after them.
@Suite("the seam between the engine and the device")
struct DeviceSeamTests {
    /// A device that needs twice the scenario's time for everything.
    private final class SlowDevice: DeviceWork {
        private(set) var ordered: [WorkOrder.Kind: Int] = [:]
        private let inner: ScenarioDevice

        init(_ device: Device) { inner = ScenarioDevice(device) }

        private func count(_ order: WorkOrder) { ordered[order.kind, default: 0] += 1 }

        func run(_ span: TimeSpan, _ order: WorkOrder, as service: ServiceClass?, at now: Instant) {
            count(order)
            inner.run(span * 2, order, as: service, at: now)
        }

        func fill(_ bytes: ByteCount, _ order: WorkOrder, as service: ServiceClass?, at now: Instant) {
            count(order)
            inner.fill(bytes * 2, order, as: service, at: now)
        }

        func takeBack(_ bytes: ByteCount, _ order: WorkOrder, as service: ServiceClass?, at now: Instant) {
            count(order)
            inner.takeBack(bytes * 2, order, as: service, at: now)
        }

        func bury(_ bytes: ByteCount, _ order: WorkOrder, as service: ServiceClass?, at now: Instant) {
            count(order)
            inner.bury(bytes * 2, order, as: service, at: now)
        }

        func withdraw(at now: Instant, where isWithdrawn: (WorkOrder) -> Bool) -> [WorkDone] {
            inner.withdraw(at: now, where: isWithdrawn)
        }

        func classify(at now: Instant, as service: (WorkOrder) -> ServiceClass?) {
            inner.classify(at: now, as: service)
        }

        var nextDone: Instant? { inner.nextDone }
        func finish(at now: Instant) -> [WorkDone] { inner.finish(at: now) }
        var isIdle: Bool { inner.isIdle }
        var keepsWaiting: Bool { inner.keepsWaiting }
        var orders: [(order: WorkOrder, service: ServiceClass?)] { inner.orders }
        func accounts(at now: Instant) -> CoreAccounts { inner.accounts(at: now) }

        func wait(where isMeant: (WorkOrder) -> Bool, at now: Instant) -> TimeSpan? {
            inner.wait(where: isMeant, at: now)
        }
    }

    @Test("the engine goes on when the device reports that the work is done, and not before")
    func slow() throws {
        // The apps need more memory than the device has, and each has a core.
        let apps = (0..<6).map { testApp("app\($0)") { $0.memory.base = .mebibytes(14) } }
        let taps = (0..<18).map { (Double($0) * 2.5, UserAction.launch(AppID($0 * 5 % 6))) }
        let plan = testPlan(apps, seconds: 60, policy: "ladder", user: taps) { $0.device.cores = 64 }
        let usual = try run(plan, on: ScenarioDevice(plan.device))
        let device = SlowDevice(plan.device)
        let slow = try run(plan, on: device)
        #expect(slow.tally.terminations.count > 0, "nothing was reclaimed: the run shows little")
        let (first, second) = (usual.tally.launches[0].latency, slow.tally.launches[0].latency)
        // The first launch meets no pressure: the size of a slice is rounded, so each fill may last 1 us longer.
        let difference = try #require(second).microseconds - 2 * #require(first).microseconds
        #expect(abs(difference) < 20, "\(difference) us")
        for kind in [WorkOrder.Kind.callback, .fill, .reclaim] { #expect(device.ordered[kind] ?? 0 > 0) }
    }

    private func run(_ plan: RunPlan, on device: any DeviceWork) throws -> Simulation {
        let run = Simulation(
            plan, memory: try plan.makeDevice(), device: device, sinks: RunSinks { _ in MemorySink() },
            RunOptions(verifies: true))
        #expect(try run.run() == .completed)
        return run
    }
}
