import Pressure
import Quantities

extension JetsamReport {
    /// Whether an app's process is only prewarmed: the system has begun its launch, and none of its code has run.
    ///
    /// A report has no word for that. A guess, from an iPhone 14 (iOS 18.5) whose four prewarmed apps had 16 to 103
    /// pages and 11 to 17 ms of CPU, and were 18 s younger than the system itself: it is suspended in band 0, has never
    /// held more than 4 MiB, and has used at most 50 ms of CPU. Loading UIKit and drawing one frame takes more of both.
    ///
    /// Limits: a prewarmed process is not recognised if it loads more than that before `UIApplicationMain`, or if the
    /// report has no CPU time. The age decides nothing, because the system prewarms at any time, not only after its
    /// start. Before iOS 15 nothing is prewarmed.
    func isPrewarmed(_ process: Process) -> Bool {
        if let system, let major = JetsamReport.majorVersion(of: system), major < 15 { return false }
        guard process.isSuspended, band(of: process).map({ $0 == .idle }) ?? true else { return false }
        let largest = max(process.pages, process.lifetimeMaximum ?? 0)
        guard let time = process.cpuTime, time > .zero, time <= JetsamReport.prewarmingTime else { return false }
        return ByteCount(largest * pageSize) <= JetsamReport.prewarmedSize
    }

    private static let prewarmingTime = TimeSpan.milliseconds(50)
    private static let prewarmedSize = ByteCount.mebibytes(4)
}
