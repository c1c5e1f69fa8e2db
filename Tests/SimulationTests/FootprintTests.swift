import Lifecycle
import Memory
import Plan
import Quantities
import TestSupport
import Testing
import Workload

@testable import Simulation

/// Processes whose profile states a footprint in place of a base.
@Suite("a stated footprint", .serialized)
struct FootprintTests {
    /// Small objects, of which size classes and slabs make more; nothing but the launch moves its memory.
    private func small(_ name: String = "a", _ change: (inout AppProfile) -> Void = { _ in }) -> AppProfile {
        testApp(name) {
            $0.memory = MemoryProfile(base: .mebibytes(36), scene: .mebibytes(2))
            $0.memory.footprint = .mebibytes(38)
            change(&$0)
        }
    }

    private func run(
        _ apps: [AppProfile], _ user: [(Double, UserAction)] = [(1, .launch(AppID(0)))],
        _ change: (inout RunPlan) -> Void = { _ in }
    ) throws -> RunOutput {
        try runToEnd(testPlan(apps, ceiling: .mebibytes(128), seconds: 30, policy: "none", user: user) { change(&$0) })
    }

    /// What the last sample of the app says that it holds.
    private func held(_ run: RunOutput, _ app: String = "a") throws -> Int {
        try #require(TableRow.all(in: run.apps).last { $0["app"] == app }?.integer("footprint_bytes"))
    }

    @Test("the process holds it to a page once it is launched, on both backends", arguments: MemoryBackend.allCases)
    func met(backend: MemoryBackend) throws {
        let run = try run([small()]) { $0.backend = backend }
        #expect(abs(try held(run) - (38 << 20)) <= 4_096)
        #expect(run.launchRows.first?["outcome"] == "ready")
        // Without the key, the same sizes come to more.
        let plain = try self.run([small { $0.memory.footprint = nil }]) { $0.backend = backend }
        #expect(try held(plain) > 40 << 20)
    }

    @Test("the tables of both backends are the same")
    func backends() throws {
        let counted = try run([small()]) { $0.backend = .accounting }
        let real = try run([small()]) { $0.backend = .jemalloc }
        #expect(counted.apps == real.apps && counted.launches == real.launches && counted.events == real.events)
    }

    @Test("an app without scenes, and a daemon, hold it too", arguments: [24, 33, 2_048])
    func others(objects: Int) throws {
        let plain = small("plain") {
            $0.scenes = SceneSupport(support: false)
            $0.memory.objects = .constant(ByteCount(objects))
        }
        let daemon = {
            var daemon = AppProfile.part(.daemon)
            daemon.name = "daemon"
            daemon.memory.footprint = .mebibytes(6)
            daemon.part?.keepsAlive = true
            daemon.limits = ProcessLimits()
            return daemon
        }()
        // Objects of 33 bytes take 48 each, so that the launch has to give some of them back.
        let run = try run([plain, daemon])
        #expect(abs(try held(run, "plain") - (38 << 20)) <= 4_096)
        #expect(abs(try held(run, "daemon") - (6 << 20)) <= 4_096)
    }

    @Test("it is approached from below: a fatal limit just above it is not crossed, one below it is")
    func limits() throws {
        func launched(_ limit: ByteCount) throws -> String? {
            try run([small { $0.limits = ProcessLimits(active: limit) }]).launchRows.first?["outcome"]
        }
        #expect(try launched(ByteCount.mebibytes(38) + .kibibytes(64)) == "ready")
        #expect(try launched(.mebibytes(37)) != "ready")
    }

    @Test("half of the device holds half of it")
    func scaled() throws {
        let run = try run([small()]) {
            $0.device.scale = .percent(50)
            $0.device.ceiling = .mebibytes(64)
            $0.device.reserved = .mebibytes(2)
        }
        #expect(abs(try held(run) - (19 << 20)) <= 8_192)
    }

    @Test("a prewarmed process comes to it with its launch")
    func prewarmed() throws {
        let run = try run([small()], [(1, .prewarm(AppID(0))), (10, .launch(AppID(0)))])
        #expect(run.launchRows.first?["resumed_from"] == "prewarmed")
        #expect(abs(try held(run) - (38 << 20)) <= 4_096)
    }

    @Test("a process of the start holds it, with further scenes; its entry's own footprint comes first")
    func start() throws {
        var entry = StartedProcess(AppID(0))
        let plain = try run([small()], []) { $0.start = [entry] }
        #expect(abs(try held(plain) - (38 << 20)) <= 4_096)
        entry.scenes = 3
        let wide = try run([small { $0.scenes.multiple = true }], []) { $0.start = [entry] }
        #expect(abs(try held(wide) - (42 << 20)) <= 4_096)
        (entry.scenes, entry.footprint) = (1, .mebibytes(20))
        let own = try run([small()], []) { $0.start = [entry] }
        #expect(abs(try held(own) - (20 << 20)) < 1 << 18)
        // A scene that is opened later adds to what the process holds.
        entry.footprint = nil
        let later = try run([small { $0.scenes.multiple = true }], [(1, .openScene(AppID(0)))]) { $0.start = [entry] }
        #expect(try held(later) > 39 << 20)
    }

    @Test("the time to fill it is part of the launch")
    func time() throws {
        func fill(_ footprint: Int) throws -> Double {
            let run = try run([small { $0.memory.footprint = .mebibytes(footprint) }])
            return try #require(run.launchRows.first?.number("fill_ms"))
        }
        #expect(try fill(60) > fill(30) * 1.5)
    }
}
