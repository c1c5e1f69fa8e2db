import ArgumentParser
import Foundation
import Interchange
import Memory
import Plan
import Quantities
import RunFolders
import Scenario
import Simulation

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Checks whether this host can run scenarios, and tries the allocator for real.",
        discussion: """
            A run's need for memory depends on its scenario: on the device's ceiling and on the number of objects that \
            the apps may hold. Name a scenario to check whether its run fits.

            EXAMPLES
              plimsoll doctor
              plimsoll doctor Scenarios/quickstart.yaml
              plimsoll doctor Scenarios/evening-commute.yaml --backend accounting

            Exit status: 71 if the host lacks something that a run needs.
            """)

    @Argument(
        help: "A scenario file: also check whether the host has the memory for its run.",
        completion: Candidates.scenarios)
    var scenario: String?

    @Option(help: "The backend, in place of the scenario's.")
    var backend: MemoryBackend?

    @Option(parsing: .unconditional, help: Ratio.scaleHelp, transform: OptionValue.scale)
    var scale: Ratio?

    func validate() throws {
        try refuseEmpty(scenarios: [scenario].compactMap(\.self))
        if scenario == nil && (backend != nil || scale != nil) {
            throw ValidationError("--backend and --scale need a scenario; name one")
        }
    }

    func run() throws {
        try reporting {
            let plan = try loadScenario()
            var isWell = true
            func row(_ holds: Bool, _ what: String, _ found: String) {
                isWell = isWell && holds
                Terminal.say("\(holds ? Terminal.green("ok  ") : Terminal.red("FAIL"))  \(pad(what, 18))  \(found)")
            }
            row(true, "plimsoll", "\(plimsollVersion), build \(BuildIdentity.short(BuildIdentity.current))")
            row(true, "kernel", HostMachine.kernel)
            row(true, "cores", "\(ProcessInfo.processInfo.activeProcessorCount)")
            allocator(row)
            if let free = HostMachine.freeMemory {
                row(free.size >= .mebibytes(128), "free memory", "\(free.size.readable), of \(free.giver)")
            } else {
                row(true, "free memory", "unknown on this host")
            }
            trial(row)
            if let plan { try demand(of: plan, row) }
            Terminal.say(verdict(isWell))
            return isWell ? .success : ExitStatus.hostRefuses.code
        }
    }

    private func loadScenario() throws -> RunPlan? {
        guard let scenario else { return nil }
        return try ScenarioLoader.load(path: scenario, overrides: Overrides(backend: backend, scale: scale)).get()
    }

    private func verdict(_ isWell: Bool) -> String {
        let what = scenario == nil ? "scenarios" : "this scenario"
        guard isWell else { return "This host cannot run \(what) as it is." }
        guard scenario == nil, let free = HostMachine.freeMemory else { return "This host can run \(what)." }
        return "This host can run scenarios that need no more than \(free.size.readable); "
            + "plimsoll doctor SCENARIO says what one needs."
    }

    /// Prints how much memory the scenario's run may need, and whether the host has it free. `run` makes the same
    /// check.
    private func demand(of plan: RunPlan, _ row: (Bool, String, String) -> Void) throws {
        let traces = try TraceFiles(plan)
        let demand = plan.hostDemand(traces)
        let refusal = HostMachine.freeMemory.flatMap { HostMachine.refusal(of: plan, traces, $0) }
        row(refusal == nil, "scenario", refusal ?? "may need \(demand.total.readable): \(demand.parts(of: plan))")
    }

    private func allocator(_ row: (Bool, String, String) -> Void) {
        do {
            let allocator = try AllocatorDescription()
            row(true, "jemalloc", allocator.version)
            row(true, "compiled options", allocator.compiledOptions)
            row(true, "LZ4", lz4Version)
            if let foreign = allocator.foreignEnvironment ?? allocator.foreignFile {
                row(true, "foreign options", "\(foreign): results may differ; unset them")
            }
        } catch {
            row(false, "jemalloc", "\(error)")
        }
    }

    /// Fills a process on real memory, compares its accounting with jemalloc's statistics, and ends it.
    private func trial(_ row: (Bool, String, String) -> Void) {
        do {
            let device = try makeDeviceMemory(.jemalloc, ceiling: .mebibytes(16), reserved: .mebibytes(1))
            let slot = try device.makeProcess()
            let pool = device.makePool(in: slot)
            let sizes = [Int](repeating: 10_000, count: 500)
            let result = device.allocate(sizes.span, in: pool, limit: nil)
            try device.audit()
            let footprint = device.books(of: slot).footprint
            _ = try device.endProcess(slot)
            try device.audit()
            row(
                result.objects == 500 && device.books.resident == .mebibytes(1), "trial",
                "500 objects in \(footprint.readable), accounting equals jemalloc's statistics, nothing left")
        } catch {
            row(false, "trial", "\(error)")
        }
    }
}
