import ArgumentParser
import Experiments
import Explanation
import Foundation
import Interchange
import Lifecycle
import Memory
import Plan
import Quantities
import RunFolders
import Scenario
import Simulation
import Survival
import Workload

/// Makes the runs of `survive`, and writes and prints the answer.
struct SurviveRun {
    let command: SurviveCommand
    private let clock = ExperimentClock()
    private let question: Question
    private let sizing: Sizing?
    /// The app's footprint as the command has it.
    private let asked: ByteCount?
    private let player: FatePlayer
    private let jobs: Int

    init(_ command: SurviveCommand) throws {
        self.command = command
        var plan = try SurviveRun.plan(of: command, on: command.device)
        let app = try SurviveRun.place(of: command, in: plan)
        let traces = try TraceFiles(plan)
        player = FatePlayer(traces: traces, isInterrupted: { Interruption.signalNumber != 0 })
        let obstacle = Sizing.obstacle(of: plan.apps[app])
        let sizes = try SurviveRun.sizes(of: command, plan.apps[app], on: plan.device)
        let largest = max(sizes.own ?? .zero, sizes.range?.upperBound ?? .zero)
        let entitlement = Entitlement(of: plan.apps[app], at: largest, on: plan.device)
        if entitlement != nil { plan.apps[app].isEntitled = true }
        if let share = command.incompressible {
            plan.apps[app].memory.compressibility = plan.apps[app].memory.compressibility.with(incompressible: share)
        }
        if let obstacle, !command.footprints.isEmpty {
            throw Failure(.invalidInput, "--footprint: \(plan.apps[app].name) cannot have another one: \(obstacle)")
        }
        var sizing = obstacle == nil ? try Sizing(plan.apps[app], player: player) : nil
        if let own = sizes.own, let measured = sizing {
            plan = try measured.plan(plan, app: app, at: own)
            sizing = try Sizing(plan.apps[app], player: player)
        }
        self.sizing = sizing
        asked = sizes.own
        jobs = try SurviveRun.jobs(command, plan, traces)
        var question = Question(
            plan: plan, app: app, seeds: try command.seedList(), share: command.probability)
        question.device = command.device
        (question.triesChanges, question.triesGuesses) = (!command.shareOnly, command.guesses)
        question.triesLargerDevices = command.devices.count > 1
        (question.incompressible, question.entitlement) = (command.incompressible, entitlement)
        question.devices = try SurviveRun.devices(of: command, for: question)
        if let sizing, !command.shareOnly {
            question.footprints = sizing.row(sizes.range, in: plan, of: app)
        }
        self.question = question
    }

    // MARK: The question

    /// The scenario: of the file, of the report, or of the day.
    ///
    /// - Parameter device: A device by name in place of the scenario's; it also gives a policy, a monitor and a limit
    ///   of time off screen where the scenario has none.
    private static func plan(of command: SurviveCommand, on device: String?) throws -> RunPlan {
        let sets = (device.map { ["device={ like: \($0) }"] } ?? []) + command.settings.sets
        let overrides = Overrides(sets: sets, policy: command.policy, backend: .accounting)
        guard let path = command.scenario else {
            let (day, device) = (command.day ?? .commuter, device ?? "iphone-13")
            guard let kind = command.kind.flatMap(ProcessKind.init) else {
                let like = command.like ?? ""
                let text = day.scenario(app: command.name, like: like, device: device)
                return try ScenarioLoader.load(text: text, file: "--like \(like)", overrides: overrides).get()
            }
            let text = day.scenario(process: command.name, kind: kind, device: device)
            return try ScenarioLoader.load(text: text, file: "--kind \(kind.rawValue)", overrides: overrides).get()
        }
        guard path.lowercased().hasSuffix(".ips") else {
            return try ScenarioLoader.load(path: path, overrides: overrides).get()
        }
        let text = try JetsamEventImport(path: path).scenario
        return try ScenarioLoader.load(text: text, file: path, overrides: overrides).get()
    }

    /// The scenario on each device among which the smallest is sought, the one with the least memory first. The app is
    /// that of the question.
    private static func devices(of command: SurviveCommand, for question: Question) throws -> [Question.DeviceChoice] {
        try command.compared.map { name in
            var other = try SurviveRun.plan(of: command, on: name)
            (other.apps, other.start) = (question.plan.apps, question.plan.start)
            return Question.DeviceChoice(name: name, plan: other)
        }.sorted { ($0.plan.device.ceiling, $0.name) < ($1.plan.device.ceiling, $1.name) }
    }

    private static func place(of command: SurviveCommand, in plan: RunPlan) throws -> Int {
        let name = command.name
        guard let place = plan.apps.firstIndex(where: { $0.name == name }) else {
            let advice = Nearest.advice(for: name, among: plan.apps.map(\.name), kind: "apps")
            throw Failure(.invalidInput, "the scenario has no app '\(name.shortened())'\(advice)")
        }
        return place
    }

    /// The footprints that are asked about.
    private static func sizes(
        of command: SurviveCommand, _ app: AppProfile, on device: Device
    ) throws -> (own: ByteCount?, range: ClosedRange<ByteCount>?) {
        do {
            return try command.sizes(within: Sizing.range(of: app, on: device, usual: OptionValue.footprints))
        } catch let fault as ValidationError {
            throw Failure(.wrongUsage, fault.message)
        }
    }

    /// How many runs at a time; no more than fit into the host's memory.
    private static func jobs(_ command: SurviveCommand, _ plan: RunPlan, _ traces: TraceFiles) throws -> Int {
        let wanted = command.jobs ?? ProcessInfo.processInfo.activeProcessorCount
        guard !command.ignoreHost, let free = HostMachine.freeMemory else { return wanted }
        let needed = plan.hostDemand(traces).total
        let room = free.size.bytes / max(1, needed.bytes)
        guard room < wanted else { return wanted }
        guard command.jobs == nil, room > 0 else {
            throw Failure(
                .hostRefuses,
                "\(free.giver) has \(free.size.readable) free, but each of \(wanted.counted("run")) at a time needs "
                    + "\(needed.readable); fewer --jobs need less, and --ignore-host skips this check")
        }
        return room
    }

    // MARK: The runs

    func run() throws -> ExitCode {
        let inputs = [command.scenario].compactMap(\.self)
        try command.checks.check(keeping: inputs, besides: command.out)
        let folder = try SurvivalFolder(question, path: command.out, resume: command.resume)
        defer { withExtendedLifetime(folder) {} }
        var study = Study(question, sizing: sizing)
        var guessed = question.triesGuesses ? GuessedSurvival(question) : nil
        let more = guessed?.count ?? 0
        var progress = CaseProgress(total: study.expectedRuns + more, quiet: command.quiet)
        var (made, said) = (0, Set<Part>())
        do {
            while true {
                let requests = try study.next()
                say(study, &said, progress)
                guard !requests.isEmpty else { break }
                let fates = try play(requests, in: folder, &made) {
                    progress.update(done: study.runs + $0, total: study.expectedRuns + more)
                }
                study.take(fates, of: requests)
                say(study, &said, progress)
            }
            if let requests = guessed?.requests(own: Answer(study).fates) {
                let fates = try play(requests, in: folder, &made) {
                    progress.update(done: study.runs + $0, total: study.runs + more)
                }
                guessed?.take(fates)
            }
        } catch let interruption as FatePlayer.Interrupted {
            progress.finish()
            Terminal.complain(
                "plimsoll: interrupted after \(made.counted("run")); --resume continues in \(folder.path)")
            throw interruption
        }
        progress.finish()
        let answer = Answer(study)
        try finish(answer, guessed, folder, made: made)
        return try command.checks.tell(
            CheckReport(of: answer, footprint: asked ?? sizing?.present, file: command.scenario), keeping: inputs,
            besides: folder.path)
    }

    /// Makes the runs that an earlier attempt did not finish, and records each one at once.
    ///
    /// - Parameter tell: Gets the number of these runs that are done, at the beginning and after each of them.
    private func play(
        _ requests: [RunRequest], in folder: SurvivalFolder, _ made: inout Int, tell: (Int) -> Void
    ) throws -> [Fate] {
        var fates = try folder.finished(requests)
        let missing = requests.indices.filter { fates[$0] == nil }
        var done = requests.count - missing.count
        tell(done)
        try RunLine(jobs: jobs).each(missing.map { work(requests[$0]) }) { place, fate in
            try folder.book([(requests[missing[place]], fate)])
            fates[missing[place]] = fate
            (made, done) = (made + 1, done + 1)
            tell(done)
        }
        return fates.compactMap(\.self)
    }

    private func work(_ request: RunRequest) -> @Sendable () throws -> Fate {
        { [player] in try player.fate(request) }
    }

    /// Prints each part of the answer as soon as it is known.
    private func say(_ study: Study, _ said: inout Set<Part>, _ progress: CaseProgress) {
        let new = Part.allCases.filter { study.known.contains($0) && !said.contains($0) }
        guard !new.isEmpty, !command.quiet else { return }
        said.formUnion(new)
        let answer = Answer(study)
        for part in new {
            let text = answer.sentences(of: part).joined(separator: " ")
            guard !text.isEmpty else { continue }
            progress.finish()
            Terminal.say(Answer.wrapped(text).joined(separator: "\n"))
        }
    }

    private func finish(_ answer: Answer, _ guessed: GuessedSurvival?, _ folder: SurvivalFolder, made: Int) throws {
        let more = guessed?.sentences ?? []
        let text = (answer.sentences + more).joined(separator: " ")
        try folder.write(answer, guessed, footprint: sizing?.present, text: text, made: made, jobs: jobs, clock)
        guard !command.quiet else { return }
        let (runs, done) = (answer.runs + (guessed?.runs ?? 0), String(format: "%.1f s", clock.seconds))
        let lines =
            Answer.wrapped(more.joined(separator: " ")) + [""] + answer.changeTable
            + [
                "\(runs.counted("run")) in \(done), \(jobs) at a time; written to \(folder.path)",
                "plimsoll plot \(ShellWord.quoted(folder.path)) draws it.",
            ]
        Terminal.say(lines.joined(separator: "\n"))
    }
}

extension Answer {
    /// What each change of behaviour gains, for people; empty without changes.
    fileprivate var changeTable: [String] {
        guard !changes.isEmpty else { return [] }
        let rows = changes.map { change -> String in
            let pairs = change.pairs
            let interval = pairs?.interval().map { "\(Answer.points($0.low)) to \(Answer.points($0.high))" } ?? ""
            let gain = pairs?.gain.map(Answer.points) ?? "none"
            let most = change.mostGain.map { "at most \(Answer.points($0))" } ?? interval
            return "  \(pad(change.name, 18)) \(pad(gain, 6)) \(pad(most, 13)) "
                + "\(change.lived.count) of \(change.lived.total)"
        }
        return ["  \(pad("change", 18)) \(pad("gain", 6)) \(pad("interval", 13)) survives"] + rows + [""]
    }
}
