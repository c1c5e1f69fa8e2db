import Foundation
import Interchange
import Memory
import Metrics
import Plan
import Quantities
import Reclaim
import Scenario
import Simulation

/// One run, from its plan to its folder: the device, the simulation, the files, and the manifest as the last of them.
package struct FolderRun {
    private let plan: RunPlan
    private let order: Order

    /// What was asked for besides the plan; the values of options of `plimsoll run`.
    package struct Order {
        /// The scenario's path, which no file of the run overwrites.
        package var scenario: String
        /// The policy file, if the policy came from one.
        package var policyFile: String?
        /// The folder; nil for a free one below `runs`.
        package var out: String?
        /// The path of the timeline.
        package var trace: String?
        /// Whether to overwrite an earlier run in the folder, and an earlier timeline.
        package var force = false
        package var jetsamEvents = false
        package var summaryOnly = false
        package var verify = false
        package var verifyEvents = false
        package var canary = false
        package var dryRun = false

        package init(scenario: String) { self.scenario = scenario }
    }

    /// How a run ended.
    package struct Ending {
        /// The exit status, expectations and signals aside.
        package var status: ExitStatus
        /// `completed`, `interrupted` or `failed`.
        package var word: String
        /// The signal or the fault, in words.
        package var detail: String?
        /// The signal that interrupted it; 0 if there was none.
        package var signal: Int32 = 0

        package static let completed = Ending(status: .done, word: "completed")

        package static func interrupted(by signal: Int32, at now: Instant) -> Ending {
            Ending(status: .done, word: "interrupted", detail: "signal \(signal) at \(now)", signal: signal)
        }

        package static func failed(_ fault: RunFailure) -> Ending {
            Ending(status: fault.status, word: "failed", detail: fault.text)
        }
    }

    /// What a run leaves when the device and the simulation are released.
    package struct Played {
        /// The folder stays locked as long as this value lives.
        fileprivate let directory: RunDirectory
        fileprivate let trace: TimelineFile?
        /// The number of JetsamEvent reports; nil without `--jetsam-events`.
        fileprivate let jetsamEvents: Int?
        /// This process's memory before the device was made.
        fileprivate let before: HostMemory
        fileprivate let end: Instant
        fileprivate let queueEvents: Int
        fileprivate let peakResident: ByteCount
        fileprivate let touched: ByteCount
        fileprivate let allocatorMetadata: ByteCount
        package let ending: Ending
        package let tally: RunTally
        package let kills: KillTable

        package var path: String { directory.path }
    }

    private let startedAt = ISO8601DateFormatter().string(from: Date())
    private let clock = ContinuousClock.now
    private let allocator: AllocatorDescription

    package init(_ plan: RunPlan, _ order: Order) throws {
        (self.plan, self.order) = (plan, order)
        do {
            allocator = try AllocatorDescription()
        } catch {
            throw Failure(.hostRefuses, "\(error)")
        }
    }

    /// Makes the run. From here on the kernel ends this process first if the host lacks memory, and signals are noted.
    ///
    /// The device is made before the folder: if the host refuses the device, no folder is left behind.
    ///
    /// - Parameter go: Lets the simulation go on to its end.
    package func play(_ traces: TraceFiles, _ go: (Simulation) -> Ending) throws -> Played {
        HostMachine.volunteerForOutOfMemory()
        Interruption.install()
        HarnessHeap.trim()
        let before = HostMemory()
        let memory = try HostMachine.makeDevice(of: plan)
        let (directory, trace, events, sinks) = try prepareFolder()
        HarnessHeap.trim()
        let simulation = Simulation(
            plan, memory: memory, sinks: sinks, traces: traces, verify: order.verify || order.verifyEvents,
            auditEvents: order.verifyEvents, canary: order.canary, dryRun: order.dryRun, reports: events)
        let ending = go(simulation)
        if ending.status == .invalidInput {
            // The scenario's start does not fit: nothing has run.
            directory.withdraw()
            throw Failure(.invalidInput, ending.detail ?? "the run was refused")
        }
        return Played(
            directory: directory, trace: trace, jetsamEvents: events?.count, before: before,
            end: simulation.now, queueEvents: simulation.handled, peakResident: memory.books.peakResident,
            touched: memory.touchedBytes, allocatorMetadata: memory.allocatorMetadata, ending: ending,
            tally: simulation.tally, kills: simulation.kills)
    }

    /// Makes the folder and begins its files. On failure it removes what it made.
    private func prepareFolder() throws -> (RunDirectory, TimelineFile?, JetsamEventFolder?, RunSinks) {
        let directory =
            try order.out.map { try RunDirectory(creating: $0, force: order.force, keeping: order.scenario) }
            ?? RunDirectory(free: plan.name)
        let trace: TimelineFile?
        do {
            trace = try order.trace.map {
                try TimelineFile(path: $0, besides: directory.path, force: order.force, keeping: order.scenario)
            }
            if order.jetsamEvents { try JetsamEventFolder.check(in: directory.path) }
            try directory.removeEarlierRun()
        } catch {
            directory.leave()
            throw error
        }
        do {
            let tables = order.summaryOnly ? RunTables.summaries : RunTables.all(of: plan)
            let sinks = try directory.sinks(tables)
            let scenario = EffectiveScenario.yaml(of: plan)
            try directory.write(scenario, to: "scenario.yaml")
            try directory.write(try DataPackage.json(of: plan, scenario, tables), to: "datapackage.json")
            let events =
                order.jetsamEvents ? try JetsamEventFolder(in: directory.path, JetsamEventExport(plan)) : nil
            return (directory, trace, events, sinks)
        } catch {
            directory.withdraw()
            throw error
        }
    }

    /// Writes the manifest and, after a run that did not fail, the timeline.
    package func finish(_ played: Played) throws -> (manifest: Manifest, warnings: [MeasurementWarning]) {
        // The device is released by now, so the remaining memory is the program's own.
        let after = HostMemory()
        let ending = played.ending
        let results = ending.word == "completed" ? played.tally.results(of: plan.expectations) : []
        let status: ExitStatus =
            ending.status == .done && results.contains { !$0.holds } ? .expectationFailed : ending.status
        let memory = memoryFacts(played, after: after)
        var warnings = MeasurementWarning.all(
            interval: plan.monitor.interval, allocator: allocator,
            cores: ProcessInfo.processInfo.activeProcessorCount)
        if plan.device.scale != .one { warnings.append(.scaled(plan.device.scale)) }
        if let warning = MeasurementWarning(unexplained: memory.unexplainedBytes) { warnings.append(warning) }
        let manifest = Manifest(
            plan: .init(
                scenario: plan.name, scenarioFile: order.scenario, seed: plan.seed, policy: plan.policy.title,
                policyFile: order.policyFile, backend: plan.backend.rawValue),
            ending: .init(
                ending: ending.word, endingDetail: ending.detail,
                exitStatus: ending.signal == 0 ? status.rawValue : 128 + ending.signal),
            times: .init(
                startedAt: startedAt, wallS: (ContinuousClock.now - clock) / .seconds(1), cpuS: HostMachine.cpuSeconds,
                virtualS: Double(played.end.microseconds) / 1_000_000),
            build: .init(), queueEvents: played.queueEvents, commandLine: CommandLine.arguments,
            dryRun: order.dryRun, traceFile: ending.status == .done ? played.trace?.nameInside : nil,
            jetsamEvents: played.jetsamEvents, host: .init(), allocator: .init(allocator),
            lz4: plan.device.compressor?.codec == .lz4 ? lz4Version : nil, memory: memory,
            expectations: results.map(Manifest.Claim.init), measurementWarnings: warnings.map(\.text))
        do {
            try played.directory.write(try manifest.json(), to: "manifest.json")
        } catch {
            // After another output failed, only the first failure is reported.
            guard ending.status == .cannotWrite else { throw error }
        }
        if ending.status == .done { try played.trace?.write(from: played.directory) }
        return (manifest, warnings)
    }

    private func memoryFacts(_ played: Played, after: HostMemory) -> Manifest.MemoryFacts {
        func difference(_ a: ByteCount?, _ b: ByteCount?) -> ByteCount? { a.flatMap { a in b.map { a - $0 } } }
        let heap = difference(after.anonymous, played.before.anonymous)
        let code = difference(after.files, played.before.files)
        let unexplained = difference(after.peak, played.before.peak)
            .map { $0 - played.touched - (heap ?? .zero) - (code ?? .zero) }
        return Manifest.MemoryFacts(
            baselineBytes: played.before.peak?.bytes, kernelPeakBytes: after.peak?.bytes,
            peakResidentBytes: played.peakResident.bytes, regionTouchedBytes: played.touched.bytes,
            allocatorMetadataBytes: played.allocatorMetadata.bytes, harnessHeapBytes: heap?.bytes,
            pagedInCodeBytes: code?.bytes, unexplainedBytes: unexplained?.bytes)
    }
}
