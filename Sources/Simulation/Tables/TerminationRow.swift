import Lifecycle
import Metrics
import Quantities
import Reclaim

/// The rows of `terminations.csv`: one for each process that the system ended.
enum TerminationRow {
    private typealias Fact = RunTally.TerminationFact

    /// The kinds of processes, apps first.
    private static let kinds = ["app"] + ProcessKind.allCases.map(\.rawValue)
    private static let causes =
        KillCause.allCases.map(\.rawValue) + StallCause.allCases.map(\.rawValue) + [EventCause.kernelName]

    static let table = RowTable<RunTally.TerminationFact>(
        "terminations",
        "One row per process that the system ended, in the order of time; what the user or the app itself ended is "
            + "not here. Every count of terminations is one of these rows",
        key: ["pid"],
        [
            .seconds("time_s", "When the process ended: virtual time since the start of the run") { $0.at },
            .text("app", "The name of the app or of the other process") { $0.app },
            .integer("pid", "The process's number") { $0.pid.number },
            .text("kind", "app, or the kind of extension, helper or daemon", choices: kinds) { $0.course.kind },
            .choice("state", "The state in which the system saw the process when it ended") { $0.course.state },
            .optionalInteger(
                "band",
                "jetsam's priority band; of a process that the policy ended, the band in the decision"
            ) { $0.course.band },
            .choice("exit_reason", "Why the process ended, in the words of exit reasons") { $0.reason },
            .optionalText(
                "cause",
                "The kill's cause in the kernel's words; no_room, fragmented or kept_back if its own allocation found "
                    + "no room; kernel_oom if Linux's kernel ended it for an allocation that found none "
                    + "(device.fallback), or for the limit of its control group. Empty where the exit reason says it "
                    + "all",
                choices: causes
            ) { $0.course.cause },
            .optionalInteger("decision", "The policy's last decision to end it; empty if the policy did not") {
                $0.course.decision
            },
            .optionalText(
                "demand", "What the policy had been asked for; empty if the policy did not end it",
                choices: ReclaimDemand.Kind.allCases.map(\.rawValue)
            ) { $0.course.demand },
            .optionalText("measure", "What observed and threshold measure, its unit last") { $0.course.measure },
            .amount("observed", "The observed value of the measure, in its unit") { $0.course.observed },
            .amount("threshold", "What the observed value was compared with, in the same unit") {
                $0.course.threshold
            },
            .optionalText(
                "beneficiary",
                "The app for whose sake it ended, as need says; empty for an end under a rule about background, time, "
                    + "CPU or locks, and if no other app took 1 MiB"
            ) { $0.beneficiary?.app },
            .optionalChoice(
                "need",
                "allocation: the beneficiary's allocation waits. level: there is pressure, and no other app took more "
                    + "pages in the ten seconds before. own_allocation, own_limit: its own"
            ) { $0.beneficiary?.need },
            .optionalBytes("taken_bytes", "For level: the pages that the beneficiary took in the ten seconds before") {
                $0.beneficiary?.taken
            },
            .bytes("footprint_bytes", "The process's footprint when it ended") { $0.footprint },
            .span("idle_s", "How long it had been off screen; 0 on screen, and since its start if it never was there") {
                $0.course.idle
            },
            .optionalSpan("warned_s", "How long before its end it was last warned; empty if it never was") {
                $0.course.warnedBefore
            },
            .flag("was_foreground", "Whether the process was in the foreground: the user saw it vanish") {
                $0.wasForeground
            },
            .flag(
                "was_perceived",
                "Whether the user wanted it again within metrics.perceived_within, or watched its picture in picture"
            ) { $0.wasPerceived },
            .optionalSpan(
                "wanted_after_s",
                "How long after its end the user wanted it again; empty if never, or if the user had swiped it away or "
                    + "never seen it"
            ) { $0.wantedAfter },
            .text("why", "For people: why it was ended") { $0.course.explanation },
            .text(
                "in_short",
                "For people, in a few words: what was short, or which limit was crossed. Sizes are those of the device "
                    + "that a scale model stands for"
            ) { $0.course.inShort },
            .optionalText("standing", "For people, in a few words: what made this process the one to end") {
                $0.course.standing
            },
        ])

    /// Writes the rows of a run that is over.
    static func write(rowsOf tally: RunTally, to writer: TableWriter) {
        guard writer.isRead else {
            for _ in tally.terminations { writer.skipRow() }
            return
        }
        for fact in tally.terminations { table.write(fact, to: writer) }
    }
}

extension RunTables {
    /// The schema of `terminations.csv`.
    public static var terminations: TableSchema { TerminationRow.table.schema }
}
