import Lifecycle
import Quantities

extension SummaryMetric {
    /// What the cores did, and how long work waited for them.
    static let cpu: [SummaryMetric] =
        [
            SummaryMetric(
                "launches_within_400ms_ratio", .number, unit: .share,
                "Share of launches that are ready within 0.4 s, Apple's goal for a launch", better: .higher,
                optional: true
            ) { tally in
                guard !tally.launches.isEmpty else { return .absent }
                return .ratio(
                    tally.share(of: tally.launches.count { ($0.latency ?? .hours(1)) <= .milliseconds(400) }))
            }
        ] + CPUPurpose.allCases.map(time) + ServiceClass.allCases.map(wait) + [
            SummaryMetric(
                "frames", .integer, "Frames that were due in the app in front, of apps with a `cpu` key",
                better: .neither
            ) { .count($0.cpu.frames) },
            SummaryMetric(
                "late_frames", .integer, "Frames of the app in front that were not ready in time", better: .lower
            ) { .count($0.cpu.lateFrames) },
        ]

    private static func time(for purpose: CPUPurpose) -> SummaryMetric {
        SummaryMetric("cpu_\(purpose)_s", .number, unit: .seconds, purpose.meaning, better: .neither) {
            .seconds($0.cpu.purposes[purpose.rawValue])
        }
    }

    private static func wait(of service: ServiceClass) -> SummaryMetric {
        SummaryMetric(
            "core_wait_\(service.name)_s", .number, unit: .seconds,
            "Time that work of the class \(service.name) was kept from a core, summed",
            better: service == .userInteractive ? .lower : .neither
        ) { .seconds($0.cpu.waits[service.rawValue]) }
    }
}

extension CPUPurpose {
    fileprivate var meaning: String {
        switch self {
        case .launch: "Time on cores of the main threads of apps that were being launched"
        case .callbacks: "Time on cores of main threads at any other time"
        case .deferred: "Time on cores of work that apps have moved off their main threads"
        case .frames: "Time on cores of the frames of the app in front"
        case .background: "Time on cores that apps used off screen, apart from callbacks"
        case .reclaim: "Time on cores of the system's reclaim"
        }
    }
}
