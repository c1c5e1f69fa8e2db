import Lifecycle
import Memory
import Metrics
import Quantities
import Reclaim
import Testing

@testable import Simulation

/// Checks the engine's requests to the device, and how the engine continues after them.
@Suite("the seam between the engine and the device")
struct DeviceSeamTests {
    /// Works like the scenario's device, but never says in advance when its work will be done.
    private final class ReticentDevice: DeviceWork {
        /// The engine's agenda, to which it reports the end of its work.
        var agenda: Agenda?
        private(set) var orders: [WorkOrder.Kind: Int] = [:]
        private let inner: ScenarioDevice

        init(_ device: Device) { inner = ScenarioDevice(device) }

        private func later(_ answer: WorkAnswer, _ order: WorkOrder) -> WorkAnswer {
            orders[order.kind, default: 0] += 1
            if case .done(let at, let span) = answer { agenda?.schedule(.workDone(order, taking: span), at: at) }
            return .later
        }

        func run(_ span: TimeSpan, _ order: WorkOrder, at now: Instant) -> WorkAnswer {
            later(inner.run(span, order, at: now), order)
        }

        func fill(_ bytes: ByteCount, _ order: WorkOrder, at now: Instant) -> WorkAnswer {
            later(inner.fill(bytes, order, at: now), order)
        }

        func takeBack(_ bytes: ByteCount, _ order: WorkOrder, at now: Instant) -> WorkAnswer {
            later(inner.takeBack(bytes, order, at: now), order)
        }

        func bury(_ bytes: ByteCount, _ order: WorkOrder, at now: Instant) -> WorkAnswer {
            later(inner.bury(bytes, order, at: now), order)
        }

        // It would have to report earlier ends itself, but with a core for every process there are none.
        func release(_ owner: ProcessReference, at now: Instant) -> [Cores.Advance] { inner.release(owner, at: now) }

        func owners(at now: Instant) -> [ProcessReference] { inner.owners(at: now) }
    }

    @Test("a device that reports the end of its work later gives the run of one that names it at once")
    func later() throws {
        // The apps need more memory than the device has, and each has a core.
        let apps = (0..<6).map { testApp("app\($0)") { $0.memory.base = .mebibytes(14) } }
        let taps = (0..<18).map { (Double($0) * 2.5, UserAction.launch(AppID($0 * 5 % 6))) }
        let plan = testPlan(apps, seconds: 60, policy: "jetsam", user: taps) { $0.device.cores = 64 }
        let (known, sinks) = try tables(plan, on: nil)
        let device = ReticentDevice(plan.device)
        let (reported, others) = try tables(plan, on: device)
        #expect(known.tally.terminations.count > 0, "nothing was reclaimed: the run shows little")
        #expect(reported.tally.launches.map(\.latency) == known.tally.launches.map(\.latency))
        for (table, other) in zip(sinks, others) { #expect(table == other) }
        for kind in [WorkOrder.Kind.callback, .fill, .reclaim] { #expect(device.orders[kind] ?? 0 > 0) }
    }

    /// The simulation and its tables.
    private func tables(_ plan: RunPlan, on device: ReticentDevice?) throws -> (Simulation, [String]) {
        var sinks: [MemorySink] = []
        let run = Simulation(
            plan, memory: try plan.makeDevice(), device: device ?? ScenarioDevice(plan.device),
            sinks: RunSinks { _ in
                let sink = MemorySink()
                sinks.append(sink)
                return sink
            }, RunOptions(verifies: true))
        device?.agenda = run.agenda
        #expect(try run.run() == .completed)
        return (run, sinks.map(\.text))
    }
}
