import Lifecycle

/// MetricKit's two lists of exits.
public enum ExitPayload: String, CaseIterable, Sendable {
    case foreground = "MXForegroundExitData"
    case background = "MXBackgroundExitData"
}

/// One row of `exits.csv` for each app: a counter of MetricKit under its exact name, or exits that MetricKit does not
/// count.
///
/// Source: Apple's reference of `MXForegroundExitData` and `MXBackgroundExitData` (iOS 14 and later), and of the
/// exception codes in crash reports.
public struct ExitCounter: Sendable {
    /// The list with the counter; nil if MetricKit counts such exits in none.
    public let payload: ExitPayload?
    /// The counter's name; nil for exits without a counter.
    public let name: String?
    /// The reason in Plimsoll's words; nil for a counter of exits that no simulated app has.
    public let reason: ExitReason?
    /// The codes with which such exits appear in crash reports.
    public let codes: String?
    /// What a reader must know about the row.
    public let note: String?

    /// A counter of one of the lists.
    private init(_ payload: ExitPayload, _ exit: String, _ reason: ExitReason?, codes: String? = nil) {
        self.payload = payload
        name = "cumulative\(exit)ExitCount"
        self.reason = reason
        self.codes = codes
        note = reason == nil ? "a simulated app crashes as abnormal" : nil
    }

    /// Exits without a counter.
    private init(without reason: ExitReason, in payload: ExitPayload?, note: String) {
        (self.payload, name, self.reason, codes, self.note) = (payload, nil, reason, nil, note)
    }

    /// The counters that both lists have.
    private static func common(_ payload: ExitPayload) -> [ExitCounter] {
        [
            ExitCounter(payload, "NormalApp", .normalApp),
            ExitCounter(payload, "Abnormal", .abnormal, codes: "SIGABRT"),
            ExitCounter(payload, "AppWatchdog", .appWatchdog, codes: "0x8badf00d"),
            ExitCounter(payload, "MemoryResourceLimit", .memoryResourceLimit, codes: "EXC_RESOURCE"),
            ExitCounter(payload, "BadAccess", nil, codes: "EXC_BAD_ACCESS"),
            ExitCounter(payload, "IllegalInstruction", nil, codes: "EXC_BAD_INSTRUCTION"),
        ]
    }

    /// Every row of an app, the ones without a counter last.
    public static let all: [ExitCounter] =
        common(.foreground) + common(.background) + [
            ExitCounter(.background, "MemoryPressure", .memoryPressure),
            ExitCounter(.background, "CPUResourceLimit", .cpuResourceLimit, codes: "EXC_RESOURCE"),
            ExitCounter(.background, "SuspendedWithLockedFile", .suspendedWithLockedFile, codes: "0xdead10cc"),
            ExitCounter(
                .background, "BackgroundTaskAssertionTimeout", .backgroundTaskAssertionTimeout,
                codes: "0x2182bad2 (0x8badf00d in older systems)"),
            ExitCounter(
                without: .memoryPressure, in: .foreground,
                note: "no counter: MetricKit counts memory pressure in the background only"),
            ExitCounter(
                without: .userTerminated, in: nil, note: "no counter: MetricKit does not count quits by the user"),
        ]

    /// How many of the app's exits belong to the row.
    public func count(_ app: AppTally) -> Int {
        guard let reason else { return 0 }
        let inFront = app.endsInForeground.count { $0 == reason }
        return switch payload {
        case .foreground: inFront
        case .background: app.ends.count { $0 == reason } - inFront
        case nil: app.ends.count { $0 == reason }
        }
    }
}

/// One row of `exits.csv`.
struct ExitRow {
    let app: AppTally
    let counter: ExitCounter

    static let table = RowTable<ExitRow>(
        "exits",
        "One row per counter of MetricKit for each app that had a process, and two for exits without a counter",
        [
            .text("app", "The app's name") { $0.app.name },
            .optionalChoice("payload", "MetricKit's list; empty if none counts such exits") { $0.counter.payload },
            .optionalText("counter", "The counter's exact name; empty if there is none") { $0.counter.name },
            .optionalChoice("exit_reason", "The reason in the words of events.csv; empty if no simulated app has it") {
                $0.counter.reason
            },
            .integer("count", "How many of the app's processes ended so") { $0.counter.count($0.app) },
            .optionalText("codes", "The exception types and termination codes of such exits in crash reports") {
                $0.counter.codes
            },
            .optionalText("note", "For people: what to know about the row") { $0.counter.note },
        ])
}

extension TableWriter {
    /// The rows of `exits.csv`: an app without a process has no exits to report.
    public func exitRows(of tally: RunTally) {
        for app in tally.apps where app.processes > 0 {
            for counter in ExitCounter.all {
                guard isRead else {
                    skipRow()
                    continue
                }
                ExitRow.table.write(ExitRow(app: app, counter: counter), to: self)
            }
        }
    }
}
