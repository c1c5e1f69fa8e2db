import Lifecycle
import Metrics
import Quantities
import Simulation
import Testing
import Workload

@testable import Memory

/// A device whose allocator refuses every purge from some moment on.
private final class RefusingDevice: DeviceMemory {
    static let error = AllocatorError(control: "arena.0.purge", code: 14)
    private let device: any DeviceMemory
    private var purgesLeft: Int
    private(set) var hasRefused = false

    init(_ device: any DeviceMemory, after purges: Int) {
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

    var books: DeviceBooks { device.books }
    var longestFreeRun: ByteCount { device.longestFreeRun }
    var touchedBytes: ByteCount { device.touchedBytes }
    var allocatorMetadata: ByteCount { device.allocatorMetadata }
    func keepBack(_ bytes: ByteCount) { device.keepBack(bytes) }
    func makeProcess() throws(AllocatorError) -> MemorySlot { try device.makeProcess() }
    func endProcess(_ slot: MemorySlot) throws(AllocatorError) -> ByteCount { try device.endProcess(slot) }
    func makePool(in slot: MemorySlot) -> PoolID { device.makePool(in: slot) }
    func endPool(_ pool: PoolID) -> ReleaseResult { device.endPool(pool) }
    func allocate(_ sizes: Span<Int>, in pool: PoolID, limit: ByteCount?) -> AllocationResult {
        device.allocate(sizes, in: pool, limit: limit)
    }
    func release(_ bytes: ByteCount, from pool: PoolID, order: ReleaseOrder) -> ReleaseResult {
        device.release(bytes, from: pool, order: order)
    }
    func releaseScattered(
        _ bytes: ByteCount, from pool: PoolID, using generator: inout SeededGenerator
    ) -> ReleaseResult {
        device.releaseScattered(bytes, from: pool, using: &generator)
    }
    func touch(_ bytes: ByteCount, in pool: PoolID) -> ByteCount { device.touch(bytes, in: pool) }
    func read(_ bytes: ByteCount, in pool: PoolID) -> ByteCount { device.read(bytes, in: pool) }
    func requested(in pool: PoolID) -> ByteCount { device.requested(in: pool) }
    func makeObject(
        _ size: ByteCount, alignment: ByteCount?, in slot: MemorySlot, limit: ByteCount?
    ) -> ObjectAllocation {
        device.makeObject(size, alignment: alignment, in: slot, limit: limit)
    }
    func resizeObject(
        _ object: ObjectHandle, to size: ByteCount, in slot: MemorySlot, limit: ByteCount?
    ) -> ObjectAllocation {
        device.resizeObject(object, to: size, in: slot, limit: limit)
    }
    func freeObject(_ object: ObjectHandle, in slot: MemorySlot) { device.freeObject(object, in: slot) }
    func play(
        _ steps: Span<ObjectStep>, on board: inout ObjectBoard, in slot: MemorySlot, limit: ByteCount?
    ) -> PlayedSteps {
        device.play(steps, on: &board, in: slot, limit: limit)
    }
    func books(of slot: MemorySlot) -> ProcessBooks { device.books(of: slot) }
    func takeChanges(into slots: inout [Int]) { device.takeChanges(into: &slots) }
    func audit(refreshingMetadata: Bool) throws(AuditFailure) {
        try device.audit(refreshingMetadata: refreshingMetadata)
    }
}

@Suite("an allocator that refuses a purge")
struct RefusedPurgeTests {
    /// An app that grows, frees and is ended, so that its pages are followed up and down.
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
                try makeDeviceMemory(.accounting, ceiling: plan.device.ceiling, reserved: plan.device.reserved),
                after: purges)
            let memory: any DeviceMemory = percent == 100 ? device : try ScaleModel(device, scale: plan.device.scale)
            let simulation = Simulation(plan, memory: memory, sinks: RunSinks { _ in NullSink() })
            do {
                _ = try simulation.run()
                // At scale 1 there are few purges.
                #expect(!device.hasRefused && purges > 0, "\(purges) purges at \(percent) %: the run went on")
            } catch {
                guard case .ours(let fault) = error else { throw error }
                #expect(fault.claim == "\(RefusingDevice.error)")
            }
        }
    }
}
