import Memory
import Plan
import Quantities
import Simulation
import Testing
import Workload

@Suite("what a run needs of the host")
struct NeededMemoryTests {
    private static func plan(_ policy: String = "unbounded", _ change: (inout RunPlan) -> Void = { _ in }) -> RunPlan {
        let apps = ["a", "b"].map { testApp($0) { $0.memory.objects = .constant(.kibibytes(4)) } }
        return testPlan(apps, ceiling: .mebibytes(8), policy: policy, user: []) { plan in
            plan.backend = .accounting
            change(&plan)
        }
    }

    @Test("a device with an end needs its ceiling, whatever the apps may hold")
    func bounded() {
        let plan = Self.plan("ladder") { $0.apps[0].memory.base = .gibibytes(2) }
        #expect(plan.neededMemory == .mebibytes(8))
    }

    /// Allows a little for objects that are cut, and 256 KiB of slabs for each app.
    private func isAbout(_ found: ByteCount, _ wanted: ByteCount, apps: Int = 2) -> Bool {
        found >= wanted && found <= wanted + .kibibytes(256) * apps + .kibibytes(16)
    }

    @Test("one with an end needs less than its ceiling where the apps hold less")
    func partlyFilled() {
        // 4 MiB reserved; twice base 4, scene 2, cache 4, snapshot 1 MiB, and half of that again for losses.
        let plan = Self.plan("ladder") { $0.device.ceiling = .gibibytes(1) }
        #expect(isAbout(plan.neededMemory, .mebibytes(4 + 33)), "\(plan.neededMemory)")
        // The remains of disconnected scenes have no bound.
        let careless = Self.plan("ladder") { plan in
            plan.device.ceiling = .gibibytes(1)
            plan.apps[0].disconnect.frees = .percent(50)
        }
        #expect(careless.neededMemory == .gibibytes(1))
    }

    @Test("small objects take whole slots of the pages")
    func slots() {
        let plan = Self.plan("ladder") { plan in
            plan.device.ceiling = .gibibytes(1)
            plan.apps[1].memory.objects = .constant(ByteCount(1))
        }
        // 11 MiB for one app, and eight times as much for the other.
        #expect(isAbout(plan.neededMemory, .kibibytes(4_096 + 16_896 + 8 * 16_896)), "\(plan.neededMemory)")
    }

    @Test("one without end needs what the apps may come to hold, no less than the ceiling, no more than it has")
    func unbounded() {
        let usual = Self.plan()
        #expect(usual.effectiveCeiling == .mebibytes(128))
        #expect(isAbout(usual.neededMemory, .mebibytes(4 + 33)), "\(usual.neededMemory)")
        let single = Self.plan { plan in
            plan.apps.removeLast()
            plan.apps[0].memory.base = .zero
        }
        #expect(isAbout(single.neededMemory, .kibibytes(14_848), apps: 1), "\(single.neededMemory)")
        #expect(Self.plan { $0.device.ceiling = .mebibytes(40) }.neededMemory == .mebibytes(40))
        let leak = ByteRate(bytesPerSecond: 9 << 20)
        #expect(Self.plan { $0.apps[0].memory.leak = leak }.neededMemory == .mebibytes(128))
        let half = Self.plan { $0.device.scale = .percent(50) }.neededMemory
        #expect(isAbout(half, .kibibytes(4_096 + 16_896)), "\(half)")
    }

    @Test("nothing is too large for the sum")
    func extremes() {
        let plan = Self.plan { plan in
            plan.duration = .hours(24_000)
            plan.apps[0].memory.leak = ByteRate(bytesPerSecond: 64 << 30)
            plan.apps[0].memory.churn = ChurnProfile(rate: ByteRate(bytesPerSecond: 64 << 30), lifetime: .hours(24_000))
            plan.apps[0].memory.scene = .gibibytes(4_096)
            plan.apps[0].scenes.multiple = true
            plan.user = Array(repeating: .once(.openScene(AppID(0)), at: .zero), count: 100_000)
        }
        #expect(plan.neededMemory == .mebibytes(128))
    }

    @Test("what a trace asks for nobody knows beforehand")
    func trace() {
        let plan = Self.plan { $0.apps[0].memory.trace = TraceProfile(file: "t.csv") }
        #expect(plan.neededMemory == plan.effectiveCeiling)
    }
}
