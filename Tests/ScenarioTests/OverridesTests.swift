import Memory
import Plan
import Quantities
import Reclaim
import Scenario
import Simulation
import Testing
import Workload

@Suite("overrides of the command line")
struct OverridesTests {
    static let expectedPolicy =
        "expected the name of a policy, or a mapping with the keys name, label, parameters, rules"

    private func load(_ sets: String...) throws -> RunPlan {
        try Samples.load(Samples.commute, Overrides(sets: sets)).get()
    }

    @Test("a dotted path reaches every setting, apps by their names")
    func paths() throws {
        #expect(try load("device.ceiling=2GiB").device.ceiling == .gibibytes(2))
        #expect(try load("apps.maps.memory.base=20MiB").apps[0].memory.base == .mebibytes(20))
        #expect(try load("apps.a.b c.memory.base=21MiB").apps[3].memory.base == .mebibytes(21))
        #expect(try load("apps.maps.background_modes=[audio, fetch]").apps[0].backgroundModes == [.audio, .fetch])
        #expect(try load("policy.parameters.warning_grace=3s").policy.parameters[0].value == .time(.seconds(3)))
        #expect(try load("limits.background_processes=none").limits.backgroundProcesses == nil)
        #expect(try load("user.0.at=10s").user[0] == .once(.launch(AppID(1)), at: Instant(microseconds: 10_000_000)))
        let repetition = Repetition(every: .minutes(7), from: .zero + .minutes(10), to: .zero + .minutes(25))
        #expect(try load("user.8.every=7min").user[8] == .repeated(.launch(AppID(2)), repetition))
        #expect(try load("monitor.preset=brisk").monitor.hold == .seconds(1))
        #expect(try load("apps.game.memory.objects.constant=4KiB").apps[2].memory.objects == .constant(.kibibytes(4)))
        #expect(try load("seed=7", "seed=8").seed == 8)
    }

    @Test("a policy that is named comes with its defaults, also where the text gives it parameters or rules")
    func policies() throws {
        #expect(try load("policy=lru").policy.name == "lru")
        #expect(try !load().policy.parameters.isEmpty)
        let defaults = try load("policy={ name: ladder }").policy
        #expect(try defaults != load().policy)
        #expect(try load("policy.name=ladder").policy == defaults)
        #expect(try load("policy=ladder").policy == defaults)
        #expect(try Samples.load(Samples.commute, Overrides(policy: "ladder")).get().policy == defaults)
        let overrides = Overrides(sets: ["policy.parameters.only_when_critical=false"], policy: "lru")
        let plan = try Samples.load(Samples.commute, overrides).get()
        #expect(
            plan.policy
                == PolicySettings(name: "lru", parameters: [.init(name: "only_when_critical", value: .flag(false))]))
    }

    @Test("seed and backend are laid over the text")
    func seedAndBackend() throws {
        let plan = try Samples.load(Samples.commute, Overrides(seed: 9, backend: .accounting)).get()
        #expect(plan.seed == 9)
        #expect(plan.backend == .accounting)
    }

    @Test("a scale at which the ceiling has less than 1 MiB is refused, and the lowest one that works is named")
    func tinyScales() throws {
        let tiny = Overrides(scale: Ratio(partsPerMillion: 100))
        guard case .failure(let fault) = Samples.load(Samples.commute, tiny) else {
            Issue.record("a scale of 0.01% was accepted")
            return
        }
        #expect(fault.description.contains("--scale 0.01%") && fault.description.contains("but the lowest is 1MiB"))
    }

    @Test("a scale at which no host could give the ceiling is refused, and the highest one that works is named")
    func largeScales() {
        let overrides = Overrides(sets: ["device.ceiling=16GiB"], scale: .percent(400))
        #expect(
            Samples.faults(Samples.commute, overrides) == [
                "--scale 400%: error: the ceiling of 16GiB would be 64.0 GiB, but the highest is 32GiB: "
                    + "use a scale of 200% or less"
            ])
    }

    @Test("a device is refused before its run, or it can be made", arguments: 0..<10)
    func refusedOrMade(block: Int) throws {
        var random = SeededGenerator(seed: UInt64(block), stream: "devices")
        for _ in 0..<20 {
            let ceiling = random.number(in: 1...64) << random.number(in: 10...30)
            let reserved = ceiling - min(ceiling, random.number(in: 0...9_000))
            let scale = Ratio(partsPerMillion: Int64(1 << random.number(in: 10...24)))
            let sets = ["device.ceiling=\(ceiling)B", "device.reserved=\(reserved)B", "device.scale=\(scale)"]
            let text =
                "plimsoll: 1\nname: any\nduration: 1s\nbackend: accounting\n"
                + "device: { ceiling: 1MiB }\napps: [ { name: app, memory: { base: 1B } } ]\n"
            let more =
                random.chance(.percent(50)) ? Ratio(partsPerMillion: Int64(random.number(in: 1...9_000_000))) : nil
            switch Samples.load(text, Overrides(sets: sets, scale: more)) {
            case .success(let plan): #expect(throws: Never.self, "\(sets)") { try plan.makeDevice() }
            case .failure(let fault): #expect(fault.description.contains(/device|ceiling/), "\(sets)")
            }
        }
    }

    @Test("a small model of a large device can be unbounded, too")
    func unboundedModel() throws {
        let overrides = Overrides(
            sets: ["device.ceiling=4GiB"], policy: "unbounded", backend: .accounting, scale: .percent(25))
        let device = try Samples.load(Samples.commute, overrides).get().makeDevice()
        #expect(device.books.ceiling == .gibibytes(8))
    }

    @Test(
        "what is wrong with an override is told with the override",
        arguments: [
            ("device.ceiling=20", "device.ceiling: expected \(ByteCount.expectation), not '20'"),
            ("device.ceilng=20MiB", "unknown key 'ceilng' in device; did you mean 'ceiling'?"),
            ("apps.mpas.memory.base=1MiB", "no element is called 'mpas'; did you mean 'maps'?"),
            ("apps.maps.memry.base=1MiB", "unknown key 'memry' in apps.maps; did you mean 'memory'?"),
            ("nonsense", "expected key=value, such as device.ceiling=512MiB"),
            ("policy=lur", "policy: unknown policy 'lur'; did you mean 'lru'?"),
            (
                "policy=",
                "policy: \(OverridesTests.expectedPolicy), not nothing"
            ),
            (
                "policy.name=",
                "policy: \(OverridesTests.expectedPolicy), not nothing"
            ),
            ("seed=[", "the value cannot be read: this is not YAML: did not find expected node content"),
            ("device.reserved=2GiB", "device.reserved: 2GiB must be less than the ceiling, 1GiB"),
        ])
    func refusals(assignment: String, message: String) {
        #expect(
            Samples.faults(Samples.commute, Overrides(sets: [assignment])) == ["--set \(assignment): error: \(message)"]
        )
    }

    @Test("a scale reaches the device, its limits and thresholds, and leaves times, shares and what apps ask for alone")
    func scale() throws {
        let whole = try load()
        let half = try Samples.load(Samples.commute, Overrides(scale: .percent(50))).get()
        #expect(half.device.ceiling == .mebibytes(512))
        #expect(half.device.scale == .percent(50))
        #expect(half.device.fillRate == whole.device.fillRate)
        #expect(half.device.reclaimRate.bytesPerSecond * 2 == whole.device.reclaimRate.bytesPerSecond)
        #expect(half.apps[2].memory == whole.apps[2].memory)
        #expect(half.apps[1].limits.active == .mebibytes(150))
        #expect(half.scaled(by: .percent(50)).device.scale == .percent(25))
        #expect(half.apps[2].costs == whole.apps[2].costs)
        #expect(try Samples.load(EffectiveScenario.yaml(of: half)).get() == half)
    }

    @Test("a scale of nothing is refused")
    func noScale() {
        let faults = Samples.faults(Samples.commute, Overrides(scale: .zero))
        #expect(faults == ["--scale 0%: error: a scale is from 0.0001% to 6400%"])
    }

    @Test("a scale on top of the scenario's own is refused where both make too much")
    func scaleTwice() {
        let small = """
            plimsoll: 1
            name: small
            duration: 1min
            device: { ceiling: 16MiB, reserved: 2MiB, scale: 3200% }
            apps:
              - { name: a, like: plain, memory: { base: 64KiB, scene: 16KiB } }
            user:
              - { at: 0s, launch: a }
            """
        #expect(Samples.faults(small, Overrides(scale: .percent(200))).isEmpty)
        #expect(
            Samples.faults(small, Overrides(scale: .percent(300))) == [
                "--scale 300%: error: the scenario already has a device.scale of 3200%, so the product would be 9600%; "
                    + "a scale is from 0.0001% to 6400%"
            ])
    }
}
