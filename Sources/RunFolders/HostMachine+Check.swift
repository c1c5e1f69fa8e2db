import Memory
import Plan
import Quantities
import Scenario
import Workload

extension HostMachine {
    /// Refuses a run that may need more memory than the host or this process's memory groups have free.
    ///
    /// - Parameter flag: The option that skips this check, where the command has one.
    package static func check(_ plan: RunPlan, _ traces: any TraceLibrary, flag: String? = nil) throws(Failure) {
        guard let free = freeMemory, let refusal = refusal(of: plan, traces, free) else { return }
        throw Failure(.hostRefuses, refusal + (flag.map { "; \($0) skips this check" } ?? ""))
    }

    /// One line that says why the run does not fit into the free memory, and what would make it fit. Nil if it fits.
    package static func refusal(of plan: RunPlan, _ traces: any TraceLibrary, _ free: FreeMemory) -> String? {
        let demand = plan.hostDemand(traces)
        guard demand.total > free.size else { return nil }  // promise: host
        return "\(free.giver) has \(free.size.readable) free, but the run may need \(demand.total.readable): "
            + demand.parts(of: plan) + "; " + advice(plan, traces, demand, free)
    }

    private static func advice(
        _ plan: RunPlan, _ traces: any TraceLibrary, _ demand: HostDemand, _ free: FreeMemory
    ) -> String {
        var ways: [String] = []
        let accounting = plan.onAccounting.hostDemand(traces).total
        let isReal = plan.device.compressor?.codec == .lz4
        if plan.backend != .accounting, !isReal, accounting <= free.size {
            ways.append("--backend accounting needs \(accounting.readable)")
        }
        if plan.device.scale >= .one, !isReal {
            let quarter = plan.scaled(by: .percent(25)).hostDemand(traces).total
            if quarter <= free.size { ways.append("--scale 0.25 needs \(quarter.readable)") }
        }
        if demand.books > demand.pages { ways.append("larger memory.objects need less") }
        return (ways + ["a lower device.ceiling needs less"]).joined(separator: ", ")
    }
}

extension HostDemand {
    /// The parts of the demand, in words.
    package func parts(of plan: RunPlan) -> String {
        let device = HostMachine.largerDevice(of: plan).map { " (\($0))" } ?? ""
        let pages = self.pages > .zero ? "\(self.pages.readable) for the device's pages\(device), " : ""
        return "\(pages)\(books.readable) for the bookkeeping of up to \(objects.counted("object")) and "
            + "\(harness.readable) for the program"
    }
}
