import Lifecycle
import Metrics
import Plan
import Quantities
import Simulation
import Testing
import Workload

@testable import Memory

/// A device whose allocator refuses every purge after a number of purges.
private final class RefusingDevice: NamedDevice {
    static let error = AllocatorError(control: "arena.0.purge", code: 14)
    let device: AccountingDevice
    private var purgesLeft: Int
    private(set) var hasRefused = false

    init(_ device: AccountingDevice, after purges: Int) {
        self.device = device
        purgesLeft = purges
    }

    func purge(_ slot: MemorySlot) throws(AllocatorError) -> ByteCount {
        guard purgesLeft > 0 else {
            hasRefused = true
            throw RefusingDevice.error
        }
        purgesLeft -= 1
        return try device.purge(slot)
    }
}

@Suite("an allocator that refuses a purge")
struct RefusedPurgeTests {
    /// Apps that grow, free memory and end, so that their pages rise and fall.
    private func plan(_ scale: Ratio) -> RunPlan {
        let apps = (0..<2).map { index in
            testApp("app\(index)") {
                $0.memory.base = .mebibytes(4)
                $0.memory.bursts = [
                    BurstProfile(after: .seconds(1), size: .mebibytes(3), over: .milliseconds(100), hold: .seconds(1))
                ]
            }
        }
        let user: [(Double, UserAction)] = [
            (0, UserAction.launch(AppID(0))), (4, UserAction.launch(AppID(1))), (8, UserAction.launch(AppID(0))),
        ]
        return testPlan(apps, ceiling: .mebibytes(64), seconds: 40, user: user) {
            $0.backend = .accounting
            $0.device.scale = scale
        }
    }

    @Test("ends the run as our own fault, in the allocator's words, at whatever scale", arguments: [100, 25, 200])
    func endsTheRun(percent: Int64) throws {
        for purges in [0, 1, 5] {
            let plan = plan(.percent(percent))
            let device = RefusingDevice(
                try AccountingDevice(BookedDevice(ceiling: plan.device.ceiling, reserved: plan.device.reserved)),
                after: purges)
            let memory: any DeviceMemory = percent == 100 ? device : try ScaleModel(device, scale: plan.device.scale)
            let simulation = Simulation(plan, memory: memory, sinks: RunSinks { _ in NullSink() })
            do {
                _ = try simulation.run()
                // At scale 1 there may be too few purges for a refusal.
                #expect(!device.hasRefused && purges > 0, "\(purges) purges at \(percent) %: the run went on")
            } catch {
                guard case .ours(let fault) = error else { throw error }
                #expect(fault.claim == "\(RefusingDevice.error)")
            }
        }
    }
}
