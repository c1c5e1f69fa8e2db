import Foundation
import Lifecycle
import Memory
import Plan
import Quantities
import Reclaim
import Scenario
import Simulation
import Testing
import Workload

@Suite("from a scenario's text to a plan")
struct ScenarioLoaderTests {
    @Test("the design's sketch becomes the plan that it describes")
    func sketch() throws {
        let plan = try Samples.load(Samples.commute).get()
        #expect(plan.name == "evening-commute")
        #expect(plan.seed == 42)
        #expect(plan.duration == .minutes(30))
        #expect(plan.device == Device(ceiling: .gibibytes(1), reserved: .mebibytes(160), cores: 2))
        #expect(plan.monitor == .ios)
        #expect(plan.policy.parameters.first == .init(name: "warning_grace", value: .time(.seconds(2))))
        #expect(plan.policy.parameters.count == Ladder.parameters.count)
        #expect(plan.limits.protected == [AppID(0)])
        #expect(plan.apps.map(\.name) == ["maps", "feed", "game", "a.b c"])
        #expect(plan.apps[0].backgroundModes == [.location])
        #expect(plan.apps[2].memory.base == .mebibytes(220))
        #expect(plan.apps[2].memory.bursts[0].hold == nil)
        #expect(plan.apps[3].like == "plain")
        #expect(plan.perceivedWithin == .minutes(10))
        #expect(plan.expectations[1].value == 1500)
        #expect(plan.expectations[1].text == "launch_latency_p95_ms <= 1500")
    }

    @Test("an app is its archetype with the file's keys laid over it")
    func overlay() throws {
        let plan = try Samples.load(Samples.commute).get()
        var game = try #require(Archetype.named("big-game")).profile
        game.name = "game"
        game.memory.base = .mebibytes(220)
        game.memory.growth = GrowthProfile(rate: ByteRate(bytesPerSecond: 2 << 20), upTo: .mebibytes(420))
        game.memory.bursts = plan.apps[2].memory.bursts
        game.memory.objects = plan.apps[2].memory.objects
        #expect(plan.apps[2] == game)
    }

    @Test("a repeated event stays one entry, both ends included")
    func repetition() throws {
        let repetition = Repetition(every: .minutes(5), from: .zero + .minutes(10), to: .zero + .minutes(25))
        #expect(try Samples.load(Samples.commute).get().user[8] == .repeated(.launch(AppID(2)), repetition))
        #expect(repetition.instants == [10, 15, 20, 25].map { .zero + .minutes($0) })
        let whole = Repetition(every: .minutes(1), from: .zero, to: .zero + .minutes(1))
        let yaml = Samples.minimal + "user: [ { every: 1min, launch: only } ]"
        #expect(try Samples.load(yaml).get().user == [.repeated(.launch(AppID(0)), whole)])
    }

    @Test("the least scenario has the defaults of the types")
    func defaults() throws {
        let plan = try Samples.load(Samples.minimal).get()
        #expect(plan.seed == 1)
        #expect(plan.device == Device(ceiling: .mebibytes(256)))
        #expect(plan.limits == Limits())
        #expect(plan.backend == .jemalloc)
        #expect(plan.policy.name == "ladder")
        #expect(plan.user.isEmpty)
    }

    @Test("a file that is missing is told apart from a file that is wrong")
    func missing() {
        let result = ScenarioLoader.load(path: "/nowhere/at-all.yaml")
        #expect(
            result
                == .failure(
                    .unreadable(path: "/nowhere/at-all.yaml", reason: "there is no such file; expected a scenario file")
                ))
    }

    @Test("a file that is there and cannot be opened says why, in the system's words")
    func closed() throws {
        // Root can read every file, but no user can follow a link to itself.
        let link = FileManager.default.temporaryDirectory.appending(path: "loop-\(UUID().uuidString).yaml").path()
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: link)
        defer { try? FileManager.default.removeItem(atPath: link) }
        let reason = "the file cannot be read: Too many levels of symbolic links"
        #expect(ScenarioLoader.load(path: link) == .failure(.unreadable(path: link, reason: reason)))
        let folder = FileManager.default.temporaryDirectory.path()
        let expected = "this is a directory; expected a scenario file"
        #expect(ScenarioLoader.load(path: folder) == .failure(.unreadable(path: folder, reason: expected)))
    }

    @Test("every trace that is missing is told where it is named, beside all else that is wrong")
    func missingTraces() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "plimsoll-traces-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data("1: malloc 0x10 8\n".utf8).write(to: folder.appending(path: "there.txt"))
        let text = """
            plimsoll: 1
            name: traced
            duration: 20s
            device: { ceiling: 512MiB }
            apps:
              - { name: a, memory: { trace: { file: there.txt } } }
              - { name: b, memory: { trace: { file: nope.txt } } }
              - { name: c, memory: { trace: { file: . } } }
            user: [{ at: 1s, launch: a }]
            """
        let file = folder.appending(path: "s.yaml")
        func load(_ text: String) throws -> Result<RunPlan, ScenarioFault> {
            try Data(text.utf8).write(to: file)
            return ScenarioLoader.load(path: file.path())
        }
        let lines = [
            "7:41: error: apps.b.memory.trace.file: \(folder.path())/nope.txt: there is no such file; expected an "
                + "allocation trace",
            "8:41: error: apps.c.memory.trace.file: \(folder.path())/: this is a directory; expected an "
                + "allocation trace",
        ].map { "\(file.path()):\($0)" }
        guard case .failure(.lacking(let missing)) = try load(text) else {
            Issue.record("nothing is missing")
            return
        }
        #expect(missing.map(\.description) == lines)
        guard case .failure(.invalid(let faults)) = try load(text.replacing("launch: a", with: "launch: zzz")) else {
            Issue.record("nothing is wrong")
            return
        }
        #expect(faults.map(\.description).prefix(2) == lines[...])
        #expect(faults.count == 3)
        // Without missing files the paths are absolute.
        let whole = text.components(separatedBy: "\n").filter { !$0.contains("nope") && !$0.contains("file: . ") }
        let plan = try load(whole.joined(separator: "\n")).get()
        #expect(plan.apps.map { $0.memory.trace?.file } == [folder.appending(path: "there.txt").path()])
    }

    @Test("all faults are told at once, in the order of the file, options last")
    func allAtOnce() {
        let text = """
            plimsoll: 2
            name: 1st
            duration: 0s
            device: { ceilng: 1GiB, reserved: 5 }
            apps: [ { name: only, like: wether } ]
            """
        #expect(
            Samples.faults(text, Overrides(sets: ["device.cores=many"])) == [
                "test.yaml:1:11: error: plimsoll: version 2 of the format is not known; this program reads version 1",
                "test.yaml:2:7: error: name: '1st' is not a name; a name is a letter (A to Z, a to z), then up to 63 "
                    + "letters, digits, blanks or any of '._-'",
                "test.yaml:3:11: error: duration: 0s is too small; at least 1ms",
                "test.yaml:4:11: error: unknown key 'ceilng' in device; did you mean 'ceiling'?",
                "test.yaml:4:35: error: device.reserved: expected a size with its unit, such as 512KiB, 38MiB or "
                    + "1.5GiB, not '5'",
                "test.yaml:5:29: error: apps.only.like: unknown archetype 'wether'; did you mean 'weather'?",
                "--set device.cores=many: error: device.cores: expected a whole number, not 'many'",
            ])
    }

    @Test("more apps than the allocator has arenas for are refused")
    func tooManyApps() {
        let apps = (0...4_000).map { "  - { name: a\($0) }\n" }.joined()
        let text = "plimsoll: 1\nname: many\nduration: 1s\ndevice: { ceiling: 1GiB }\napps:\n" + apps
        #expect(
            Samples.faults(text) == [
                "test.yaml:6:3: error: apps: 4001 apps are too many; at most 4000, for each process needs an arena"
            ])
    }
}
