import Memory
import Plan
import Quantities
import Simulation
import Testing
import Workload

@Suite("what the books of a run need of the host")
struct HostDemandTests {
    /// One app that requests `base` in objects of one size.
    private static func plan(
        _ backend: MemoryBackend, ceiling: ByteCount, base: ByteCount, size: ByteCount,
        _ change: (inout RunPlan) -> Void = { _ in }
    ) -> RunPlan {
        let app = testApp("a") { app in
            app.memory = MemoryProfile(base: base, scene: .zero, objects: .constant(size))
            app.background.snapshot = .zero
        }
        return testPlan([app], ceiling: ceiling, user: []) { plan in
            plan.backend = backend
            change(&plan)
        }
    }

    private func isBetween(_ found: ByteCount, _ least: ByteCount, _ most: ByteCount) -> Bool {
        found >= least && found <= most
    }

    @Test("objects of one byte: as many as the device has slots, and 8 bytes of the books for each")
    func smallest() {
        let real = Self.plan(.jemalloc, ceiling: .gibibytes(1), base: .mebibytes(900), size: ByteCount(1)).hostDemand()
        #expect(real.objects == (1_024 - 4) << 17)
        // A measurement gave 2.13 GB.
        #expect(isBetween(real.total, .mebibytes(2_100), .mebibytes(2_300)), "\(real)")
        let none = Self.plan(.accounting, ceiling: .gibibytes(1), base: .mebibytes(900), size: ByteCount(1))
            .hostDemand()
        #expect(none.pages == .zero && none.objects == real.objects)
        #expect(isBetween(none.total, .mebibytes(1_080), .mebibytes(1_200)), "\(none)")
    }

    @Test("30 GiB of one-byte objects need as much without memory of the device's own")
    func accounting() {
        let demand = Self.plan(.accounting, ceiling: .gibibytes(32), base: .gibibytes(30), size: ByteCount(1))
            .hostDemand()
        #expect(demand.total > .gibibytes(32), "\(demand)")
    }

    @Test("large objects cost the books next to nothing")
    func largest() {
        let demand = Self.plan(.accounting, ceiling: .gibibytes(32), base: .gibibytes(30), size: .kibibytes(64))
            .hostDemand()
        // Nearly all of it is the program and the tables of pages; a measurement gave 95 MiB.
        #expect(isBetween(demand.total, .mebibytes(95), .mebibytes(260)), "\(demand)")
    }

    @Test("an app has no more objects than it asks for, whatever the device has room for")
    func bounded() {
        let few = Self.plan(.accounting, ceiling: .gibibytes(4), base: .mebibytes(1), size: ByteCount(1))
        #expect(isBetween(ByteCount(few.hostDemand().objects), .mebibytes(1), .kibibytes(1_040)))
        // The other app gets the rest of the device.
        let both = Self.plan(.accounting, ceiling: .gibibytes(4), base: .mebibytes(1), size: ByteCount(1)) { plan in
            plan.apps.append(testApp("b") { $0.memory = MemoryProfile(base: .gibibytes(8), scene: .zero) })
            plan.apps[1].memory.objects = .constant(.kibibytes(4))
        }
        #expect(isBetween(ByteCount(both.hostDemand().objects), .kibibytes(2_030), .kibibytes(2_070)))
    }

    @Test("what an app asks for in small portions is as many objects")
    func portions() {
        // The app requests 100 bytes per tick, each time as one object.
        let plan = Self.plan(.accounting, ceiling: .gibibytes(1), base: .zero, size: .mebibytes(1)) { plan in
            plan.duration = .hours(1)
            plan.apps[0].memory.leak = ByteRate(bytesPerSecond: 1_000)
        }
        #expect(isBetween(ByteCount(plan.hostDemand().objects), ByteCount(36_000), ByteCount(36_100)))
    }

    @Test("a scale model keeps the books of the device that is meant")
    func scale() {
        let whole = Self.plan(.jemalloc, ceiling: .gibibytes(4), base: .gibibytes(3), size: ByteCount(16)).hostDemand()
        let plan = Self.plan(.jemalloc, ceiling: .gibibytes(1), base: .gibibytes(3), size: ByteCount(16)) { plan in
            plan.device.scale = .percent(25)
            plan.device.reserved = .mebibytes(1)
        }
        let model = plan.hostDemand()
        #expect(model.objects == whole.objects && model.pages <= .gibibytes(1))
        #expect(model.books > whole.books * .percent(180), "\(model) \(whole)")
    }

    @Test("the objects of a trace are counted, with every copy")
    func traces() {
        let plan = Self.plan(.accounting, ceiling: .gibibytes(1), base: .zero, size: .kibibytes(64)) { plan in
            plan.apps[0].memory.trace = TraceProfile(file: "t.txt", copies: .percent(250))
        }
        let without = plan.hostDemand(Library(objects: 0))
        let with = plan.hostDemand(Library(objects: 100_000))
        #expect(with.objects - without.objects == 300_000)
        #expect(with.books - without.books == ByteCount(300_000 * 16))
    }

    /// A library in which every trace makes this number of objects.
    private struct Library: TraceLibrary {
        let objects: Int

        func survey(of trace: TraceProfile) -> TraceSurvey {
            var survey = TraceSurvey()
            (survey.lines, survey.objects, survey.peakObjects) = (objects, objects, objects)
            return survey
        }

        func open(_ trace: TraceProfile) throws(TraceFault) -> any TraceReader { try NoTraces().open(trace) }
    }
}
