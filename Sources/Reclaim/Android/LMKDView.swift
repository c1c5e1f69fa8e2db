import Quantities

/// A condition of lmkd that holds.
struct LMKDFinding {
    /// The lowest score that may be killed.
    let floor: Int
    let evidence: Evidence
    /// Whether the kill is for thrashing.
    var isThrashing = false
    /// Whether the kill lowers the limit of thrashing.
    var lowersLimit = false

    init(_ floor: Int, _ evidence: Evidence, isThrashing: Bool = false, lowersLimit: Bool = false) {
        (self.floor, self.evidence) = (floor, evidence)
        (self.isThrashing, self.lowersLimit) = (isThrashing, lowersLimit)
    }
}

/// What lmkd sees at one look.
struct LMKDView {
    let figures: LMKDFigures
    /// The kernel's watermarks.
    let least: ByteCount
    let low: ByteCount
    let isBelowMin: Bool
    let isBelowLow: Bool
    let isSwapLow: Bool
    /// Pages of files that were read again, in whole percent of the file cache.
    let thrashing: Int
    /// Its limit, as kills have lowered it.
    var limit: Int
    var reclaim = LMKDCourse.Reclaim.background
    /// For how long processes have scanned pages themselves without a break.
    var directFor = TimeSpan.zero
    /// Whether this is the first look after a kill.
    var isAfterKill = false
    /// Whether the kernel has reported that all processes waited.
    var isComplete = false
    private let freeSwap: ByteCount
    private let snapshot: SystemSnapshot

    init(
        _ snapshot: SystemSnapshot, _ figures: LMKDFigures, watermarks: KernelWatermarks, swapLow: Ratio
    ) {
        self.snapshot = snapshot
        self.figures = figures
        let measures = snapshot.measures
        (least, low) = (watermarks.least, watermarks.low)
        (isBelowMin, isBelowLow) = (snapshot.available < least, snapshot.available < low)
        freeSwap = LMKDView.freeSwap(snapshot, figures)
        isSwapLow = freeSwap < measures.swapTotal * swapLow
        thrashing = measures.thrashing.percent
        limit = figures.thrashing
    }

    /// Unused swap, as far as there is room for what goes there: free memory and the inactive pages of files (14:1888,
    /// 1897-1899, 15:2000-2004). That half of the pages of files are inactive is a guess.
    private static func freeSwap(_ snapshot: SystemSnapshot, _ figures: LMKDFigures) -> ByteCount {
        guard let times = figures.swapCompression else { return snapshot.measures.swapFree }
        let easy = snapshot.available + snapshot.measures.fileBacked * .percent(50)
        return min(snapshot.measures.swapFree, easy * times)
    }

    /// Whether thrashing is critical. The configured figure counts, whatever kills have lowered (13:2740, 13:2801).
    var isCritical: Bool { thrashing >= figures.critical }

    /// Apps that the user notices are spared unless free memory is below the min watermark or thrashing is critical
    /// (13:2759-2762, 2770-2773).
    var floorWithLowSwap: Int { isBelowMin || isCritical ? 0 : OomScore.perceptible + 1 }

    var fileCache: ByteCount { snapshot.measures.fileBacked }

    /// What of the pages that can be swapped is in swap, in whole percent (13:2551-2556).
    var swapUse: Int {
        let used = max(.zero, snapshot.measures.swapTotal - freeSwap)
        let resident = snapshot.processes.reduce(ByteCount.zero) { $0 + max(.zero, $1.footprint - $1.swapped) }
        let all = resident + used
        return all > .zero ? Int(scaled(Int64(used.bytes), by: 100, over: Int64(all.bytes))) : 0
    }

    // MARK: Evidence

    func free(_ watermark: ByteCount, _ rule: String) -> Evidence {
        snapshot.evidence(availableBelow: watermark, rule: rule)
    }

    func completeStall(_ threshold: TimeSpan) -> Evidence {
        Evidence(
            "full_stall_us", observed: snapshot.measures.fullLost.microseconds, threshold: threshold.microseconds,
            rule: "all processes waited")
    }

    func thrashing(above limit: Int) -> Evidence {
        Evidence(
            "thrashing_ppm", observed: snapshot.measures.thrashing.partsPerMillion, threshold: Int64(limit) * 10_000,
            rule: "file pages are read again and again")
    }

    func swapUse(above most: Ratio) -> Evidence {
        Evidence(
            "swap_use_ppm", observed: Int64(swapUse) * 10_000, threshold: most.partsPerMillion,
            rule: "too much is in swap and free memory is low")
    }

    func stuck(for threshold: TimeSpan) -> Evidence {
        Evidence(
            "direct_reclaim_us", observed: directFor.microseconds, threshold: threshold.microseconds,
            rule: "processes scan pages themselves for too long")
    }

    func lowFileCache(_ least: ByteCount) -> Evidence {
        Evidence(
            "file_backed_bytes", observed: Int64(fileCache.bytes), threshold: Int64(least.bytes),
            rule: "the file cache is low after thrashing")
    }
}
