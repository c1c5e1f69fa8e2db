import Quantities

extension SystemSnapshot {
    /// The kernel counts in pages of this size.
    private static let page = 4_096

    /// The points that a release of Linux gives a process; nil: it never dies.
    ///
    /// What the process holds counts in full, wherever it is. The simulated device has no page tables, and no process
    /// of root. Pages of files are not counted, although Linux's RSS has those that are mapped: the device does not
    /// know which are.
    ///
    /// - Parameter whole: What the adjustment is a share of: the limit of a control group; nil: RAM and swap.
    func badnessPoints(
        _ badness: KernelBadness, of process: ProcessSnapshot, whole: ByteCount? = nil
    ) -> Int? {
        badness.points(
            rss: process.residentSize.bytes / Self.page, swap: process.swapped.bytes / Self.page, pageTables: 0,
            adjustment: process.oomScoreAdj, root: false,
            total: (whole ?? ceiling + measures.swapTotal).bytes / Self.page)
    }

    /// Ranks the ends of all processes as a release of Linux does when no page can be found: most points first. It
    /// spares what has `oom_score_adj` -1000, and nothing else: neither what is in front nor what waits for memory.
    ///
    /// A process of a control group with `memory.oom.group` ends with the whole group.
    ///
    /// A child does not die for its parent, as it does before 5.2: the system starts every process of the device.
    public func rankingByBadness(_ kernel: LinuxKernel, of whole: ByteCount? = nil) -> Decision {
        let badness = kernel.badness
        var decision = Decision()
        var victims: [(points: Int, process: ProcessSnapshot)] = []
        for process in processes {
            if let points = badnessPoints(badness, of: process, whole: whole) {
                victims.append((points, process))
            } else {
                decision.spare(process, because: "its oom_score_adj is \(KernelBadness.exempt)")
            }
        }
        victims.sort { a, b in
            guard a.points == b.points else { return a.points > b.points }
            return (a.process.pid < b.process.pid) == (badness.tie == .first)
        }
        let unit = badness.countsThousandths ? "thousandths of memory" : "pages"
        decision.ranking = victims.map { points, process in
            let adjustment = "an oom_score_adj of \(process.oomScoreAdj)"
            var candidate = Candidate(
                .terminate(process.pid), score: Int64(points),
                reason: "most badness under Linux \(kernel.rawValue): \(points) \(unit), with \(adjustment)",
                standing: "most badness, with \(adjustment)", cause: .pageShortage)
            candidate.groupEnd = endOfGroup(of: process)
            return candidate
        }
        return decision
    }
}
