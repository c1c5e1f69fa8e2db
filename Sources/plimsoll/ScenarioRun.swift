import ArgumentParser
import Foundation
import Interchange
import Memory
import Metrics
import Plan
import Quantities
import Reclaim
import Scenario
import Simulation

/// One run, from plan to folder: host check, device, simulation, files, summary.
struct ScenarioRun {
    let plan: RunPlan
    let command: RunCommand

    func run() throws -> ExitCode {
        let startedAt = ISO8601DateFormatter().string(from: Date())
        let clock = ContinuousClock.now
        let allocator = try describeAllocator()
        let traces = try Failure.opening(plan)
        if !command.ignoreHost { try Host.check(plan, traces, flag: "--ignore-host") }
        if !command.quiet && !command.summaryOnly, let text = OutputEstimate(plan).text {
            Terminal.complain("plimsoll: warning: \(text)")
        }
        Host.volunteerForOutOfMemory()
        Interruption.install()
        HarnessHeap.trim()
        let before = HostMemory()
        let played = try playOnDevice(traces)
        // The device is released by now, so the remaining memory is the program's own.
        let after = HostMemory()
        let (directory, trace, outcome) = (played.directory, played.trace, played.outcome)
        // The folder stays locked until the last file is written.
        defer { withExtendedLifetime(directory) {} }
        let results = outcome.ending == "completed" ? checkExpectations(played.tally) : []
        let status: ExitStatus =
            outcome.status == .done && results.contains { !$0.held } ? .expectationFailed : outcome.status
        let code = outcome.signal == 0 ? status.rawValue : 128 + outcome.signal
        var warnings = MeasurementWarning.all(
            interval: plan.monitor.interval, allocator: allocator,
            cores: ProcessInfo.processInfo.activeProcessorCount)
        if plan.device.scale != .one { warnings.append(.scaled(plan.device.scale)) }
        let memory = memoryFacts(played, before: before, after: after)
        if let warning = MeasurementWarning(unexplained: memory.unexplainedBytes) { warnings.append(warning) }
        let manifest = Manifest(
            plan: .init(
                scenario: plan.name, scenarioFile: command.scenario, seed: plan.seed, policy: plan.policy.title,
                policyFile: command.policy.flatMap { PolicyFile.isFile($0) ? $0 : nil },
                backend: plan.backend.rawValue),
            ending: .init(ending: outcome.ending, endingDetail: outcome.detail, exitStatus: code),
            times: .init(
                startedAt: startedAt, wallS: (ContinuousClock.now - clock) / .seconds(1), cpuS: Host.cpuSeconds,
                virtualS: Double(played.end.microseconds) / 1_000_000),
            build: .init(build: buildKind), queueEvents: played.queueEvents, commandLine: CommandLine.arguments,
            dryRun: command.dryRun, traceFile: outcome.status == .done ? trace?.nameInside : nil,
            jetsamEvents: played.jetsamEvents, host: .init(), allocator: .init(allocator),
            lz4: plan.device.compressor?.codec == .lz4 ? lz4Version : nil, memory: memory, expectations: results,
            measurementWarnings: warnings.map(\.text))
        try write(manifest, to: directory, after: outcome)
        if outcome.status == .done { try trace?.write(from: directory) }
        try report(played, manifest, warnings)
        return ExitCode(code)
    }

    /// The results of the run, after the device and the simulation are released.
    private struct Played {
        let directory: RunDirectory
        let trace: TimelineFile?
        /// The number of JetsamEvent reports; nil without `--jetsam-events`.
        let jetsamEvents: Int?
        let outcome: Outcome
        let tally: RunTally
        let kills: KillTable
        let end: Instant
        let queueEvents: Int
        let peakResident: ByteCount
        let touched: ByteCount
        let allocatorMetadata: ByteCount
    }

    /// Makes the device before the folder: if the host refuses the device, no folder is left behind.
    private func playOnDevice(_ traces: TraceFiles) throws -> Played {
        let memory = try Host.makeDevice(of: plan)
        let (directory, trace, events, sinks) = try prepareFolder()
        HarnessHeap.trim()
        let simulation = Simulation(
            plan, memory: memory, sinks: sinks, traces: traces, verify: command.verify || command.verifyEvents,
            auditEvents: command.verifyEvents, dryRun: command.dryRun, reports: events)
        let outcome = play(simulation)
        return Played(
            directory: directory, trace: trace, jetsamEvents: events?.count, outcome: outcome,
            tally: simulation.tally, kills: simulation.kills,
            end: simulation.now,
            queueEvents: simulation.handled,
            peakResident: memory.books.peakResident, touched: memory.touchedBytes,
            allocatorMetadata: memory.allocatorMetadata)
    }

    /// Makes the folder and begins its files. On failure it removes what it made.
    private func prepareFolder() throws -> (RunDirectory, TimelineFile?, JetsamEventFolder?, RunSinks) {
        let directory =
            try command.out.map { try RunDirectory(creating: $0, force: command.force, keeping: command.scenario) }
            ?? RunDirectory(free: plan.name)
        let trace: TimelineFile?
        do {
            trace = try command.trace.map {
                try TimelineFile(path: $0, besides: directory.path, force: command.force, keeping: command.scenario)
            }
            if command.jetsamEvents { try JetsamEventFolder.check(in: directory.path) }
            try directory.removeEarlierRun()
        } catch {
            directory.leave()
            throw error
        }
        do {
            let tables = command.summaryOnly ? RunTables.summaries : RunTables.all(of: plan)
            let sinks = try directory.sinks(tables)
            try directory.write(EffectiveScenario.yaml(of: plan), to: "scenario.yaml")
            try directory.write(try DataPackage.json(of: plan, tables), to: "datapackage.json")
            let events =
                command.jetsamEvents ? try JetsamEventFolder(in: directory.path, JetsamEventExport(plan)) : nil
            return (directory, trace, events, sinks)
        } catch {
            directory.withdraw()
            throw error
        }
    }

    private var buildKind: String {
        #if DEBUG
            "debug"
        #else
            "release"
        #endif
    }

    // MARK: Before

    private func describeAllocator() throws -> AllocatorDescription {
        do {
            return try AllocatorDescription()
        } catch {
            throw Failure(.hostRefuses, "\(error)")
        }
    }

    // MARK: The run

    private struct Outcome {
        var status: ExitStatus
        var ending: String
        var detail: String?
        var signal: Int32 = 0
    }

    private func play(_ simulation: Simulation) -> Outcome {
        let live = command.live ? LiveView(plan, speed: command.speed, isDryRun: command.dryRun) : nil
        if live != nil { simulation.keepEvents() }
        let progress = Progress(total: plan.duration, quiet: command.quiet || command.live)
        defer {
            progress.finish()
            live?.finish()
        }
        // A local copy, as the closure below reads it at every sample.
        let lifeline = command.lifeline
        do {
            let ending = try simulation.run(
                shouldStop: { Interruption.isAsked(lifeline: lifeline) },
                progress: {
                    progress.update($0)
                    live?.update(simulation)
                })
            switch ending {
            case .completed: return Outcome(status: .done, ending: "completed")
            case .interrupted:
                let signal = Interruption.signalNumber
                return Outcome(
                    status: .done, ending: "interrupted", detail: "signal \(signal) at \(simulation.now)",
                    signal: signal)
            }
        } catch {
            return Outcome(status: error.status, ending: "failed", detail: error.text)
        }
    }

    /// Writes the manifest, the last file. If the run failed, its fault is reported. If the manifest cannot be
    /// written after another output failed, only the first failure is reported.
    private func write(_ manifest: Manifest, to directory: RunDirectory, after outcome: Outcome) throws {
        if let detail = outcome.detail, outcome.signal == 0 { Terminal.complain("plimsoll: \(detail)") }
        do {
            try directory.write(try manifest.json(), to: "manifest.json")
        } catch {
            guard outcome.status == .cannotWrite else { throw error }
        }
    }

    private func checkExpectations(_ tally: RunTally) -> [Manifest.ExpectationResult] {
        let apps = plan.expectations.contains { $0.app != nil } ? tally.appFacts : []
        return plan.expectations.map { expectation in
            let value = expectation.value(tally, apps)
            return Manifest.ExpectationResult(
                expectation: expectation.text, observed: value.text, held: expectation.holds(for: value))
        }
    }

    private func memoryFacts(_ played: Played, before: HostMemory, after: HostMemory) -> Manifest.MemoryFacts {
        func difference(_ a: ByteCount?, _ b: ByteCount?) -> ByteCount? { a.flatMap { a in b.map { a - $0 } } }
        let heap = difference(after.anonymous, before.anonymous)
        let code = difference(after.files, before.files)
        let unexplained = difference(after.peak, before.peak)
            .map { $0 - played.touched - (heap ?? .zero) - (code ?? .zero) }
        return Manifest.MemoryFacts(
            baselineBytes: before.peak?.bytes, kernelPeakBytes: after.peak?.bytes,
            peakResidentBytes: played.peakResident.bytes, regionTouchedBytes: played.touched.bytes,
            allocatorMetadataBytes: played.allocatorMetadata.bytes, harnessHeapBytes: heap?.bytes,
            pagedInCodeBytes: code?.bytes, unexplainedBytes: unexplained?.bytes)
    }

    // MARK: After

    private func report(_ played: Played, _ manifest: Manifest, _ warnings: [MeasurementWarning]) throws {
        let lines = plan.warnings(from: "plimsoll") + warnings.map { "plimsoll: warning: \($0.text)" }
        if !command.quiet { lines.forEach(Terminal.complain) }
        for result in manifest.expectations where !result.held {
            Terminal.complain(
                "plimsoll: expectation failed: \(result.expectation) "
                    + (result.observed.isEmpty ? "(this run has no such value)" : "(observed \(result.observed))"))
        }
        guard !command.quiet, manifest.ending.ending != "failed" else { return }
        let next = NextSteps(
            plan: plan, tally: played.tally, folder: played.directory.path,
            policyFile: manifest.plan.policyFile, offersReport: !command.summaryOnly && !command.reportFollows,
            isDryRun: command.dryRun)
        let report = RunReport(
            tally: played.tally, manifest: manifest, path: played.directory.path, kills: played.kills, next: next)
        switch command.format {
        case .text: Terminal.say(report.text)
        case .json: Terminal.say(try report.json())
        }
    }
}

extension Failure {
    /// Opens the plan's traces, and reads each to its end to find a broken line before anything is made.
    static func opening(_ plan: RunPlan) throws -> TraceFiles {
        do throws(ScenarioFault) {
            return try TraceFiles(plan)
        } catch {
            throw Failure(error.status, [error.illustrated])
        }
    }
}

extension Expectation {
    /// The observed value.
    ///
    /// - Parameter apps: The facts of each app, in the scenario's order; empty if no claim names an app.
    fileprivate func value(_ tally: RunTally, _ apps: [AppFacts]) -> MetricValue {
        guard let app else { return SummaryMetrics.named(metric)?.value(tally) ?? .absent }
        guard let facts = apps.first(where: { $0.tally.name == app }) else { return .absent }
        return AppMetrics.named(metric)?.value(facts) ?? .absent
    }

    /// Whether the expectation holds; with an absent value no expectation holds.
    func holds(for value: MetricValue) -> Bool {
        guard let number = value.number else { return false }
        return switch comparison {
        case .equal: number == self.value
        case .notEqual: number != self.value
        case .atMost: number <= self.value
        case .atLeast: number >= self.value
        case .below: number < self.value
        case .above: number > self.value
        }
    }
}
