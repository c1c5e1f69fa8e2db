import Experiments
import Lifecycle
import Memory
import Metrics
import Plan
import Quantities
import Scenario
import Simulation
import TestSupport
import Testing
import Workload

@testable import Survival

@Suite("a study: how often an app survives, and what would help")
struct StudyTests {
    private static func plan(_ text: String, _ sets: [String] = []) throws -> RunPlan {
        try ScenarioLoader.load(
            text: text, file: "test.yaml", overrides: Overrides(sets: sets, backend: .accounting)
        ).get()
    }

    /// Forty minutes of a seeded person with a few apps on a small phone.
    private static let person = """
        plimsoll: 1
        name: person
        duration: 20min
        device: { ceiling: 448MiB, reserved: 128MiB }
        policy: POLICY
        apps:
          - { name: chat, like: messaging, memory: OBJECTS }
          - { name: feed, like: social-feed, memory: OBJECTS }
          - { name: mine, like: photo-editor, memory: OBJECTS }
          - { name: mail, like: mail, memory: OBJECTS }
          - { name: shop, like: shopping, memory: OBJECTS }
        user:
          - { at: 1s, launch: mine }
          - { from: 1min, to: 20min, model: commuter }
        """.replacing("OBJECTS", with: "{ objects: { constant: 64KiB } }")

    private static func person(_ policy: String = "lru", _ sets: [String] = []) throws -> RunPlan {
        try plan(person.replacing("POLICY", with: policy), sets)
    }

    /// A run that a study and brute force both ask for is made once.
    private struct Errand: Hashable {
        let app: Int
        let plan: RunPlan
        let untilEnd: Bool
    }

    private static let played = Memo<Errand, Fate>()

    private func fate(of app: Int, in plan: RunPlan, untilEnd: Bool) throws -> Fate {
        try Self.played.value(of: Errand(app: app, plan: plan, untilEnd: untilEnd)) {
            try FatePlayer().fate(of: app, in: plan, untilEnd: untilEnd)
        }
    }

    /// Makes the runs that a study asks for.
    private func answer(_ question: Question, sizing: Sizing? = nil) throws -> Answer {
        var study = Study(question, sizing: sizing)
        while true {
            let requests = try study.next()
            guard !requests.isEmpty else { return Answer(study) }
            study.take(try requests.map { try fate(of: $0.app, in: $0.plan, untilEnd: $0.untilEnd) }, of: requests)
        }
    }

    private func question(_ plan: RunPlan, seeds: Int = 20, share: Ratio = .percent(80)) -> Question {
        var question = Question(
            plan: plan, app: plan.apps.firstIndex { $0.name == "mine" } ?? 0, seeds: (1...UInt64(seeds)).map { $0 },
            share: share)
        question.triesChanges = false
        return question
    }

    // MARK: Fates

    private static let fates = """
        plimsoll: 1
        name: fates
        duration: 60s
        device: { ceiling: 1GiB, reserved: 64MiB }
        policy: none
        apps:
          - { name: mine, like: plain, memory: { base: 20MiB } }
          - { name: other, like: plain, memory: { base: 20MiB } }
        user:
          - { at: 1s, launch: mine }
          - { at: 10s, launch: other }
        """

    private func fate(_ events: [String], _ sets: [String] = []) throws -> Fate {
        let text = ([Self.fates] + events.map { "  - { \($0) }" }).joined(separator: "\n")
        return try FatePlayer().fate(of: 0, in: Self.plan(text, sets), untilEnd: false)
    }

    @Test("an app that stays in the background to the end of the run lives, and its stay is censored")
    func censored() throws {
        let fate = try fate([])
        #expect(fate.lives == true && fate.ends.isEmpty && fate.stays.count == 1 && fate.processes == 1)
        let stay = try #require(fate.stays.first)
        #expect(!stay.isEnd && stay.since > 10_000_000 && stay.since + stay.length == 60_000_000)
    }

    @Test("a quit by the user and an orderly end do not count; a crash and an end by the system do")
    func whatCounts() throws {
        let quit = try fate(["at: 30s, quit: mine"])
        #expect(quit.lives == true && quit.ends.map(\.reason) == ["userTerminated"] && !quit.stays[0].isEnd)
        let update = try fate(["at: 30s, terminate: mine"])
        #expect(update.lives == true && update.ends.map(\.reason) == ["normalApp"])
        let crash = try fate(["at: 6s, crash: mine"])
        #expect(crash.lives == false && crash.death?.reason == "abnormal" && crash.death?.wasForeground == true)
        let limited = try fate([], ["apps.mine.background.holds_file_lock=true"])
        #expect(limited.lives == false && limited.death?.reason == "suspendedWithLockedFile")
        let counter = try #require(limited.death.flatMap(Fate.counter))
        #expect(counter.name == "cumulativeSuspendedWithLockedFileExitCount" && counter.payload == .background)
    }

    @Test("a return to the front ends a stay without an end of the app, and the next one begins afterwards")
    func returning() throws {
        let fate = try fate(["at: 20s, switch: mine", "at: 40s, home: true"])
        #expect(fate.stays.map(\.isEnd) == [false, false] && fate.stays[0].since < fate.stays[1].since)
    }

    @Test("an app that is suspended when the run begins has a stay from then on, at each of its footprints")
    func started() throws {
        let text = Self.fates.replacing("  - { at: 1s, launch: mine }\n", with: "")
            .replacing("user:", with: "start: [{ process: mine, footprint: 40MiB }]\nuser:")
        let plan = try Self.plan(text)
        let fate = try FatePlayer().fate(of: 0, in: plan, untilEnd: false)
        #expect(fate.lives == true && fate.processes == 1)
        #expect(fate.stays == [.init(since: 0, length: 60_000_000, isEnd: false)])
        let sizing = try Sizing(plan.apps[0], player: FatePlayer())
        #expect(try sizing.plan(plan, app: 0, at: sizing.present * 2).start[0].footprint == .mebibytes(80))
    }

    @Test("an app that nobody opens has no answer")
    func absent() throws {
        let text = Self.fates.replacing("  - { at: 1s, launch: mine }\n", with: "")
        let fate = try FatePlayer().fate(of: 0, in: Self.plan(text), untilEnd: false)
        #expect(fate.lives == nil && fate.stays.isEmpty)
        let answer = try answer(question(Self.plan(text), seeds: 3))
        #expect(answer.verdictWord == .absent && answer.sentences[0].hasPrefix("There is no answer"))
    }

    @Test("a run that stops at the first end has the same first end as the whole run")
    func stopped() throws {
        let plan = try Self.person()
        var ended = 0
        for seed in 1...8 {
            var plan = plan
            plan.seed = UInt64(seed)
            let whole = try FatePlayer().fate(of: 2, in: plan, untilEnd: false)
            let part = try FatePlayer().fate(of: 2, in: plan, untilEnd: true)
            #expect(whole.death == part.death && whole.lives == part.lives, "seed \(seed)")
            ended += whole.death == nil ? 0 : 1
        }
        #expect(ended > 0)
    }

    // MARK: Footprints

    @Test("an app of a given footprint has that peak alone in front")
    func footprints() throws {
        let player = FatePlayer()
        for archetype in ["photo-editor", "messaging", "plain", "big-game"] {
            let app = try #require(Archetype.named(archetype)).profile
            let sizing = try Sizing(app, player: player)
            for size in [ByteCount.mebibytes(120), .mebibytes(333)] {
                let peak = try player.peak(of: sizing.app(app, at: size))
                #expect(abs((peak - size).bytes) <= size.bytes / 100, "\(archetype) at \(size): \(peak)")
            }
            #expect(try sizing.app(app, at: sizing.present) == app)
        }
    }

    @Test("an app that plays a trace has one size")
    func trace() throws {
        var app = try #require(Archetype.named("plain")).profile
        #expect(Sizing.obstacle(of: app) == nil)
        app.memory.trace = TraceProfile(file: "t")
        #expect(Sizing.obstacle(of: app) != nil)
    }

    /// The answer for every footprint of a row, each from all of its runs.
    private func bruteForce(_ question: Question, _ sizing: Sizing) throws -> [Bool] {
        try question.footprints.map { size in
            var plan = question.plan
            plan.apps[question.app] = try sizing.app(plan.apps[question.app], at: size)
            let lives = try question.seeds.map { seed in
                plan.seed = seed
                return try fate(of: question.app, in: plan, untilEnd: true).lives
            }
            return Proportion(lives.count { $0 == true }, of: lives.count { $0 != nil })
                .isAtLeast(partsPerMillion: question.share.partsPerMillion)
        }
    }

    @Test(
        "the largest footprint is that of brute force over the whole row, on three devices", arguments: [384, 512, 640])
    func largest(ceiling: Int) throws {
        var question = question(try Self.person("largest-first", ["device.ceiling=\(ceiling)MiB"]), seeds: 10)
        question.footprints = stride(from: 40, through: 280, by: 10).map { .mebibytes($0) }
        question.scan = 4
        let sizing = try Sizing(question.plan.apps[question.app], player: FatePlayer())
        let row = try bruteForce(question, sizing)
        let found = try #require(try answer(question, sizing: sizing).footprints)
        let stretches = row.map { $0 ? "+" : "-" }.joined()
        #expect(found.lastOfFirst == row.prefix { $0 }.indices.last, "\(stretches): \(found.tried)")
        for (place, isEnough) in found.tried { #expect(row[place] == isEnough, "\(place) of \(stretches)") }
        #expect(found.tried.count < row.count)
    }

    /// A device of about 1000 MiB for apps, where the largest app is ended. An app of medium size is the largest when
    /// the last app comes. A large one has already had another app ended when it came itself.
    private static let twoMinds = """
        plimsoll: 1
        name: two-minds
        duration: 2min
        device: { ceiling: 1064MiB, reserved: 64MiB }
        monitor: { preset: ios }
        policy: { name: largest-first, parameters: { floor: 0% } }
        apps:
          - { name: first, like: plain, memory: { base: 300MiB, objects: { constant: 64KiB } } }
          - { name: second, like: plain, memory: { base: 200MiB, objects: { constant: 64KiB } } }
          - { name: mine, like: plain, memory: { base: 250MiB, objects: { constant: 64KiB } } }
          - { name: last, like: plain, memory: { base: 200MiB, objects: { constant: 64KiB } } }
        user:
          - { at: 1s, launch: first }
          - { at: 20s, launch: second }
          - { at: 40s, launch: mine }
          - { at: 60s, launch: last }
        """

    @Test("where a larger app survives and a smaller one does not, the answer says so")
    func notMonotone() throws {
        var question = question(try Self.plan(Self.twoMinds), seeds: 2)
        question.footprints = stride(from: 100, through: 900, by: 20).map { .mebibytes($0) }
        question.scan = 4
        let sizing = try Sizing(question.plan.apps[question.app], player: FatePlayer())
        let answer = try answer(question, sizing: sizing)
        let found = try #require(answer.footprints)
        let row = try bruteForce(question, sizing)
        #expect(found.lastOfFirst == row.prefix { $0 }.indices.last)
        #expect(!found.isFalling && found.stretches.count >= 3, "\(found.stretches)")
        for (place, isEnough) in found.tried { #expect(row[place] == isEnough) }
        #expect(answer.sentences.contains { $0.contains("larger is not always worse here") }, "\(answer.sentences)")
    }

    // MARK: Assumptions

    /// A device with a compressor, with room for both apps only if the first one's memory compresses.
    private static let contents = """
        plimsoll: 1
        name: contents
        duration: 2min
        device: { ceiling: 448MiB, reserved: 64MiB, compressor: {}, swap: { zram: false } }
        policy: jetsam
        apps:
          - { name: mine, like: plain, memory: { base: 150MiB, objects: { constant: 64KiB } } }
          - { name: game, like: plain, memory: { base: 150MiB, objects: { constant: 64KiB } } }
        user:
          - { at: 1s, launch: mine }
          - { at: 40s, launch: game }
        """

    @Test("where it decides that memory compresses, the answer says so, and what would become of the app otherwise")
    func incompressible() throws {
        func answer(_ sets: [String], incompressible: Ratio? = nil) throws -> Answer {
            var question = question(try Self.plan(Self.contents, sets), seeds: 3, share: .percent(90))
            question.incompressible = incompressible
            return try self.answer(question)
        }
        let decides = try answer([])
        let other = try #require(decides.incompressible)
        #expect(decides.lived.count == 3 && other.lived.count == 0 && other.lived.total == 3 && other.isComplete)
        let said = try #require(decides.sentences(of: .assumptions).first)
        #expect(said.contains("compresses, 2.7 : 1 on average") && said.contains("in 0 of 3 runs"), "\(said)")
        // The named setting is the one that was tried.
        let option = try #require(other.option)
        let sets = option.split(separator: " ").filter { $0 != "--set" }.map(String.init)
        #expect(try answer(sets).lived.count == 0)
        // With much room it does not matter, nor on a device without a compressor: nothing is said.
        let roomy = try answer(["device.ceiling=1GiB"])
        #expect(roomy.incompressible?.isEnough != false && roomy.sentences(of: .assumptions).isEmpty)
        let plain = try answer(["device.compressor=off", "device.ceiling=1GiB"])
        #expect(plain.incompressible == nil && plain.lived.count == 3)
        // An app that ends anyway is not asked about again; what was asked for is said.
        let ended = try answer(sets, incompressible: .one)
        #expect(ended.incompressible == nil && ended.sentences(of: .assumptions)[0].contains("100 % is taken not to"))
    }

    @Test("a share that does not compress leaves the others their proportions")
    func proportions() {
        let typical = Compressibility.typical
        #expect(typical.with(incompressible: typical.incompressible) == typical)
        #expect(typical.with(incompressible: .one).kept == .one)
        let half = typical.with(incompressible: .percent(55))
        #expect(half.repeated == .percent(5) && half.ratio == typical.ratio)
        #expect(half.with(incompressible: .percent(10)) == typical)
    }

    // MARK: Other processes

    @Test(
        "an extension, a helper and a daemon of a given footprint have that peak at work",
        arguments: ProcessKind.allCases)
    func footprintOfProcess(kind: ProcessKind) throws {
        let player = FatePlayer()
        var process = AppProfile.part(kind)
        process.name = "mine"
        process.memory.objects = .constant(.kibibytes(64))
        process.limits = ProcessLimits()
        let sizing = try Sizing(process, player: player)
        #expect(sizing.present >= process.memory.base && sizing.present < process.memory.base * 3, "\(sizing.present)")
        for size in [ByteCount.mebibytes(40), .mebibytes(100)] {
            let peak = try player.peak(of: sizing.app(process, at: size))
            #expect(abs((peak - size).bytes) <= size.bytes / 100, "\(kind.rawValue) at \(size): \(peak)")
        }
    }

    @Test("on a common day every kind of process works", arguments: ProcessKind.allCases)
    func day(kind: ProcessKind) throws {
        let text = CommonDay.commuter.scenario(process: "mine", kind: kind, device: "iphone-13")
        let plan = try Self.plan(text)
        #expect(plan.apps.count == CommonDay.fleet.count + 1)
        let app = try #require(plan.apps.firstIndex { $0.name == "mine" })
        #expect(plan.apps[app].part?.kind == kind)
        // One of each way to work is played.
        let played: [ProcessKind] = [.keyboard, .notificationService, .widget, .packetTunnel, .webContent, .daemon]
        guard played.contains(kind) else { return }
        let fate = try FatePlayer().fate(of: app, in: plan, untilEnd: false)
        #expect(fate.processes > 0 && fate.lives != nil, "\(kind.rawValue)")
    }

    // MARK: The order of runs

    @Test("the answer about the app as it is is known after the runs of all seeds, before any other run")
    func ownFirst() throws {
        var question = question(try Self.person(), seeds: 6, share: .percent(90))
        question.footprints = [.mebibytes(60), .mebibytes(240)]
        question.triesChanges = true
        var study = Study(question, sizing: try Sizing(question.plan.apps[question.app], player: FatePlayer()))
        let first = try study.next()
        #expect(first.map(\.seed) == Array(0..<6) && first.allSatisfy { $0.entry == 0 } && study.known.isEmpty)
        let player = FatePlayer()
        var known: [Set<Part>] = []
        var requests = first
        while !requests.isEmpty {
            study.take(
                try requests.map { try player.fate(of: $0.app, in: $0.plan, untilEnd: $0.untilEnd) }, of: requests)
            known.append(study.known)
            requests = try study.next()
        }
        #expect(known[0] == [.own] && known.count > 1 && study.known == Set(Part.allCases))
        #expect(zip(known, known.dropFirst()).allSatisfy { $0.isSubset(of: $1) })
        let answer = Answer(study)
        #expect(Part.allCases.flatMap(answer.sentences(of:)) == answer.sentences)
        #expect(answer.sentences(of: .own).count == 3 && answer.sentences(of: .footprints).count == 1)
    }

    @Test("an app that is never ended tries no change, and the device that is asked about runs once")
    func nothingInVain() throws {
        var question = question(try Self.person("none", ["device.ceiling=8GiB"]), seeds: 40, share: .percent(90))
        question.triesChanges = true
        question.device = "own"
        question.devices = try ["small", "own", "large"].map { name in
            let ceiling = name == "small" ? "7GiB" : "8GiB"
            return .init(name: name, plan: try Self.person("none", ["device.ceiling=\(ceiling)"]))
        }
        let answer = try answer(question)
        #expect(answer.verdictWord == .yes && answer.changes.isEmpty)
        #expect(answer.sentences.last == "As it is never ended, no change of its behaviour can help.")
        // The smallest device is made sure, for the larger one a suspicion is enough.
        #expect(answer.tried.map(\.runs) == [40, 20, 40, 8] && answer.runs == 68)
        #expect(answer.tried.map(\.isEnough) == [true, true, true, nil])
        #expect(answer.devices?.tried.map(\.place) == [0, 1] && answer.devices?.isRising == true)
        #expect(answer.sentences.contains { $0.hasSuffix("of the runs is small.") })
        question.triesLargerDevices = false
        #expect(try self.answer(question).tried.map(\.name) == ["as asked", "small", "own"])
        question.device = "large"
        #expect(try self.answer(question).tried.map(\.name) == ["as asked", "small", "own", "large"])
    }

    // MARK: Changes and answers

    @Test("changes are compared seed by seed, and one that the app makes already is left out")
    func changes() throws {
        let sets = ["apps.mine.warnings.frees=0%", "monitor.preset=ios", "device.ceiling=640MiB"]
        var question = question(try Self.person("largest-first", sets))
        question.triesChanges = true
        let answer = try answer(question)
        let names = answer.changes.map(\.name).sorted()
        #expect(names == ["answers-warnings", "frees-on-the-way", "half-the-cache", "saves-state"])
        #expect(answer.changes.contains(where: \.isComplete) && !answer.changes.allSatisfy(\.isComplete))
        for change in answer.changes {
            #expect(change.option?.contains("--set apps.mine.") == true)
            guard change.isComplete else {
                // It saves the app under none of the seeds that ran, so it is not compared.
                #expect(change.pairs == nil && change.lived.count == 0 && (change.mostGain ?? 1) <= 0.1)
                continue
            }
            let pairs = try #require(change.pairs)
            #expect(pairs.pairs == 20 && change.mostGain == nil)
            #expect(pairs.gain == (change.lived.share ?? 0) - (answer.lived.share ?? 0))
        }
        let gains = answer.changes.compactMap { $0.pairs?.gain }
        #expect(gains == gains.sorted(by: >))
    }

    @Test("the first sentence is the answer, and the ends are counters of MetricKit")
    func words() throws {
        let answer = try answer(question(Self.person(), share: .percent(100)))
        #expect(answer.verdictWord == .no, "\(answer.sentences)")
        #expect(answer.sentences[0].hasPrefix("No: mine survives in \(answer.lived.count) of 20 runs, "))
        #expect(answer.sentences[1].contains(" times and is ended there "))
        #expect(answer.sentences[2].contains("cumulativeMemoryPressureExitCount of MXBackgroundExitData"))
        #expect(answer.ends.reduce(0) { $0 + $1.count } >= 20 - answer.lived.count)
        let steps = answer.background.steps
        #expect(steps.reduce(0) { $0 + $1.ended + $1.censored } == answer.fates.reduce(0) { $0 + $1.stays.count })
    }

    @Test("what is not decided says so, what it needs, and how many seeds would decide")
    func undecided() throws {
        let plan = try Self.plan(Self.fates)
        var answer = try answer(question(plan, seeds: 8, share: .percent(90)))
        #expect(answer.verdictWord == .open && answer.runsToDecide == 35)
        let words = "Undecided, probably yes: mine survives in 8 of 8 runs, 100 % ("
        #expect(answer.sentences[0].hasPrefix(words), "\(answer.sentences[0])")
        #expect(
            answer.sentences[0].hasSuffix(
                " 90 % needs an interval that is nowhere below it; run --seeds 1..35 to decide."),
            "\(answer.sentences[0])")
        answer = try self.answer(question(plan, seeds: 35, share: .percent(90)))
        #expect(answer.verdictWord == .yes)
    }

    @Test("every kind of app has a scenario on every day")
    func days() throws {
        for day in CommonDay.allCases {
            for archetype in Archetype.all {
                let text = day.scenario(app: "mine", like: archetype.name, device: "iphone-13")
                let plan = try Self.plan(text)
                #expect(plan.apps.count == CommonDay.fleet.count + 1 && plan.apps[CommonDay.place].name == "mine")
                #expect(plan.apps[CommonDay.place].like == archetype.name && plan.duration == day.duration)
            }
        }
    }
}
