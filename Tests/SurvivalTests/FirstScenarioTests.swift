import Memory
import Metrics
import Plan
import Quantities
import Reclaim
import Scenario
import Simulation
import Testing
import Workload

@testable import Survival

@Suite("a first scenario")
struct FirstScenarioTests {
    private func made(_ answers: (FirstScenario.Question, String)...) throws -> FirstScenario {
        var scenario = try FirstScenario(named: "first")
        for (question, text) in answers { try scenario.answer(question, text) }
        return scenario
    }

    /// What the program would warn of, without what it says of every scenario on the device.
    private func remarks(of plan: RunPlan) -> [String] {
        plan.warnings(from: "first").filter { plan.device.like != "android-go-2gb" || !$0.contains("file cache") }
    }

    /// Plays a run to its end.
    private func play(_ plan: RunPlan) throws {
        let memory = try plan.makeDevice()
        let simulation = Simulation(plan, memory: memory, sinks: RunSinks { _ in NullSink() })
        #expect(try simulation.run(shouldStop: { false }) == .completed)
    }

    @Test("with all defaults it loads without a remark and runs, and every key has a comment above it")
    func defaults() throws {
        let scenario = try made()
        let plan = try scenario.plan()
        #expect(remarks(of: plan).isEmpty && plan.expectations.count == 1 && scenario.file == "first.yaml")
        #expect(plan.apps.count == CommonDay.fleet.count && plan.duration == .hours(1))
        for part in scenario.text.split(separator: "\n\n") { #expect(part.hasPrefix("# "), "\(part)") }
        #expect(scenario.text.split(separator: "\n").allSatisfy { $0.count <= 120 })
        try play(plan)
    }

    @Test("the default of a question is what it says it is")
    func standards() throws {
        let whole = try made().text
        for question in [FirstScenario.Question.device, .apps, .day, .expect] {
            #expect(try made((question, question.standard)).text == whole, "\(question)")
        }
    }

    @Test("on every device it loads without a remark, under the device's own policy, and runs")
    func devices() throws {
        for device in DevicePreset.all {
            let plan = try made((.device, device.name), (.duration, "9min"), (.apps, "5")).plan()
            #expect(remarks(of: plan).isEmpty, "\(device.name): \(remarks(of: plan))")
            #expect(plan.device.like == device.name && plan.policy.name == device.policy.value.name)
            try play(plan)
        }
    }

    @Test("every kind of app, alone and beside all others, loads without a remark and runs on every day")
    func kinds() throws {
        let all = Archetype.all.map(\.name)
        for kind in all {
            let plan = try made((.apps, kind), (.day, "commuter")).plan()
            #expect(plan.apps.map(\.like) == [kind] && remarks(of: plan).isEmpty, "\(kind)")
        }
        for day in CommonDay.allCases {
            var scenario = try made((.apps, all.joined(separator: ", ")), (.day, day.rawValue))
            let plan = try scenario.plan()
            #expect(plan.apps.map(\.like) == all && plan.duration == day.duration, "\(day)")
            #expect(remarks(of: plan).isEmpty, "\(day): \(remarks(of: plan))")
            try scenario.answer(.duration, "6min")
            try play(try scenario.plan())
        }
    }

    @Test("under every policy it loads")
    func policies() throws {
        for type in PolicyCatalogue.all {
            #expect(try made((.policy, type.name)).plan().policy.name == type.name)
        }
    }

    @Test("more apps than kinds have names of their own; a day with a game has one; no event begins after the end")
    func apps() throws {
        let many = try made((.apps, "40")).plan().apps.map(\.name)
        #expect(many.count == 40 && Set(many).count == 40 && many[13] == "chat-2")
        #expect(try made((.apps, "mail")).plan().apps.map(\.name) == ["mail", "game"])
        #expect(try made((.apps, "mail,mail"), (.day, "commuter")).plan().apps.map(\.name) == ["mail", "mail-2"])
        for duration in ["5min", "8min", "10min", "48h"] {
            for day in CommonDay.allCases {
                let plan = try made((.day, day.rawValue), (.duration, duration)).plan()
                #expect(remarks(of: plan).isEmpty && !plan.user.isEmpty, "\(day), \(duration)")
            }
        }
        #expect(try made((.expect, "nothing")).plan().expectations.isEmpty)
        #expect(try made((.expect, "chat survives, terminations <= 5")).plan().expectations.count == 2)
    }

    static let wrong: [(FirstScenario.Question, String, String)] = [
        (.device, "iphone-31", "device.like: unknown device 'iphone-31'; did you mean"),
        (.device, "", "device.like: unknown device ''"), (.device, "a\nb: 1", "unknown device"),
        (.apps, "0", "apps: expected a number from 1 to 40"), (.apps, "41", "apps: expected a number"),
        (.apps, "", "apps: expected a number"),
        (.apps, "mesaging", "kind of app 'mesaging'; did you mean 'messaging'?"),
        (.day, "gamin", "there is no day 'gamin'; did you mean 'gaming'?"),
        (.duration, "5", "duration: expected a time"), (.duration, "4min", "from 5min to 2d"),
        (.duration, "3d", "duration: expected a time"), (.policy, "ladde", "policy: unknown policy 'ladde'"),
        (.expect, "chat survive", "expect.0: 'chat survive' compares nothing"), (.expect, "chatt survives", "chatt"),
    ]

    @Test(
        "a wrong answer is refused with what would be right, and changes nothing", arguments: FirstScenarioTests.wrong)
    func refusals(question: FirstScenario.Question, text: String, words: String) throws {
        var scenario = try made()
        let before = scenario.text
        let refusal = #expect(throws: FirstScenario.Refusal.self) { try scenario.answer(question, text) }
        #expect(refusal?.reason.contains(words) == true, "\(refusal?.reason ?? "")")
        #expect(scenario.text == before)
    }

    @Test("a name that no scenario can have is refused", arguments: ["", "a/b", "../a", "3a", ".yaml", "a\nb"])
    func names(name: String) {
        let refusal = #expect(throws: FirstScenario.Refusal.self) { try FirstScenario(named: name) }
        #expect(refusal?.reason.hasPrefix("name: ") == true, "\(refusal?.reason ?? "")")
    }

    @Test("an app of the user's own is opened, has its footprint, and is claimed to survive")
    func own() throws {
        var scenario = try made((.device, "iphone-13"), (.duration, "6min"))
        try scenario.add(.init(name: "mine", like: "photo-editor", footprint: .mebibytes(300)))
        let plan = try scenario.plan()
        #expect(remarks(of: plan).isEmpty && plan.apps.count == CommonDay.fleet.count + 1)
        let app = try #require(plan.apps.first { $0.name == "mine" })
        #expect(app.like == "photo-editor")
        #expect(scenario.text.contains("like photo-editor, 300MiB at most"), "\(scenario.text)")
        #expect(plan.expectations.map(\.text) == ["mine survives"])
        #expect(scenario.standard(of: .expect) == "mine survives" && scenario.standard(of: .day) == "gaming")
        for part in scenario.text.split(separator: "\n\n") { #expect(part.hasPrefix("# "), "\(part)") }
        #expect(scenario.text.contains("{ at: 30s, launch: mine }"), "\(scenario.text)")
        try play(plan)
        // Another claim takes the place of the default, and a claim about an unknown app names the option.
        try scenario.answer(.expect, "mine survives, terminations <= 5")
        #expect(try scenario.plan().expectations.count == 2)
        var other = try made()
        let refusal = #expect(throws: FirstScenario.Refusal.self) { try other.answer(.expect, "mine survives") }
        #expect(refusal?.reason.hasSuffix("; --app mine adds an app of yours") == true, "\(refusal?.reason ?? "")")
    }

    @Test("an app of any kind has the sizes that survive gives it at that footprint", arguments: Archetype.all)
    func footprints(kind: Archetype) throws {
        func app(_ footprint: ByteCount?) throws -> AppProfile {
            var scenario = try made((.duration, "6min"))
            try scenario.add(.init(name: "mine", like: kind.name, footprint: footprint))
            return try #require(try scenario.plan().apps.first { $0.name == "mine" })
        }
        let (usual, player) = (try app(nil), FatePlayer())
        let wanted = ByteCount.mebibytes(25)
        #expect(try app(wanted).memory == Sizing(usual, player: player).app(usual, at: wanted).memory)
    }

    @Test("a photo editor of 300 MiB peaks at 300 MiB")
    func peak() throws {
        var scenario = try made((.duration, "6min"))
        try scenario.add(.init(name: "mine", like: "photo-editor", footprint: .mebibytes(300)))
        let app = try #require(try scenario.plan().apps.first { $0.name == "mine" })
        let peak = try Sizing(app, player: FatePlayer()).present
        #expect(abs(peak.bytes - ByteCount.mebibytes(300).bytes) < 3 << 20, "\(peak.readable)")
    }

    @Test(
        "an app that cannot be added is refused, and changes nothing",
        arguments: [
            ("chat", "messaging", nil, "'chat' is another app"), ("mine", "foto-editor", nil, "kind of app"),
            ("", "plain", nil, "name"),
        ] as [(String, String, ByteCount?, String)])
    func ownRefused(name: String, like: String, footprint: ByteCount?, words: String) throws {
        var scenario = try made()
        let before = scenario.text
        let refusal = #expect(throws: FirstScenario.Refusal.self) {
            try scenario.add(.init(name: name, like: like, footprint: footprint))
        }
        #expect(refusal?.reason.contains(words) == true, "\(refusal?.reason ?? "")")
        #expect(scenario.text == before)
    }
}
