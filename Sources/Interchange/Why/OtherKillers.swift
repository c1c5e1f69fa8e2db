import Lifecycle
import Pressure
import Quantities
import Reclaim

/// Whom user space's killers would choose in a report's state, by this project's own policies of their names.
///
/// A report shows RAM, swap, and what each process holds; it shows neither control groups nor stalls (PSI), so it does
/// not say what systemd-oomd does.
struct OtherKillers {
    private let report: KernelReport
    /// RAM; nil: the report does not say.
    private let ram: Int?

    init(_ verdict: KernelVerdict) { (report, ram) = (verdict.report, verdict.report.memory.usable) }

    var words: [String] {
        guard let ram, ram > 0, !report.tasks.isEmpty else {
            return ["What earlyoom, nohang or systemd-oomd would do depends on RAM, which the report does not say."]
        }
        return [earlyOOM, systemd].compactMap(\.self)
    }

    private func name(_ place: Int) -> String {
        "\(onOneLine(report.tasks[place].name, atMost: 40)) (\(report.tasks[place].pid))"
    }

    /// earlyoom takes the highest `oom_score`, and so does nohang with its own settings.
    private var earlyOOM: String? {
        let decision = EarlyOOM().decide(snapshot(isShort: true))
        guard let first = decision.ranking.first else { return nil }
        let isDue = !EarlyOOM().decide(snapshot(isShort: false)).ranking.isEmpty
        let due = isDue ? "would choose" : "would not act with so much free, but would choose"
        return
            "In this state earlyoom, and nohang without lists of names, \(due) \(name(first.action.target.number - 1))."
    }

    private var systemd: String? {
        let decision = SystemdOOMD().decide(snapshot(isShort: false))
        guard let first = decision.ranking.first else {
            return "systemd-oomd acts on whole control groups and stalls, which the report does not show."
        }
        return "Swap is used up, so systemd-oomd would end the control group with most in swap, which the report does "
            + "not show; \(name(first.action.target.number - 1)) has most of the processes."
    }

    /// - Parameter isShort: Whether nothing is available, so that a killer has to choose.
    private func snapshot(isShort: Bool) -> SystemSnapshot {
        let memory = report.memory
        let ceiling = size(ram ?? 0, 1 << 50)
        let free = isShort ? .zero : min(ceiling, size(memory.free ?? 0, 1 << 50))
        var snapshot = SystemSnapshot(
            now: .zero + .minutes(10), demand: .nothing, level: .critical, ceiling: ceiling,
            resident: ceiling - free, available: free, threshold: .zero,
            processes: report.tasks.indices.map(process), monitor: .ios)
        snapshot.measures.fileBacked = isShort ? .zero : min(ceiling - free, size(memory.file ?? 0, 1 << 50))
        snapshot.measures.swapTotal = ByteCount((memory.swapTotalKiB ?? 0) << 10)
        snapshot.measures.swapFree = isShort ? .zero : ByteCount((memory.swapFreeKiB ?? 0) << 10)
        return snapshot
    }

    /// A size, cut so that the sum over all processes fits.
    private func size(_ pages: Int, _ most: Int) -> ByteCount { min(report.size(pages), ByteCount(most)) }

    private func process(_ place: Int) -> ProcessSnapshot {
        let task = report.tasks[place]
        var process = ProcessSnapshot(
            app: AppID(place), name: task.name, pid: ProcessID(place + 1), phase: .background, band: .background,
            footprint: size(task.heldPages, 1 << 42), dirty: .zero, cache: .zero, launchedAt: .zero,
            lastForeground: nil, modes: [], warnedAt: nil, answersWarning: false, isBusy: false, relaunchCost: .zero,
            scenes: [])
        process.swapped = size(task.swappedPages ?? 0, 1 << 42)
        process.declaredOomScoreAdj = task.adjustment
        return process
    }
}
