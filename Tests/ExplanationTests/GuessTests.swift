import Metrics
import Plan
import Quantities
import Simulation
import Testing

@testable import Explanation
@testable import Scenario

@Suite("guesses, and what hangs on them")
struct GuessTests {
    private static let phone = """
        plimsoll: 1
        name: phone
        duration: 1min
        device:
          ceiling: 4GiB
          reserved: 1GiB
          compressor: {}
          file_cache: { system: 600MiB, system_read_rate: 3MiB/s }
          kernel: 11215
          wired: [{ at: 10s, size: 300MiB }, { at: 20s, size: 0B }]
          system_pageable: 400MiB
          system_compressed: 200MiB
          freezer: { budget: none }
        apps: [{ name: a }, { name: b, memory: { compressibility: { incompressible: 25% } } }]
        """

    /// Three apps too many for a small device with a compressor: nothing but what apps do is a guess.
    private static let tight = TightPhone.scenario(
        "lru", ceiling: "96MiB", seconds: 90, taps: TightPhone.rounds("abcd", pause: 10)
    ).replacing("reserved: 16MiB", with: "reserved: 16MiB, compressor: {}, swap: { zram: false }")

    private func guess(_ title: String, of plan: RunPlan) throws -> Guess {
        try #require(plan.guesses.first { $0.title == title }, "\(title)")
    }

    private func texts(_ title: String, of plan: RunPlan) throws -> [String] {
        try guess(title, of: plan).values.map(\.text)
    }

    @Test("a guess has five values, rising, the plan's own in place of the one that it lies near, or beside them")
    func values() throws {
        for plan in [try loadedPlan(Self.phone), try loadedPlan(Self.phone).scaled(by: .percent(25))] {
            #expect(plan.guesses.count == 9 && plan.guesses.allSatisfy { $0.values.count(where: \.isOwn) == 1 })
            let files = try guess("files of the system", of: plan)
            #expect(files.values.map(\.text) == ["410MiB", "600MiB", "819MiB", "1106MiB", "1434MiB"])
            #expect(files.values[1].isOwn && files.key == "device.file_cache.system")
            #expect(plan.with([(files, 1)]) == plan)
            #expect(plan.with([(files, 2)]).device.fileCache?.system == .mebibytes(819) * plan.device.scale)
            #expect(
                try texts("files read again", of: plan) == ["768KiB/s", "1536KiB/s", "3MiB/s", "6MiB/s", "12MiB/s"])
            #expect(try texts("hot share", of: plan) == ["20%", "30%", "40%", "50%", "60%"])
            #expect(try texts("wired memory", of: plan) == ["-30%", "-15%", "0%", "+15%", "+30%"])
            #expect(
                try texts("the freezer's budget", of: plan) == ["0B", "512MiB", "1GiB", "1536MiB", "2GiB", "none"])
            #expect(
                try texts("the store's rate", of: plan) == [
                    "100MiB/s", "200MiB/s", "400MiB/s", "800MiB/s", "1600MiB/s",
                ])
        }
    }

    @Test("wired memory is what of reserved memory is neither pageable nor compressed, and varies without these")
    func wired() throws {
        let plan = try loadedPlan(Self.phone)
        let (wired, processes) = (try guess("wired memory", of: plan), try guess("the system's processes", of: plan))
        let more = plan.with([(wired, 4)]).device
        #expect(more.reserved == .mebibytes(1_024) + .mebibytes(424) * .percent(30))
        #expect(more.wired.map(\.size) == [.mebibytes(390), .zero] && more.systemPageable == .mebibytes(400))
        let less = plan.with([(processes, 0)]).device
        #expect(less.systemPageable == .mebibytes(280) && less.reserved == .mebibytes(904))
        #expect(plan.with([(wired, 4), (processes, 0)]) == plan.with([(processes, 0), (wired, 4)]))
    }

    @Test("pages that do not compress vary in the apps that state nothing of them, the hot share in all")
    func apps() throws {
        let plan = try loadedPlan(Self.phone)
        let pages = plan.with([(try guess("pages that do not compress", of: plan), 4)]).apps.map(\.memory)
        #expect(pages.map(\.compressibility.incompressible) == [.percent(30), .percent(25)])
        let hot = plan.with([(try guess("hot share", of: plan), 0)]).apps.map(\.memory.hot)
        #expect(hot == [.percent(20), .percent(20)])
        var mixed = plan
        mixed.apps[0].memory.hot = .percent(60)
        let values = try guess("hot share", of: mixed).values
        #expect(values.map(\.text) == ["20%", "30%", "40%", "50%", "as stated", "60%"] && values[4].isOwn)
    }

    @Test("a value that leaves no memory to the apps is left out, and a device without the parts has no guesses")
    func impossible() throws {
        var plan = try loadedPlan(Self.phone)
        (plan.device.wired, plan.device.reserved) = ([], .mebibytes(3_900))
        #expect(try texts("wired memory", of: plan) == ["-30%", "-15%", "0%"])
        let plain = TightPhone.scenario("lru", seconds: 120, taps: TightPhone.rounds("ab"))
        #expect(try loadedPlan(plain).guesses.isEmpty)
        #expect(try loadedPlan(Self.tight).guesses.count == 3)
        // This policy has unbounded memory, so nothing of the device matters.
        #expect(try loadedPlan(Self.tight, ["policy=unbounded"]).guesses.isEmpty)
    }

    @Test("forty draws have every value of a guess equally often, and are the same whatever else is guessed")
    func draws() throws {
        let plan = try loadedPlan(Self.phone)
        let (guesses, draws) = (plan.guesses, plan.draws(of: plan.guesses))
        #expect(draws.count == 40 && draws == plan.draws(of: guesses) && Set(draws).count == 40)
        for (place, guess) in guesses.enumerated() {
            let counts = guess.values.indices.map { value in draws.count { $0[place] == value } }
            #expect(counts.allSatisfy { abs($0 - 40 / counts.count) <= 1 }, "\(guess.title): \(counts)")
            #expect(plan.draws(of: [guess]).map { $0[0] } == draws.map { $0[place] }, "\(guess.title)")
        }
        #expect(plan.draws(of: guesses, count: 5).count == 5 && plan.draws(of: [], count: 2) == [[], []])
    }

    /// How many processes the system ends in a run of the plan.
    private func ends(in plan: RunPlan) throws -> Int {
        let simulation = Simulation(
            plan, memory: try plan.makeDevice(), sinks: RunSinks { _ in NullSink() })
        _ = try simulation.run()
        return simulation.tally.terminations.count
    }

    @Test("a study counts the ends of runs with these values, and does not depend on how many are played at once")
    func study() throws {
        let text = Self.tight + "expect: [terminations_foreground >= 0, a survives]\n"
        let plan = try loadedPlan(text)
        let study = try Explainer(plan: plan, scenario: "r/scenario.yaml").study()
        let several = Explainer(plan: plan, scenario: "r/scenario.yaml", workforce: SomeCores(3))
        #expect(try several.study() == study)
        #expect(study.guesses.count == 3 && study.draws.count == 40)
        // A draw with one value that is not the plan's own is the run with this value alone.
        let joint = Set(study.draws.map(\.values)).filter { values in
            zip(study.guesses, values).count { !$0.values[$1].isOwn } > 1
        }
        #expect(study.runs.count == 13 + joint.count)
        #expect(try study.own.ends == ends(in: plan))
        let share = try #require(study.guesses.firstIndex { $0.key == "device.compressor.resume_share" })
        for (value, outcome) in zip(study.guesses[share].values, study.single[share]) {
            let other = try loadedPlan(text, ["device.compressor.resume_share=\(value.text)"])
            #expect(try outcome?.ends == ends(in: other), "\(value.text)")
        }
        #expect(study.expected.first?.times == study.runs.count)
        let alone = try several.study(of: "a")
        #expect(alone.expected.count == 1 && alone.endings.allSatisfy { $0.times <= alone.runs.count })
        for one in [study, alone] {
            let lines = one.lines(width: 80)
            #expect(lines.count <= GuessStudy.mostLines && lines.allSatisfy { $0.count <= 80 })
            #expect(lines.joined().utf8.allSatisfy { $0 < 0x7f }, "\(lines.joined(separator: "\n"))")
        }
    }

    @Test("in words it says what stays true, what does not and with which value, and what decides")
    func words() {
        typealias Outcome = GuessStudy.Outcome
        let mail = GuessStudy.Kind(app: "mail", reason: "long-idle-exit")
        let music = GuessStudy.Kind(app: "music", reason: "jettisoned")
        let own = Outcome(ends: 1, felt: 0, held: [true, true], kinds: [mail])
        let low = Outcome(ends: 3, felt: 1, held: [true, false], kinds: [mail, music])
        let values = [
            Guess.Value(text: "20%", isOwn: false, setting: .hot(.percent(20))),
            Guess.Value(text: "40%", isOwn: true, setting: .own),
            Guess.Value(text: "60%", isOwn: false, setting: .hot(.percent(60))),
        ]
        let idle = Guess(title: "wired memory", key: "", source: "", values: [values[1]])
        let study = GuessStudy(
            scenario: "s.yaml", name: "evening", app: nil,
            guesses: [Guess(title: "hot share", key: "apps.*.memory.hot", source: "", values: values), idle],
            own: own, single: [[low, own, own], [own]],
            draws: [.init(values: [0, 0], outcome: low), .init(values: [2, 0], outcome: own)],
            runs: [own, low, own],
            expectations: [
                Expectation(
                    metric: "terminations_foreground", comparison: .equal, text: "terminations_foreground == 0",
                    value: 0),
                Expectation(app: "music", metric: "survived", comparison: .equal, text: "music survives", value: 1),
            ], apps: ["mail", "music"])
        let text = """
            evening: 2 guesses one at a time, and 2 draws of all: 3 runs

            STAYS TRUE in all runs
              terminations_foreground == 0; mail ends (long-idle-exit)
            DOES NOT
              music survives           2 of 3; not with hot share 20%
              music ends (jettisoned)  1 of 3; not as it ran
            WHAT DECIDES, in ends by the system (felt by the user); as it ran: 1 (0)
              hot share  20%: 3 (1)
              no matter: wired memory
            2 draws of all: 1 to 3 ends, half of them 1 to 3, 0 to 1 felt; all expectations
            held in 1
            """
        #expect(study.lines(width: 80).joined(separator: "\n") == text)
    }
}
