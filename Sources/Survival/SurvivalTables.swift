import Experiments
import Lifecycle
import Metrics
import Quantities
import Simulation

/// The tables of `survive`. Scripts rely on the order and names of columns; new columns go last.
package struct SurvivalTables {
    private let answer: Answer
    private let footprint: ByteCount?

    package init(_ answer: Answer, footprint: ByteCount?) { (self.answer, self.footprint) = (answer, footprint) }

    package static let all = [survival, background, ends, settings, runs, stays]

    /// Each table with what writes its rows.
    package var writers: [(TableSchema, (TableWriter) -> Void)] {
        [
            (SurvivalTables.survival, writeSurvival), (SurvivalTables.background, writeBackground),
            (SurvivalTables.ends, writeEnds), (SurvivalTables.settings, writeSettings),
            (SurvivalTables.runs, writeRuns), (SurvivalTables.stays, writeStays),
        ]
    }

    private static func share(_ name: String, _ meaning: String, optional: Bool = false) -> Column {
        Column(name, .number, unit: .share, meaning, optional: optional)
    }

    private static func gain(_ name: String, _ meaning: String) -> Column {
        Column(name, .number, unit: .share, meaning, optional: true, signed: true)
    }

    private static let kinds = ["own", "incompressible", "footprint", "device", "change"]

    // MARK: The answer

    package static let survival = TableSchema(
        "survival", "One row: the answer",
        [
            Column("app", .string, "The app's name"),
            Column("scenario", .string, "The scenario's name"),
            Column("ceiling_bytes", .integer, unit: .bytes, "The device's memory"),
            Column(
                "footprint_bytes", .integer, unit: .bytes,
                "The app's footprint: its most memory in ten minutes alone in front; empty if it plays a trace",
                optional: true),
            Column("seeds", .integer, "Seeds of the question"),
            Column("runs", .integer, "Of these, runs with a process of the app"),
            Column("lived", .integer, "Of these, runs in which it survives"),
            share("survival_ratio", "The share of runs in which it survives", optional: true),
            share("survival_low", "The lower end of the share's 95 % interval (Wilson)", optional: true),
            share("survival_high", "The upper end", optional: true),
            share("asked_ratio", "The share that was asked for"),
            Column(
                "verdict", .string,
                "yes: the interval is not below the share asked for; no: it is below; open: it contains it; absent: "
                    + "no run has the app",
                choices: Answer.Verdict.allCases.map(\.rawValue)),
            Column("stays", .integer, "Stays in the background, in all runs"),
            Column("stays_ended", .integer, "Of these, those that ended with the app's end"),
            Column(
                "stay_median_s", .number, unit: .seconds,
                "How long half of the stays would last; empty if fewer than half end", optional: true),
            Column(
                "largest_footprint_bytes", .integer, unit: .bytes,
                "The largest footprint at which, and at all smaller ones tried, it survives with the share asked for",
                optional: true),
            Column(
                "footprints_monotone", .boolean,
                "Whether it survives at no footprint tried above that; empty without a search", optional: true),
            Column("smallest_device", .string, "The device with the least memory on which it does", optional: true),
            Column(
                "devices_monotone", .boolean,
                "Whether it is on no device tried with more memory that it does not; empty without devices",
                optional: true),
            Column(
                "best_change", .string,
                "The change of its behaviour with the largest gain, of those that ran under all "
                    + "seeds", optional: true),
            gain("best_gain", "By how much the share of runs in which it survives rises"),
            Column("runs_made", .integer, "Runs of all settings; the runs of a setting that is as asked count once"),
        ])

    private func writeSurvival(to table: TableWriter) {
        let question = answer.question
        let interval = answer.lived.wilson()
        table.text(question.name)
        table.text(question.plan.name)
        table.bytes(question.plan.device.ceiling)
        table.integer(footprint?.bytes)
        table.integer(question.seeds.count)
        table.integer(answer.lived.total)
        table.integer(answer.lived.count)
        table.number(answer.lived.share)
        table.number(interval?.low)
        table.number(interval?.high)
        table.ratio(question.share)
        table.text(answer.verdictWord.rawValue)
        table.integer(answer.fates.reduce(0) { $0 + $1.stays.count })
        table.integer(answer.fates.reduce(0) { $0 + $1.stays.count(where: \.isEnd) })
        table.number(answer.background.median.map { Double($0) / 1_000_000 })
        let row = answer.footprints
        table.integer(row?.lastOfFirst.map { question.footprints[$0].bytes })
        flag(row?.isFalling, table)
        let devices = answer.devices
        let first = devices?.tried.first(where: \.isEnough)
        table.text(first.map { question.devices[$0.place].name })
        flag(devices?.isRising, table)
        let best = answer.changes.first { $0.pairs != nil }
        table.text(best?.name)
        table.number(best?.pairs?.gain)
        table.integer(answer.runs)
        table.endRow()
    }

    private func flag(_ value: Bool?, _ table: TableWriter) {
        if let value { table.boolean(value) } else { table.empty() }
    }

    // MARK: Stays in the background

    package static let background = TableSchema(
        "background", "One row per step of the survival curve of stays in the background", key: ["length_s"],
        [
            Column("length_s", .number, unit: .seconds, "How long a stay lasts"),
            Column("at_risk", .integer, "Stays that are not over before"),
            Column("ended", .integer, "Stays that ended with the app's end at this length"),
            Column(
                "censored", .integer,
                "Stays that are over otherwise at this length or since the row before: the user came back or quit, or "
                    + "the run ended"),
            share("survival_ratio", "The probability that a stay lasts longer (Kaplan and Meier)"),
            share("survival_low", "The lower end of its 95 % interval"),
            share("survival_high", "The upper end"),
        ])

    private func writeBackground(to table: TableWriter) {
        for step in answer.background.steps {
            table.seconds(TimeSpan(microseconds: step.length))
            table.integer(step.atRisk)
            table.integer(step.ended)
            table.integer(step.censored)
            table.number(step.survival)
            table.number(step.band.low)
            table.number(step.band.high)
            table.endRow()
        }
    }

    package static let stays = TableSchema(
        "stays", "One row per stay in the background, from which background.csv is computed",
        [
            Column("seed", .integer, "The run's seed"),
            Column("since_s", .number, unit: .seconds, "When the app left the screen"),
            Column("length_s", .number, unit: .seconds, "How long the stay lasted"),
            Column("ended", .boolean, "Whether it was over with the app's end"),
        ])

    private func writeStays(to table: TableWriter) {
        for (seed, fate) in zip(answer.question.seeds, answer.fates) {
            for stay in fate.stays {
                table.text("\(seed)")
                table.seconds(TimeSpan(microseconds: stay.since))
                table.seconds(TimeSpan(microseconds: stay.length))
                table.boolean(stay.isEnd)
                table.endRow()
            }
        }
    }

    // MARK: Ends

    package static let ends = TableSchema(
        "ends", "One row per kind of end of the app that counts, the most frequent one first",
        [
            Column(
                "exit_reason", .string, "Why the process ended, in the words of events.csv",
                choices: ExitReason.allCases.map(\.rawValue)),
            Column("foreground", .boolean, "Whether it was in the foreground"),
            Column("payload", .string, "MetricKit's list; empty if none counts such ends", optional: true),
            Column("counter", .string, "The counter's exact name; empty if there is none", optional: true),
            Column("codes", .string, "The codes of such ends in crash reports", optional: true),
            Column("beneficiary", .string, "The app for whose sake the policy ended it", optional: true),
            Column("need", .string, "What that app needed memory for", optional: true, choices: Fate.needs),
            Column("count", .integer, "How many ends there were in all runs"),
            Column("runs", .integer, "In how many runs"),
            Column("first_s", .number, unit: .seconds, "The instant of the first one, in its run"),
            Column(
                "first_footprint_bytes", .integer, unit: .bytes, "The app's memory then; empty for a crash",
                optional: true),
        ])

    private func writeEnds(to table: TableWriter) {
        for group in answer.ends {
            let (end, counter) = (group.example, Fate.counter(of: group.example))
            table.text(end.reason)
            table.boolean(end.wasForeground)
            table.text(counter?.payload?.rawValue)
            table.text(counter?.name)
            table.text(counter?.codes)
            table.text(end.beneficiary)
            table.text(end.need)
            table.integer(group.count)
            table.integer(group.runs)
            table.seconds(Instant(microseconds: end.at))
            table.integer(end.footprint)
            table.endRow()
        }
    }

    // MARK: Settings and runs

    package static let settings = TableSchema(
        "settings", "One row per setting that was tried, in the order in which it was", key: ["setting"],
        [
            Column("setting", .integer, "The setting's number, from 1"),
            Column("kind", .string, "own: as asked about; otherwise what differs from that", choices: kinds),
            Column("name", .string, "The footprint, the device or the change"),
            Column(
                "footprint_bytes", .integer, unit: .bytes, "The footprint of a setting of that kind", optional: true),
            Column("ceiling_bytes", .integer, unit: .bytes, "The device's memory"),
            Column("change", .string, "A change in words", optional: true),
            Column("option", .string, "A change as options of plimsoll run", optional: true),
            Column("runs", .integer, "Runs that were made; they stop when the answer is decided"),
            Column("complete", .boolean, "Whether all seeds ran"),
            Column("lived", .integer, "Runs in which the app survives"),
            Column("ended", .integer, "Runs in which it does not"),
            Column(
                "enough", .boolean,
                "Whether it survives in at least the share of all runs asked for; empty if the runs stopped before "
                    + "that was decided, because it seems so", optional: true),
            share(
                "survival_ratio", "The share of runs in which it survives; empty unless all seeds ran", optional: true),
            share("survival_low", "The lower end of the share's 95 % interval (Wilson)", optional: true),
            share("survival_high", "The upper end", optional: true),
            Column("seeds_gained", .integer, "Seeds under which only this setting survives", optional: true),
            Column("seeds_lost", .integer, "Seeds under which only the setting as asked survives", optional: true),
            gain("gain", "The share minus that of the setting as asked, over the same seeds; empty unless all ran"),
            gain("gain_low", "The lower end of the gain's 95 % interval (Newcombe's method 10 for pairs)"),
            gain(
                "gain_high",
                "The upper end; of a change whose runs stopped, as they gained nothing, the most that it can gain"),
        ])

    private static func kind(of setting: Setting) -> String {
        switch setting {
        case .own: "own"
        case .incompressible: "incompressible"
        case .footprint: "footprint"
        case .device: "device"
        case .change: "change"
        }
    }

    private func writeSettings(to table: TableWriter) {
        let question = answer.question
        for (index, each) in answer.tried.enumerated() {
            let interval = each.isComplete ? each.lived.wilson() : nil
            let gain = each.pairs?.interval()
            table.integer(index + 1)
            table.text(SurvivalTables.kind(of: each.setting))
            table.text(each.name)
            var (size, ceiling) = (Int?.none, question.plan.device.ceiling)
            if case .footprint(let place) = each.setting { size = question.footprints[place].bytes }
            if case .device(let place) = each.setting { ceiling = question.devices[place].plan.device.ceiling }
            table.integer(size)
            table.bytes(ceiling)
            table.text(each.words.isEmpty ? nil : each.words)
            table.text(each.option)
            table.integer(each.runs)
            table.boolean(each.isComplete)
            table.integer(each.lived.count)
            table.integer(each.lived.total - each.lived.count)
            flag(each.isEnough, table)
            table.number(each.isComplete ? each.lived.share : nil)
            table.number(interval?.low)
            table.number(interval?.high)
            table.integer(each.pairs?.gained)
            table.integer(each.pairs?.lost)
            table.number(each.pairs?.gain)
            table.number(gain?.low)
            table.number(gain?.high ?? each.mostGain)
            table.endRow()
        }
    }

    package static let runs = TableSchema(
        "runs", "One row per run, by setting and seed", key: ["setting", "seed"],
        references: [ForeignKey(["setting"], in: "settings")],
        [
            Column("setting", .integer, "The setting's number"),
            Column("seed", .integer, "The run's seed"),
            Column(
                "lives", .boolean, "Whether the app survives; empty if it has no process in the run", optional: true),
            Column("ends", .integer, "Ends that count; 0 or 1 unless the setting is as asked about"),
            Column("first_end_s", .number, unit: .seconds, "The instant of the first one", optional: true),
            Column(
                "exit_reason", .string, "Its reason", optional: true, choices: ExitReason.allCases.map(\.rawValue)),
            Column("beneficiary", .string, "The app for whose sake the policy ended it", optional: true),
        ])

    private func writeRuns(to table: TableWriter) {
        for (index, each) in answer.tried.enumerated() {
            for (seed, fate) in zip(answer.question.seeds, each.fates) {
                guard let fate else { continue }
                let death = fate.death
                table.integer(index + 1)
                table.text("\(seed)")
                flag(fate.lives, table)
                let ends = fate.ends.count(where: \.counts)
                table.integer(each.setting == .own ? ends : min(1, ends))
                table.seconds(death.map { Instant(microseconds: $0.at) })
                table.text(death?.reason)
                table.text(death?.beneficiary)
                table.endRow()
            }
        }
    }
}
